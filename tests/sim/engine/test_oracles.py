"""What the engine must compute because mathematics says so: queues, conservation, locks, lines, schedulers."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.program import Register
from sim.spec import Integer, Spec
from sim.verifier import verify

R0, R1, R2, R3 = (Register(k, f"r{k}") for k in range(4))
INDEX, CPU = Register(14, "index"), Register(15, "cpu")
FLAT = {"sockets": 1, "cores_per_socket": 1, "threads_per_core": 1}
US = 1_000_000
Words = npt.NDArray[np.int64]


class Run:
    """A verified spec, run to a time with the knobs given."""

    def __init__(self, spec: Spec, until: int, status: int = tables.REACHED, **knobs: int) -> None:
        verify(spec, knobs)
        self.spec, self.engine = spec, NativeEngine()
        self.arena: Words = self.engine.build(spec.image(knobs))
        assert self.engine.run_until(self.arena, until) == status

    def word(self, at: int) -> int:
        return int(self.arena[at])

    def stat(self, name: str) -> int:
        return self.word(self.word(tables.H_AT_STAT) + self.spec.stats.index(name))

    def cpu(self, number: int, word: int) -> int:
        return self.word(self.word(tables.H_AT_CPU) + tables.CPU_WORDS * number + word)

    def queue(self, row: int, word: int) -> int:
        """A word of a queue; rows count on through all sets."""
        return self.word(self.word(tables.H_AT_QUEUE) + tables.QUEUE_WORDS * row + word)

    def lock(self, row: int, word: int) -> int:
        return self.word(self.word(tables.H_AT_LOCK) + tables.LOCK_WORDS * row + word)

    def busy(self, number: int) -> int:
        """Time charged to symbols on a CPU, softirq and threads, ps."""
        symbols, at, cpus = (self.word(w) for w in (tables.H_SYMBOLS, tables.H_AT_PROFILE, tables.H_CPUS))
        rows = self.arena[at : at + 2 * cpus * symbols].reshape(2 * cpus, symbols)
        return int(rows[number].sum() + rows[cpus + number].sum())


# -- queues: M/D/1 and M/M/1, Little, conservation --------------------------------------------------------


def single_server(exponential: bool, capacity: int = 1 << 30) -> Spec:
    """Poisson arrivals of mean gap `gap` at one CPU whose softirq serves each for 1 us, fixed or on average."""
    s = Spec(["gap"])
    p = s.program
    one, item = s.domain("one", 1), s.domain("item", 4_000)
    stamps = s.table("item", item, arrived=Integer(0, tables.INF))
    free, waiting = s.queue("free", one, item), s.queue("waiting", one, item, capacity)
    s.fill(free, 4_000)
    s.cost(**FLAT)
    serve = s.vector("serve")
    with p.symbol("serve"):
        p.label("serve")
        p.pop(waiting, R0, empty="serve.done")
        p.load(R1, stamps, "arrived", R0)
        p.now(R2)
        p.alu(R2, R2, "-", R1)
        p.count("wait", R2)
        if exponential:
            p.exponential(R1, US)
            p.work(0, by=R1, fs=1_000)
        else:
            p.work(US)
        p.now(R2)
        p.load(R1, stamps, "arrived", R0)
        p.alu(R2, R2, "-", R1)
        p.count("sojourn", R2)
        p.count("served")
        p.push(free, R0)
        p.jump("serve")
        p.label("serve.done")
        p.end()
        p.label("arrive")
        p.exponential(R3, s.values.knob("gap"))
        p.work(0, by=R3, fs=1_000)
        p.pop(free, R0)
        p.now(R2)
        p.store(stamps, "arrived", R2, R0)
        p.count("made")
        p.push(waiting, R0, full="arrive.drop")
        p.set(R1, 0)
        p.raise_(serve, 0, R1)
        p.jump("arrive")
        p.label("arrive.drop")
        p.push(free, R0)
        p.count("dropped")
        p.jump("arrive")
    s.spawn_agents("arrivals", "arrive")
    return s


@pytest.mark.parametrize("percent", [30, 60, 80])
@pytest.mark.parametrize("exponential", [False, True], ids=["M/D/1", "M/M/1"])
def test_mean_wait(exponential: bool, percent: int) -> None:
    """Pollaczek and Khinchine: rho / (1 - rho) times the service time, half of it if service is fixed."""
    spec = single_server(exponential)
    waits = []
    for seed in range(12):
        run = Run(spec, 60_000 * US, gap=US * 100 // percent, seed=seed)
        waits.append(run.stat("wait") / run.stat("served") / US)
    load = percent / 100
    expected = load / (1 - load) * (1 if exponential else 0.5)
    error = float(np.std(waits, ddof=1)) / math.sqrt(len(waits))
    assert abs(float(np.mean(waits)) - expected) < 3 * error
    assert error < 0.04 * expected


def test_little() -> None:
    """The area under a queue's length is the sum of its items' waits, those still waiting included."""
    until = 5_000 * US
    run = Run(single_server(True), until, gap=US * 10 // 8, seed=3)
    row = 1  # waiting
    length, since = run.queue(row, tables.Q_LENGTH), run.queue(row, tables.Q_SINCE)
    area = run.queue(row, tables.Q_AREA) + length * (until - since)
    cells, item, still = run.word(tables.H_AT_CELL), run.queue(row, tables.Q_HEAD), 0
    while item >= 0:
        still += until - run.word(cells + item)
        item = run.word(run.queue(row, tables.Q_LINK) + item)
    assert area == run.stat("wait") + still


@pytest.mark.parametrize("capacity", [1, 5])
def test_packets_are_conserved(capacity: int) -> None:
    """Made = delivered + dropped + in flight, at any time."""
    spec = single_server(False, capacity)
    for until in (100 * US, 777 * US, 2_000 * US):
        run = Run(spec, until, gap=US * 10 // 12, seed=1)
        in_flight = 4_000 - run.queue(0, tables.Q_LENGTH)
        assert run.stat("dropped") > 0
        # An item popped by the arrival process at its very event is pushed at the same instant: none is between.
        assert run.stat("made") == run.stat("served") + run.stat("dropped") + in_flight


# -- CPUs: time is complete, siblings slow each other, ksoftirqd's share ----------------------------------


def test_busy_and_idle_are_all_the_time() -> None:
    """Busy + idle = elapsed on each CPU, whatever it ended with."""
    s = Spec()
    p = s.program
    one = s.domain("one", 3)
    lines = s.struct("line", one, {"lock": 0}, 1)
    lock = s.spinlocks("lock", lines, "lock")
    s.cost(sockets=1, cores_per_socket=3, threads_per_core=1, hit_ps=1_000, same_socket_ps=40_000,
           memory_ps=90_000, switch_ps=300_000, idle_exit_ps=50_000, slice_ps=2 * US, chunk_ps=US // 4)
    vector = s.vector("softirq")
    with p.symbol("all"):
        p.label("softirq")
        p.work(700_001)
        p.end()
        p.label("thread")
        p.uniform(R0, 3)
        p.lock(lock)
        p.work(33_333)
        p.unlock(lock)
        p.exponential(R1, US)
        p.work(0, by=R1, fs=1_000)
        p.raise_(vector, 10_000, R0)
        p.uniform(R2, 2)
        p.branch(R2, "==", 0, "thread")
        p.sleep()
        p.jump("thread")
        p.label("agent")
        p.exponential(R1, 3 * US)
        p.work(0, by=R1, fs=1_000)
        p.uniform(R0, 5)
        p.wake_thread(R0)
        p.jump("agent")
    s.spawn_threads("thread", "thread", 5, mod=2)
    s.spawn_agents("agent", "agent")
    until = 400 * US
    run = Run(s, until, seed=4)
    tree, leaves = run.word(tables.H_AT_TREE), run.word(tables.H_LEAVES)
    for cpu in range(3):
        state, idle = run.cpu(cpu, tables.C_STATE), run.cpu(cpu, tables.C_IDLE)
        if state == tables.IDLE:
            end = run.cpu(cpu, tables.C_IDLE_SINCE)
        elif state == tables.SPINNING:
            end = run.cpu(cpu, tables.C_SPIN_SINCE)
        else:
            end = run.word(tree + leaves + cpu) >> tables.ID_BITS
        assert run.busy(cpu) + idle == end
        assert end >= until or state != tables.RUNNING


def test_a_busy_sibling_slows_work() -> None:
    """Both threads of a core get 1000 / permille of what one gets alone."""
    counts = []
    for threads in (1, 2):
        s = Spec()
        s.cost(sockets=1, cores_per_socket=1, threads_per_core=2, smt_permille=1_600)
        with s.program.symbol("busy"):
            s.program.label("busy")
            s.program.work(US)
            s.program.count("done")
            s.program.jump("busy")
        s.spawn_threads("busy", "busy", threads, mod=2)
        counts.append(Run(s, 1_600 * US + 1).stat("done"))
    assert counts[0] == 1_600
    assert abs(counts[1] - 2 * 1_000) <= 4


@pytest.mark.parametrize(("after", "slice_us"), [(2_000, 1_000), (500, 500)])
def test_ksoftirqd_gives_threads_their_share(after: int, slice_us: int) -> None:
    """A softirq that never ends leaves threads slice / (after + slice) of the CPU, to a packet's time."""
    s = Spec()
    p = s.program
    s.cost(**FLAT, ksoftirqd_after_ps=after * US, ksoftirqd_slice_ps=slice_us * US, ksoftirqd_blocks_irq=1,
           chunk_ps=US)
    vector = s.vector("flood")
    p.label("flood")
    with p.symbol("flood"):
        p.work(10 * US)
        p.raise_(vector)
        p.end()
    with p.symbol("thread"):
        p.label("thread")
        p.raise_(vector)
        p.label("thread.on")
        p.work(US)
        p.count("thread")
        p.jump("thread.on")
    s.spawn_threads("thread", "thread")
    run = Run(s, 300_000 * US)
    share = run.stat("thread") / 300_000
    assert share == pytest.approx(slice_us / (after + slice_us), rel=0.03)


