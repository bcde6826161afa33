"""Blocks: the parts that the corpus's programs are made of, each sound by construction.

A lock is taken only after locks of a lower rank, and released in the block that took it; a packet that was
taken from a queue is put on another one in the same block; no block is left by a jump. So whatever is drawn
is a program that the verifier accepts, unless it is one that is meant to end in a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from sim.expression import Number
from sim.program import Register
from sim.spec import Lines, Locks, Queue, Spec, Table

NAMES = ("packet", "flow", "cpu", "number", "count", "thread", "amount", "agent", "rounds", "target")
PACKET, FLOW, CPU, NUMBER, COUNT, THREAD, AMOUNT, AGENT, ROUNDS, TARGET = (
    Register(i, name) for i, name in enumerate(NAMES)
)
OWN_CPU = Register(15, "own_cpu")
SOFTIRQ, THREADS, AGENTS = "softirq", "thread", "agent"
NO_LOCK = -1
ALL_LOCKS = 9  # above every rank: no further lock may be taken


@dataclass(frozen=True)
class Things:
    """What a program of the corpus works on."""

    cpus: int
    threads: int
    agents: int
    flows: Number
    lines: tuple[Lines, Lines, Lines]
    locks: tuple[Locks, ...]
    free: Queue
    ring: Queue
    backlog: Queue
    stash: Queue
    socks: Table
    headers: Table


class Blocks:
    """Writes blocks into a spec's program. Its routines are subroutines by the kind of context that may call them."""

    def __init__(self, spec: Spec, things: Things, random: Random) -> None:
        self.spec = spec
        self.p = spec.program
        self.things = things
        self.random = random
        self.routines: dict[str, list[str]] = {kind: [] for kind in (SOFTIRQ, THREADS, AGENTS)}
        self.rows = {"one": None, "cpu": CPU, "flow": FLOW}

    # -- blocks -------------------------------------------------------------------------------------------

    def body(self, kind: str, rank: int, size: int) -> None:
        blocks: list[Callable[[str, int], None]] = [
            self.compute, self.draw, self.reckon, self.cells, self.branch, self.key, self.loop,
            self.look, self.move, self.move, self.wake, self.interrupt, self.splice,
        ]
        if kind != AGENTS:
            blocks += [self.touch, self.touch, self.touch, self.section, self.section, self.section]
        if kind == THREADS and rank == NO_LOCK:
            blocks += [self.pause]
        if rank == NO_LOCK and self.routines[kind]:
            blocks += [self.call, self.call]
        for _ in range(self.random.randint(1, size)):
            self.random.choice(blocks)(kind, rank)

    def compute(self, kind: str, rank: int) -> None:
        ps = self.random.choice((0, 777, 40_000, 150_000))
        if self.random.randint(0, 2):
            self.p.work(ps)
        else:
            self.amount()
            self.p.work(ps, AMOUNT, self.random.choice((0, 33_333, 90_001)), copy=kind != AGENTS)

    def draw(self, kind: str, rank: int) -> None:
        self.any_flow()
        self.any_cpu()
        if self.random.randint(0, 1):
            self.p.uniform(NUMBER, self.random.choice((1, 100, 1 << 30)))
        else:
            self.p.exponential(NUMBER, 50)

    def reckon(self, kind: str, rank: int) -> None:
        p = self.p
        fn = self.random.choice(("+", "-", "*", "//", "%", "min", "max", "&", "|", "^", "<<", ">>"))
        if fn in ("<<", ">>"):
            p.alu(NUMBER, NUMBER, fn, self.random.randint(0, 3))
        elif fn in ("//", "%"):
            p.alu(NUMBER, NUMBER, fn, self.random.randint(1, 9))
        else:
            p.alu(NUMBER, NUMBER, fn, self.random.choice((COUNT, -2, 5)))
        p.alu(NUMBER, NUMBER, "%", 1009)  # keeps it small
        if self.random.randint(0, 1):
            p.now(AMOUNT)
            p.alu(AMOUNT, AMOUNT, "%", 2000)
            p.count("seen", NUMBER)
        else:
            p.count("passed")

    def cells(self, kind: str, rank: int) -> None:
        p, socks = self.p, self.things.socks
        if self.random.randint(0, 1):
            p.add(socks, "bytes", NUMBER, FLOW)
            p.load(AMOUNT, socks, "bytes", FLOW)
            p.alu(AMOUNT, AMOUNT, "&", 2047)
        else:
            p.store(socks, "busy", self.random.choice((NUMBER, 1)), FLOW)
            p.add(socks, "busy", 3)

    def branch(self, kind: str, rank: int) -> None:
        end = self.p.fresh("over")
        cond = self.random.choice(("==", "!=", "<", "<=", ">", ">="))
        self.p.branch(NUMBER, cond, self.random.choice((COUNT, 0, 10)), end)
        self.light(kind)
        self.p.label(end)

    def key(self, kind: str, rank: int) -> None:
        knob = self.spec.values.knob
        key = self.random.choice((self.p.when, self.p.unless))
        with key("patch") if self.random.randint(0, 1) else self.p.where(knob("spread").above(1), "spread > 1"):
            self.light(kind)

    def loop(self, kind: str, rank: int) -> None:
        again = self.p.fresh("loop")
        self.p.set(COUNT, self.random.randint(1, 4))
        self.p.label(again)
        self.light(kind)
        self.p.loop(COUNT, again)

    def look(self, kind: str, rank: int) -> None:
        queue = self.queue()
        self.p.qlen(queue, NUMBER, self.row(queue))
        end = self.p.fresh("empty")
        self.p.peek(queue, PACKET, self.row(queue), end)
        self.p.load(AMOUNT, self.things.headers, "length", PACKET)
        self.p.label(end)

    def move(self, kind: str, rank: int) -> None:
        """A packet from one queue to another, sometimes under a lock."""
        source, to = self.queue(), self.queue()
        if kind == AGENTS or rank >= 1 or self.random.randint(0, 1):
            self.carry(source, to, kind)
        else:
            lock = self.things.locks[1]
            self.p.lock(lock, FLOW)
            self.carry(source, to, kind)
            self.p.unlock(lock, FLOW)

    def carry(self, source: Queue, to: Queue, kind: str = AGENTS) -> None:
        p, things = self.p, self.things
        end, full = p.fresh("nothing"), p.fresh("full")
        fatal = self.random.randint(0, 60) == 0
        p.pop(source, PACKET, self.row(source), None if fatal else end)
        p.load(TARGET, things.headers, "flow", PACKET)
        self.light(kind)
        row = self.random.choice((FLOW, TARGET)) if to is things.backlog else self.row(to)
        fatal = self.random.randint(0, 60) == 0
        p.push(to, PACKET, row, None if fatal else full, front=self.random.randint(0, 3) == 0)
        p.jump(end)
        p.label(full)
        p.push(things.free, PACKET)
        p.label(end)

    def splice(self, kind: str, rank: int) -> None:
        things = self.things
        if self.random.randint(0, 1):
            source = self.random.choice((things.ring, things.backlog))
            self.p.splice(source, things.stash, self.row(source))
        else:
            self.p.splice(things.stash, self.random.choice((things.free, things.stash)))

    def wake(self, kind: str, rank: int) -> None:
        if self.random.randint(0, 1):
            if self.random.randint(0, 1):
                self.p.uniform(THREAD, self.things.threads)
            else:
                self.p.load(THREAD, self.things.socks, "reader", FLOW)
            self.p.wake_thread(THREAD, self.delay())
        else:
            self.p.uniform(AGENT, self.things.agents)
            self.p.wake_agent(AGENT, self.delay())

    def interrupt(self, kind: str, rank: int) -> None:
        """An IPI or, on the own CPU, a timer."""
        if kind != AGENTS and self.random.randint(0, 1):
            self.p.raise_(self.vector(), self.delay())
        else:
            self.any_cpu()
            self.p.raise_(self.vector(), self.delay(), CPU)

    def touch(self, kind: str, rank: int) -> None:
        lines = self.random.choice(self.things.lines)
        row = self.rows[lines.domain.name]
        if row is CPU and self.random.randint(0, 1):
            row = OWN_CPU
        access = self.random.choice((self.p.read, self.p.read, self.p.write, self.p.atomic))
        access(lines, self.random.choice(("near", "far")), row)

    def section(self, kind: str, rank: int) -> None:
        """A critical section; what it takes is ranked above what is held."""
        ranks = [i for i in range(len(self.things.locks)) if i > rank]
        if not ranks:
            return self.touch(kind, rank)
        mine = self.random.choice(ranks)
        locks = self.things.locks[mine]
        row = self.rows[locks.domain.name]
        self.p.lock(locks, row)
        # What is held is named by a register, so nothing in here may change that register.
        for _ in range(self.random.randint(1, 3)):
            self.random.choice((self.touch, self.compute, self.cells, self.loop))(kind, mine)
        if self.random.randint(0, 3) == 0:
            self.section(kind, mine)
        self.p.unlock(locks, row)
        return None

    def pause(self, kind: str, rank: int) -> None:
        self.random.choice((self.p.yield_, self.p.yield_, self.p.sleep))()

    def call(self, kind: str, rank: int) -> None:
        self.p.call(self.random.choice(self.routines[kind]))

    def light(self, kind: str) -> None:
        """A block that changes no register which names a packet, a flow or a CPU."""
        blocks = [self.compute, self.cells]
        if kind != AGENTS:
            blocks += [self.touch, self.touch]
        for _ in range(self.random.randint(1, 2)):
            self.random.choice(blocks)(kind, ALL_LOCKS)

    # -- operands -----------------------------------------------------------------------------------------

    def any_flow(self) -> None:
        self.p.uniform(FLOW, self.things.flows)

    def any_cpu(self) -> None:
        self.p.uniform(CPU, self.things.cpus)

    def amount(self) -> None:
        self.p.alu(AMOUNT, NUMBER, "&", 1023)

    def queue(self) -> Queue:
        things = self.things
        small = (things.ring, things.backlog)
        return self.random.choice((things.free, *small, *small, things.stash))

    def row(self, queue: Queue) -> Register | None:
        return self.rows[queue.domain.name]

    def vector(self) -> int:
        return self.random.randrange(max(1, len(self.spec.vectors)))

    def delay(self) -> int:
        return self.random.choice((0, 0, 1, 100_000, 1_500_000))
