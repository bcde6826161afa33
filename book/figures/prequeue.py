"""Tables and pictures of the chapter on the prequeue and the route's reference count (2014)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures.program import excerpt
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.placement import SAMPLES
from sim.result import Estimate, Result, interval
from sim.scenarios import load
from sim.scenarios.scenario import Scenario
from sim.scenarios.tcp_prequeue import CPUS, QUEUES
from sim.validate import judgement

#: Before and after the patch, of one setting.
Arms = tuple[Result, Result]

BEFORE: Final[dict[str, Any]] = {"drop_dst_early": 0}
AFTER: Final[dict[str, Any]] = {"drop_dst_early": 1}

#: Functions that visit the line of the route's count: its reads, and the atomics that are inline in their callers.
#: `tcp_prequeue` and `tcp_v4_rcv` (which holds sk_add_backlog) do a little other work as well.
AT_THE_LINE: Final = ("ipv4_dst_check", "ip_rcv_finish", "dst_release", "tcp_prequeue", "tcp_v4_rcv")


def busy(run: Result, first: int = 0, end: int = CPUS) -> Estimate:
    """Mean busy share of the CPUs from `first` up to `end`, percent, with its interval."""
    shares = [math.fsum(r.cpu[f"cpu{i}"] for i in range(first, end)) / (end - first) for r in run.replications]
    return Estimate(*interval(shares, 1e-9), "%")


def packet_us(run: Result) -> float:
    """CPU time of one packet over all CPUs, waiting included, in microseconds."""
    return busy(run).mean / 100 * CPUS / run.metrics["mpps"].mean


def at_the_line(run: Result) -> float:
    """Share of the busy time of all CPUs that is spent in functions at the route's line, percent."""
    total = math.fsum(run.cpu.values())
    part = math.fsum(run.profile(role).get(s, 0.0) * share for role, share in run.cpu.items() for s in AT_THE_LINE)
    return part / total


def span(estimate: Estimate, digits: int = 2) -> str:
    """A mean with its 95 % interval, as a reader writes it."""
    return f"{estimate.mean:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def words(arms: Arms) -> dict[str, str]:
    """What the chapter's sentences quote, by name: rates in Mpps, shares in percent, times in microseconds."""
    quoted: dict[str, str] = {}
    for arm, run in zip(("before", "after"), arms, strict=True):
        m, us = run.metrics, packet_us(run)
        moves = m["dst_transfers"].mean
        quoted |= {
            f"rate-{arm}": f"{m['mpps'].mean:.2f} Mpps", f"cpu-{arm}": f"{busy(run).mean:.0f} %",
            f"readers-{arm}": f"{busy(run, QUEUES).mean:.0f} %", f"us-{arm}": f"{us:.1f} µs",
            f"visits-{arm}": f"{m['dst_visits'].mean:.1f}", f"atomics-{arm}": f"{m['dst_atomics'].mean:.2f}",
            f"moves-{arm}": f"{moves:.1f}", f"line-{arm}": f"{at_the_line(run):.0f} %",
            f"backlog-{arm}": f"{m['backlogged_share'].mean:.0f} %",
            f"per-sleep-{arm}": f"{m['packets_per_sleep'].mean:.0f}",
        }
        if arm == "after":
            quoted["eight-us"] = f"{busy(run, 0, QUEUES).mean / 100 * QUEUES / m['mpps'].mean:.2f} µs"
            quoted["reader-us"] = f"{busy(run, QUEUES).mean / 100 * (CPUS - QUEUES) / m['mpps'].mean:.2f} µs"
        if arm == "before":
            quoted["move-ns"] = f"{1000 / (moves * m['mpps'].mean):.0f} ns"
            quoted["visit-ns"] = f"{1000 / (m['dst_visits'].mean * m['mpps'].mean):.0f} ns"
    return quoted


