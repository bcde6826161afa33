"""Pictures and tables of the page on reading patches and profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.result import Result
from sim.scenarios.scenario import Scenario
from sim.timing import Timing

#: The parts of one line of a profile, as `perf report` prints it: what stands there, and what it means.
PARTS: Final = (
    ("17.82%", "share of all samples, on all CPUs"),
    ("bench_rollover", "the task that the CPU was running"),
    ("[kernel.kallsyms]", "where the code lies: here the kernel"),
    ("[k]", "mode: k kernel, . user"),
    ("_raw_spin_lock", "function: its own instructions only"),
)


def line_of_a_profile() -> Picture:
    """The columns of one line of a profile, one under the other."""
    picture = Picture(
        14 + 42 * len(PARTS),
        "One line of a profile has five parts, and each limits what the line says: a share of which samples, which "
        "task happened to run, which code, which mode, and which function without those that it calls.",
    )
    for row, (text, meaning) in enumerate(PARTS):
        y = 10 + 42 * row
        picture.box(4, y, 130, 28, "wash" if row else "warm", 4)
        picture.text(69, y + 18, text, "mid strong")
        picture.line([(134, y + 14), (146, y + 14)], "rule")
        picture.text(150, y + 18, meaning, "small")
    return picture


def hunk(diff: str, label: str) -> str:
    """The hunk of a diff in which a label stands, from the label on."""
    for lines in (part.splitlines()[1:] for part in diff.split("\n@@ ")):
        if f" {label}:" in lines or f"{label}:" in lines:
            at = next(at for at, line in enumerate(lines) if line.strip() == f"{label}:")
            return "\n".join(lines[at:])
    raise ValueError(f"no hunk of the diff has the label {label!r}")


def busy_cpus(times: Sequence[Timing], runs: Sequence[Result]) -> dict[str, str]:
    """What the page multiplies: time for a packet, the rate of the same stretch, the CPUs that are busy with it."""
    words = {"diff-ms": f"{times[0].elapsed_ps / 1e9:.0f}"}
    for arm, one, run in zip(("before", "after"), times, runs, strict=True):
        ns = float(one.packet_ns.sum())
        words |= {
            f"diff-ns-{arm}": f"{ns:,.0f}", f"diff-mpps-{arm}": f"{one.mpps:.3g}",
            f"diff-cpus-{arm}": f"{ns * one.mpps / 1000:.1f}", f"diff-whole-{arm}": f"{run.metrics['mpps'].mean:.2f}",
        }
    return words


def bill(run: Result, role: str) -> dict[str, tuple[float, float]]:
    """By symbol: share of a role's busy time in percent, and ns for one packet."""
    packet_ns = 10 * run.cpu[role] / run.metrics["mpps"].mean
    return {name: (share, packet_ns * share / 100) for name, share in run.profile(role).items()}


def both_ways(caption: str, runs: Mapping[str, Result], role: str, symbols: Sequence[str]) -> Table:
    """Shares, and beside them time for a packet: some symbols, all others together, and the sum."""
    bills = {name: bill(run, role) for name, run in runs.items()}
    rows: list[Sequence[Cell]] = []
    for symbol in symbols:
        rows.append((symbol, *(f"{b.get(symbol, (0, 0))[0]:.1f} %" for b in bills.values()),
                     *(b.get(symbol, (0.0, 0.0))[1] for b in bills.values())))
    rest = [[sum(v[k] for s, v in b.items() if s not in symbols) for b in bills.values()] for k in (0, 1)]
    rows.append(("all others", *(f"{x:.1f} %" for x in rest[0]), *rest[1]))
    whole = [sum(v[1] for v in b.values()) for b in bills.values()]
    rows.append(("together", *("100.0 %" for _ in bills), *whole))
    columns = ["symbol", *(f"share, {name}" for name in runs), *(f"ns a packet, {name}" for name in runs)]
    return Table(caption, columns, rows, code=["symbol"])


def inlined(scenario: Scenario, callee: str, caller: str) -> Scenario:
    """The scenario with a function inlined: its instructions are charged to its caller. Nothing else changes."""
    program = scenario.spec.program
    inner, outer = (program.symbols.index(name) for name in (callee, caller))
    for at, code in enumerate(program.code):
        if code.symbol == inner:
            program = program.replaced(at, symbol=outer)
    scenario.spec.program = program
    return scenario
