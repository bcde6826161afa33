"""The image: a machine's state as the words of the engine's arena."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ..engine import opcodes as O
from ..engine import tables as T
from .blueprint import Words
from .context import Context
from .cpu import Cpu
from .line import Core, Line
from .lock import Lock
from .machine import Machine
from .program import resolved
from .queue import Queue


def image_of(machine: Machine) -> Words:
    """All words of the arena that the engine would have at this point of the run."""
    return Image(machine).words()


class Image:
    """Where everything of a machine lies in its arena, and what stands there."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        blueprint = machine.blueprint
        self.domains = [blueprint.value(row, "count") for row in blueprint["domains"]]
        self.leaves = 1
        while self.leaves < len(machine.actors):
            self.leaves *= 2
        cells = sum(len(table.cells) for table in machine.tables)
        sets = ("tables", "lines", "locks", "queues", "domains")
        sizes = {
            "value": len(blueprint.values),
            "set": sum(len(blueprint[name]) for name in sets),
            "cpu": len(machine.cpus) * T.CPU_WORDS,
            "context": len(machine.contexts) * T.CONTEXT_WORDS,
            "tree": 2 * self.leaves,
            "core": len(machine.cores),
            "socket": len(machine.sockets),
            "code": len(machine.program) * O.INSTRUCTION_WORDS,
            "profile": 2 * len(machine.cpus) * machine.symbols,
            "stat": len(machine.stats),
            "cell": cells,
            "line": len(machine.lines) * T.LINE_WORDS,
            "lock": len(machine.locks) * T.LOCK_WORDS,
            "queue": len(machine.queues) * T.QUEUE_WORDS,
            "link": sum(self.domains),
            "trace": machine.trace.room * T.TRACE_WORDS,
        }
        self.at: dict[str, int] = {}
        self.size = T.HEADER_WORDS
        for name, size in sizes.items():
            self.at[name] = self.size
            self.size += size
        self.domain_at = _offsets(self.at["link"], self.domains)
        self.table_at = _offsets(self.at["cell"], [len(table.cells) for table in machine.tables])
        self.lines_at = _offsets(
            self.at["line"], [T.LINE_WORDS * len(lines) for lines, _ in machine.line_sets]
        )
        self.locks_at = _offsets(self.at["lock"], [T.LOCK_WORDS * len(x) for x in machine.lock_sets])
        self.queues_at = _offsets(self.at["queue"], [T.QUEUE_WORDS * len(x) for x in machine.queue_sets])

    def words(self) -> Words:
        """The arena."""
        machine = self.machine
        words = [*_row(T.HEADER, self._header()), *machine.blueprint.values]
        words += [*self.table_at, *self.lines_at, *self.locks_at, *self.queues_at, *self.domain_at]
        for cpu in machine.cpus:
            words += _row(T.CPU, self._cpu(cpu))
        following = _following(thread_queues(machine))
        for context in machine.contexts:
            words += _row(T.CONTEXT, self._context(context, following.get(context.number, -1)))
        words += self._tree()
        words += [core.clock for core in machine.cores]
        words += [socket.clock for socket in machine.sockets]
        words += self._code()
        for cpu in machine.cpus:
            words += cpu.softirq_profile
        for cpu in machine.cpus:
            words += cpu.thread_profile
        words += machine.stats
        for table in machine.tables:
            words += table.cells
        for line in machine.lines:
            words += _row(T.LINE, self._line(line))
        for lock in machine.locks:
            words += _row(T.LOCK, self._lock(lock))
        for queue in machine.queues:
            words += _row(T.QUEUE, self._queue(queue))
        words += self._links()
        words += self._trace()
        return np.array(words, np.int64)

    def line_at(self, line: Line | None) -> int:
        """Where a line lies, or -1."""
        return -1 if line is None else self.at["line"] + T.LINE_WORDS * line.number

    # -- rows by name -------------------------------------------------------------------------------------

    def _header(self) -> dict[str, int]:
        machine = self.machine
        entries = [*machine.entries, *[-1] * O.VECTOR_COUNT][: O.VECTOR_COUNT]
        return {
            "magic": T.MAGIC, "words": self.size, "status": machine.status, "now": machine.now,
            "until": machine.until, "steps": machine.steps, "same_time": machine.steps - machine.moved_at,
            "fault_actor": machine.fault_actor, "fault_pc": machine.fault_pc,
            "trace_rows": machine.trace.room, "trace_count": machine.trace.count,
            "transfers": machine.memory.transfers, "llc_reads": machine.memory.llc_reads,
            "memory_reads": machine.memory.reads,
            "reset_time": machine.reset_time, "cpus": len(machine.cpus), "contexts": len(machine.contexts),
            "threads": len(machine.threads), "agents": len(machine.agents), "leaves": self.leaves,
            "symbols": machine.symbols, "stats": len(machine.stats), "code_rows": len(machine.program),
            "line_rows": len(machine.lines), "lock_rows": len(machine.locks),
            "queue_rows": len(machine.queues), "cores": len(machine.cores),
            **{f"vector{i}": entry for i, entry in enumerate(entries)},
            **{f"at_{name}": at for name, at in self.at.items()},
            "values": len(machine.blueprint.values),
            **machine.blueprint.costs(),
        }

    def _cpu(self, cpu: Cpu) -> dict[str, int]:
        queue = cpu.run_queue
        return {
            "core": cpu.core.number, "socket": cpu.core.socket.number, "sibling": _number(cpu.sibling),
            "state": cpu.state, "soft": int(cpu.softirq_runs), "current": _number(cpu.current),
            "rq_head": queue[0].number if queue else -1, "rq_tail": queue[-1].number if queue else -1,
            "locks": cpu.locks, "v_next": cpu.next_vector,
            **{f"v{i}": time for i, time in enumerate(cpu.vectors)},
            "bh_since": cpu.softirq_since, "throttle": cpu.throttled_until, "slice_since": cpu.slice_since,
            "idle_since": cpu.idle_since, "idle": cpu.idle_ps, "spin_since": cpu.spin_since,
            "lock_next": _number(cpu.follower), "spin_lock": self._lock_at(cpu.spin_lock),
            "access_line": self.line_at(cpu.fetch_line), "access_end": cpu.fetch_end,
            "access_kind": cpu.fetch_kind, "base": cpu.base,
        }

    def _context(self, context: Context, following: int) -> dict[str, int]:
        return {
            "pc": context.pc, "sp": context.depth, "state": context.state, "home": context.home,
            "kind": context.kind, "token": context.token, "next": following, "left": context.left,
            "rng": context.dice.state, "instructions": context.instructions,
            **{f"r{i}": context.registers[i] for i in range(O.REGISTERS)},
            **{f"s{i}": word for i, word in enumerate(context.stack)},
        }

    def _line(self, line: Line) -> dict[str, int]:
        low, high = _bits(line.sharers)
        return {
            "owner": _number(line.owner), "sharers0": low, "sharers1": high, "free": line.free,
            "stamp": line.stamp, "socket_stamp": line.socket_stamp, "socket": _number(line.socket),
            "transfers": line.transfers,
        }

    def _lock(self, lock: Lock) -> dict[str, int]:
        waiters = lock.waiters
        return {
            "holder": _number(lock.holder), "head": waiters[0].number if waiters else -1,
            "tail": waiters[-1].number if waiters else -1, "waiters": len(waiters),
            "line": self.line_at(lock.line), "kind": lock.kind, "acquired": lock.acquired,
            "contended": lock.contended, "wait_ps": lock.wait_ps,
        }

    def _queue(self, queue: Queue) -> dict[str, int]:
        items = queue.items
        return {
            "head": items[0] if items else -1, "tail": items[-1] if items else -1, "length": len(items),
            "capacity": queue.capacity, "link": self.domain_at[queue.domain], "max": queue.longest,
            "area": queue.area, "since": queue.since,
        }

    def _lock_at(self, lock: Lock | None) -> int:
        return -1 if lock is None else self.at["lock"] + T.LOCK_WORDS * lock.number

    # -- tables without named rows ------------------------------------------------------------------------

    def _tree(self) -> list[int]:
        """The tournament of the next turns: a leaf for each actor, each node the smaller of its two."""
        keys = [actor.time << T.ID_BITS | actor.number for actor in self.machine.actors]
        keys += [T.INF << T.ID_BITS | i for i in range(len(keys), self.leaves)]
        tree = [0] * self.leaves + keys
        for node in range(self.leaves - 1, 0, -1):
            tree[node] = min(tree[2 * node], tree[2 * node + 1])
        return tree

    def _code(self) -> list[int]:
        """The program, its sets replaced by the places where they lie."""
        machine = self.machine
        code: list[int] = []
        for row in machine.blueprint["code"]:
            words = resolved(row, machine.blueprint.values)
            name = O.NAMES[words[0]]
            if name == "ACCESS":
                lines, line = words[2], words[4]
                words[2] = self.lines_at[lines] + line * T.LINE_WORDS
                words[4] = machine.line_sets[lines][1] * T.LINE_WORDS
            elif name in ("LOAD", "STORE", "ADD"):
                table, column = words[1], words[2]
                words[1] = self.table_at[table] + column
                words[2] = machine.tables[table].columns
            elif name == "COUNT":
                words[1] += self.at["stat"]
            for k, operand in enumerate(O.OPCODES[name].operands):
                if operand.kind == "locks":
                    words[k + 1] = self.locks_at[words[k + 1]]
                elif operand.kind == "queue":
                    words[k + 1] = self.queues_at[words[k + 1]]
            code += [*words, 0]
        return code

    def _links(self) -> list[int]:
        """For each item of each domain the one behind it on its queue."""
        links: list[int] = []
        for number, count in enumerate(self.domains):
            following = _following(
                queue.items for queue in self.machine.queues if queue.domain == number
            )
            queued = self.machine.queued[number]
            links += [following.get(item, T.LAST if item in queued else T.UNLINKED) for item in range(count)]
        return links

    def _trace(self) -> list[int]:
        trace = self.machine.trace
        rows = [[0] * T.TRACE_WORDS] * trace.room
        for i, record in enumerate(trace.records, trace.count - len(trace.records)):
            line = -1 if record.line < 0 else self.at["line"] + T.LINE_WORDS * record.line
            rows[i % trace.room] = _row(T.TRACE, {**record._asdict(), "line": line})
        return [word for row in rows for word in row]


def thread_queues(machine: Machine) -> Iterable[list[int]]:
    """The numbers of the contexts on each run queue."""
    return ([context.number for context in cpu.run_queue] for cpu in machine.cpus)


def _following(queues: Iterable[Iterable[int]]) -> dict[int, int]:
    return {first: second for queue in queues for first, second in pairwise(queue)}


def _offsets(at: int, sizes: list[int]) -> list[int]:
    offsets = []
    for size in sizes:
        offsets.append(at)
        at += size
    return offsets


def _row(names: tuple[str, ...], words: Mapping[str, int]) -> list[int]:
    """Words in the order that the table declares; raises ValueError if there is one too many or too few."""
    if len(words) != len(names):
        raise ValueError(f"the words differ from those declared: {set(words) ^ set(names)}")
    return [words[name] for name in names]


def _number(thing: Any) -> int:
    return -1 if thing is None else int(thing.number)


def _bits(cores: set[Core]) -> tuple[int, int]:
    """Cores as two words of bits."""
    bits = sum(1 << core.number for core in cores)
    return bits & ((1 << T.SHARER_BITS) - 1), bits >> T.SHARER_BITS
