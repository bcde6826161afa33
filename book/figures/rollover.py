"""Tables and pictures of the chapter on packet rollover and the pressure mark (2015)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures import kept
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim import scenarios
from sim.path.registers import FLOW, SLOT
from sim.result import Estimate, Replication, Result, interval
from sim.scenarios.packet_rollover import CPUS
from sim.scenarios.scenario import Scenario
from sim.validate import judgement

#: Waiting for a receive queue's lock, by who waits.
SPINNING: Final = (
    "_raw_spin_lock (packet_rcv_has_room)", "_raw_spin_lock (tpacket_rcv)", "_raw_spin_lock_bh (packet_poll)",
)
#: Kinds of work: name, colour class, kernel symbols. What is not listed is drawn blank.
KINDS: Final = (
    ("spinning", "c1", SPINNING),
    ("asking, once it has the lock", "c3", ("packet_rcv_has_room", "fanout_demux_rollover", "packet_rcv_fanout")),
    ("the program's copy", "c2", ("reader",)),
    ("driver and kernel's copy", "c0", (
        "mlx4_en_process_rx_cq", "mlx4_en_poll_rx_cq", "memcpy_erms", "kmem_cache_alloc", "kmem_cache_free",
    )),
)


def share(run: Result, symbols: Sequence[str]) -> Estimate:
    """Share of all CPUs' busy time in some functions, percent, with its interval."""
    return Estimate(*interval([_share(r, symbols) for r in run.replications], 1e-9), "%")


def _share(one: Replication, symbols: Sequence[str]) -> float:
    part = math.fsum(one.profile[role].get(s, 0.0) * busy for role, busy in one.cpu.items() for s in symbols)
    return part / math.fsum(one.cpu.values())


def busy(run: Result) -> float:
    """Mean busy share of the CPUs, percent."""
    return math.fsum(run.cpu.values()) / CPUS


def packet_us(run: Result) -> float:
    """CPU time of one packet taken from the NIC, over all CPUs, in microseconds."""
    return busy(run) / 100 * CPUS / run.metrics["polled_mpps"].mean


def span(estimate: Estimate, digits: int = 2) -> str:
    """A mean with its 95 % interval, as a reader writes it."""
    return f"{estimate.mean:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def words(runs: Mapping[str, Result]) -> dict[str, str]:
    """What the chapter's sentences quote, by name of the run: rates in Mpps, shares in percent."""
    quoted: dict[str, str] = {}
    for name, run in runs.items():
        m, spin = run.metrics, share(run, SPINNING).mean
        quoted |= {
            f"read-{name}": f"{m['mpps'].mean:.2f} Mpps", f"polled-{name}": f"{m['polled_mpps'].mean:.1f} Mpps",
            f"spin-{name}": f"{spin:.0f} %" if spin > 10 else f"{spin:.1f} %", f"cpu-{name}": f"{busy(run):.0f} %",
            f"reader-{name}": f"{share(run, ('reader',)).mean:.1f} %",
            f"full-{name}": f"{m['own_full'].mean:.0f} %", f"probes-{name}": f"{m['probes_per_packet'].mean:.1f}",
            f"us-{name}": f"{packet_us(run):.1f} µs", f"lines-{name}": f"{m['transfers_per_packet'].mean:.0f}",
            f"room-{name}": f"{share(run, SPINNING[:1]).mean:.0f} points",
        }
    return quoted


def states(scenario: Scenario, runs: Mapping[str, Result]) -> Table:
    """What becomes of the packets, and what the CPUs do meanwhile, over the scenario's whole window."""
    rows: list[list[Cell]] = []
    for name, run in runs.items():
        m = run.metrics
        rows.append([
            name, span(m["mpps"]), m["nic_drops_mpps"].mean, m["ring_drops_mpps"].mean, m["probes_per_packet"].mean,
            busy(run), span(share(run, SPINNING), 1),
        ])
    columns = ["setting", "read, Mpps (95 % interval)", "lost in the NIC", "dropped, all rings full",
               "probes a packet", "CPUs, %", "spinning, % of that"]
    seeds = ", ".join(sorted({str(len(run.replications)) for run in runs.values()}))
    counted = f"counted from {scenario.warm_ps / 1e9:g} to {scenario.until_ps / 1e9:g} ms"
    return Table(f"3.5 million packets a second arrive; {seeds} runs each, {counted}", columns, rows, digits=2)


def headline(figures: Sequence[Mapping[str, Any]]) -> Table:
    """Reported beside simulated, with interval, range and role, for all figures but those given to the model."""
    def to(low: float | None, high: float | None) -> str:
        return "–" if low is None or high is None else f"{low:.1f} to {high:.1f}"

    rows: list[list[Cell]] = [
        [
            row["figure"], judgement(row), f"{row['reported']:g} {row['unit']}",
            f"{row['simulated']:.1f} {row['unit']}", to(row["low"], row["high"]),
            to(row["range_low"], row["range_high"]), row["role"],
        ]
        for row in figures if row["role"] != "input"
    ]
    columns = ["figure", "verdict", "reported", "simulated", "95 % interval", "range over what is open", "role"]
    caption = f"Reported and simulated, {scenarios.load('packet-rollover').replications} runs each"
    return Table(caption, columns, rows, code=["role"])