# -- locks and lines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cpus", [2, 4, 8])
@pytest.mark.parametrize("kind", [tables.TICKET, tables.QUEUED], ids=["ticket", "queued"])
def test_a_saturated_lock(kind: int, cpus: int) -> None:
    """One critical section per section + hand-over, and waiters get it in turn."""
    section, transfer, ticket, waiter, queued = 300_000, 40_000, 1_200, 400, 1_100
    s = Spec()
    p = s.program
    cpu = s.domain("cpu", cpus)
    lock = s.spinlocks("lock", s.struct("line", s.domain("one", 1), {"lock": 0}, 1), "lock", kind)
    taken = s.table("taken", cpu, times=Integer())
    s.cost(sockets=1, cores_per_socket=cpus, threads_per_core=1, same_socket_ps=transfer, hit_ps=0,
           ticket_permille=ticket, ticket_waiter_permille=waiter, queued_permille=queued)
    with p.symbol("loop"):
        p.label("loop")
        p.lock(lock)
        p.work(section)
        p.add(taken, "times", 1, CPU)
        p.unlock(lock)
        p.jump("loop")
    s.spawn_threads("loop", "loop", cpus, mod=cpus)
    # After a release cpus - 1 wait and the next of them gets it; the releaser comes back behind the others.
    others = cpus - 2
    hand_over = transfer * (ticket + waiter * others if kind == tables.TICKET else queued) // 1_000
    until = 20_000 * US
    run = Run(s, until)
    expected = until / (section + hand_over)
    assert run.lock(0, tables.K_ACQUIRED) == pytest.approx(expected, rel=0.002)
    at = run.word(tables.H_AT_CELL)
    times = run.arena[at : at + cpus]
    assert int(times.max() - times.min()) <= 1


