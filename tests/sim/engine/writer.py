"""The writer of the corpus's programs: subroutines, softirqs, threads and agents made of blocks."""

from __future__ import annotations

from .blocks import AGENTS, AMOUNT, COUNT, CPU, NO_LOCK, NUMBER, ROUNDS, SOFTIRQ, THREADS, Blocks


class Writer(Blocks):
    """Writes one program."""

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
            self.body(kind, NO_LOCK, 2)
            self.p.ret()
        self.routines[kind].append(label)  # now, so that none calls itself

    def _prologue(self) -> None:
        """Registers hold something before anybody reads them."""
        self.any_flow()
        self.any_cpu()
        self.p.set(NUMBER, self.random.randint(-3, 70))
        self.p.set(AMOUNT, self.random.choice((0, 64, 1500)))
        self.p.set(COUNT, 0)

    def _softirq(self, label: str) -> None:
        self.spec.vector(label)
        with self.p.symbol(label):
            self.p.label(label)
            self._prologue()
            self.p.work(self.random.choice((1, 50_000, 300_000)))
            self.move(SOFTIRQ, NO_LOCK)
            self.body(SOFTIRQ, NO_LOCK, 3)
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
            self.body(THREADS, NO_LOCK, 4)
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
            self.any_cpu()
            if self.random.randint(0, 3):
                self.carry(self.things.free, self.things.ring)
            p.raise_(self.vector(), self.delay(), CPU)
            self.body(AGENTS, NO_LOCK, 2)
            self.wake(AGENTS, NO_LOCK)
            pause = self.random.randint(0, 3)
            if pause == 0:
                p.sleep()
            if pause == 1:
                p.loop(ROUNDS, f"{label}.again")
                p.halt()
            else:
                p.jump(f"{label}.again")
        self.spec.spawn_agents(label, label, 1, start=self.random.choice((0, 0, 100_000)))
