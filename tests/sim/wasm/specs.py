"""Random sound specs for the engine: every construct of a path program, put together from a seed.

Sound by construction: rows are drawn below the size of their domain, a lock is released on the row it was
taken on, an item comes from the queue it was popped from. The locks are taken in any order, queues run empty
and full, so that deadlock and exhaustion occur among the results.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.engine import opcodes, tables
from sim.program import Program, Register
from sim.spec import Integer, Lines, Locks, Queue, Spec, Table

NAMES = ("item", "count", "row", "other", "who", "x", "y")
ITEM, COUNT, ROW, OTHER, WHO, X, Y = (Register(number, name) for number, name in enumerate(NAMES))
COSTS = {
    "hit_ps": 1_200,
    "sibling_ps": 3_000,
    "same_socket_ps": 45_000,
    "other_socket_ps": 130_000,
    "shared_read_ps": 20_000,
    "memory_ps": 90_000,
    "atomic_ps": 5_000,
    "smt_permille": 1_600,
    "ticket_permille": 1_000,
    "ticket_waiter_permille": 350,
    "queued_permille": 1_100,
    "switch_ps": 700_000,
    "idle_exit_ps": 300_000,
}


@dataclass
class Maker:
    """Writes one spec."""

    seed: int
    spec: Spec = field(default_factory=lambda: Spec(["extra"]))

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.program: Program = self.spec.program
        self.labels = 0

    def below(self, n: int) -> int:
        return int(self.rng.integers(n))

    def make(self) -> npt.NDArray[np.int64]:
        s = self.spec
        extra = s.values.knob("extra")
        sockets, cores, siblings = 1 + self.below(2), 1 + self.below(3), 1 + self.below(2)
        self.cpus = sockets * cores * siblings
        self.threads, self.agents = 1 + self.below(2 * self.cpus), self.below(4)
        self.size = 1 + self.below(4)
        rows, items = s.domain("rows", self.size), s.domain("items", 3 + extra)
        self.table: Table = s.table("cells", rows, a=Integer(), b=Integer())
        self.lines: Lines = s.struct("struct", rows, {"lock": 0, "near": 0, "far": extra % 2 + 1}, 3)
        kinds = (tables.TICKET, tables.QUEUED)
        self.locks: list[Locks] = [s.spinlocks(f"lock{k}", self.lines, "lock", kinds[k]) for k in range(2)]
        capacities = (1 + self.below(5), 1 << 30)
        self.queues: list[Queue] = [s.queue(f"queue{k}", rows, items, c) for k, c in enumerate(capacities)]
        s.fill(self.queues[1], 3 + extra)
        s.init(self.table, "a", 5, 1, 7, 3)
        s.init(self.table, "b", -2, 1, 100, 1, random=True)
        s.cost(sockets=sockets, cores_per_socket=cores, threads_per_core=siblings, **COSTS)
        s.cost(l2_lines=self.below(3) * 4, llc_lines=self.below(3) * 16, chunk_ps=self.below(2) * 400_000)
        s.cost(slice_ps=self.below(2) * 3_000_000, ksoftirqd_after_ps=self.below(2) * 2_000_000)
        s.cost(ksoftirqd_slice_ps=1_000_000, ksoftirqd_blocks_irq=self.below(2))
        self.vectors = [s.vector(f"softirq{k}") for k in range(2)]
        for k in self.vectors:
            self.body(f"softirq{k}", 3, opcodes.END)
        self.body("subroutine", 2, opcodes.RET)
        self.body("thread", 8, opcodes.JUMP)
        self.body("agent", 5, opcodes.JUMP, agent=True)
        s.spawn_threads("threads", "thread", self.threads, 0, 1, self.cpus, 1)
        s.spawn_agents("agents", "agent", self.agents, 1_000, 70_000)
        trace_rows, seed = self.below(2) * 16, self.below(1 << 30)
        return s.image({"extra": self.below(6), "seed": seed, "trace_rows": trace_rows})

    def body(self, name: str, parts: int, last: int, agent: bool = False) -> None:
        p = self.program
        p.label(name)
        with p.symbol(name):
            for _ in range(parts):
                p.uniform(ROW, self.size)
                p.uniform(OTHER, self.size)
                self.part(name, agent)
            p.work(1_000 + self.below(900_000), by=COUNT, fs=200, copy=not agent)
            {opcodes.END: p.end, opcodes.RET: p.ret, opcodes.JUMP: lambda: p.jump(name)}[last]()

    def part(self, name: str, agent: bool) -> None:
        choices = [self.arithmetic, self.cells, self.pass_on, self.look, self.skip, self.signal]
        if not agent:
            choices += [self.touch, self.touch, self.locked, self.locked, self.repeat]
        if name == "thread":
            choices += [self.subroutine, self.rest]
        choices[self.below(len(choices))]()

    def fresh(self) -> str:
        self.labels += 1
        return f"at{self.labels}"

    def arithmetic(self) -> None:
        p, fn = self.program, opcodes.ALU_FUNCTIONS[self.below(10)]
        p.now(X)
        p.exponential(Y, 5_000)
        p.alu(X, X, fn, Y if self.below(2) else 1 + self.below(99))
        p.alu(X, X, "%", 1_000)
        p.count("total", X)

    def cells(self) -> None:
        p = self.program
        p.load(Y, self.table, "ab"[self.below(2)], ROW)
        p.add(self.table, "a", 1 + self.below(9), ROW)
        p.store(self.table, "b", X, OTHER)

    def pass_on(self) -> None:
        p, empty, full = self.program, self.fresh(), self.fresh()
        source, to = self.queues[self.below(2)], self.queues[self.below(2)]
        p.pop(source, ITEM, ROW, empty=empty)
        p.set(COUNT, ITEM)
        p.push(to, ITEM, OTHER, full=full, front=bool(self.below(2)))
        p.jump(empty)
        p.label(full)
        p.push(self.queues[1], ITEM, OTHER)
        p.label(empty)
        p.count("passes")

    def look(self) -> None:
        p, empty = self.program, self.fresh()
        p.qlen(self.queues[self.below(2)], Y, ROW)
        p.peek(self.queues[1], X, OTHER, empty=empty if self.below(12) else None)
        if self.below(3) == 0:
            p.splice(self.queues[self.below(2)], self.queues[1], ROW, OTHER)
        p.label(empty)

    def skip(self) -> None:
        p, to = self.program, self.fresh()
        p.branch(Y, opcodes.CONDITIONS[self.below(6)], X if self.below(2) else 3, to)
        with p.where(self.spec.values.knob("extra").above(2), "extra"):
            p.count("extra", 2)
        p.label(to)

    def signal(self) -> None:
        p = self.program
        p.uniform(WHO, self.cpus)
        p.raise_(self.vectors[self.below(2)], self.below(500_000), WHO)
        p.uniform(WHO, self.threads)
        p.wake_thread(WHO, self.below(90_000))
        if self.agents:
            p.uniform(WHO, self.agents)
            p.wake_agent(WHO, self.below(90_000))

    def touch(self) -> None:
        p, access = self.program, self.below(3)
        (p.read, p.write, p.atomic)[access](self.lines, ("near", "far")[self.below(2)], ROW)

    def locked(self) -> None:
        p, locks = self.program, self.locks[self.below(2)]
        p.lock(locks, ROW)
        p.work(self.below(200_000))
        if self.below(8) == 0:  # now and then two, in any order
            p.lock(self.locks[0] if locks is self.locks[1] else self.locks[1], OTHER)
            p.write(self.lines, "far", OTHER)
            p.unlock(self.locks[0] if locks is self.locks[1] else self.locks[1], OTHER)
        p.write(self.lines, "near", ROW)
        p.unlock(locks, ROW)

    def repeat(self) -> None:
        p, again = self.program, self.fresh()
        p.set(COUNT, 1 + self.below(5))
        p.label(again)
        p.work(self.below(30_000))
        p.loop(COUNT, again)

    def subroutine(self) -> None:
        self.program.call("subroutine")

    def rest(self) -> None:
        p = self.program
        (p.sleep, p.yield_, p.sleep)[self.below(3)]()
        if self.below(30) == 0:
            p.halt()


def image(seed: int) -> npt.NDArray[np.int64]:
    """The image of the spec that `seed` makes."""
    return Maker(seed).make()