@pytest.mark.parametrize("cpus", [2, 3, 7])
def test_a_line_handed_round(cpus: int) -> None:
    """N CPUs that change one line in a loop: each of them once per N * (transfer + atomic)."""
    transfer, atomic = 45_000, 5_000
    s = Spec()
    p = s.program
    cpu = s.domain("cpu", cpus)
    line = s.struct("line", s.domain("one", 1), {"a": 0}, 1)
    s.cost(sockets=1, cores_per_socket=cpus, threads_per_core=1, same_socket_ps=transfer, atomic_ps=atomic)
    done = s.table("done", cpu, times=Integer())
    with p.symbol("loop"):
        p.label("loop")
        p.atomic(line, "a")
        p.add(done, "times", 1, CPU)
        p.jump("loop")
    s.spawn_threads("loop", "loop", cpus, mod=cpus)
    until = 10_000 * US
    run = Run(s, until)
    at = run.word(tables.H_AT_CELL)
    times = run.arena[at : at + cpus]
    expected = until / (cpus * (transfer + atomic))
    assert abs(times - expected).max() <= 2
    assert run.word(tables.H_TRANSFERS) == pytest.approx(until / (transfer + atomic), abs=cpus)


# -- order, wake-ups, interrupts --------------------------------------------------------------------------


