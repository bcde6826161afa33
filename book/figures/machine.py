"""Pictures of the page on the machine: topology, a line's owner, hand-over times, contention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Final

from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim import contention as published
from sim import counting
from sim.machine import Machine, load
from widgets import line_program

_WORDS: Final = {
    "atomic_add": "atomic add",
    "cas_loop": "compare-and-swap loop",
    "mutex": "mutex",
    "ticket_lock": "ticket lock",
    "queued_lock": "queued lock",
    "private_add": "private counters",
    "private_cas": "private compare-and-swap",
    "blocking_lock": "blocking lock",
}
#: Processors whose hand-over stands in for that of one of the machines.
_STAND_INS: Final = {
    "core-i7-6700k": "Core i7-6700K (Skylake client)",
    "raspberry-pi-4": "Raspberry Pi 4 (Cortex-A72)",
}


def topology(name: str, sibling_ns: float, same_ns: float, other_ns: float) -> Picture:
    """Two sockets with cores and their caches; the three distances that a line can travel."""
    picture = Picture(
        258,
        f"A line that moves between two threads of one core costs {sibling_ns:.1f} ns on {name}, between "
        f"cores of one socket {same_ns:.0f} ns, between sockets {other_ns:.0f} ns: distance sets the price.",
    )
    for socket in range(2):
        left = 6 + 180 * socket
        picture.box(left, 22, 168, 150, "box", 8)
        picture.text(left + 8, 17, f"socket {socket}", "strong")
        for core in range(2):
            x = left + 8 + 78 * core
            picture.box(x, 32, 72, 84, "wash")
            picture.text(x + 36, 48, f"core {2 * socket + core}", "mid")
            for thread in range(2):
                picture.box(x + 6 + 31 * thread, 55, 28, 20, "box", 3)
                picture.text(x + 20 + 31 * thread, 69, f"{4 * socket + 2 * core + thread}", "mid small")
            picture.box(x + 6, 82, 59, 26, "box", 3)
            picture.text(x + 36, 99, "L1, L2", "mid small")
        picture.box(left + 8, 124, 150, 22, "wash")
        picture.text(left + 83, 139, "last-level cache", "mid small")
        picture.text(left + 83, 164, "memory of the node", "mid small quiet")
    picture.line([(174, 135), (186, 135)], "l1")
    rows = (
        ("c2", "same core", f"{sibling_ns:.1f} ns"),
        ("c0", "other core, same socket", f"{same_ns:.0f} ns"),
        ("c1", "other socket", f"{other_ns:.0f} ns"),
    )
    for place, (kind, words, time) in enumerate(rows):
        y = 198 + 22 * place
        picture.dot(14, y - 4, 4, kind)
        picture.text(26, y, words)
        picture.text(352, y, time, "end strong")
    return picture


def ownership(same_ns: float) -> Picture:
    """Three steps of a counter that two cores add to in turn."""
    picture = Picture(
        330,
        "A counter that two cores update in turn crosses between their caches at every update; "
        f"each crossing costs about {same_ns:.0f} ns, the addition itself a few.",
    )
    steps = (
        ("1  Core A adds: the line is its own", "Modified", "Invalid", 0),
        ("2  Core B adds: the line must come over", "Invalid", "Modified", 1),
        ("3  Core A adds again: back it goes", "Modified", "Invalid", -1),
    )
    for place, (title, state_a, state_b, way) in enumerate(steps):
        y = 18 + 108 * place
        picture.text(4, y, title, "strong")
        for x, core, state, in ((4, "core A", state_a), (226, "core B", state_b)):
            picture.box(x, y + 10, 130, 64, "wash" if state == "Modified" else "box", 6)
            picture.text(x + 65, y + 28, core, "mid")
            picture.text(x + 65, y + 48, f"counter: {place + 1}" if state == "Modified" else "no valid copy",
                         "mid small")
            picture.text(x + 65, y + 65, state, "mid small quiet")
        if way == 1:
            picture.arrow(138, y + 42, 222, y + 42)
        elif way == -1:
            picture.arrow(222, y + 42, 138, y + 42)
        picture.text(180, y + 32, f"{same_ns:.0f} ns" if way else "no travel", "mid small")
    return picture


def handovers(machines: Sequence[Machine]) -> Picture:
    """One-way hand-over of a line on each machine in ns, as bars; a dash where it has no such neighbour."""
    rows = [(handed_over_on(m) or m.title.partition(")")[0] + ")", *distances(m)) for m in machines]
    ratios = [far / near for _, _, near, far in rows if far]
    picture = Picture(
        30 + 58 * len(rows),
        f"On the two-socket machines shown, a line from the other socket costs {min(ratios):.1f} to "
        f"{max(ratios):.1f} times as much as one from a core of the same socket.",
    )
    longest = max(value for _, *values in rows for value in values if value)
    for place, (name, sibling, same, other) in enumerate(rows):
        y = 16 + 58 * place
        picture.text(4, y, name, "strong")
        bars = (("sibling", sibling, "c2"), ("same socket", same, "c0"), ("other socket", other, "c1"))
        for step, (words, value, kind) in enumerate(bars):
            top = y + 5 + 14 * step
            picture.text(80, top + 10, words, "end small quiet")
            if value is None:
                picture.text(86, top + 10, "–", "small quiet")
                continue
            length = 225 * value / longest
            picture.box(86, top + 1, length, 11, kind, 2)
            picture.text(90 + length, top + 10, f"{value:.3g}", "small")
    picture.text(352, 22 + 58 * len(rows), "ns, one way", "end small quiet")
    return picture


def handed_over_on(machine: Machine) -> str:
    """The processor on which the hand-over of a line was measured, if it is another one; else an empty string."""
    return _STAND_INS.get(machine.constant("same_socket_ps").stand_in or "", "")


def distances(machine: Machine) -> tuple[float | None, float, float | None]:
    """Hand-over to the sibling, inside the socket, and between sockets, ns; None if there is no such CPU."""
    sibling, same, other = (
        machine.cost(name) / 1000 for name in ("sibling_ps", "same_socket_ps", "other_socket_ps")
    )
    topology = machine.topology
    return (
        sibling if topology.threads_per_core > 1 else None,
        same,
        other if topology.sockets > 1 else None,
    )


def words() -> dict[str, str]:
    """What the page's sentences quote, by name: measured and simulated times on the Skylake, ns an operation."""
    add = dict(published.measured("atomic_add", "skylake-client").ns)
    plain = dict(published.measured("private_add", "skylake-client").ns)[1]
    costs = counting.costs(load("skylake-client"))
    found = {
        "alone": f"{add[1]:.0f} ns", "beside": f"{add[2]:.0f} ns", "factor": f"{add[2] / add[1]:.0f}",
        "both": f"{add[2] / plain:.0f}", "model": f"{line_program.run('atomic', 2, costs) / 2:.0f}",
    }
    for way in ("ticket", "queued"):
        for threads in (2, 16):
            found[f"{way}-{threads}"] = f"{line_program.run(way, threads, costs):,.0f} ns"
        for outside_ns in (3_400, 4_500):
            found[f"lab-{way}-{outside_ns}"] = f"{100 * _unhindered(way, 16, outside_ns):.0f} %"
    return found