def drained(scenario: Scenario) -> list[kept.Row]:
    """With the patch and full rings at the start, seed by seed: percent of spinning and Mpps read, as validated."""
    def run() -> list[kept.Row]:
        return [
            {"seed": r.seed, "spinning": _share(r, SPINNING), "mpps": r.metrics["mpps"]}
            for r in scenario.run(pressure=1, start="full").replications
        ]

    return kept.once("rollover-drained", run)


def drained_table(rows: Sequence[kept.Row]) -> Table:
    """Those runs, one a row."""
    cells: list[list[Cell]] = [[f"seed {r['seed']}", r["spinning"], r["mpps"]] for r in rows]
    return Table("With the patch, full rings at the start", ["run", "spinning, %", "read, Mpps"], cells, digits=2)


def fall(figures: Sequence[Mapping[str, Any]], rows: Sequence[kept.Row]) -> dict[str, str]:
    """What the chapter's sentences say of the spinning's fall: the thread's rows, and seeds that have not drained."""
    by_name = {row["figure"]: row for row in figures}
    change = by_name["spinning changes by the patch"]
    spin = "_raw_spin_lock"
    names = {"before": f"{spin} before the patch, nine entries added up", "after": f"{spin} after the patch"}
    return {
        **{f"fall-{arm}": f"{by_name[name]['simulated']:.1f} %" for arm, name in names.items()},
        "fall-change": f"{change['simulated']:.0f} %", "fall-low": f"{change['low']:.0f} %",
        "fall-high": f"{change['high']:.0f} %", "fall-seeds": str(len(rows)),
        "fall-stuck": str(sum(r["spinning"] > 10 for r in rows)),
    }


def short(scenario: Scenario, seeds: int, **knobs: Any) -> Result:
    """A short run."""
    return scenario.run(replications=seeds, until_ps=scenario.quick_ps, **knobs)


def packages(two: Result, one: Result) -> Table:
    """The state before the patch with the CPUs in two packages and in one."""
    rows: list[list[Cell]] = [
        [
            name, span(share(run, SPINNING), 1), share(run, SPINNING[:1]).mean, share(run, SPINNING[1:2]).mean,
            run.metrics["mpps"].mean, ", ".join(f"{r.metrics['mpps']:.2f}" for r in run.replications),
        ]
        for name, run in (("two packages, the book's", two), ("one package", one))
    ]
    columns = ["the eight CPUs lie in", "spinning, %", "of it in has_room, points", "in tpacket_rcv, points",
               "read, Mpps", "seed by seed"]
    caption = f"Before the patch, full rings: {len(two.replications)} and {len(one.replications)} runs"
    return Table(caption, columns, rows, digits=2)


Curve = Sequence[tuple[float, float]]


def curves(scenario: Scenario, points: Mapping[str, Sequence[int]], seeds: int) -> dict[str, Curve]:
    """Mpps read over Mpps sent without the patch, by the state of the rings at the start.

    Measured for the whole of a run, one turn of ksoftirqd and one of the reader: the one reads little, the other more.
    """
    return {
        start: [
            (load / 1000, scenario.run(replications=seeds, pressure=0, start=start, load_kpps=load).mpps)
            for load in loads
        ]
        for start, loads in points.items()
    }


def edge(full: Curve) -> tuple[float, float]:
    """The highest load at which rings that start full drain, and the lowest at which they do not; Mpps sent.

    Raises ValueError for a curve that lies on one side.
    """
    return max(x for x, y in full if y > 0.9 * x), min(x for x, y in full if y < 0.9 * x)


def hysteresis(drawn: Mapping[str, Curve], load: float, known: Mapping[str, float]) -> Picture:
    """Both lasting states over the load; `known` are the rates at a `load` that was run elsewhere. Both begin at 0."""
    empty, full = (sorted({(0.0, 0.0), *drawn[start], (load, known[start])}) for start in ("empty", "full"))
    top = max(x for x, _ in (*empty, *full))
    escape, caught = edge(full)
    picture = Picture(
        250,
        f"Without the patch, full rings drain by themselves up to {escape:g} million packets a second and stay full "
        f"from {caught:g} on, while rings that start empty keep up to at least {top:g}.",
    )

    def at(x: float, y: float) -> tuple[float, float]:
        return 44 + 300 * x / top, 200 - 176 * y / top

    for tick in range(0, int(top) + 1, 2):
        x, y = at(tick, tick)
        picture.line([(44, y), (344, y)], "grid")
        picture.text(38, y + 4, str(tick), "end small quiet")
        picture.text(x, 216, str(tick), "mid small quiet")
    picture.text(194, 234, "million packets a second sent", "mid small")
    picture.text(4, 12, "read", "small")
    for curve, kind, dot in ((empty, "l0", "c0"), (full, "l1", "c1")):
        picture.line([at(x, y) for x, y in curve], kind)
        for x, y in curve[1:]:
            picture.dot(*at(x, y), 3.5, dot)
    picture.text(*at(0.44 * top, 0.66 * top), "empty at the start", "end small")
    picture.text(*at(0.98 * top, 0.12 * top), "full at the start", "end small")
    return picture


