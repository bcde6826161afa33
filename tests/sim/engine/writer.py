"""The writer of the corpus's programs: blocks of instructions put together at random, sound by construction.

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


class Writer:
    """Writes one program."""

    def __init__(self, spec: Spec, things: Things, random: Random) -> None:
        self.spec = spec
        self.p = spec.program
        self.things = things
        self.random = random
        self.routines: dict[str, list[str]] = {kind: [] for kind in (SOFTIRQ, THREADS, AGENTS)}
        self.rows = {"one": None, "cpu": CPU, "flow": FLOW}

    def write(self) -> None:
        """Subroutines, softirqs, threads, agents."""
        for kind in (SOFTIRQ, AGENTS):
            for i in range(self.random.randint(1, 2)):
                self._routine(kind, f"{kind}_routine_{i}")
        self.routines[THREADS] = self.routines[SOFTIRQ]
        for i in range(self.random.randint(1, 4)):
            self._softirq(f"softirq_{i}")
        left = self.things.threads
        for i in range(self.random.randint(1, min(3, left))):
            count = left if i == 2 else self.random.randint(1, left)
            self._thread(f"thread_{i}", count)
            left -= count
            if left == 0:
                break
        for _ in range(left):
            self.spec.spawn_threads("more", "thread_0", 1)
        for i in range(self.things.agents):
            self._agent(f"agent_{i}")

    # -- contexts -----------------------------------------------------------------------------------------

    def _routine(self, kind: str, label: str) -> None:
        with self.p.symbol(label):
            self.p.label(label)
            self._body(kind, NO_LOCK, 2)
            self.p.ret()
        self.routines[kind].append(label)  # now, so that none calls itself

    def _prologue(self) -> None:
        """Registers hold something before anybody reads them."""
        self._any_flow()
        self._any_cpu()
        self.p.set(NUMBER, self.random.randint(-3, 70))
        self.p.set(AMOUNT, self.random.choice((0, 64, 1500)))
        self.p.set(COUNT, 0)

    def _softirq(self, label: str) -> None:
        self.spec.vector(label)
        with self.p.symbol(label):
            self.p.label(label)
            self._prologue()
            self.p.work(self.random.choice((1, 50_000, 300_000)))
            self._move(SOFTIRQ, NO_LOCK)
            self._body(SOFTIRQ, NO_LOCK, 3)
            self.p.end()

    def _thread(self, label: str, count: int) -> None:
        p = self.p
        with p.symbol(label):
            p.label(label)
            self._prologue()
            mortal = self.random.randint(0, 3) == 0
            p.set(ROUNDS, self.random.randint(2, 12))
            p.label(f"{label}.again")
            p.work(self.random.choice((1, 20_000, 250_000)))
            self._body(THREADS, NO_LOCK, 4)
            pause = self.random.randint(0, 3)
            if pause == 0:
                p.sleep()
            elif pause == 1:
                p.yield_()
            if mortal:
                p.loop(ROUNDS, f"{label}.again")
                p.halt()
            else:
                p.jump(f"{label}.again")
        spread = self.random.choice((0, 1))
        base = self.random.randrange(self.things.cpus)
        self.spec.spawn_threads(label, label, count, base * (1 - spread), 1, self.things.cpus, spread)

    def _agent(self, label: str) -> None:
        """A source: packets from the free list to a ring, an interrupt, wake-ups, a pause."""
        p = self.p
        with p.symbol(label):
            p.label(label)
            self._prologue()
            p.set(ROUNDS, self.random.randint(5, 20))
            p.label(f"{label}.again")
            p.exponential(AMOUNT, self.random.choice((100, 700, 4000)))
            p.work(self.random.choice((1, 30_000)), AMOUNT, 1_000_000)
            self._any_cpu()
            if self.random.randint(0, 3):
                self._carry(self.things.free, self.things.ring)
            p.raise_(self._vector(), self._delay(), CPU)
            self._body(AGENTS, NO_LOCK, 2)
            self._wake(AGENTS, NO_LOCK)
            pause = self.random.randint(0, 5)
            if pause == 0:
                p.sleep()
            if pause == 1:
                p.loop(ROUNDS, f"{label}.again")
                p.halt()
            else:
                p.jump(f"{label}.again")
        self.spec.spawn_agents(label, label, 1, start=self.random.choice((0, 0, 100_000)))

    # -- blocks -------------------------------------------------------------------------------------------

    def _body(self, kind: str, rank: int, size: int) -> None:
        blocks: list[Callable[[str, int], None]] = [
            self._compute, self._draw, self._reckon, self._cells, self._branch, self._key, self._loop,
            self._look, self._move, self._move, self._wake, self._raise, self._splice,
        ]
        if kind != AGENTS:
            blocks += [self._touch, self._touch, self._touch, self._section, self._section, self._section]
        if kind == THREADS and rank == NO_LOCK:
            blocks += [self._pause]
        if rank == NO_LOCK and self.routines[kind]:
            blocks += [self._call, self._call]
        for _ in range(self.random.randint(1, size)):
            self.random.choice(blocks)(kind, rank)

    def _compute(self, kind: str, rank: int) -> None:
        ps = self.random.choice((0, 777, 40_000, 150_000))
        if self.random.randint(0, 2):
            self.p.work(ps)
        else:
            self._amount()
            self.p.work(ps, AMOUNT, self.random.choice((0, 33_333, 90_001)), copy=kind != AGENTS)

    def _draw(self, kind: str, rank: int) -> None:
        self._any_flow()
        self._any_cpu()
        if self.random.randint(0, 1):
            self.p.uniform(NUMBER, self.random.choice((1, 100, 1 << 30)))
        else:
            self.p.exponential(NUMBER, 50)

    def _reckon(self, kind: str, rank: int) -> None:
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

    def _cells(self, kind: str, rank: int) -> None:
        p, socks = self.p, self.things.socks
        if self.random.randint(0, 1):
            p.add(socks, "bytes", NUMBER, FLOW)
            p.load(AMOUNT, socks, "bytes", FLOW)
            p.alu(AMOUNT, AMOUNT, "&", 2047)
        else:
            p.store(socks, "busy", self.random.choice((NUMBER, 1)), FLOW)
            p.add(socks, "busy", 3)

    def _branch(self, kind: str, rank: int) -> None:
        end = self.p.fresh("over")
        cond = self.random.choice(("==", "!=", "<", "<=", ">", ">="))
        self.p.branch(NUMBER, cond, self.random.choice((COUNT, 0, 10)), end)
        self._light(kind)
        self.p.label(end)

    def _key(self, kind: str, rank: int) -> None:
        knob = self.spec.values.knob
        key = self.random.choice((self.p.when, self.p.unless))
        with key("patch") if self.random.randint(0, 1) else self.p.where(knob("spread").above(1), "spread > 1"):
            self._light(kind)

    def _loop(self, kind: str, rank: int) -> None:
        again = self.p.fresh("loop")
        self.p.set(COUNT, self.random.randint(1, 4))
        self.p.label(again)
        self._light(kind)
        self.p.loop(COUNT, again)

    def _look(self, kind: str, rank: int) -> None:
        queue = self._queue()
        self.p.qlen(queue, NUMBER, self._row(queue))
        end = self.p.fresh("empty")
        self.p.peek(queue, PACKET, self._row(queue), end)
        self.p.load(AMOUNT, self.things.headers, "length", PACKET)
        self.p.label(end)

    def _move(self, kind: str, rank: int) -> None:
        """A packet from one queue to another, sometimes under a lock."""
        source, to = self._queue(), self._queue()
        if kind == AGENTS or rank >= 1 or self.random.randint(0, 1):
            self._carry(source, to, kind)
        else:
            lock = self.things.locks[1]
            self.p.lock(lock, FLOW)
            self._carry(source, to, kind)
            self.p.unlock(lock, FLOW)

    def _carry(self, source: Queue, to: Queue, kind: str = AGENTS) -> None:
        p, things = self.p, self.things
        end, full = p.fresh("nothing"), p.fresh("full")
        fatal = self.random.randint(0, 60) == 0
        p.pop(source, PACKET, self._row(source), None if fatal else end)
        p.load(TARGET, things.headers, "flow", PACKET)
        self._light(kind)
        row = self.random.choice((FLOW, TARGET)) if to is things.backlog else self._row(to)
        fatal = self.random.randint(0, 60) == 0
        p.push(to, PACKET, row, None if fatal else full, front=self.random.randint(0, 3) == 0)
        p.jump(end)
        p.label(full)
        p.push(things.free, PACKET)
        p.label(end)

    def _splice(self, kind: str, rank: int) -> None:
        things = self.things
        if self.random.randint(0, 1):
            source = self.random.choice((things.ring, things.backlog))
            self.p.splice(source, things.stash, self._row(source))
        else:
            self.p.splice(things.stash, self.random.choice((things.free, things.stash)))

    def _wake(self, kind: str, rank: int) -> None:
        if self.random.randint(0, 2):
            if self.random.randint(0, 1):
                self.p.uniform(THREAD, self.things.threads)
            else:
                self.p.load(THREAD, self.things.socks, "reader", FLOW)
            self.p.wake_thread(THREAD, self._delay())
        else:
            self.p.uniform(AGENT, self.things.agents)
            self.p.wake_agent(AGENT, self._delay())

    def _raise(self, kind: str, rank: int) -> None:
        """An IPI or, on the own CPU, a timer."""
        if kind != AGENTS and self.random.randint(0, 1):
            self.p.raise_(self._vector(), self._delay())
        else:
            self._any_cpu()
            self.p.raise_(self._vector(), self._delay(), CPU)

    def _touch(self, kind: str, rank: int) -> None:
        lines = self.random.choice(self.things.lines)
        row = self.rows[lines.domain.name]
        if row is CPU and self.random.randint(0, 1):
            row = OWN_CPU
        access = self.random.choice((self.p.read, self.p.read, self.p.write, self.p.atomic))
        access(lines, self.random.choice(("near", "far")), row)

    def _section(self, kind: str, rank: int) -> None:
        """A critical section; what it takes is ranked above what is held."""
        ranks = [i for i in range(len(self.things.locks)) if i > rank]
        if not ranks:
            return self._touch(kind, rank)
        mine = self.random.choice(ranks)
        locks = self.things.locks[mine]
        row = self.rows[locks.domain.name]
        self.p.lock(locks, row)
        # What is held is named by a register, so nothing in here may change that register.
        for _ in range(self.random.randint(1, 3)):
            self.random.choice((self._touch, self._compute, self._cells, self._loop))(kind, mine)
        if self.random.randint(0, 3) == 0:
            self._section(kind, mine)
        self.p.unlock(locks, row)
        return None

    def _pause(self, kind: str, rank: int) -> None:
        self.random.choice((self.p.yield_, self.p.yield_, self.p.sleep))()

    def _call(self, kind: str, rank: int) -> None:
        self.p.call(self.random.choice(self.routines[kind]))

    def _light(self, kind: str) -> None:
        """A block that changes no register which names a packet, a flow or a CPU."""
        blocks = [self._compute, self._cells]
        if kind != AGENTS:
            blocks += [self._touch, self._touch]
        for _ in range(self.random.randint(1, 2)):
            self.random.choice(blocks)(kind, ALL_LOCKS)

    # -- operands -----------------------------------------------------------------------------------------

    def _any_flow(self) -> None:
        self.p.uniform(FLOW, self.things.flows)

    def _any_cpu(self) -> None:
        self.p.uniform(CPU, self.things.cpus)

    def _amount(self) -> None:
        self.p.alu(AMOUNT, NUMBER, "&", 1023)

    def _queue(self) -> Queue:
        things = self.things
        small = (things.ring, things.backlog)
        return self.random.choice((things.free, *small, *small, things.stash))

    def _row(self, queue: Queue) -> Register | None:
        return self.rows[queue.domain.name]

    def _vector(self) -> int:
        return self.random.randrange(max(1, len(self.spec.vectors)))

    def _delay(self) -> int:
        return self.random.choice((0, 0, 1, 100_000, 1_500_000))
