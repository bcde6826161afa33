"""A program that reads a packet ring: it copies each frame, hands it back, and polls when it finds none.

As bench_rollover (github.com/wdebruij/kerneltools, tests/bench_rollover.c at 2488a97ad613) does it: 1,514 bytes of
each frame whatever the packet's length, at most a ring of frames between two calls of ``poll()``.
"""

from __future__ import annotations

from typing import Final, Protocol

from ..expression import Number, Value
from .host import Host
from .packet import PacketSockets
from .registers import BUDGET, FLOW, INDEX, LEFT, SKB, K, M, N

COPIED_BYTES: Final = 1514  # ETH_FRAME_LEN
FORK_PS: Final = 1_000_000_000  # assumed; the trap does not depend on it, once softirqs run before the readers
PAUSE_PS: Final = 150_000_000  # usleep(100) and the default timer slack of 50 us


class Softirqs(Protocol):
    """What runs when a thread enables bottom halves (`sim.path.inline.InlineSoftirqs`)."""

    def enable(self) -> None: ...


class RingReaders:
    """Threads ``reader``, one a socket: socket s's on CPU `cpu` + s.

    Parameters
    ----------
    pause_frames
        After so many frames the program sleeps in ``usleep(100)``; 0 for never.
    late
        1 if packets come in for a while before the first read: the program makes all sockets, then forks the readers.
    first_timer
        How many agents were spawned before.
    on
        0 for no threads at all.
    """

    def __init__(
        self, host: Host, sockets: PacketSockets, softirqs: Softirqs, *, pause_frames: Value, late: Value,
        first_timer: Number, cpu: Number = 0, on: Number = 1,
    ) -> None:
        self.host, self.sockets, self.softirqs = host, sockets, softirqs
        self.pause_frames, self.late, self.first_timer, self.on = pause_frames, late, first_timer, on
        self._read()
        self._poll()
        host.spec.spawn_threads("bench_rollover", "reader", sockets.sockets * on, base=cpu, mod=sockets.sockets)
        self._timer()

    def _read(self) -> None:
        host, p, sockets = self.host, self.host.program, self.sockets
        with p.symbol("sys_clone"):
            p.label("reader")
            with p.where(self.late, "late"):
                p.work(FORK_PS)
        with p.symbol("reader"):
            p.set(FLOW, INDEX)
            p.set(LEFT, 0)
            p.alu(SKB, FLOW, "*", sockets.ring_frames)
            p.label("reader.again")
            p.set(BUDGET, sockets.ring_frames)
            p.label("reader.frame")
            p.read(sockets.frames, "tp_status", SKB)
            p.load(N, sockets.status, "user", SKB)
            p.branch(N, "==", 0, "sys_poll")
            p.read(sockets.frames, "data", SKB)
            p.set(N, COPIED_BYTES)
            p.work(host.cost("reader_frame_ps"), by=N, fs=host.cost("copy_fs_per_byte"), copy=True)
            p.write(sockets.frames, "tp_status", SKB)
            p.store(sockets.status, "user", 0, SKB)
            p.count("read")
            sockets.next_frame()
            p.set(SKB, N)
            with p.where(self.pause_frames.above(0), "pauses"):
                p.alu(LEFT, LEFT, "+", 1)
                p.branch(LEFT, "<", self.pause_frames, "reader.next")
                p.call("usleep")
                p.set(LEFT, 0)
            p.label("reader.next")
            p.loop(BUDGET, "reader.frame")
        with p.symbol("sys_poll"):
            p.label("sys_poll")
            p.work(host.cost("syscall_ps") + host.cost("poll_ps"))
            p.count("polls")

    def _poll(self) -> None:
        """``packet_poll``: readable if the frame filled last still belongs to the program. K says so.

        It takes two locks with bottom halves off, the receive queue's and the write queue's; pending softirqs run
        when each is released, after the program's fate is decided. A wake-up meanwhile makes ``poll()`` ask again.
        """
        p, sockets = self.host.program, self.sockets
        with p.symbol("packet_poll"):
            p.label("packet_poll")
            p.store(sockets.table, "waiting", 1, FLOW)
            sockets.lock(FLOW, "packet_poll", "_raw_spin_lock_bh")
            p.read(sockets.struct, "rx_ring.head", FLOW)
            p.load(K, sockets.table, "head", FLOW)
            p.alu(M, K, "%", sockets.ring_frames)
            p.branch(M, "!=", 0, "packet_poll.previous")
            p.alu(K, K, "+", sockets.ring_frames)
            p.label("packet_poll.previous")
            p.alu(K, K, "-", 1)
            p.alu(K, K, "min", sockets.frame.count - 1)
            p.alu(K, K, "max", 0)
            p.read(sockets.frames, "tp_status", K)
            p.load(K, sockets.status, "user", K)
            p.unlock(sockets.slock, FLOW)
            self.softirqs.enable()
            with p.symbol("_raw_spin_lock_bh (packet_poll)"):  # the write queue's lock, which nobody else wants
                p.work(self.host.cost("hit_ps") + self.host.cost("atomic_ps"))
            self.softirqs.enable()
            with p.when(sockets.pressure):
                p.read(sockets.struct, "pressure", FLOW)
                p.load(N, sockets.table, "pressure", FLOW)
                p.branch(N, "==", 0, "packet_poll.pressure")
                p.branch(K, "!=", 0, "packet_poll.pressure")
                p.atomic(sockets.struct, "pressure", FLOW)
                p.store(sockets.table, "pressure", 0, FLOW)
                p.label("packet_poll.pressure")
            p.branch(K, "!=", 0, "packet_poll.ready")
            p.count("sleeps")
            p.sleep()
            p.jump("packet_poll")  # a thread that was woken asks once more
            p.label("packet_poll.ready")
            p.store(sockets.table, "waiting", 0, FLOW)
            p.jump("reader.again")

    def _timer(self) -> None:
        """``usleep``: a timer a reader, as an agent that wakes it."""
        host, p = self.host, self.host.program
        with p.symbol("hrtimer_interrupt"):
            p.label("usleep")
            p.work(host.cost("syscall_ps"))
            p.alu(N, FLOW, "+", self.first_timer)
            p.wake_agent(N, PAUSE_PS)
            p.sleep()
            p.work(host.cost("irq_ps"))
            p.ret()
        p.label("timer")
        p.sleep()
        p.set(FLOW, INDEX)
        p.wake_thread(FLOW)
        p.jump("timer")
        host.spec.spawn_agents("timer", "timer", self.sockets.sockets * self.on)
