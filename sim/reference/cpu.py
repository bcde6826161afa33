"""CPUs: which context they execute, and when they are idle or spin."""

from __future__ import annotations

from collections import deque

from ..engine import tables as T
from ..engine.opcodes import READ, VECTOR_COUNT
from .actor import Actor, Life
from .context import Context
from .line import Core, Line
from .lock import Lock
from .machine import Machine


class Cpu(Actor):
    """A hardware thread.

    It is *idle* until an interrupt or a wake-up; or it *runs* its softirq or a thread; or it *spins* until
    the holder of a lock hands it over. Interrupts are vectors: each is going to happen at a time, and its
    softirq goes before the threads of the CPU, except while this CPU has a spinlock (or spins for one), and
    while a long softirq is *throttled* in favour of the threads.
    """

    __slots__ = (
        "base", "core", "costs", "current", "fetch_end", "fetch_kind", "fetch_line", "follower", "idle_ps",
        "idle_since", "locks", "next_vector", "run_queue", "sibling", "slice_since", "softirq",
        "softirq_profile", "softirq_runs", "softirq_since", "spin_lock", "spin_since", "state",
        "thread_profile", "throttled_until", "vectors",
    )

    def __init__(self, machine: Machine, number: int, core: Core, softirq: Context) -> None:
        super().__init__(machine, number)
        self.costs = machine.costs
        self.core = core
        self.sibling: Cpu | None = None
        self.state = T.IDLE
        self.softirq = softirq
        self.softirq_runs = False
        self.current: Context | None = None
        self.run_queue: deque[Context] = deque()
        self.locks = 0  # held or spun for
        self.vectors = [T.INF] * VECTOR_COUNT  # the time of each that is pending
        self.next_vector = T.INF
        self.softirq_since = -1  # softirqs have gone on without a pause since then
        self.throttled_until = 0
        self.slice_since = 0
        self.idle_since = 0
        self.idle_ps = 0
        self.base = 0  # the statistics of this CPU begin here
        self.spin_lock: Lock | None = None
        self.spin_since = 0
        self.follower: Cpu | None = None  # who came for a lock next after this CPU, when it spun last
        self.fetch_line: Line | None = None  # the line this CPU last asked for, when it comes, and for what
        self.fetch_end = 0
        self.fetch_kind = 0
        self.softirq_profile = [0] * machine.symbols
        self.thread_profile = [0] * machine.symbols
        softirq.lives_on(number)

    # -- the process --------------------------------------------------------------------------------------

    def live(self) -> Life:
        """Choose a context, execute an instruction for it, and again when that is done."""
        machine = self.machine
        program = machine.program
        appoint = self.calendar.appoint
        now = yield appoint(self, T.INF)
        while True:
            if self.state == T.IDLE:
                self.idle_ps += now - self.idle_since
                self.state = T.RUNNING
            context = self._choose(now)
            if context is None:
                now = yield appoint(self, self._pause(now))
                continue
            if now > machine.now:
                machine.time_moves(now)
            pc = context.pc
            instruction = program[pc]
            context.pc = pc + 1
            context.instructions += 1
            machine.steps += 1
            took = instruction.execute(self, context, now)
            if took > 0:
                profile = self.softirq_profile if context is self.softirq else self.thread_profile
                profile[instruction.symbol] += took
            if machine.steps == machine.pause_at:
                machine.pause(self, pc)
            elif took == 0 and not instruction.ends_turn:
                continue
            now = yield appoint(self, now + took if took >= 0 else T.INF)

    def _choose(self, now: int) -> Context | None:
        """The context to execute an instruction of; None if there is none yet."""
        if self.softirq_runs:
            return self.softirq
        if self.next_vector <= now and not self.locks and self._enter_softirq(now):
            return self.softirq
        if self.current is not None:
            if not self.run_queue or not self._slice_is_over(now):
                self.softirq_since = -1
                return self.current
            self.run_queue.append(self.current)
            self.current = None
        return None

    def _slice_is_over(self, now: int) -> bool:
        length = self.costs.slice_ps
        return length != 0 and not self.locks and now - self.slice_since >= length

    def _pause(self, now: int) -> int:
        """No context to execute: switch to the next thread, or go idle. Returns the time of the next turn."""
        self.softirq_since = -1
        if self.run_queue:
            self.current = self.run_queue.popleft()
            self.slice_since = now + self.costs.switch_ps
            self.thread_profile[0] += self.costs.switch_ps
            return now + self.costs.switch_ps
        self.state = T.IDLE
        self.idle_since = now
        if self.next_vector < T.INF:
            return max(self.next_vector, now) + self.costs.idle_exit_ps
        return T.INF

    # -- interrupts ---------------------------------------------------------------------------------------

    def interrupt(self, vector: int, time: int) -> None:
        """Make a vector pending from a time on; one that is pending earlier stays as it is."""
        if time < self.vectors[vector]:
            self.vectors[vector] = time
            self.next_vector = min(self.next_vector, time)
            self._rouse(time)

    def _enter_softirq(self, now: int) -> bool:
        """Begin the softirq of the vector that has been pending for longest, unless the CPU is throttled."""
        allowed = VECTOR_COUNT
        if self.throttled_until > now and self._threads_wait():
            # Before 4.12 ksoftirqd left interrupts alone: vector 0 is the device's.
            if self.costs.ksoftirqd_blocks_irq or self.vectors[0] > now:
                return False
            allowed = 1
        vector = min(range(allowed), key=self.vectors.__getitem__)
        self.vectors[vector] = T.INF
        self.next_vector = min(self.vectors)
        self.softirq_runs = True
        if self.softirq_since < 0:
            self.softirq_since = now
        self.softirq.enter(self.machine.entries[vector])
        return True

    def leave_softirq(self, now: int) -> None:
        """The softirq is over. If softirqs have gone on for long and threads wait, they get a slice."""
        self.softirq_runs = False
        after = self.costs.ksoftirqd_after_ps
        if after > 0 and self._threads_wait() and now - self.softirq_since > after:
            self.throttled_until = now + self.costs.ksoftirqd_slice_ps
            self.softirq_since = -1

    def _threads_wait(self) -> bool:
        return self.current is not None or bool(self.run_queue)

    # -- threads ------------------------------------------------------------------------------------------

    def wake(self, thread: Context, time: int) -> None:
        """A thread of this CPU is ready; if the CPU is idle it looks for work at the time, or before."""
        self.run_queue.append(thread)
        self._rouse(time)

    def lose(self, context: Context) -> int:
        """The current thread sleeps or has stopped; the CPU looks for another one."""
        self.current = None
        return 0

    def give_way(self) -> None:
        """The current thread goes to the tail of the run queue, if others are on it."""
        if self.run_queue and self.current is not None:
            self.run_queue.append(self.current)
            self.current = None

    def _rouse(self, time: int) -> None:
        if self.state == T.IDLE and time + self.costs.idle_exit_ps < self.time:
            self.calendar.bring_forward(self, time + self.costs.idle_exit_ps)

    # -- work -----------------------------------------------------------------------------------------------

    def compute(self, context: Context, ps: int) -> int:
        """Work takes longer while the sibling computes. A thread's long work is done in pieces."""
        chunk = self.costs.chunk_ps
        context.left = 0
        if 0 < chunk < ps and context is not self.softirq:
            context.left = ps - chunk
            context.pc -= 1
            ps = chunk
        if self.sibling is not None and self.sibling.state == T.RUNNING:
            ps = ps * self.costs.smt_permille // 1000
        return ps

    def stream(self, amount: int) -> None:
        """Bytes that are copied bring their lines into the caches."""
        self.core.clock += amount >> 5
        self.core.socket.clock += amount >> 5

    # -- lines and locks ----------------------------------------------------------------------------------

    def fetches(self, line: Line, kind: int, now: int) -> bool:
        """Whether a request of this CPU for a line is under way that serves an access of that kind too."""
        under_way = self.fetch_line is line and self.fetch_end > now
        return under_way and (kind == READ or self.fetch_kind != READ)

    def start_spinning(self, lock: Lock, now: int) -> None:
        """Wait in front of a lock for its hand-over."""
        self.state = T.SPINNING
        self.spin_since = now
        self.spin_lock = lock
        self.follower = None

    def stop_spinning(self, time: int) -> int:
        """The lock is handed over and comes at a time; how long this CPU has spun by then."""
        waited = time - self.spin_since
        context = self.softirq if self.softirq_runs else self.current
        assert context is not None, "a CPU spins for a context"
        profile = self.softirq_profile if self.softirq_runs else self.thread_profile
        profile[self.machine.program[context.pc - 1].symbol] += waited
        self.state = T.RUNNING
        self.spin_lock = None
        self.calendar.bring_forward(self, time)
        return waited

    # -- statistics ---------------------------------------------------------------------------------------

    def forget(self, now: int) -> None:
        """Begin the statistics again, at a time at which this CPU does nothing that began before."""
        self.softirq_profile = [0] * len(self.softirq_profile)
        self.thread_profile = [0] * len(self.thread_profile)
        self.idle_ps = 0
        self.base = max(now, self.time)
        if self.state == T.IDLE:
            self.base = self.idle_since = max(self.idle_since, now)
        elif self.state == T.SPINNING:
            self.base = self.spin_since = max(self.spin_since, now)