def _unhindered(way: str, cpus: int, outside_ns: int) -> float:
    """Counts under a lock held for 100 ns on the default machine, as a share of what CPUs make that never wait."""
    default = load("cascade-lake")
    inside_ps, outside_ps = 100_000, 1000 * outside_ns
    found = counting.curve(way, (cpus,), counting.costs(default), inside_ps, outside_ps).rates[cpus].mean
    moved_ps = default.cost("same_socket_ps") + default.cost("atomic_ps")  # a lock that nobody holds still comes over
    return found * (outside_ps + inside_ps + default.cost("hit_ps") + moved_ps) / (1e6 * cpus)


def measured_curves(machine: str, operations: Sequence[str]) -> dict[str, dict[int, float]]:
    """Published times of some operations on the processor that a machine stands for, for `contention`."""
    return {_WORDS[name]: dict(published.measured(name, machine).ns) for name in operations}


def rate_table(machines: Sequence[str], operations: Sequence[str], threads: Sequence[int]) -> Table:
    """Published ns per operation for some numbers of threads, and million a second of all together."""
    rows = []
    for name in operations:
        for machine in machines:
            row = published.measured(name, machine)
            ns = dict(row.ns)
            cells = [f"{ns[n]:,.0f} ns, {1000 * n / ns[n]:.0f} M/s" if n in ns else None for n in threads]
            rows.append([f"{_WORDS[name]}, {row.processor}", *cells])
    return Table(
        "Time of one operation as a thread sees it, and the rate of all threads together",
        ["operation and processor", *_counts(threads)], rows,
    )


