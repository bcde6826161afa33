"""When a receiver of bulk TCP sends an ACK.

By itself the program has one rule: a reader sends one whenever something was copied. With `Acks.due` on, it has the
kernel's: TCP's input and the reader both ask whether an ACK is due, and what its window would be. An ACK opens the
window up to what is free now, the buffer without what waits in the receive queue and in the backlog, and never takes
back what was announced. From ``__tcp_ack_snd_check()``, ``tcp_cleanup_rbuf()``, ``__tcp_select_window()`` and
``tcp_select_window()`` of 5.17, without quick ACKs, windows' rounding and caps, and the delayed ACK, which no bulk flow
lives to see.
"""

from __future__ import annotations

from typing import Protocol

from ..expression import Number, Value
from .host import Host
from .registers import COPIED, FLOW, K, M, N
from .socket import MOST, Socket


class Acknowledged(Protocol):
    """The other end of the flows (`sim.path.sender.BulkSender`, `sim.path.windows.BulkSenders`)."""

    def acknowledge(self) -> None: ...


class Acks:
    """Writes ``tcp_cleanup_rbuf`` for readers and, with `due`, ``tcp_ack_snd_check``, which TCP's input calls.

    Parameters
    ----------
    sender
        Who hears of an ACK.
    hot_address
        1 if the checksum takes the own address from the hot part of the socket (patch 3), 0 for the cold copy.
    window_bytes
        The window when nothing is queued: half of the receive buffer.
    mss_bytes
        Payload of a full segment: of so much no ACK needs to be sent at once.
    rcvlowat
        SO_RCVLOWAT: as long as a reader waits for more, the window is opened whatever is free.

    The last three are asked for with ``socket.acks_due`` only, the switch of the kernel's rules (None: not written).
    """

    def __init__(
        self, host: Host, socket: Socket, sender: Acknowledged, *, hot_address: Value, window_bytes: Number = 0,
        mss_bytes: Number = 0, rcvlowat: Number = 0,
    ) -> None:
        self.host, self.socket, self.due = host, socket, socket.acks_due
        self.window, self.mss = window_bytes, mss_bytes
        if self.due is not None:
            for column in ("room", "rcv_wnd"):
                host.spec.init(socket.table, column, window_bytes)
        self._after_read()
        self._send(sender, hot_address)
        if self.due is not None:
            self._after_input(rcvlowat)
            self._select_window()

    def _after_input(self, rcvlowat: Number) -> None:
        """More than a segment is not acknowledged, and the window would not shrink: the right edge moves on."""
        p, table = self.host.program, self.socket.table
        with p.symbol("__tcp_ack_snd_check"):
            p.label("tcp_ack_snd_check")
            p.load(K, table, "room", FLOW)
            p.load(N, table, "rcv_wnd", FLOW)
            p.alu(M, N, "-", K)
            p.branch(M, "<=", self.mss, "tcp_ack_snd_check.later")
            p.load(M, table, "queued", FLOW)
            p.branch(M, "<", rcvlowat, "tcp_ack_snd_check.now")
            p.call("__tcp_select_window")
            p.branch(K, "<", N, "tcp_ack_snd_check.later")
            p.label("tcp_ack_snd_check.now")
            p.count("input_acks")
            p.jump("tcp_send_ack")
            p.label("tcp_ack_snd_check.later")
            p.ret()

    def _after_read(self) -> None:
        """Something was copied; or more than a segment is not acknowledged, or half of a window or less has doubled."""
        p, table = self.host.program, self.socket.table
        with p.symbol("tcp_cleanup_rbuf"):
            p.label("tcp_cleanup_rbuf")
            if self.due is None:
                self._copied()
                return
            with p.where(self.due, "ACKs when they are due"):
                p.load(N, table, "room", FLOW)
                p.load(M, table, "rcv_wnd", FLOW)
                p.alu(M, M, "-", N)
                p.branch(M, ">", self.mss, "tcp_send_ack")
                p.branch(COPIED, "==", 0, "tcp_cleanup_rbuf.none")
                p.alu(N, N, "max", 0)
                p.alu(N, N, "min", MOST)
                p.alu(N, N, "*", 2)
                p.branch(N, ">", self.window, "tcp_cleanup_rbuf.none")
                p.call("__tcp_select_window")
                p.branch(K, "==", 0, "tcp_cleanup_rbuf.none")
                p.branch(K, ">=", N, "tcp_send_ack")
                p.jump("tcp_cleanup_rbuf.none")
            with p.where(1 - self.due, "an ACK for what was copied"):
                self._copied()

    def _copied(self) -> None:
        p, table = self.host.program, self.socket.table
        p.load(N, table, "unacked", FLOW)
        p.branch(N, "==", 0, "tcp_cleanup_rbuf.none")
        p.store(table, "unacked", 0, FLOW)

    def _send(self, sender: Acknowledged, hot: Value) -> None:
        """The ACK. Its checksum needs the own address: from the hot part of the socket, or the cold one (patch 3)."""
        p, socket = self.host.program, self.socket
        with p.symbol("__tcp_transmit_skb"):
            p.label("tcp_send_ack")
            p.read(socket.tcp, "rcv_nxt", FLOW)
            p.work(self.host.cost("tcp_ack_ps"))
            p.count("acks")
        with p.symbol("tcp_v6_send_check"):
            with p.where(hot, "send_check_hot_addr"):
                p.read(socket.struct, "skc_v6_rcv_saddr", FLOW)
            with p.where(1 - hot, "address in ipv6_pinfo"):
                p.read(socket.pinet6, "saddr", FLOW)
        with p.symbol("__tcp_transmit_skb"):
            if self.due is not None:
                with p.where(self.due, "the window"):
                    p.call("__tcp_select_window")
                    p.load(N, socket.table, "room", FLOW)
                    p.alu(K, K, "max", N)
                    p.alu(K, K, "max", 0)
                    p.alu(K, K, "min", MOST)
                    p.store(socket.table, "room", K, FLOW)
                    p.store(socket.table, "rcv_wnd", K, FLOW)
                    p.alu(N, K, "-", N)
            sender.acknowledge()
            p.label("tcp_cleanup_rbuf.none")
            p.ret()

    def _select_window(self) -> None:
        """Write ``__tcp_select_window``: what is free, to K. Uses M."""
        p, struct, table = self.host.program, self.socket.struct, self.socket.table
        with p.symbol("__tcp_select_window"):
            p.label("__tcp_select_window")
            p.work(self.host.cost("function_call_ps"))
            for field in ("sk_rcvbuf", "sk_backlog.len", "sk_rmem_alloc"):
                p.read(struct, field, FLOW)
            p.set(K, self.window)
            for column in ("queued", "backlog_len"):
                p.load(M, table, column, FLOW)
                p.alu(K, K, "-", M)
            p.alu(K, K, "max", 0)
            p.ret()
