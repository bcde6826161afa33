"""A machine: every object of a run, built from a blueprint."""

from __future__ import annotations

from ..engine import tables as T
from .actor import Actor
from .blueprint import Blueprint, Row
from .calendar import Calendar
from .context import Context
from .costs import Costs
from .dice import Dice
from .line import Core, Line, Memory, Socket
from .lock import Lock
from .queue import Queue
from .table import Table
from .trace import Trace


class Machine:
    """CPUs, agents, lines, locks, queues, tables and a program, at time 0 until it is run.

    A run of it *may go on* (status MORE or REACHED), or it *has ended* with a result: deadlock, livelock or
    exhaustion, with the actor and the instruction at fault.
    """

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.calendar = Calendar()
        self.costs = Costs(**blueprint.costs())
        self.memory = Memory(self.costs)
        self.symbols = blueprint.symbols
        self.stats = [0] * blueprint.stats
        self.trace = Trace(blueprint.trace_rows)
        self.until = T.INF
        self.now = 0  # the last instruction's time, or `until` once that is reached
        self.steps = 0  # instructions executed
        self.stop_at = 0  # a slice ends after so many
        self.pause_at = 0  # after so many it is time to look whether the run goes on
        self.paused = False
        self.moved_at = 0  # steps when the time last moved
        self.reset_time = 0
        self.status = T.MORE
        self.fault_actor = -1
        self.fault_pc = -1
        self._build_memory()
        self._build_actors()
        self._begin()

    def resume(self, steps: int) -> None:
        """Let the run go on for at most so many instructions."""
        self.status = T.MORE
        self.paused = False
        self.stop_at = self.steps + steps
        self._look_later()

    def time_moves(self, now: int) -> None:
        """An instruction is executed at a later time than all before."""
        self.now = now
        self.moved_at = self.steps

    def pause(self, actor: Actor, pc: int) -> None:
        """Look whether the run goes on, after an instruction of an actor."""
        if self.steps - self.moved_at > T.LIVELOCK_STEPS:
            self.fault(T.LIVELOCK, actor, pc)
        self.paused = self.status != T.MORE or self.steps == self.stop_at
        self._look_later()

    def _look_later(self) -> None:
        self.pause_at = min(self.stop_at, self.moved_at + T.LIVELOCK_STEPS + 1)

    def fault(self, status: int, actor: Actor, pc: int) -> None:
        """End the run with a result, after the instruction that is being executed."""
        self.status = status
        self.fault_actor = actor.number
        self.fault_pc = pc
        self.pause_at = self.steps

    def all_stopped(self) -> bool:
        """Whether every thread and agent has ended by itself, and no CPU spins."""
        contexts = [*self.threads, *(agent.context for agent in self.agents)]
        return all(c.state == T.STOPPED for c in contexts) and all(c.state != T.SPINNING for c in self.cpus)

    def forget(self) -> None:
        """Begin the statistics again: the end of the warm-up."""
        now = self.until if self.status == T.REACHED else self.now
        self.reset_time = now
        self.memory.transfers = 0
        self.memory.reads = 0
        self.memory.llc_reads = 0
        self.stats = [0] * len(self.stats)
        for cpu in self.cpus:
            cpu.forget(now)
        for context in self.contexts:
            context.instructions = 0
        for line in self.lines:
            line.transfers = 0
        for lock in self.locks:
            lock.acquired = lock.contended = lock.wait_ps = 0
        for queue in self.queues:
            queue.forget(now)

    # -- building -----------------------------------------------------------------------------------------

    def _build_memory(self) -> None:
        """Lines that nobody has touched, free locks, empty queues, cells of 0; then what the spec puts in."""
        blueprint = self.blueprint
        value = blueprint.value
        self.tables = [Table(blueprint.count(row), row["columns"]) for row in blueprint["tables"]]
        self.lines: list[Line] = []
        self.line_sets: list[tuple[list[Line], int]] = []  # the lines of a set, and how many a row has
        for row in blueprint["lines"]:
            per_row = value(row, "per_row")
            first = len(self.lines)
            count = blueprint.count(row) * per_row
            self.lines += [Line(self.memory, first + i) for i in range(count)]
            self.line_sets.append((self.lines[first:], per_row))
        self.locks: list[Lock] = []
        self.lock_sets: list[list[Lock]] = []
        for row in blueprint["locks"]:
            lines, per_row = self.line_sets[row["lines"]]
            first = len(self.locks)
            for i in range(blueprint.count(row)):
                line = lines[i * per_row + value(row, "line")]
                self.locks.append(Lock(first + i, line, value(row, "kind")))
            self.lock_sets.append(self.locks[first:])
        self.queues: list[Queue] = []
        self.queued: list[set[int]] = [set() for _ in blueprint["domains"]]
        self.queue_sets: list[list[Queue]] = []
        for row in blueprint["queues"]:
            first = len(self.queues)
            capacity = value(row, "capacity")
            self.queues += [
                Queue(first + i, row["items"], capacity, self.queued[row["items"]]) for i in range(blueprint.count(row))
            ]
            self.queue_sets.append(self.queues[first:])
        for number, row in enumerate(blueprint["inits"]):
            self._init(number, row)
        for row in blueprint["fills"]:
            self._fill(row)

    def _init(self, number: int, row: Row) -> None:
        """Set a column: base + step * mul, with steps that count up or are drawn."""
        value = self.blueprint.value
        base, mul = value(row, "base"), value(row, "mul")
        div, mod = max(1, value(row, "div")), max(1, value(row, "mod"))
        table = self.tables[row["table"]]
        dice = Dice(self.blueprint.seed, 1_000_003 + number)
        for i in range(table.rows):
            step = dice.uniform(mod) if row["draw"] == T.RANDOM else (i // div) % mod
            table.cells[i * table.columns + row["column"]] = base + step * mul

    def _fill(self, row: Row) -> None:
        """Put items on queues at time 0, capacity or not."""
        value = self.blueprint.value
        queues = self.queue_sets[row["queue"]]
        div = max(1, value(row, "div"))
        for i in range(value(row, "count")):
            queue = queues[value(row, "row") + i // div]
            queue.items.append(value(row, "first") + i)
            queue.queued.add(value(row, "first") + i)
            queue.longest = len(queue.items)

    def _build_actors(self) -> None:
        """CPUs numbered as Linux does (one thread of every core, then the siblings), threads, agents."""
        from .agent import Agent
        from .cpu import Cpu

        costs = self.costs
        self.sockets = [Socket(i) for i in range(costs.sockets)]
        self.cores = [
            Core(i, self.sockets[i // costs.cores_per_socket])
            for i in range(costs.sockets * costs.cores_per_socket)
        ]
        seed = self.blueprint.seed
        count = len(self.cores) * costs.threads_per_core
        self.cpus = [
            Cpu(self, i, self.cores[i % len(self.cores)], Context(i, T.SOFTIRQ, Dice(seed, i + 1), index=i))
            for i in range(count)
        ]
        if costs.threads_per_core == 2:
            for cpu in self.cpus:
                cpu.sibling = self.cpus[(cpu.number + len(self.cores)) % count]
        spawns = self.blueprint["spawns"]
        self.threads = [
            self._context(count + k, row, i)
            for k, (row, i) in enumerate(self._spawned(spawns, T.THREAD))
        ]
        first = count + len(self.threads)
        self.agents = [
            Agent(self, count + k, self._context(first + k, row, i))
            for k, (row, i) in enumerate(self._spawned(spawns, T.AGENT))
        ]
        self.actors: list[Actor] = [*self.cpus, *self.agents]
        self.contexts = [
            *(cpu.softirq for cpu in self.cpus), *self.threads, *(agent.context for agent in self.agents)
        ]

    def _spawned(self, spawns: list[Row], kind: int) -> list[tuple[Row, int]]:
        """Each thread or agent of the spawn rows: its row, and its index there."""
        count = self.blueprint.value
        return [(row, i) for row in spawns if row["kind"] == kind for i in range(count(row, "count"))]

    def _context(self, number: int, row: Row, index: int) -> Context:
        dice = Dice(self.blueprint.seed, number + 1)
        return Context(number, row["kind"], dice, row["entry"], index)

    def _begin(self) -> None:
        """Decode the program, start every actor's process, give those that have work their first turn."""
        from .program import decode

        blueprint = self.blueprint
        value = blueprint.value
        self.entries = [row["entry"] for row in blueprint["vectors"]]
        self.program = decode(self)
        for actor in self.actors:
            self.calendar.process(actor.live())
        for _ in self.actors:
            self.calendar.step()
        for thread, (row, i) in zip(self.threads, self._spawned(blueprint["spawns"], T.THREAD), strict=True):
            turn = (i // max(1, value(row, "div"))) % max(1, value(row, "mod"))
            cpu = self.cpus[value(row, "base") + turn * value(row, "mul")]
            thread.lives_on(cpu.number)
            cpu.run_queue.append(thread)
            if cpu.time == T.INF:
                self.calendar.bring_forward(cpu, 0)
        for agent, (row, i) in zip(self.agents, self._spawned(blueprint["spawns"], T.AGENT), strict=True):
            self.calendar.bring_forward(agent, value(row, "start") + i * value(row, "stagger"))
