"""Pictures and tables of the page on steering: who passes a packet on, how busy each CPU gets, what a request costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures.sampling import sampled
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from book.figures.threads import moved
from book.figures.verdicts import between
from book.figures.way import STATIONS, Way
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.machine import Machine
from sim.path import costs
from sim.result import Result
from sim.scenarios.lab import Lab
from sim.scenarios.scenario import Scenario

Settings = Mapping[str, int | str]
#: End of the page's runs. On a full CPU softirq and ksoftirqd take turns of milliseconds, and several must be counted.
LONG_PS: Final = 8_000_000_000
#: The stations that belong to polling (see `book.figures.way`).
POLLING: Final = ("interrupt", "poll the ring", "make an sk_buff", "GRO")

#: For one flow: which CPU polls, which runs the protocol, which reads, and what it takes to steer so.
WAYS: Final = (
    ("RSS alone", ["a", "a", "c"], "the NIC's hash picks the CPU"),
    ("RPS", ["a", "b", "c"], "the NIC's hash, then the kernel's"),
    ("RFS", ["a", "c", "c"], "the NIC's hash, then the reader's last CPU"),
    ("aRFS", ["c", "c", "c"], "the NIC has been told where the reader is"),
)


def ways() -> Picture:
    """One flow's packets under each kind of steering: poll, protocol, reader, and the hops between."""
    hops = {name: len(set(cpus)) - 1 for name, cpus, _ in WAYS}
    picture = Picture(
        28 + 74 * len(WAYS),
        "A packet changes its CPU " + ", ".join(f"{'never' if not n else 'once' if n == 1 else 'twice'} with {name}"
                                                for name, n in hops.items())
        + ": each kind of steering decides which of the three parts of the work share a CPU.",
    )
    kinds = {"a": "wash", "b": "box", "c": "warm"}
    for place, words in enumerate(("poll, GRO", "protocol", "reader")):
        picture.text(64 + 116 * place, 12, words, "mid small quiet")
    for row, (name, cpus, words) in enumerate(WAYS):
        y = 34 + 74 * row
        picture.text(4, y, name, "strong")
        picture.text(356, y, words, "end small quiet")
        for place, cpu in enumerate(cpus):
            x = 20 + 116 * place
            picture.box(x, y + 8, 88, 28, kinds[cpu], 6)
            picture.text(x + 44, y + 27, f"CPU {cpu}", "mid")
            if place:
                moved = cpus[place - 1] != cpu
                picture.arrow(x - 26, y + 22, x - 3, y + 22, "l1" if moved else "rule")
    return picture


def busy(scenario: Scenario, settings: Settings, seed: int = 1) -> list[float]:
    """Busy share of every CPU in percent, in a run on one seed."""
    _, arena = scenario.replicate(NativeEngine(), seed, LONG_PS, **settings)
    elapsed = int(arena[T.H_UNTIL]) - int(arena[T.H_RESET_TIME])
    return [100.0 * (1 - _idle(arena, cpu) / elapsed) for cpu in range(int(arena[T.H_CPUS]))]


def _idle(arena: Array, cpu: int) -> int:
    at = int(arena[T.H_AT_CPU]) + T.CPU_WORDS * cpu
    idle = int(arena[at + T.C_IDLE])
    if arena[at + T.C_STATE] == T.IDLE:
        idle += max(0, int(arena[T.H_UNTIL]) - int(arena[at + T.C_IDLE_SINCE]))
    return idle


def loads(shares: Mapping[str, Sequence[float]]) -> Picture:
    """Busy shares of all CPUs, a row of columns for each setting."""
    picture = Picture(
        92 * len(shares) + 16,
        "Busy CPUs: " + "; ".join(
            f"{name}: the busiest {max(s):.0f} %, the mean {sum(s) / len(s):.0f} %" for name, s in shares.items()
        ) + ". Steering is worth it while one CPU is full and others are not.",
    )
    for row, (name, all_of) in enumerate(shares.items()):
        y = 14 + 92 * row
        picture.text(4, y, name, "strong")
        picture.text(356, y, f"mean {sum(all_of) / len(all_of):.0f} %", "end small quiet")
        step = 344 / len(all_of)
        for cpu, share in enumerate(all_of):
            x, height = 8 + step * cpu, 44 * share / 100
            picture.box(x, y + 8, step - 6, 44, "box", 2)
            picture.box(x, y + 52 - height, step - 6, height, "warm" if share > 99 else "wash", 2)
            picture.text(x + step / 2 - 3, y + 66, f"{share:.0f} %", "mid small")
    return picture


def run(scenario: Scenario, settings: Settings, seeds: int = 3) -> Result:
    """A run that is long enough for a full CPU's turns."""
    return scenario.run(replications=seeds, until_ps=LONG_PS, **settings)


def change(before: Result, after: Result, metric: str = "transactions_per_s") -> str:
    """Change of a metric in percent with its 95 % interval, from runs on the same seeds, which are paired."""
    found = moved(before, after, metric)
    return f"{found.mean:+.1f} % ({found.low:+.1f} to {found.high:+.1f})"


