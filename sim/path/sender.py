"""The other end of a bulk flow, and the wire: an agent that sends while the receive window has room.

It stops at the window; an ACK that frees some of it arrives a round trip later.
"""

from __future__ import annotations

from ..expression import Value
from ..spec import Integer
from .host import Host
from .nic import Nic
from .registers import FRAME, OTHER, M, N


class BulkSender:
    """One flow into one NIC queue; ``credit`` in the table is what the receiver's ACKs gave back.

    Parameters
    ----------
    window_bytes
        Bytes that may be unacknowledged.
    frame_bytes, gap_ps
        Payload of a packet, and the time it takes on the wire.
    jitter_ps
        Each gap is longer by up to this: the one thing that the seed varies in a bulk flow.
    round_trip_ps
        From an ACK leaving to the first packet it lets through arriving.
    """

    def __init__(
        self, host: Host, nic: Nic, *, window_bytes: Value, frame_bytes: Value, gap_ps: Value, jitter_ps: Value,
        round_trip_ps: int,
    ) -> None:
        self.host, self.nic = host, nic
        self.round_trip_ps = round_trip_ps
        spec, p = host.spec, host.program
        self.table = spec.table("sender", host.one, flight=Integer(0, 1 << 40))
        limit = window_bytes - frame_bytes
        p.label("sender")
        p.load(N, self.table, "flight")
        p.branch(N, "<=", limit, "sender.send")
        p.sleep()
        p.jump("sender")
        p.label("sender.send")
        p.uniform(M, jitter_ps)
        p.work(gap_ps, by=M, fs=1000)
        p.add(self.table, "flight", frame_bytes)
        p.pop(nic.descriptors, FRAME, empty="sender.drop")
        p.push(nic.ring, FRAME)
        p.load(N, nic.napi, "irq_on")
        p.branch(N, "==", 0, "sender")
        p.store(nic.napi, "irq_on", 0)
        p.set(OTHER, 0)
        p.raise_(nic.interrupt, nic.coalesce_ps, OTHER)
        p.jump("sender")
        p.label("sender.drop")
        p.count("nic_drops")
        p.jump("sender.lost")
        p.label("sender.lost")  # the lost segment comes again: the window closes by it until then
        p.add(self.table, "flight", 0 - frame_bytes)
        p.jump("sender")
        spec.spawn_agents("sender", "sender")

    def acknowledge(self) -> None:
        """Give back R[N] bytes of window; the sender hears of it a round trip later. Uses M and OTHER."""
        p = self.host.program
        p.set(M, 0)
        p.alu(M, M, "-", N)
        p.add(self.table, "flight", M)
        p.set(OTHER, 0)
        p.wake_agent(OTHER, self.round_trip_ps)