def packet_time(runs: Mapping[str, Result]) -> Picture:
    """CPU time of one packet by kind of work, in the lasting states."""
    longest = max(packet_us(run) for run in runs.values())
    said = "; ".join(
        f"{name}: {packet_us(run):.1f} µs, of which {packet_us(run) * share(run, SPINNING).mean / 100:.1f} spinning"
        for name, run in runs.items()
    )
    picture = Picture(
        52 + 42 * len(runs),
        f"In the trap a packet costs several times the CPU time, and most of it is waiting ({said}).",
    )
    y = 2.0
    for name, run in runs.items():
        y += 14
        picture.text(4, y, name, "strong")
        us = packet_us(run)
        picture.text(356, y, f"{us:.1f} µs", "end")
        x = 4.0
        for _, colour, symbols in KINDS:
            width = 352 * us / longest * share(run, symbols).mean / 100
            picture.box(x, y + 5, width, 16, colour, 0)
            x += width
        picture.box(4, y + 5, 352 * us / longest, 16, "box", 0)
        y += 28
    for place, (name, colour, _) in enumerate(KINDS):
        x, below = 4 + 176 * (place % 2), y + 10 + 18 * (place // 2)
        picture.box(x, below, 11, 11, colour, 0)
        picture.text(x + 15, below + 10, name, "small")
    return picture


def probing() -> Picture:
    """One packet that finds its own ring full: whom it asks without the patch, and with it."""
    picture = Picture(
        206,
        "When all rings are full, one packet takes nine locks without the patch; with the patch seven looks at a mark "
        "replace seven of them.",
    )
    for row, (arm, locks) in enumerate((("before", True), ("after", False))):
        y = 34.0 + 84 * row
        picture.text(4, y - 16, f"{arm}: a packet for socket 2, all rings full", "strong")
        for ring in range(8):
            x = 4 + 44.0 * ring
            own = ring == 2
            picture.box(x, y, 36, 18, "warm" if locks or own else "box", 3)
            picture.text(x + 18, y + 13, f"ring {ring}", "mid small")
            word = "2 locks" if own else "lock" if locks else "look"
            picture.text(x + 18, y + 32, word, "mid small" if locks or own else "mid small quiet")
    picture.text(4, 184, "The own ring is locked twice: to ask, then to drop.", "small quiet")
    picture.text(4, 200, "A look reads a word that seldom changes.", "small quiet")
    return picture


def own_mark(scenario: Scenario) -> Scenario:
    """The scenario with a fault put in: who looks for a victim reads his own socket's mark, not the other one's."""
    program = scenario.spec.program
    flow, slot = FLOW.number, SLOT.number
    for at in range(program.address("rollover.next"), program.address("rollover.skip")):
        code = program.code[at]
        if code.key == "pressure" and code.op in ("ACCESS", "LOAD"):
            program = program.replaced(
                at, operands=tuple(flow if i == 2 and o == slot else o for i, o in enumerate(code.operands)),
                words=tuple("flow" if w == "slot" else w for w in code.words),
            )
    scenario.spec.program = program
    return scenario


def search(scenario: Scenario) -> str:
    """The search for a victim, as a listing."""
    lines = scenario.listing(pressure=1).splitlines()
    return "\n".join(line.rstrip() for line in lines[lines.index("rollover.next:") : lines.index("tpacket_rcv:")])


def unnoticed(right: Result, scenarios_: tuple[Scenario, Scenario], seeds: int = 2) -> Table:
    """A right and a wrong program: the benchmark, and what a counter shows in a tight ring."""
    good, bad = scenarios_
    tight = {"pressure": 1, "start": "empty", "ring_frames": 64}
    rows: list[list[Cell]] = []
    for name, scenario, known in (("the message's", good, right), ("the colleague's", bad, None)):
        bench = known or short(scenario, seeds, pressure=1, start="full")
        small = short(scenario, seeds, **tight)
        rows.append([name, bench.metrics["mpps"].mean, share(bench, SPINNING).mean, small.metrics["rolled_over"].mean])
    columns = ["program", "benchmark: read, Mpps", "spinning, %", "rings of 64 frames: packets rolled over, %"]
    return Table("Two programs", columns, rows, digits=2)
