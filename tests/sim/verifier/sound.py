"""Sound specs to make mutants of: together they use every opcode and every kind of declaration."""

from __future__ import annotations

from sim.engine import tables as T
from sim.program import Register
from sim.spec import Integer, Reference, Spec

NAMES = ("skb", "n", "row", "other", "k", "m")
SKB, N, ROW, OTHER, K, M = (Register(k, name) for k, name in enumerate(NAMES))
INDEX, CPU = Register(14, "index"), Register(15, "cpu")
COSTS = {
    "hit_ps": 1_000, "sibling_ps": 3_000, "same_socket_ps": 40_000, "other_socket_ps": 110_000,
    "shared_read_ps": 20_000, "memory_ps": 90_000, "atomic_ps": 5_000, "smt_permille": 1_600,
    "ticket_permille": 1_000, "ticket_waiter_permille": 400, "queued_permille": 1_100, "switch_ps": 50_000,
    "idle_exit_ps": 20_000, "chunk_ps": 100_000, "l2_lines": 8, "llc_lines": 32,
}


def receive_path() -> Spec:
    """A sender, a ring, a softirq that delivers to sockets, readers that sleep and free."""
    s = Spec(["steer", "budget"])
    p = s.program
    one, cpu = s.domain("one", 1), s.domain("cpu", 4)
    skb, sock = s.domain("skb", 6), s.domain("sock", 2)
    sockets = s.table(
        "sock", sock, waiting=Integer(0, 1), rmem=Integer(), last=Reference(skb), cpu=Reference(cpu, none=False)
    )
    packets = s.table("skb", skb, sock=Reference(sock, none=False), bytes=Integer(0, 9000))
    lines = s.struct("sock", sock, {"lock": 0, "queue": 1}, 2)
    packet = s.struct("sk_buff", skb, {"head": 0}, 1)
    lock = s.spinlocks("slock", lines, "lock", T.TICKET)
    free, ring = s.queue("free", one, skb), s.queue("ring", one, skb, 4)
    backlog, receive = s.queue("backlog", cpu, skb), s.queue("receive", sock, skb)
    s.init(sockets, "last", -1)
    s.init(sockets, "cpu", 1, mod=2)
    s.init(packets, "bytes", 64, mod=1000, random=True)
    s.fill(free, 6)
    s.cost(sockets=1, cores_per_socket=2, threads_per_core=2, **COSTS)
    poll, ipi = s.vector("poll"), s.vector("ipi")
    with p.symbol("net_rx_action"):
        p.label("poll")
        p.set(N, s.values.knob("budget") + 2)
        p.label("poll.next")
        p.pop(ring, SKB, empty="poll.done")
        p.work(3_000)
        p.write(packet, "head", SKB)
        p.load(ROW, packets, "sock", SKB)
        with p.when("steer"):
            p.load(OTHER, sockets, "cpu", ROW)
            p.push(backlog, SKB, OTHER)
            p.raise_(ipi, 20_000, OTHER)
            p.jump("poll.more")
        p.call("deliver")
        p.label("poll.more")
        p.loop(N, "poll.next")
        p.raise_(poll)
        p.label("poll.done")
        p.end()
    with p.symbol("process_backlog"):
        p.label("ipi")
        p.pop(backlog, SKB, CPU, empty="poll.done")
        p.load(ROW, packets, "sock", SKB)
        p.call("deliver")
        p.jump("ipi")
    with p.symbol("tcp_v4_rcv"):
        p.label("deliver")
        p.lock(lock, ROW)
        p.write(lines, "queue", ROW)
        p.store(sockets, "last", SKB, ROW)
        p.push(receive, SKB, ROW)
        p.load(M, packets, "bytes", SKB)
        p.add(sockets, "rmem", M, ROW)
        p.load(K, sockets, "waiting", ROW)
        p.branch(K, "==", 0, "deliver.done")
        p.store(sockets, "waiting", 0, ROW)
        p.wake_thread(ROW, 10_000)
        p.label("deliver.done")
        p.unlock(lock, ROW)
        p.ret()
    with p.symbol("tcp_recvmsg"):
        p.label("reader")
        p.set(ROW, INDEX)
        p.label("reader.next")
        p.lock(lock, ROW)
        p.pop(receive, SKB, ROW, empty="reader.wait")
        p.unlock(lock, ROW)
        p.load(M, packets, "bytes", SKB)
        p.work(1_000, by=M, fs=80, copy=True)
        p.count("bytes", M)
        p.push(free, SKB)
        p.jump("reader.next")
        p.label("reader.wait")
        p.store(sockets, "waiting", 1, ROW)
        p.unlock(lock, ROW)
        p.sleep()
        p.jump("reader.next")
    with p.symbol("sender"):
        p.label("sender")
        p.exponential(K, 30_000)
        p.work(5_000, by=K, fs=1_000)
        p.pop(free, SKB, empty="sender.drop")
        p.uniform(ROW, 2)
        p.store(packets, "sock", ROW, SKB)
        p.push(ring, SKB, full="sender.back")
        p.set(OTHER, 0)
        p.raise_(poll, 1_000, OTHER)
        p.jump("sender")
        p.label("sender.back")
        p.push(free, SKB, front=True)
        p.label("sender.drop")
        p.count("drops")
        p.jump("sender")
    s.spawn_threads("reader", "reader", 2, base=2, mod=2)
    s.spawn_agents("sender", "sender", 2, start=100, stagger=700)
    return s


