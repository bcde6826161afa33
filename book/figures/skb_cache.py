"""Tables and pictures of the chapter on the one sk_buff that a socket keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from book.figures.early_demux import span
from book.figures.program import excerpt
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.path.slab import ALIEN_LIMIT
from sim.result import Result
from sim.scenarios.scenario import Scenario
from sim.validate import RATE

NEITHER: Final = {"rx_skb_cache": 0, "tx_skb_cache": 0}
BOTH: Final = {"rx_skb_cache": 1, "tx_skb_cache": 1}
ARMS: Final = {
    "neither": NEITHER, "receive cache": {**NEITHER, "rx_skb_cache": 1},
    "transmit cache": {**NEITHER, "tx_skb_cache": 1}, "both": BOTH,
}
UNTIL_PS: Final = 3_600_000_000  # 0.6 ms after the warm-up: about 5,000 requests, and 112 CPUs are slow to simulate
ALIEN_LOCKS: Final = 6  # of three caches and two giving nodes
REPORTED_GAIN: Final = 100 * (9 / 8 - 1)  # percent; the message gives 8 and 9 Mpps


def quick(scenario: Scenario, replications: int = 1, **knobs: Any) -> Result:
    """A short run."""
    return scenario.run(replications=replications, until_ps=UNTIL_PS, **knobs)


def quartet(scenario: Scenario, replications: int = 3, **knobs: Any) -> dict[str, Result]:
    """Neither cache, either, and both."""
    return {name: quick(scenario, replications, **{**knobs, **arm}) for name, arm in ARMS.items()}


def spinning(run: Result) -> float:
    """CPUs that spin for locks at any time."""
    return float(run.metrics["lock_wait"].mean / 100)


def gain(before: Result, after: Result) -> float:
    """Change of the rate, percent."""
    return float(100 * (after.metrics["mpps"].mean / before.metrics["mpps"].mean - 1))


def visit_wait_ns(run: Result) -> float:
    """Mean wait of a visit to an alien lock, nanoseconds."""
    visits_us = run.metrics["alien_frees"].mean * run.metrics["mpps"].mean
    return float(1000 * run.metrics["alien_wait"].mean / 100 / visits_us) if visits_us else 0.0


def section_ns(run: Result) -> float:
    """How long a visit holds an alien lock, if visitors come at random and wait as long as they do, nanoseconds.

    The pencil's formula turned round: W = S / (T - S) * S / 2 with a visit to each lock every T.
    """
    wait, every = visit_wait_ns(run), 1000 * ALIEN_LOCKS / (run.metrics["alien_frees"].mean * run.metrics["mpps"].mean)
    return math.sqrt(wait * wait + 2 * wait * every) - wait


def words(runs: Mapping[str, Result], figures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the chapter's sentences quote, by name: of the four programs, and of the thread's rows."""
    neither, both = runs["neither"], runs["both"]
    quoted = {
        f"skb-{name.split()[0]}-mpps": f"{run.metrics['mpps'].mean:.2f}" for name, run in runs.items()
    }
    for name, run in runs.items():
        quoted[f"skb-{name.split()[0]}-gain"] = f"{gain(neither, run):+.1f} %"
    quoted["skb-lines-saved"] = (
        f"{neither.metrics['transfers_per_packet'].mean - both.metrics['transfers_per_packet'].mean:.0f}"
    )
    quoted["skb-spin-neither"] = f"{spinning(neither):.1f}"
    quoted["skb-spin-share"] = f"{100 * spinning(neither) / 112:.0f} %"
    loss = next(row for row in figures if row["figure"].startswith("loopback, the receive cache"))
    quoted["skb-loopback-change"] = f"{loss['simulated']:+.0f} %"
    quoted["skb-loopback-short"] = f"{abs(loss['error_points']):.0f} points"
    rate = next(row for row in figures if row["figure"] == "requests after the two patches")
    quoted["skb-rate-error"] = f"{abs(rate['error_pct']):.0f} %"
    full = next(row for row in figures if row["figure"] == "requests, both patches gain")
    quoted["skb-full-gain"] = f"{full['simulated']:+.1f} %"
    quoted["skb-gain-part"] = f"{100 * full['simulated'] / REPORTED_GAIN:.0f} %"
    quoted["skb-gain-part-words"] = f"{100 * full['simulated'] / full['reported']:.0f} %"
    quoted["skb-visit-wait"] = f"{visit_wait_ns(neither):.0f} ns"
    quoted["skb-visit-section"] = f"{round(section_ns(neither), -1):.0f} ns"
    quoted["skb-list-locks"] = f"{1000 * neither.metrics['list_locks'].mean:.0f}"
    quoted["skb-drains"] = f"{1000 * neither.metrics['alien_frees'].mean / ALIEN_LIMIT:.0f}"
    quoted["skb-rule"] = f"{100 * RATE:.0f} %"
    return quoted


