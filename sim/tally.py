"""The lab with a tally: which CPU polled, carried up and read how many packets, and which way each flow takes.

Counting a cell up costs a path program no time, so the tally is put into the lab's finished program and changes no
figure of it (a test holds that). It counts packets as they are on the wire: a GRO packet counts as its segments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.path.registers import CPU, FLOW, SKB, M, N
from sim.program import Instruction, Program
from sim.result import Result, Role
from sim.scenarios.lab import Lab
from sim.spec import Domain, Integer, Spec, Table

#: CPUs of the lab as it is on its own machine: the tally does not change their number.
CPUS: Final = 8
_COUNTER: Final = Integer(0, 1 << 40)
#: What is read after a run, by name: the table, the column, and whether it counts.
CELLS: Final[Mapping[str, tuple[str, str, bool]]] = {
    "queue": ("rss", "rxq", False),
    "interrupted": ("napi", "cpu", False),
    "by_hash": ("rps_flow", "by_hash", False),
    "by_reader": ("rps_flow", "by_reader", False),
    "arrived": ("tally flow", "arrived", True),
    "polled": ("tally", "polled", True),
    "carried": ("tally", "carried", True),
    "read_bytes": ("tally", "read_bytes", True),
}


class TalliedLab(Lab):
    """The lab, with roles for all CPUs and the cells of `CELLS`."""

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Write the lab's program, then put the tally into it."""
        super().compose(spec)
        p = spec.program
        by_cpu = spec.table("tally", _domain(spec, "cpu"), polled=_COUNTER, carried=_COUNTER, read_bytes=_COUNTER)
        by_flow = spec.table("tally flow", _domain(spec, "flow"), arrived=_COUNTER)
        skbs = table(spec, "sk_buff")

        def polled() -> None:
            p.add(by_cpu, "polled", 1, CPU)
            p.add(by_flow, "arrived", 1, FLOW)

        def carried() -> None:
            p.load(N, skbs, "segments", SKB)
            p.add(by_cpu, "carried", N, CPU)

        for at in reversed(counts(p, "packets")):
            insert(p, at + 1, polled)
        for at in reversed(counts(p, "bytes")):
            insert(p, at + 1, lambda: p.add(by_cpu, "read_bytes", M, CPU))
        insert(p, p.address("deliver_skb"), carried, jumpers=True)
        return [Role(f"CPU {i}", spec.values.value(i).row, "all that this CPU does") for i in range(CPUS)]


def insert(program: Program, at: int, write: Callable[[], None], jumpers: bool = False) -> None:
    """Put what `write` appends in front of the instruction at an address, under its symbol and key.

    Who falls through passes it; who jumps to the address does only with `jumpers`.
    """
    end = len(program.code)
    write()
    added: list[Instruction] = program.code[end:]
    del program.code[end:]
    there = program.code[at]
    program.code[at:at] = [replace(one, symbol=there.symbol, key=there.key) for one in added]
    for name, address in program.labels.items():
        if address > at or (address == at and not jumpers):
            program.labels[name] = address + len(added)


def counts(program: Program, stat: str) -> list[int]:
    """Addresses of the instructions that count a statistic. Raises ValueError if there is none."""
    found = [at for at, one in enumerate(program.code) if one.op == "COUNT" and one.words[0] == stat]
    if not found:
        raise ValueError(f"nothing in the program counts {stat!r}")
    return found


def table(spec: Spec, name: str) -> Table:
    """A table by name. Raises ValueError with the names there are."""
    found = next((one for one in spec.tables if one.name == name), None)
    if found is None:
        raise ValueError(f"no table {name!r}; there are {', '.join(one.name for one in spec.tables)}")
    return found


def _domain(spec: Spec, name: str) -> Domain:
    return next(one for one in spec.domains if one.name == name)


def cells(arena: Array, spec: Spec) -> dict[str, list[int]]:
    """All rows of the cells of `CELLS`, by name; a count since the run began."""
    out = {}
    for name, (where, column, _) in CELLS.items():
        one = table(spec, where)
        first = int(arena[arena[T.H_AT_SET] + one.number]) + one.column(column)
        rows = int(arena[arena[T.H_AT_VALUE] + one.domain.count.row])
        out[name] = [int(arena[first + len(one.columns) * i]) for i in range(rows)]
    return out


def rps_mask(rps_cpus: int, rps_place: str) -> int:
    """The CPUs that RPS spreads flows over, as the bit mask that the kernel's file ``rps_cpus`` holds."""
    first = {"last": CPUS, "first": 0, "other_socket": CPUS // 2}[rps_place]
    return ((1 << rps_cpus) - 1) << min(first, CPUS - rps_cpus)


@dataclass(frozen=True)
class Way:
    """The way of one flow: its receive queue, and the CPUs that poll, carry and read its packets."""

    queue: int
    polled: int
    carried: int
    read: int
    mpps: float


@dataclass(frozen=True)
class Work:
    """What one CPU did: packets polled and carried up the stack (Mpps), payload read (Gbit/s), time busy (%)."""

    polled_mpps: float
    carried_mpps: float
    read_gbps: float
    busy_pct: float


@dataclass(frozen=True)
class Map:
    """Ways of all flows and work of all CPUs in the run of the first seed, and the result over all seeds."""

    ways: tuple[Way, ...]
    work: tuple[Work, ...]
    result: Result


def run(lab: TalliedLab, seed: int = 1, replications: int = 3, **knobs: Any) -> Map:
    """Run the tallied lab. Raises KnobError and RunError as `Scenario.run` does."""
    engine = NativeEngine()
    arena = engine.build(lab.image(seed, **knobs))
    engine.run_until(arena, lab.warm_ps)
    before = cells(arena, lab.spec)
    result = lab.run(seed, replications, **knobs)
    _, arena = lab.replicate(engine, seed, **knobs)
    after = cells(arena, lab.spec)
    found = {
        name: [x - y for x, y in zip(after[name], before[name], strict=True)] if counter else after[name]
        for name, (_, _, counter) in CELLS.items()
    }
    us = (lab.until_ps - lab.warm_ps) / 1e6
    settings = lab.settings(**knobs)
    busy = result.replications[0].cpu
    return Map(
        tuple(
            Way(*way(found, flow, bool(settings["rfs"]), bool(settings["rps_cpus"])), found["arrived"][flow] / us)
            for flow in range(len(found["queue"]))
        ),
        tuple(
            Work(
                found["polled"][i] / us, found["carried"][i] / us, found["read_bytes"][i] * 8e-3 / us,
                busy[f"CPU {i}"],
            )
            for i in range(CPUS)
        ),
        result,
    )


def way(found: Mapping[str, Sequence[int]], flow: int, rfs: bool, rps: bool) -> tuple[int, int, int, int]:
    """Queue of a flow, and the CPUs that poll, carry and read its packets (RFS wins over RPS)."""
    queue = found["queue"][flow]
    polled = found["interrupted"][queue]
    carried = found["by_reader"][flow] if rfs else found["by_hash"][flow] if rps else polled
    return queue, polled, carried, found["by_reader"][flow]
