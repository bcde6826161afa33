"""One packet's way through the machine, read off the trace of a run: stations, CPUs, times, lines.

With one flow of requests and replies only one packet is under way at a time, so everything between two arrivals
belongs to it. The stations are a reading of the kernel symbols that the program's instructions are charged to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from book.figures.sampling import sampled
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.engine.native import NativeEngine
from sim.machine import Machine
from sim.path.costs import COSTS
from sim.result import Result
from sim.scenarios.scenario import RunError, Scenario
from sim.trace import HERE, Row, Trace, Window, record

WINDOW_PS: Final = 200_000_000
#: By then every sk_buff has been used once. A run begins with a full cache of them that nobody has touched.
SETTLED_PS: Final = 40_000_000_000

#: Stations in the order of the path: title and the kernel symbols whose time belongs to them. Instructions of other
#: symbols, such as those of a spinlock, belong to the station in which they happen.
STATIONS: Final[tuple[tuple[str, frozenset[str]], ...]] = tuple((title, frozenset(names.split())) for title, names in (
    ("interrupt", "asm_common_interrupt"),
    ("poll the ring", "net_rx_action mlx5e_poll_rx_cq driver_rx_poll"),
    ("make an sk_buff", "napi_get_frags __alloc_skb rmqueue rmqueue_bulk skb_add_rx_frag"),
    ("GRO", "dev_gro_receive napi_gro_complete napi_gro_flush napi_complete_done"),
    ("steer", "netif_receive_skb_internal get_rps_cpu enqueue_to_backlog net_rps_action_and_irq_enable"),
    ("the other CPU's softirq", "smp_call_function_single_interrupt process_backlog"),
    ("IPv6, early demux", "ip6_rcv_core tcp_v6_early_demux"),
    ("TCP", "tcp_v6_rcv tcp_v6_do_rcv tcp_rcv_established"),
    ("receive queue", "tcp_queue_rcv"),
    ("wake the reader", "sock_def_readable"),
    ("recvmsg()", "lock_sock_nested tcp_recvmsg tcp_recvmsg_locked"),
    ("copy", "__skb_datagram_iter copy_user_enhanced_fast_string"),
    ("free", "sock_rfree tcp_eat_recv_skb __kfree_skb skb_release_data put_page free_unref_page"),
))

IPI_ENTRY_NS: Final = COSTS["ipi_receive_ps"].value / 1000
#: What a transaction takes in the pencil exercise.
PENCIL_US: Final = 40


class Event(NamedTuple):
    """An executed instruction: begin and duration in ns, who executed it, and how it found its cache line.

    `line` is True if it touched one, `away_ns` what it cost more than a line that is at hand.
    """

    at_ns: float
    took_ns: float
    kind: str
    cpu: int
    symbol: str
    op: str
    words: tuple[str, ...]
    line: bool
    away_ns: float


class Station(NamedTuple):
    """A part of the way. Times in ns; `lines` were visited, `fetched` of them were not at hand and took `fetch_ns`."""

    title: str
    kind: str
    cpu: int
    begin_ns: float
    wait_ns: float
    work_ns: float
    symbols: tuple[str, ...]
    lines: int
    fetched: int
    fetch_ns: float


class Way(NamedTuple):
    """From a packet's arrival in the ring to its free; `total_ns` is the time between them."""

    stations: tuple[Station, ...]
    total_ns: float

    @property
    def work_ns(self) -> float:
        """What CPUs executed for the packet."""
        return sum(s.work_ns for s in self.stations)

    @property
    def wait_ns(self) -> float:
        """What passed while no instruction was executed for it: moderation, idle states, interrupts, a switch."""
        return sum(s.wait_ns for s in self.stations)


def events(scenario: Scenario, start_ps: int, until_ps: int, **knobs: Any) -> list[Event]:
    """What is executed between two times. Raises RunError if the run ends earlier."""
    found = record(NativeEngine(), scenario.image(trace_rows=1, **knobs), Window(start_ps, until_ps))
    if found.status != "reached":
        raise RunError(f"{scenario.name}: {found.status} before {until_ps / 1e6:g} us")
    hit, atomic = (scenario.machine.cost(name) / 1000 for name in ("hit_ps", "atomic_ps"))
    return [_event(scenario, found, row, hit, atomic) for row in found.rows]


def _event(scenario: Scenario, found: Trace, row: Row, hit_ns: float, atomic_ns: float) -> Event:
    program = scenario.spec.program
    code = program.code[row.pc]
    home, took, line = found.homes[row.context], row.took_ps / 1000, row.line >= 0
    kind = "NIC" if home < 0 else "softirq" if row.context < found.cpus else "thread"
    near = hit_ns + atomic_ns * (code.op == "LOCK" or code.words[:1] == ("atomic",))
    away = max(0.0, took - near) if line and row.source != HERE else 0.0
    return Event(
        row.time_ps / 1000, took, kind, home, program.symbols[code.symbol], code.op, tuple(code.words), line, away
    )


