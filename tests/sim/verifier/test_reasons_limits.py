"""What not every context may do, and numbers that may not be."""

from __future__ import annotations

from tests.sim.verifier.refusals import Refusals, check_refusal
from tests.sim.verifier.small import CPU, R0, Body, Small

CASES = Refusals()
refused = CASES.refused


# -- who may do what ----------------------------------------------------------------------------------------


@refused("agent", "an agent may not do this")
def agent_touches_a_line(s: Small) -> None:
    s.p.read(s.lines, "lock")


@refused("agent", "an agent may not do this")
def agent_locks(s: Small) -> None:
    s.p.lock(s.lock)


@refused("agent", "an agent may not do this")
def agent_yields(s: Small) -> None:
    s.p.yield_()


@refused("agent", "an agent has no caches to copy through")
def agent_copies(s: Small) -> None:
    s.p.set(R0, 64)
    s.p.work(0, by=R0, fs=1, copy=True)


@refused("agent", "an agent has no CPU of its own to interrupt")
def agent_raises_here(s: Small) -> None:
    s.p.raise_(0)


@refused("agent", "an agent may not do this")
def agent_ends(s: Small) -> None:
    s.p.end()


@refused("thread", "a thread may not do this")
def thread_ends(s: Small) -> None:
    s.p.end()


@refused("softirq", "a softirq may not do this")
def softirq_sleeps(s: Small) -> None:
    s.p.sleep()


@refused("softirq", "a softirq may not do this")
def softirq_yields(s: Small) -> None:
    s.p.yield_()


@refused("softirq", "a softirq may not do this")
def softirq_halts(s: Small) -> None:
    s.p.halt()


@refused("thread", "r0 is 0 to 2; CPUs go from 0 to 1")
def interrupts_no_cpu(s: Small) -> None:
    s.p.uniform(R0, 3)
    s.p.raise_(0, 0, R0)


@refused("thread", "r0 is 1; threads go from 0 to 0")
def wakes_no_thread(s: Small) -> None:
    s.p.set(R0, 1)
    s.p.wake_thread(R0)


@refused("thread", "r0 is -1; agents go from 0 to 0")
def wakes_no_agent(s: Small) -> None:
    s.p.set(R0, -1)
    s.p.wake_agent(R0)


@refused("thread", "vector is 1: there is no vector of that number")
def no_vector(s: Small) -> None:
    s.p.raise_(1)


# -- numbers ------------------------------------------------------------------------------------------------


@refused("thread", "divides by the number, which may be 0 (0)")
def divides_by_zero(s: Small) -> None:
    s.p.alu(R0, CPU, "//", 0)


@refused("thread", "divides by r0, which may be 0 (0 to 4)")
def may_divide_by_zero(s: Small) -> None:
    s.p.uniform(R0, 5)
    s.p.alu(R0, CPU, "%", R0)


@refused("thread", "r0 (0 to 4503599627370496) * r0 (0 to 4503599627370496) could overflow")
def product_overflows(s: Small) -> None:
    s.p.now(R0)
    s.p.alu(R0, R0, "*", R0)


@refused("thread", "r0 (0 to 4503599627370496) << the number (20) could overflow")
def shift_overflows(s: Small) -> None:
    s.p.now(R0)
    s.p.alu(R0, R0, "<<", 20)


@refused("thread", "shifts by the number (-1); 0 to 62 are possible")
def shift_backwards(s: Small) -> None:
    s.p.alu(R0, CPU, ">>", -1)


@refused("thread", "the work is -5 ps: it may not be negative")
def negative_work(s: Small) -> None:
    s.p.work(-5)


@refused("thread", "the work is 140737488355328 ps: times could overflow from 140737488355328 on")
def endless_work(s: Small) -> None:
    s.p.work(1 << 47)


@refused("thread", "r0 is -1 to 2: work may not be negative")
def negative_units(s: Small) -> None:
    s.p.uniform(R0, 4)
    s.p.alu(R0, R0, "-", 1)
    s.p.work(0, by=R0, fs=1)


@refused("thread", "the work for one is -1 fs: it may not be negative")
def negative_unit(s: Small) -> None:
    s.p.work(0, by=CPU, fs=-1)


@refused("thread", "r0 is 0 to 4503599627370496: 1000000 fs for each could overflow")
def units_overflow(s: Small) -> None:
    s.p.now(R0)
    s.p.work(0, by=R0, fs=1_000_000)


@refused("thread", "copy is 2; 0 and 1 are possible")
def copy_flag(s: Small) -> None:
    s.p.work(0, by=CPU, fs=1, copy=2)  # type: ignore[arg-type]


@refused("thread", "the delay is -1 ps: it may not be negative")
def negative_delay(s: Small) -> None:
    s.p.raise_(0, -1)


@refused("thread", "the delay is 4503599627370496 ps: times could overflow from 4503599627370496 on")
def endless_delay(s: Small) -> None:
    s.p.set(R0, 0)
    s.p.wake_thread(R0, 1 << 52)


@refused("thread", "draws with 2147483648; 0 to 2147483647 are possible")
def draw_overflows(s: Small) -> None:
    s.p.uniform(R0, 1 << 31)


@refused("thread", "draws with -1; 0 to 1099511627775 are possible")
def negative_mean(s: Small) -> None:
    s.p.exponential(R0, -1)


@refused("thread", "value is 4611686018427387904, which could overflow")
def number_overflows(s: Small) -> None:
    s.p.set(R0, 1 << 62)


@refused("thread", "dst is 16: there is no register of that number")
def no_register(s: Small) -> None:
    s.p.set(type(R0)(16, "r16"), 0)


@CASES.each()
def test_it_is_refused_with_the_instruction_and_the_reason(kind: str, body: Body, reason: str) -> None:
    check_refusal(kind, body, reason)