def arms(runs: Mapping[str, Result], caption: str) -> Table:
    """Rates of the four programs, and what their allocators do."""
    rows: list[list[Cell]] = []
    for name, run in runs.items():
        m = run.metrics
        rows.append([
            name, span(m["mpps"], 2), f"{gain(runs['neither'], run):+.1f}", f"{m['alien_frees'].mean:.2f}",
            f"{1000 * m['list_locks'].mean:.0f}", f"{spinning(run):.1f}", f"{m['transfers_per_packet'].mean:.1f}",
        ])
    columns = ["caches", "M requests/s (95 % interval)", "change, %", "alien frees a request",
               "list locks a thousand requests", "CPUs that spin", "hand-overs a request"]
    return Table(caption, columns, rows)


def allocators(scenario: Scenario, slab: Mapping[str, Result]) -> Table:
    """Both allocators with neither and both caches: the first as already run, the second in one run each."""
    slub = {name: quick(scenario, allocator="slub", **ARMS[name]) for name in ("neither", "both")}
    rows: list[list[Cell]] = []
    for name, runs in (("SLAB", slab), ("SLUB", slub)):
        before, after = runs["neither"], runs["both"]
        m = before.metrics
        rows.append([
            name, f"{m['mpps'].mean:.2f}", f"{after.metrics['mpps'].mean:.2f}", f"{gain(before, after):+.1f}",
            f"{m['alien_frees'].mean + m['remote_frees'].mean:.1f}", f"{1000 * m['list_locks'].mean:.0f}",
            f"{spinning(before):.1f}",
        ])
    columns = ["allocator", "neither, M requests/s", "both, M requests/s", "gain, %",
               "objects freed far from home, a request", "list locks a thousand requests", "CPUs that spin"]
    return Table("Two allocators; the last three columns without caches", columns, rows)


def knee(
    scenario: Scenario, runs: Mapping[str, Result], added_ns: Sequence[int]
) -> list[tuple[int, Result, Result]]:
    """Neither cache with longer sections, beside both caches, which never enter one: a run each."""
    both = runs["both"]
    points = [(0, runs["neither"], both)]
    points += [(ns, quick(scenario, lock_section_ns=ns, **NEITHER), both) for ns in added_ns]
    return points


def crossing(
    points: Sequence[tuple[int, Result, Result]], wanted: float = REPORTED_GAIN
) -> tuple[float, float] | None:
    """Between two points: the time added at which the gain is as wanted (percent), and the rate without caches."""
    gains = [(ns, gain(a, b), a.metrics["mpps"].mean) for ns, a, b in points]
    for (low, below, fast), (high, above, slow) in pairwise(gains):
        if below <= wanted <= above:
            part = (wanted - below) / (above - below)
            return low + (high - low) * part, fast + (slow - fast) * part
    return None


def knee_words(points: Sequence[tuple[int, Result, Result]], wanted: float = REPORTED_GAIN) -> dict[str, str]:
    """What the chapter's sentences quote of the point where the gain is as wanted."""
    gains = [gain(without, both) for _, without, both in points]
    quoted = {"skb-knee-low": f"{gains[0]:.1f}", "skb-knee-high": f"{gains[-1]:.0f} %",
              "skb-knee-most": f"{points[-1][0]} ns"}
    found = crossing(points, wanted)
    if found is None:
        added = f"more than {points[-1][0]} ns" if gains[-1] < wanted else "nothing"
        return {**quoted, "skb-knee": added, "skb-knee-mpps": "–"}
    added_ns, mpps = found
    return {**quoted, "skb-knee": f"{round(added_ns, -1):.0f} ns", "skb-knee-mpps": f"{mpps:.1f}"}