def follow(scenario: Scenario, until_ps: int = SETTLED_PS, **knobs: Any) -> Way:
    """The way of the last packet that was received and freed before `until_ps`, with one flow of `tcp_rr`.

    Raises ValueError if the trace holds no whole way.
    """
    lone = {"socket": "tcp_rr", "flows": 1, "rx_queues": 1, "readers": 1, **knobs}
    executed = events(scenario, until_ps - WINDOW_PS, until_ps, **lone)
    starts = [i for i, e in enumerate(executed) if e.kind == "NIC" and e.op == "PUSH" and e.words[0] == "ring"]
    ends = [i for i, e in enumerate(executed) if e.op == "PUSH" and e.words[0] == "skbuff_head_cache"]
    whole = [(a, min(z for z in ends if z > a)) for a in starts if ends and a < ends[-1]]
    if not whole:
        raise ValueError(f"{scenario.name}: no packet's whole way lies within the last {len(executed)} instructions")
    first, last = whole[-1]
    return Way(_stations(executed[first : last + 1]), executed[last].at_ns - executed[first].at_ns)


def _stations(executed: Sequence[Event]) -> tuple[Station, ...]:
    """Group a packet's instructions: the next station begins with the first symbol that belongs to another one."""
    order = [title for title, _ in STATIONS]
    groups: list[tuple[str, list[Event]]] = []
    aside: dict[tuple[str, int], list[Event]] = {}  # what a context does between two stations of its own
    for event in executed:
        who = event.kind, event.cpu
        title = next((t for t, symbols in STATIONS if event.symbol in symbols), None)
        # a station that was left is not entered again: a look at an empty ring is no new poll
        if title is not None and (not groups or order.index(title) > order.index(groups[-1][0])):
            groups.append((title, [*aside.pop(who, ()), event]))
        elif groups and who == (groups[-1][1][-1].kind, groups[-1][1][-1].cpu):
            groups[-1][1].append(event)
        else:
            aside.setdefault(who, []).append(event)
    stations, end = [], executed[0].at_ns
    for title, group in groups:
        own = next(s for t, s in STATIONS if t == title)
        begin = group[0].at_ns
        work = sum(e.took_ns for e in group)
        stations.append(Station(
            title, group[0].kind, group[0].cpu, begin - executed[0].at_ns, max(0.0, begin - end), work,
            tuple(dict.fromkeys(e.symbol for e in group if e.symbol in own and e.took_ns)),
            sum(e.line for e in group), sum(e.away_ns > 0 for e in group), sum(e.away_ns for e in group),
        ))
        end = max(e.at_ns + e.took_ns for e in group)
    return tuple(stations)


def words(way: Way) -> dict[str, str]:
    """What the page's sentences quote, by name."""
    found = {
        "total": _time(way.total_ns), "work": _time(way.work_ns), "wait": _time(way.wait_ns),
        "waiting-share": f"{100 * way.wait_ns / way.total_ns:.0f} %",
        "lines": str(sum(s.lines for s in way.stations)), "fetched": str(sum(s.fetched for s in way.stations)),
        "fetching": _time(sum(s.fetch_ns for s in way.stations)),
    }
    for s in way.stations:
        found[s.title] = _time(s.work_ns)
    switch = next(s for s in way.stations if s.kind == "thread").wait_ns
    found["switch"] = _time(switch)
    found["switch-share"] = f"{100 * (way.wait_ns - switch) / way.total_ns:.0f} %"
    dear = [s.work_ns for s in way.stations if s.work_ns >= 950]
    found["cheap-work"] = _time(way.work_ns - sum(dear) - IPI_ENTRY_NS)
    found["thread"] = _time(sum(s.work_ns for s in way.stations if s.kind == "thread"))
    both_ways, saved = 2 * way.work_ns / 1000, way.work_ns / 1000 / PENCIL_US
    found |= {
        "pencil-work": f"{both_ways:.1f} µs", "pencil-share": f"{both_ways / PENCIL_US:.2f}",
        "pencil-saved": f"{100 * saved:.0f} %", "pencil-gain": f"{100 * saved / (1 - saved):.0f} %",
    }
    return found