def odds_and_ends() -> Spec:
    """The other opcodes: threads that share locks and lists, look, splice, compute, yield and stop."""
    s = Spec(["extra"])
    p = s.program
    extra = s.values.knob("extra")
    cpu, item, row = s.domain("cpu", 4), s.domain("item", 9 + extra), s.domain("row", 3)
    table = s.table("row", row, next=Reference(row), sum=Integer(), hot=Integer(-5, 5))
    s.table("none", s.domain("nothing", 0), cell=Integer())
    lines = s.struct("row", row, {"a": 0, "b": extra % 2}, 2)
    locks = s.spinlocks("lock", lines, "b", T.QUEUED)
    one, two = s.queue("one", row, item), s.queue("two", cpu, item, 5)
    s.init(table, "next", 0, mod=3)
    s.fill(one, 6, div=2)
    s.fill(two, 3, first=6, row=1)
    s.cost(sockets=2, cores_per_socket=2, threads_per_core=1, slice_ps=300_000, **COSTS)
    timer = s.vector("timer")
    with p.symbol("run_timer_softirq"):
        p.label("timer")
        p.read(lines, "a")
        p.set(N, 1)
        p.wake_agent(N, 5_000)
        p.end()
    with p.symbol("worker"):
        p.label("worker")
        p.set(ROW, 0)
        p.set(N, 4)
        p.label("worker.next")
        p.lock(locks, ROW)
        p.call("inside")
        p.unlock(locks, ROW)
        p.atomic(lines, "a", ROW)
        p.load(ROW, table, "next", ROW)
        p.branch(ROW, ">=", 0, "worker.on")
        p.set(ROW, 2)
        p.label("worker.on")
        p.loop(N, "worker.next")
        p.raise_(timer, 40_000)
        p.yield_()
        p.qlen(two, K, CPU)
        p.branch(K, "<", 4, "worker")
        p.splice(two, one, CPU, ROW)
        p.halt()
    with p.symbol("inside"):
        p.label("inside")
        p.peek(one, SKB, ROW, empty="inside.none")
        p.alu(M, SKB, "%", 3)
        p.pop(one, SKB, ROW)
        p.push(two, SKB, CPU, full="inside.full", front=True)
        p.call("deeper")
        p.ret()
        p.label("inside.full")
        p.push(one, SKB, M)
        p.label("inside.none")
        p.ret()
    with p.symbol("deeper"):
        p.label("deeper")
        p.now(K)
        p.alu(K, K, ">>", 8)
        p.alu(K, K, "&", 7)
        p.alu(K, K, "-", 4)
        p.alu(K, K, "max", -5)
        p.store(table, "hot", K, M)
        p.add(table, "sum", K, M)
        p.load(OTHER, table, "sum", M)
        p.alu(OTHER, OTHER, "+", K)
        p.alu(OTHER, OTHER, "|", 1)
        p.alu(OTHER, OTHER, "^", 6)
        p.alu(OTHER, OTHER, "min", 90)
        p.alu(OTHER, OTHER, "max", 2)
        p.work(100, by=OTHER, fs=1_000)
        p.alu(OTHER, OTHER, "*", 3)
        p.alu(OTHER, OTHER, "<<", 2)
        p.alu(K, K, "//", OTHER)
        p.count("odd", K)
        p.ret()
    with p.symbol("clock"):
        p.label("clock")
        p.uniform(OTHER, 4)
        p.raise_(timer, 1_000, OTHER)
        p.branch(INDEX, "!=", 0, "clock.sleep")
        p.work(150_000)
        p.jump("clock")
        p.label("clock.sleep")
        p.sleep()
        p.jump("clock")
    s.spawn_threads("worker", "worker", 6, mod=4)
    s.spawn_agents("clock", "clock", 2, start=10)
    return s


#: Specs and the settings at which they are verified and run.
CASES = (
    (receive_path, {"steer": 0, "budget": 3, "seed": 5}),
    (receive_path, {"steer": 1, "budget": 0, "seed": 6, "trace_rows": 16}),
    (odds_and_ends, {"extra": 0, "seed": 7}),
    (odds_and_ends, {"extra": 3, "seed": 8, "trace_rows": 5}),
)