def knee_table(points: Sequence[tuple[int, Result, Result]]) -> Table:
    """Rates, gains and waiting along the knee."""
    rows: list[list[Cell]] = [
        [f"{ns} ns", f"{a.metrics['mpps'].mean:.2f}", f"{b.metrics['mpps'].mean:.2f}", f"{gain(a, b):+.1f}",
         f"{visit_wait_ns(a):.0f}", f"{spinning(a):.1f}"]
        for ns, a, b in points
    ]
    columns = ["added to each section", "neither, M requests/s", "both, M requests/s", "gain, %", "wait of a visit, ns",
               "CPUs that spin"]
    return Table("Longer sections under the allocator's locks", columns, rows)


def knee_picture(points: Sequence[tuple[int, Result, Result]], reported_gain: float = REPORTED_GAIN) -> Picture:
    """The gain of both caches over the time added to each section, with the reported gain as a line."""
    gains = [(ns, gain(a, b)) for ns, a, b in points]
    most_ns, most = max(ns for ns, _ in gains), 5 * (1 + max(g for _, g in gains) // 5)
    found = crossing(points, reported_gain)
    where = f"is had at about {round(found[0], -1):.0f} ns" if found else "is not among them"
    picture = Picture(
        216,
        "The gain bends upwards as the locks fill: " + ", ".join(f"{g:.0f} % at {ns} ns added" for ns, g in gains)
        + f"; the reported {reported_gain:g} % {where}.",
    )

    def at(ns: float, percent: float) -> tuple[float, float]:
        return 40 + 306 * ns / most_ns, 178 - 150 * percent / most

    for percent in range(0, int(most) + 1, 5):
        picture.line([at(0, percent), at(most_ns, percent)], "grid")
        picture.text(34, at(0, percent)[1] + 4, str(percent), "end small quiet")
    for ns, _ in gains:
        picture.text(at(ns, 0)[0], 194, str(ns), "mid small quiet")
    picture.line([at(0, reported_gain), at(most_ns, reported_gain)], "l1 dash")
    picture.text(44, at(0, reported_gain)[1] - 5, f"reported: {reported_gain:g} %", "small")
    picture.line([at(*point) for point in gains], "l0")
    for point in gains:
        picture.dot(*at(*point), 3.5, "c0")
    picture.text(4, 14, "gain of both caches, %", "small")
    picture.text(346, 210, "added to each section, ns", "end small")
    return picture


def steered(scenario: Scenario) -> Table:
    """RPS on: the receive cache off, as shipped, and forced; the transmit cache is on throughout."""
    rows: list[list[Cell]] = []
    forms = {"off": {"rx_skb_cache": 0}, "on, as shipped": {}, "on, forced": {"force_rx_cache": 1}}
    for name, form in forms.items():
        m = quick(scenario, **{**BOTH, "rps_cpus": "all", **form}).metrics
        rows.append([name, f"{m['mpps'].mean:.3f}", f"{m['kept'].mean:.2f}", f"{m['alien_frees'].mean:.2f}",
                     f"{m['transfers_per_packet'].mean:.1f}"])
    columns = ["receive cache", "M requests/s", "kept a request", "alien frees a request", "hand-overs a request"]
    return Table("With RPS, transmit cache on: one run each, on the same seed", columns, rows)


def loopback(scenario: Scenario, windows: Sequence[int]) -> Table:
    """Bulk over loopback without and with the receive cache, and how much of it went into fresh pages."""
    rows: list[list[Cell]] = []
    for window in windows:
        knobs = {"workload": "loopback", "window_messages": window}
        off, on = (
            scenario.run(replications=1, until_ps=scenario.quick_ps, rx_skb_cache=key, **knobs) for key in (0, 1)
        )
        old, new = off.metrics["pair_mbps"].mean, on.metrics["pair_mbps"].mean
        fresh = [2 * run.metrics["loopback_pages"].mean for run in (off, on)]  # a block holds two messages
        rows.append([f"{window} message{'s' * (window > 1)}", f"{old:,.0f}", f"{new:,.0f}",
                     f"{100 * (new / old - 1):+.1f}", " / ".join(f"{share:.2f}" for share in fresh),
                     " / ".join(f"{spinning(run):.0f}" for run in (off, on))])
    columns = ["window", "without, Mbit/s a pair", "with", "change, %", "fresh pages for each byte, without / with",
               "CPUs that spin, without / with"]
    return Table("Bulk over loopback, 224 pairs on 112 CPUs: one run each", columns, rows)


def careless(scenario: Scenario) -> Scenario:
    """The scenario with a fault put in: the reader keeps a packet without asking whether one is kept already."""
    program = scenario.spec.program
    for at, instruction in enumerate(program.code):
        if instruction.op == "BRANCH" and "sk_eat_skb.free" in instruction.operands:
            program = program.replaced(at, op="WORK", operands=(0, None, 0, 0), words=("0", "0", "0"))
    scenario.spec.program = program
    return scenario


def eating(scenario: Scenario) -> str:
    """The part of the reader that disposes of a packet, as a listing; what was taken out leaves no trace."""
    lines = scenario.listing(tx_skb_cache=0).splitlines()
    start = next(at for at, line in enumerate(lines) if "LOAD    sock rx_cache flow other" in line)
    end = next(at for at, line in enumerate(lines) if line.startswith("sk_eat_skb.done"))
    return "\n".join(line for line in lines[start:end] if "WORK    0 0 0" not in line)


def taking(scenario: Scenario) -> str:
    """The part of softirq that takes the kept packet and frees it, as a listing."""
    return excerpt(scenario.listing(tx_skb_cache=0), "ep_poll_callback.10", "skb.alloc")


def unnoticed(right: Result, wrong: Scenario) -> Table:
    """A right and a wrong program under the benchmark of the thread, on the first of the right one's seeds."""
    runs = {"5.2's program": right, "the colleague's": quick(wrong, **BOTH)}
    rows: list[list[Cell]] = []
    for name, run in runs.items():
        m = run.replications[0].metrics
        rows.append([name, f"{m['mpps']:.4f}", f"{m['kept']:.4f}", f"{m['transfers_per_packet']:.4f}"])
    columns = ["program", "M requests/s", "kept a request", "hand-overs a request"]
    return Table("Requests and replies, one run each on the same seed", columns, rows)


def journeys() -> Picture:
    """Three objects of a request: where each is taken from the allocator and where it goes back, before and after."""
    picture = Picture(
        232,
        "Before the patches each of a request's three objects is taken from the allocator on one CPU and given back on "
        "another one; after them the request's sk_buff returns on the CPU that took it, and the reply's two are used "
        "again without the allocator.",
    )
    softirq, reader = 150, 296
    for x, name in ((softirq, "softirq's CPU"), (reader, "reader's CPU")):
        picture.text(x, 16, name, "mid strong")
    rows = (
        ("request, before", "l1", softirq, reader, "taken", "freed"),
        ("request, after", "l0", softirq, softirq, "taken and freed", ""),
        ("reply, before", "l1", reader, softirq, "taken", "freed"),
        ("reply, after", "l0", reader, reader, "used again", ""),
    )
    for place, (name, colour, start, end, first, last) in enumerate(rows):
        y = 40 + 46 * place
        solid = f"c{colour[1]}"
        picture.text(4, y + 4, name, "small")
        picture.dot(start, y, 5, solid)
        picture.text(start, y + 19, first, "mid small quiet")
        side = 1 if start == softirq else -1
        if start != end:
            picture.arrow(start + 8 * side, y, end - 9 * side, y, colour)
            picture.dot(end, y, 5, solid)
            picture.text(end, y + 19, last, "mid small quiet")
        else:
            far = softirq + reader - start - 4 * side
            picture.line([(start + 8 * side, y - 4), (far, y - 4), (far, y + 4)], colour)
            picture.arrow(far, y + 4, start + 9 * side, y + 4, colour)
    picture.text(4, 226, "Orange: two CPUs' lists, by way of a lock. Blue: one list, or none.", "small quiet")
    return picture