def waits(machine: Machine) -> dict[str, str]:
    """What the page tells of a machine, by name."""
    told = {
        "idle": "idle_exit_ps", "ipi": "ipi_ps", "entry": "irq_ps", "waking": "wakeup_ps", "hit": "hit_ps",
        "moved": "same_socket_ps", "shared": "shared_read_ps", "memory": "memory_ps",
    }
    return {
        "ipi-entry": f"{IPI_ENTRY_NS / 1000:.1f} µs",
        **{name: _time(machine.cost(cost) / 1000) for name, cost in told.items()},
    }


def _time(ns: float) -> str:
    return f"{ns / 1000:.1f} µs" if ns >= 950 else f"{ns:.0f} ns"


def picture(way: Way) -> Picture:
    """The stations from top to bottom, each on the lane of who executes it; waiting is dashed."""
    lanes = _lanes(way)
    picture = Picture(
        54 + sum(34 + 16 * (s.wait_ns > 1) for s in way.stations),
        f"From wire to free one packet takes {_time(way.total_ns)}, of which CPUs work {_time(way.work_ns)} and "
        f"{_time(way.wait_ns)} pass in waiting for an interrupt, an idle CPU or a thread to start; the work is done "
        f"by {len(lanes) - 1} contexts on {len({s.cpu for s in way.stations})} CPUs.",
    )
    x_of = {lane: 14 + 26 * place for place, lane in enumerate(lanes)}
    names = [{"NIC": "NIC", "thread": "thread"}.get(kind, f"CPU {cpu}") for kind, cpu in lanes]
    for place, ((kind, _), name) in enumerate(zip(lanes, names, strict=True)):
        picture.text(x_of[kind, _], 12 if place % 2 else 24, name, "mid small")
    right, bottom = 14 + 26 * len(lanes), picture.height - 6
    for x in x_of.values():
        picture.line([(x, 30), (x, bottom)], "grid")
    at = (x_of[next(iter(lanes))], 36.0)
    picture.dot(*at, 4, "c3")
    picture.text(right, 40, "the NIC has written the packet", "small quiet")
    y = 40.0
    for station in way.stations:
        if station.wait_ns > 1:
            y += 16
            picture.text(right, y + 3, f"nobody works: {_time(station.wait_ns)}", "small quiet")
        y += 34
        here = (x_of[station.kind, station.cpu], y - 10)
        picture.line([at, here], "l1" + (" dash" if station.wait_ns > 1 else ""))
        picture.dot(*here, 5, "c2" if station.kind == "thread" else "c0")
        picture.text(right, y - 12, station.title, "strong")
        picture.text(356, y - 12, _time(station.work_ns), "end")
        shown = station.symbols[0] + (" …" if len(station.symbols) > 1 else "")
        picture.text(right, y + 2, shown, "small quiet")
        at = here
    return picture


def _lanes(way: Way) -> dict[tuple[str, int], None]:
    """Who executes something, in the order of the way, after the NIC."""
    return dict.fromkeys([("NIC", -1), *((s.kind, s.cpu) for s in way.stations)])


def table(way: Way) -> Table:
    """The same stations with their functions and their cache lines."""
    rows: list[Sequence[Cell]] = [
        (s.title, f"{s.cpu}, {s.kind}", ", ".join(s.symbols), _time(s.wait_ns) if s.wait_ns > 1 else None,
         _time(s.work_ns), s.lines, s.fetched, _time(s.fetch_ns) if s.fetched else None)
        for s in way.stations
    ]
    columns = ["station", "CPU", "kernel functions", "waits before", "work", "lines visited", "fetched", "fetching"]
    return Table("One packet, from the interrupt to its free", columns, rows, code=["kernel functions"])


def busy_ns(run: Result) -> dict[str, float]:
    """Nanoseconds of each role's CPU for one packet of a run."""
    return {role: 10 * share / run.metrics["mpps"].mean for role, share in run.cpu.items()}


def in_company(alone: Way, runs: Mapping[str, Result]) -> Table:
    """What one packet costs alone and in streams: ns of both CPUs."""
    split = {kind: sum(s.work_ns for s in alone.stations if s.kind == kind) for kind in ("softirq", "thread")}
    rows: list[Sequence[Cell]] = [("one packet alone", None, 1.0, split["softirq"], split["thread"], alone.work_ns)]
    for name, run in runs.items():
        spent = busy_ns(run)
        rows.append((name, f"{run.metrics['mpps'].mean:.2f}", run.metrics["gro_segments"].mean, *spent.values(),
                     sum(spent.values())))
    columns = ["setting", "M packets/s", "segments a GRO packet", "softirqs, ns", "reader, ns", "together, ns"]
    extent = sampled(next(iter(runs.values())))
    return Table(f"Time of CPUs for one packet; of each stream {extent}", columns, rows, digits=0)