def model_table(machines: Sequence[str], threads: Sequence[int]) -> Table:
    """The engine, on a program of a few instructions, beside the published points."""
    rows = []
    for way, (label, operation) in line_program.WAYS.items():
        for machine in machines if operation else ():
            row = published.measured(operation, machine)
            cells: list[str | None] = []
            for count in threads:
                ns = dict(row.ns).get(count)
                if ns is None:
                    cells.append(None)
                    continue
                model = line_program.run(way, count, counting.costs(load(machine)))
                cells.append(f"{ns:,.0f} / {model:,.0f} ({100 * (model - ns) / ns:+.0f} %)")
            rows.append([f"{label}, {row.processor}", *cells])
    return Table(
        "Nanoseconds per operation, measured / simulated (error of the simulation)",
        ["operation and processor", *_counts(threads)], rows,
    )


def ticket_table(machines: Sequence[str]) -> Table:
    """The factors of the ticket lock's hand-over on machines for which it was measured."""
    rows: list[Sequence[Cell]] = []
    for machine in machines:
        transfer_ps = load(machine).cost("same_socket_ps")
        fit = published.fit_ticket(machine, transfer_ps)
        counts = [str(n) for n, _ in fit.errors]
        other = handed_over_on(load(machine)).partition(" (")[0]
        time = f"{transfer_ps / 1000:.0f} ns" + (f", stand-in: {other}" if other else "")
        rows.append((
            published.measured("ticket_lock", machine).processor, time,
            f"{fit.ticket_permille / 1000:.3f}", f"{fit.waiter_permille / 1000:.3f}",
            f"{', '.join(counts[:-1])} and {counts[-1]} threads",
            f"{100 * max(abs(error) for _, error in fit.errors):.1f} %",
        ))
    return Table("The hand-over of a ticket lock: a line's time t, and the two fitted factors",
                 ["processor", "t", "a", "b", "fitted on", "largest error of the formula"], rows)


def _counts(threads: Sequence[int]) -> list[str]:
    return [f"{n} thread{'s' if n > 1 else ''}" for n in threads]


def constants_table(machine: Machine) -> Table:
    """Every constant of a machine with its standing and source."""
    return Table(
        f"Constants of {machine.title}",
        ["constant", "value", "unit", "standing", "where it comes from"],
        [(row["name"], row["value"], row["unit"], row["status"], row["source"]) for row in machine.table()],
        code=["constant"],
    )


def contention(title: str, curves: Mapping[str, Mapping[int, float]]) -> Picture:
    """Measured ns per operation against threads, both axes in powers, one curve an operation."""
    names = list(curves)
    threads = sorted({n for curve in curves.values() for n in curve})
    worst = max(curves.items(), key=lambda item: max(item[1].values()))
    first, last = min(worst[1]), max(worst[1])
    picture = Picture(
        300,
        f"{title}: the cost of one operation grows with the threads on the line; {worst[0]} goes from "
        f"{worst[1][first]:.0f} ns with {first} thread to {worst[1][last]:,.0f} ns with {last}.",
    )
    left, right, top, bottom = 46.0, 350.0, 34.0, 210.0
    top_power = int(log10(max(max(c.values()) for c in curves.values()))) + 1

    def x_of(n: int) -> float:
        return left + (right - left) * log10(n) / log10(threads[-1])

    def y_of(ns: float) -> float:
        return bottom - (bottom - top) * max(log10(ns), 0) / top_power

    picture.text(4, 16, f"{title}: ns per operation and thread", "strong")
    for power in range(top_power + 1):
        picture.line([(left, y_of(10**power)), (right, y_of(10**power))], "grid")
        picture.text(left - 5, y_of(10**power) + 4, f"{10**power:,}", "end small quiet")
    for n in threads:
        picture.text(x_of(n), bottom + 15, str(n), "mid small quiet")
    picture.text((left + right) / 2, bottom + 30, "threads on the line", "mid small quiet")
    for place, name in enumerate(names):
        points = [(x_of(n), y_of(ns)) for n, ns in sorted(curves[name].items())]
        picture.line(points, f"l{place % 4}" + (" dash" if place % 2 else ""))
        for x, y in points:
            picture.dot(x, y, 3, f"c{place % 4}")
        across, down = place % 2, place // 2
        picture.line([(10 + 176 * across, 262 + 20 * down), (34 + 176 * across, 262 + 20 * down)],
                     f"l{place % 4}" + (" dash" if place % 2 else ""))
        picture.text(40 + 176 * across, 266 + 20 * down, name, "small")
    return picture
