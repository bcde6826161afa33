"""The corpus: machines, programs and workloads drawn at random, sound by construction, that contend.

A case is drawn from a `random.Random`: from Hypothesis's own, so that a failing case shrinks, or from a seed.
Threads share locks and lines, queues are small enough to fill and to drain, agents raise vectors, CPUs
interrupt each other, contexts sleep and are woken, a few runs end in a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from sim.engine.jit import Array
from sim.engine.tables import QUEUED, TICKET
from sim.spec import Integer, Reference, Spec

from .blocks import Things
from .writer import Writer

KNOBS = ("flows", "packets", "patch", "spread", "room")

#: Sockets, cores of a socket, threads of a core: 1 to 8 CPUs.
TOPOLOGIES = (
    (1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2), (1, 4, 2), (2, 3, 1),
)


@dataclass(frozen=True)
class Slice:
    """A part of a run: so many instructions at most, up to so many ps from now (0: without end)."""

    steps: int
    within_ps: int = 0
    reset: bool = False  # begin the statistics again before it


@dataclass(frozen=True)
class Case:
    """A spec, its image at a setting of the knobs, and the slices in which it is run."""

    spec: Spec
    image: Array
    slices: tuple[Slice, ...]

    def listing(self) -> str:
        """The program, for the message of a test that fails."""
        labels = {address: name for name, address in self.spec.program.labels.items()}
        rows = enumerate(self.spec.program.code)
        return "\n".join(f"{i:4} {labels.get(i, ''):12} {x.op:7} {' '.join(x.words)}" for i, x in rows)


def draw(random: Random, topologies: Sequence[tuple[int, int, int]] = TOPOLOGIES) -> Case:
    """A case, on a machine of one of the topologies."""
    knobs = {
        "seed": random.randint(1, 1000),
        "trace_rows": random.choice((0, 0, 0, 1, 7, 64)),
        "flows": random.randint(1, 4),
        "packets": random.randint(4, 24),
        "patch": random.randint(0, 1),
        "spread": random.randint(0, 2),
        "room": random.randint(1, 4),
    }
    spec = Spec(knobs=KNOBS)
    cpus = _machine(spec, random, random.choice(topologies))
    threads = random.randint(1, 2 * cpus)
    agents = random.randint(1, 3)
    things = _things(spec, random, cpus, threads, agents)
    writer = Writer(spec, things, random)
    writer.write()
    return Case(spec, spec.image(knobs), _slices(random))


def _machine(spec: Spec, random: Random, topology: tuple[int, int, int]) -> int:
    """Costs of the size of real ones, some of them zero; how many CPUs there are."""
    sockets, cores, threads = topology
    any_of = random.choice
    spec.cost(
        sockets=sockets,
        cores_per_socket=cores,
        threads_per_core=threads,
        hit_ps=any_of((0, 1_000, 1_300)),
        sibling_ps=any_of((0, 5_000)),
        same_socket_ps=any_of((20_000, 47_000)),
        other_socket_ps=any_of((90_000, 111_111)),
        shared_read_ps=any_of((15_000, 20_001)),
        memory_ps=any_of((80_000, 90_000)),
        atomic_ps=any_of((0, 5_000, 7_500)),
        l2_lines=any_of((0, 2, 8, 40)),
        llc_lines=any_of((0, 5, 60)),
        smt_permille=any_of((1000, 1300, 1777)),
        ticket_permille=any_of((1000, 1300)),
        ticket_waiter_permille=any_of((0, 500, 333)),
        queued_permille=any_of((1000, 1500)),
        switch_ps=any_of((0, 300_000, 1_000_000)),
        idle_exit_ps=any_of((0, 200_000, 1_000_000)),
        chunk_ps=any_of((0, 10_000, 77_777)),
        slice_ps=any_of((0, 1_100_000, 3_000_000)),  # longer than a switch, else nobody gets anywhere
        ksoftirqd_after_ps=any_of((0, 200_000, 500_000)),
        ksoftirqd_slice_ps=any_of((500_000, 2_000_000)),
        ksoftirqd_blocks_irq=any_of((0, 1)),
    )
    return sockets * cores * threads


def _things(spec: Spec, random: Random, cpus: int, threads: int, agents: int) -> Things:
    """What the program works on: shared lines, locks on them, queues, tables."""
    knob = spec.values.knob
    one = spec.domain("one", 1)
    cpu = spec.domain("cpu", cpus)
    flow = spec.domain("flow", knob("flows"))
    packet = spec.domain("packet", knob("packets"))
    thread = spec.domain("thread", threads)
    shared = spec.struct("shared", one, {"lock": 0, "near": 0, "far": knob("spread")}, 3)
    socks = spec.struct("sock", flow, {"lock": 0, "near": 0, "far": knob("spread")}, knob("spread") + 1)
    softnet = spec.struct("softnet", cpu, {"lock": 0, "near": 1, "far": 0}, 2)
    kind = random.choice((TICKET, QUEUED))
    locks = [
        spec.spinlocks("softnet_lock", softnet, "lock", TICKET + QUEUED - kind),
        spec.spinlocks("sock_lock", socks, "lock", kind),
        spec.spinlocks("shared_lock", shared, "far", knob("patch")),
    ]
    room = knob("room")
    free = spec.queue("free", one, packet)
    ring = spec.queue("ring", cpu, packet, room)
    backlog = spec.queue("backlog", flow, packet, (room * 2).least(5))
    stash = spec.queue("stash", one, packet)
    spec.fill(free, knob("packets"))
    table = spec.table("sock_state", flow, bytes=Integer(), busy=Integer(), reader=Reference(thread, none=False))
    headers = spec.table("header", packet, length=Integer(0, 9000), flow=Reference(flow, none=False))
    spec.init(headers, "length", base=60, mod=1500, random=True)
    spec.init(headers, "flow", mod=knob("flows"), div=2)
    spec.init(table, "reader", base=0, mod=threads)
    return Things(
        cpus, threads, agents, knob("flows"), (shared, socks, softnet), tuple(locks),
        free, ring, backlog, stash, table, headers,
    )


def _slices(random: Random) -> tuple[Slice, ...]:
    """Slices of one instruction and of hundreds, some of them cut by time."""
    slices = []
    for _ in range(random.randint(3, 9)):
        steps = random.choice((1, 2, 7, random.randint(3, 60), random.randint(100, 1200)))
        within = random.choice((0, 0, 1, random.randint(1, 300_000), random.randint(1, 20_000_000)))
        slices.append(Slice(steps, within, reset=random.randint(0, 9) == 0))
    return (*slices, Slice(1500))