def test_first_in_first_out() -> None:
    """Items leave a queue as they came, also after a splice; those put in front leave first."""
    s = Spec()
    p = s.program
    one, item = s.domain("one", 1), s.domain("item", 10)
    a, b = s.queue("a", one, item), s.queue("b", one, item)
    s.fill(a, 6)
    s.fill(b, 3, first=6)
    s.cost(**FLAT)
    order = s.table("order", item, place=Integer(0, 100))
    with p.symbol("thread"):
        p.label("thread")
        p.pop(a, R0)
        p.push(a, R0)  # 1 2 3 4 5 0
        p.splice(b, a)  # 1 2 3 4 5 0 6 7 8
        p.pop(a, R0)
        p.pop(a, R1)
        p.push(a, R0, front=True)
        p.push(a, R1, front=True)  # 2 1 3 4 5 0 6 7 8
        p.set(R2, 0)
        p.label("next")
        p.pop(a, R0, empty="done")
        p.store(order, "place", R2, R0)
        p.alu(R2, R2, "+", 1)
        p.branch(R2, "<", 20, "next")
        p.label("done")
        p.halt()
    s.spawn_threads("thread", "thread")
    run = Run(s, US, tables.HALTED)
    at = run.word(tables.H_AT_CELL)
    assert list(run.arena[at : at + 9]) == [5, 1, 0, 2, 3, 4, 6, 7, 8]


@pytest.mark.parametrize("delay", [0, 1, 499_999, 3 * US])
def test_no_wake_up_is_lost(delay: int) -> None:
    """A consumer that checks and then sleeps sees every item, whenever the wake-up comes."""
    s = Spec()
    p = s.program
    one, item = s.domain("one", 1), s.domain("item", 500)
    free, ready = s.queue("free", one, item), s.queue("ready", one, item)
    s.fill(free, 500)
    s.cost(**FLAT, switch_ps=100_000, idle_exit_ps=50_000)
    with p.symbol("consumer"):
        p.label("consumer")
        p.pop(ready, R0, empty="consumer.sleep")
        p.work(200_000)
        p.count("seen")
        p.jump("consumer")
        p.label("consumer.sleep")
        p.work(400_000)  # a wake-up now comes before the sleep
        p.sleep()
        p.jump("consumer")
        p.label("producer")
        p.pop(free, R0, empty="producer.done")
        p.exponential(R1, 600_000)
        p.work(0, by=R1, fs=1_000)
        p.push(ready, R0)
        p.set(R1, 0)
        p.wake_thread(R1, delay)
        p.jump("producer")
        p.label("producer.done")
        p.halt()
    s.spawn_threads("consumer", "consumer")
    s.spawn_agents("producer", "producer")
    run = Run(s, 10_000 * US, tables.DEADLOCK, seed=2)
    assert run.stat("seen") == 500


def test_interrupts_between_cpus_are_delivered() -> None:
    """Packets steered to other CPUs by an IPI each arrive there, one IPI latency after they were sent."""
    cpus, packets, latency = 4, 300, 700_000
    s = Spec()
    p = s.program
    cpu, item, one = s.domain("cpu", cpus), s.domain("item", packets), s.domain("one", 1)
    source, backlog = s.queue("source", one, item), s.queue("backlog", cpu, item)
    seen = s.table("seen", cpu, packets=Integer())
    stamp = s.table("stamp", item, at=Integer(0, tables.INF))
    s.fill(source, packets)
    s.cost(sockets=1, cores_per_socket=cpus, threads_per_core=1)
    ipi = s.vector("ipi")
    with p.symbol("rps"):
        p.label("ipi")
        p.pop(backlog, R0, CPU, empty="ipi.done")
        p.add(seen, "packets", 1, CPU)
        p.now(R1)
        p.load(R2, stamp, "at", R0)
        p.alu(R1, R1, "-", R2)
        p.count("latency", R1)
        p.jump("ipi")
        p.label("ipi.done")
        p.end()
        p.label("steer")
        p.pop(source, R0, empty="steer.done")
        p.work(US)
        p.alu(R1, R0, "%", cpus)
        p.now(R2)
        p.store(stamp, "at", R2, R0)
        p.push(backlog, R0, R1)
        p.raise_(ipi, latency, R1)
        p.jump("steer")
        p.label("steer.done")
        p.halt()
    s.spawn_threads("steer", "steer")
    run = Run(s, 1_000 * US, tables.HALTED)
    at = run.word(tables.H_AT_CELL)
    assert list(run.arena[at : at + cpus]) == [packets // cpus] * cpus
    # The steering CPU itself is at work when its own come due: it takes them up after the packet under way.
    assert packets * latency <= run.stat("latency") <= packets * latency + packets // cpus * US