def bounds(figures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the chapter's sentences quote of the thread's rows: ranges over the driver's time, and two errors."""
    by_name = {row["figure"]: row for row in figures}
    rate, load_ = by_name["packets before the patch"], by_name["receiver's CPUs before the patch"]
    gain, saving = by_name["packets, the patch gains"], by_name["receiver's CPUs, the patch saves"]
    return {
        "before-fast": f"{rate['range_high']:.2f} Mpps", "before-slow": f"{rate['range_low']:.2f} Mpps",
        "load-before-least": f"{load_['range_low']:.1f} %", "load-before-error": f"{load_['error_points']:.2f} points",
        "gain-here": f"{gain['simulated']:.0f} %",
        "gains-least": f"{gain['range_low']:.0f} %", "gains-most": f"{gain['range_high']:.0f} %",
        "saves-least": f"{-saving['range_high']:.0f} %", "saves-most": f"{-saving['range_low']:.0f} %",
    }


#: What one packet does with the fields beside the count in 3.17, parked for a reader that blocks.
USES: Final = {"__refcnt": "changed, twice", "rt_genid": "read, twice", "rt_type": "read"}


def neighbours() -> Table:
    """The fields that share the line of the route's count in 3.17, and what a packet does with each."""
    layout = next(iter(SAMPLES["dst_entry"].layouts.values()))
    line = layout.line("__refcnt")
    rows: list[list[Cell]] = [
        [str(f.offset), f.name, f.size, USES.get(f.name)] for f in layout.fields if layout.line(f.name) == line
    ]
    columns = ["offset", "field", "bytes", "what a packet does with it"]
    return Table("One line of a route in 3.17", columns, rows, code=["field"])


def rates(arms: Arms) -> Table:
    """Rate, busy CPUs, and what happens at the route's line."""
    rows: list[list[Cell]] = []
    for arm, run in zip(("before", "after"), arms, strict=True):
        m = run.metrics
        rows.append([
            arm, span(m["mpps"]), busy(run).mean, busy(run, 0, QUEUES).mean, busy(run, QUEUES).mean,
            m["dst_visits"].mean, m["dst_atomics"].mean, m["dst_transfers"].mean,
        ])
    columns = ["patch", "M packets/s (95 % interval)", "all CPUs, %", "the 8 with interrupts, %", "the other 40, %",
               "visits a packet", "of these atomics", "hand-overs of the line a packet"]
    seeds = len(arms[0].replications)
    caption = f"The patch off and on, simulated, {seeds} runs each; the second row rests on the driver's assumed time"
    return Table(caption, columns, rows)


def backlogged(run: Result) -> str:
    """Share of packets that met a socket owned by its reader."""
    return f"{run.metrics['backlogged_share'].mean:.0f} %"


def rows_of(caption: str, runs: Mapping[str, Result]) -> Table:
    """Several kernels under the thread's benchmark, by name."""
    rows: list[list[Cell]] = [
        [name, run.metrics["mpps"].mean, busy(run).mean, run.metrics["dst_atomics"].mean]
        for name, run in runs.items()
    ]
    return Table(caption, ["kernel", "Mpps", "all CPUs, %", "atomics a packet"], rows, digits=2)


def setting_row(name: str, old: Result | None, new: Result | None) -> list[Cell]:
    """A setting's rate and load without and with the patch; None for an arm that was not run."""
    cells: list[Cell] = [name]
    for run in (old, new):
        cells += [None, None] if run is None else [run.metrics["mpps"].mean, busy(run).mean]
    return [*cells, *([None, None] if new is None else [new.metrics["dst_atomics"].mean, backlogged(new)])]


def compare(
    scenario: Scenario, reported: Arms, settings: Mapping[str, Mapping[str, Any]], seeds: int = 2
) -> Table:
    """Both arms at several named settings, each of them one change from that of `reported`, the first row.

    A setting that names ``drop_dst_early`` is run on that side only.
    """
    rows = [setting_row("RFS: TCP on the reader's CPU (assumed)", *reported)]
    for name, knobs in settings.items():
        old, new = (
            scenario.run(replications=seeds, until_ps=scenario.quick_ps, **{**arm, **knobs})
            if knobs.get("drop_dst_early", arm["drop_dst_early"]) == arm["drop_dst_early"] else None
            for arm in (BEFORE, AFTER)
        )
        rows.append(setting_row(name, old, new))
    columns = ["setting", "without, Mpps", "CPUs, %", "with, Mpps", "CPUs, %", "atomics a packet that are left",
               "packets to an owned socket"]
    caption = f"One thing changed at a time (from the second row on {seeds} short runs each)"
    return Table(caption, columns, rows, digits=2)


def machines(reported: Result, changes: Mapping[str, Mapping[str, int]], seeds: int = 2) -> Table:
    """The rate before the patch on machines that differ in topology or in what a line costs; first the book's."""
    runs = {"two processors of 12 cores, the book's": reported}
    for name, changed in changes.items():
        scenario = load("tcp-prequeue", machine=load("tcp-prequeue").machine.with_(**changed))
        runs[name] = scenario.run(replications=seeds, until_ps=scenario.quick_ps, **BEFORE)
    rows: list[list[Cell]] = [
        [name, run.metrics["mpps"].mean, f"{busy(run).mean:.0f} %", run.metrics["dst_transfers"].mean]
        for name, run in runs.items()
    ]
    columns = ["machine", "before the patch, Mpps", "CPUs", "hand-overs of the line a packet"]
    return Table("Before the patch, on other machines", columns, rows, digits=2)


def seeds(scenario: Scenario, count: int, **knobs: Any) -> Table:
    """Each seed of the patched kernel by itself: what varies only between seeds shows here."""
    run = scenario.run(replications=count, until_ps=scenario.quick_ps, **{**AFTER, **knobs})
    rows: list[list[Cell]] = [
        [f"seed {r.seed}", r.metrics["mpps"], r.metrics["dst_atomics"], f"{r.metrics['backlogged_share']:.0f} %"]
        for r in run.replications
    ]
    columns = ["run", "Mpps", "atomics a packet", "packets to an owned socket"]
    return Table("With the patch, each seed by itself", columns, rows, digits=2)


def to(low: float | None, high: float | None) -> str:
    """A range to two decimals, or a dash if there is none."""
    return "–" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def headline(figures: Sequence[Mapping[str, Any]]) -> Table:
    """Reported beside simulated, with interval, range and role, for all figures but those given to the model."""
    rows: list[list[Cell]] = [
        [
            row["figure"], judgement(row), f"{row['reported']:g} {row['unit']}",
            f"{row['simulated']:.2f} {row['unit']}",
            to(row["low"], row["high"]), to(row["range_low"], row["range_high"]), row["role"],
        ]
        for row in figures if row["role"] != "input"
    ]
    columns = ["figure", "verdict", "reported", "simulated", "95 % interval", "range over what is open", "role"]
    caption = f"Reported and simulated, {load('tcp-prequeue').replications} runs each"
    return Table(caption, columns, rows, code=["role"])


def uncounted(scenario: Scenario) -> Scenario:
    """The scenario with a fault put in: ``tcp_prequeue()`` parks packets without a reference on their route."""
    program = scenario.spec.program
    for at in range(program.address("tcp_prequeue.force"), program.address("tcp_prequeue.queue")):
        program = program.replaced(at, op="WORK", operands=(0, None, 0, 0), words=("0", "0", "0"))
    scenario.spec.program = program
    return scenario


def parking(scenario: Scenario) -> str:
    """Where softirq parks a packet, as a listing; what was taken out leaves no trace."""
    lines = excerpt(scenario.listing(**BEFORE), "tcp_prequeue", "sock_def_readable").splitlines()
    return "\n".join(line for line in lines if "WORK    0 0 0" not in line and not line.startswith("skb_dst_force"))


def unnoticed(runs: Mapping[str, Result], scenario: Scenario, wrong: Scenario, seeds: int = 2) -> Table:
    """A right and a wrong program under the benchmark; `runs` holds what has been run already."""
    short = wrong.run(replications=seeds, until_ps=scenario.quick_ps, **BEFORE)
    return rows_of("The benchmark", {**runs, "the colleague's": short})


def visits() -> Picture:
    """One packet's visits to the route's line, without and with the patch."""
    picture = Picture(
        196,
        "Without the patch a parked packet visits the line of the route's count four times, twice to change it; "
        "with the patch it only reads the line twice, and a line that nobody changes stays in every cache.",
    )
    where = (76.0, 148.0, 240.0, 320.0)
    names = ("early demux", "park", "TCP input", "free")
    picture.text(112, 14, "softirq", "mid strong")
    picture.text(280, 14, "reader", "mid strong")
    picture.line([(196, 4), (196, 150)], "rule dash")
    for x, name in zip(where, names, strict=True):
        picture.text(x, 32, name, "mid small")
    for y, arm, changes in ((70.0, "before", (False, True, False, True)), (126.0, "after", (False, None, False, None))):
        picture.text(4, y + 4, arm, "strong")
        picture.line([(56, y), (350, y)], "rule")
        for x, change in zip(where, changes, strict=True):
            if change is None:
                picture.text(x, y - 10, "–", "mid quiet")
                continue
            picture.dot(x, y, 7, "c1" if change else "c0")
            picture.text(x, y + 22, "atomic" if change else "read", "mid small")
    picture.dot(12, 174, 6, "c1")
    picture.text(24, 178, "takes the line from every other core", "small")
    picture.dot(234, 174, 6, "c0")
    picture.text(246, 178, "wants a copy", "small")
    return picture


def packet_time(arms: Arms) -> Picture:
    """CPU time of one packet over all CPUs: in functions at the route's line, and elsewhere."""
    bars = [(arm, packet_us(run), at_the_line(run) / 100) for arm, run in zip(("before", "after"), arms, strict=True)]
    longest = max(us for _, us, _ in bars)
    said = "; ".join(f"{arm} the patch {us:.1f} µs, of which {us * part:.1f} there" for arm, us, part in bars)
    picture = Picture(116, f"Nearly all CPU time of a packet went to functions that visit the route's line ({said}).")
    for place, (arm, us, part) in enumerate(bars):
        y = 16.0 + 42 * place
        picture.text(4, y, arm, "strong")
        picture.text(356, y, f"{us:.1f} µs of CPU time a packet", "end")
        whole = 352 * us / longest
        picture.box(4, y + 5, whole * part, 16, "c1", 0)
        picture.box(4 + whole * part, y + 5, whole * (1 - part), 16, "c0", 0)
    picture.box(4, 96, 11, 11, "c1", 0)
    picture.text(19, 106, "functions at the route's line", "small")
    picture.box(196, 96, 11, 11, "c0", 0)
    picture.text(211, 106, "everything else", "small")
    return picture
