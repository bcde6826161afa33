"""Packet sockets with TPACKET_V2 rings in one fanout group: choice of a socket, roll-over, and the ring itself.

A frame of a ring belongs to the kernel or to the program, as its status word says. The kernel fills frames in
turn; whether the frame at the head is free is looked up under the receive queue's lock, by every CPU that looks
for room, and once more by the one that fills it (linux 4.1, net/packet/af_packet.c).
"""

from __future__ import annotations

from typing import Final

from ..engine.tables import TICKET
from ..expression import Number, Value
from ..program import Register
from ..spec import Integer, Lines, Locks, Reference
from ..structs import packet_sock
from .host import Host
from .registers import CPU, FLOW, OTHER, SKB, SLOT, K, M, N

MAC_OFFSET: Final = 66  # tpacket2_hdr 32, sockaddr_ll 20, the IP header aligned to 16 behind an Ethernet header
FIELDS: Final = ("sk_receive_queue.lock", "stats", "rx_ring.head", "pressure", "tp_version")


class PacketSockets:
    """The sockets of a fanout group with their rings; FLOW is the socket, SKB the frame of its ring.

    Parameters
    ----------
    sockets, ring_frames
        Members of the group, and frames of each one's ring (4,096 bytes each).
    full
        1 if every frame is full at time 0.
    rollover
        1 if a packet that finds its socket full goes to another one (PACKET_FANOUT_FLAG_ROLLOVER).
    pressure
        Name of the patch's knob.
    packet_bytes
        Length of a packet with its Ethernet header.
    """

    def __init__(
        self, host: Host, *, sockets: Value, ring_frames: Value, full: Value, rollover: Value, pressure: str,
        packet_bytes: Number, kind: Number = TICKET,
    ) -> None:
        self.host, self.sockets, self.ring_frames = host, sockets, ring_frames
        self.rollover, self.pressure, self.packet_bytes = rollover, pressure, packet_bytes
        spec = host.spec
        self.socket = spec.domain("socket", sockets)
        self.frame = spec.domain("ring frame", sockets * ring_frames)
        self.struct: Lines = host.struct("packet_sock", self.socket, FIELDS, [pressure], packet_sock)
        # the status word with the rest of the header, then the packet; the other 62 lines are only streamed
        self.frames: Lines = spec.struct("tpacket2_hdr", self.frame, {"tp_status": 0, "data": 1}, 2)
        self.rollovers: Lines = spec.struct("packet_rollover", self.socket, {"sock": 0}, 1)
        self.group: Lines = spec.struct("packet_fanout", host.one, {"num_members": 0, "arr": 1}, 2)
        self.slock: Locks = spec.spinlocks("sk_receive_queue.lock", self.struct, "sk_receive_queue.lock", kind)
        self.table = spec.table(
            "packet_sock", self.socket, head=Reference(self.frame, none=False),
            rollover=Reference(self.socket, none=False), pressure=Integer(0, 1), waiting=Integer(0, 1),
        )
        self.status = spec.table("tpacket2_hdr", self.frame, user=Integer(0, 1))
        spec.init(self.table, "head", 0, mod=sockets, mul=ring_frames)
        spec.init(self.status, "user", full)

    def write_receive(self) -> None:
        """Write ``packet_rcv_fanout``: the tap on a received packet."""
        host, p = self.host, self.host.program
        self._has_room()
        with p.symbol("packet_rcv_fanout"):
            p.label("packet_rcv_fanout")
            p.read(self.group, "num_members")
            p.read(self.group, "arr")
            p.work(host.cost("packet_fanout_ps"))
            p.alu(FLOW, CPU, "%", self.sockets)
        with p.where(self.rollover, "rollover"), p.symbol("fanout_demux_rollover"):
            self._demux_rollover()
        self._tpacket_rcv()

    def next_frame(self) -> None:
        """Write: N = the frame behind SKB in its ring. Uses M."""
        p = self.host.program
        out = p.fresh("packet_next_frame")
        p.alu(N, SKB, "+", 1)
        p.alu(M, N, "%", self.ring_frames)
        p.branch(M, "!=", 0, out)
        p.alu(N, N, "-", self.ring_frames)
        p.label(out)
        p.alu(N, N, "min", self.frame.count - 1)
        p.alu(N, N, "max", 0)

    def lock(self, row: Register, caller: str, name: str = "_raw_spin_lock") -> None:
        """Write: take the receive queue's lock of the socket in a register, charged with its caller."""
        p = self.host.program
        with p.symbol(f"{name} ({caller})"):
            p.lock(self.slock, row)

    def _has_room(self) -> None:
        """N = 1 if the ring of the socket in SLOT has room. Uses SKB and OTHER."""
        host, p = self.host, self.host.program
        with p.symbol("packet_rcv_has_room"):
            p.label("packet_rcv_has_room")
            p.count("probes")
            self.lock(SLOT, "packet_rcv_has_room")
            p.read(self.struct, "rx_ring.head", SLOT)
            p.load(SKB, self.table, "head", SLOT)
            p.read(self.frames, "tp_status", SKB)
            p.work(host.cost("packet_has_room_ps"))
            p.load(N, self.status, "user", SKB)
            p.alu(N, N, "^", 1)
            p.unlock(self.slock, SLOT)
            with p.when(self.pressure):
                p.read(self.struct, "pressure", SLOT)
                p.load(OTHER, self.table, "pressure", SLOT)
                p.branch(OTHER, "!=", N, "packet_rcv_has_room.out")
                p.alu(OTHER, OTHER, "^", 1)
                p.atomic(self.struct, "pressure", SLOT)
                p.store(self.table, "pressure", OTHER, SLOT)
                p.count("pressure_changes")
            p.label("packet_rcv_has_room.out")
            p.ret()

    def _demux_rollover(self) -> None:
        """The own socket first; if it is full the others, from where the last packet found room."""
        host, p = self.host, self.host.program
        p.set(SLOT, FLOW)
        p.call("packet_rcv_has_room")
        p.branch(N, "!=", 0, "tpacket_rcv")
        p.count("own_full")
        p.read(self.rollovers, "sock", FLOW)
        p.load(SLOT, self.table, "rollover", FLOW)
        p.load(K, self.table, "rollover", FLOW)
        p.label("rollover.next")
        p.branch(SLOT, "==", FLOW, "rollover.skip")
        with p.when(self.pressure):
            p.read(self.struct, "pressure", SLOT)
            p.load(N, self.table, "pressure", SLOT)
            p.branch(N, "!=", 0, "rollover.skip")
        p.call("packet_rcv_has_room")
        p.branch(N, "!=", 0, "rollover.found")
        p.label("rollover.skip")
        p.work(host.cost("packet_rollover_step_ps"))
        p.alu(SLOT, SLOT, "+", 1)
        p.alu(SLOT, SLOT, "%", self.sockets)
        p.branch(SLOT, "!=", K, "rollover.next")
        p.count("rollover_failed")
        p.jump("tpacket_rcv")
        p.label("rollover.found")
        p.count("rolled_over")
        p.branch(SLOT, "==", K, "rollover.same")
        p.write(self.rollovers, "sock", FLOW)
        p.store(self.table, "rollover", SLOT, FLOW)
        p.label("rollover.same")
        p.set(FLOW, SLOT)

    def _tpacket_rcv(self) -> None:
        """The packet goes to the ring of the socket in FLOW, or is dropped if that is full."""
        host, p = self.host, self.host.program
        with p.symbol("tpacket_rcv"):
            p.label("tpacket_rcv")
            p.read(self.struct, "tp_version", FLOW)
            p.work(host.cost("tpacket_rcv_ps"))
            self.lock(FLOW, "tpacket_rcv")
            p.read(self.struct, "rx_ring.head", FLOW)
            p.load(SKB, self.table, "head", FLOW)
            p.read(self.frames, "tp_status", SKB)
            p.load(N, self.status, "user", SKB)
            p.branch(N, "!=", 0, "tpacket_rcv.ring_is_full")
            self.next_frame()
            p.write(self.struct, "rx_ring.head", FLOW)
            p.store(self.table, "head", N, FLOW)
            p.write(self.struct, "stats", FLOW)
            p.unlock(self.slock, FLOW)
        with p.symbol("memcpy_erms"):
            p.work(host.cost("memcpy_erms_ps"))
            p.write(self.frames, "data", SKB)
            p.set(N, self.packet_bytes)
            p.work(0, by=N, fs=host.cost("copy_fs_per_byte"), copy=True)
        with p.symbol("tpacket_rcv"):
            p.write(self.frames, "tp_status", SKB)
            p.store(self.status, "user", 1, SKB)
            p.count("delivered")
            p.jump("packet_data_ready")
            p.label("tpacket_rcv.ring_is_full")
            p.write(self.struct, "stats", FLOW)
            p.unlock(self.slock, FLOW)
            p.count("ring_drops")
        with p.symbol("sock_def_readable"):
            p.label("packet_data_ready")
            p.load(N, self.table, "waiting", FLOW)
            p.branch(N, "==", 0, "packet_data_ready.out")
            p.store(self.table, "waiting", 0, FLOW)
            p.work(host.cost("wakeup_ps"))
            p.wake_thread(FLOW)
            p.count("wakeups")
            p.label("packet_data_ready.out")
            p.ret()