def with_ipi(factor: float) -> Scenario:
    """The lab on its own machine, with interprocessor interrupts that cost so many times what is assumed."""
    assumed = {name: costs.COSTS[name].value for name in ("ipi_send_ps", "ipi_receive_ps")}
    return Lab(changes={name: round(factor * value) for name, value in assumed.items()})


def parts_us(run: Result) -> dict[str, float]:
    """Where the first queue's CPU spends its time, µs for one request, if only this CPU has a queue.

    ``poll`` is the driver, memory and GRO; ``rest`` what steering could move or has not moved.
    """
    whole = 1e4 * run.cpu["softirq"] / run.metrics["transactions_per_s"].mean
    polling: set[str] = set().union(*(names for title, names in STATIONS if title in POLLING))
    share = sum(percent for symbol, percent in run.profile("softirq").items() if symbol in polling)
    return {"whole": whole, "poll": whole * share / 100, "rest": whole * (1 - share / 100)}


def pencil_rps(parts: Mapping[str, float], leaves_us: float, cpus: int) -> dict[str, str]:
    """RPS to all CPUs on the bill of one queue, by name: the sum for a request in µs as it is written, and the rate.

    It is worked out from the numbers that the page prints, so that a reader gets the same.
    """
    poll, rest, leaves = (round(us, 2) for us in (parts["poll"], parts["rest"], leaves_us))
    whole = round(poll + leaves * (cpus - 1) / cpus + rest / cpus, 2)
    return {
        "rps-sum": f"{poll:.2f} + {cpus - 1}/{cpus} × {leaves:.2f} + {rest:.2f} / {cpus} = {whole:.2f} µs",
        "rps-pencil": f"{1 / whole:.2f}",
    }


def hop_us(way: Way) -> tuple[float, float]:
    """A hop of one packet alone, µs: on the CPU that it leaves, and on the one that it comes to."""
    work = {station.title: station.work_ns / 1000 for station in way.stations}
    return work["steer"], work["the other CPU's softirq"]


def requests(caption: str, runs: Mapping[str, Result], cpus: int) -> Table:
    """Answered requests, the CPU time of one with `cpus` full CPUs, and what moved for it."""
    rows: list[Sequence[Cell]] = []
    for name, found in runs.items():
        rate = found.metrics["transactions_per_s"]
        rows.append((
            name, f"{rate.mean / 1e6:.2f}", f"{rate.low / 1e6:.2f} to {rate.high / 1e6:.2f}", 1e6 * cpus / rate.mean,
            found.metrics["transfers_per_packet"].mean, found.metrics["ipis_per_s"].mean / rate.mean,
            found.metrics["interrupts_per_s"].mean / rate.mean,
        ))
    columns = ["setting", "M requests/s", "95 %", f"µs of {cpus} CPUs", "hand-overs", "IPIs", "interrupts"]
    return Table(f"{caption}, the last four columns for one request: {_extent(runs)}", columns, rows, digits=2)


def _extent(runs: Mapping[str, Result]) -> str:
    return sampled(next(iter(runs.values())), LONG_PS)


def streams(caption: str, runs: Mapping[str, Result]) -> Table:
    """Throughput and busy CPUs of streams."""
    rows: list[Sequence[Cell]] = []
    for name, found in runs.items():
        rate = found.metrics["gbps"]
        rows.append((name, f"{rate.mean:.1f}", between(rate.low, rate.high), found.cpu["softirq"], found.cpu["reader"],
                     found.metrics["transfers_per_packet"].mean))
    columns = ["setting", "Gbit/s", "95 %", "first queue's CPU, %", "first reader's CPU, %", "hand-overs a packet"]
    return Table(f"{caption}: {_extent(runs)}", columns, rows)


def mean_distance_ns(machine: Machine, cpus: int) -> float:
    """Mean cost of a hand-over between two different cores picked at random, on two sockets of `cpus` in all, ns."""
    near, far = (machine.cost(name) / 1000 for name in ("same_socket_ps", "other_socket_ps"))
    same = cpus // 2 - 1
    return (same * near + cpus // 2 * far) / (cpus - 1)


def wrong_lock(scenario: Scenario) -> Scenario:
    """The scenario with a fault put in: whoever queues a packet for another CPU takes the lock of its own queue."""
    program = scenario.spec.program
    first, end = program.address("netif_receive_skb"), program.address("net_rps_action_and_irq_enable")
    own = program.code[_first(scenario, "process_backlog", "LOCK")]
    changed: dict[str, Any] = {"operands": own.operands, "words": own.words}
    for at in range(first, end):
        code = program.code[at]
        if code.op in ("LOCK", "UNLOCK") and code.words[0] == "input_pkt_queue.lock":
            program = program.replaced(at, **changed)
    scenario.spec.program = program
    return scenario


def _first(scenario: Scenario, label: str, op: str) -> int:
    program = scenario.spec.program
    return next(at for at in range(program.address(label), len(program.code)) if program.code[at].op == op)
