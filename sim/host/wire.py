"""Two hosts and a cable between them: a pair of virtual Ethernet devices, and the knobs of each end.

Virtual Ethernet has no NIC: no ring, no DMA, no interrupt.  A packet that is sent is put straight on the
receiver's backlog or, with GRO on, on the device's own NAPI poll, on the sender's CPU unless RPS moves it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from . import child
from .namespace import Namespace

SEGMENTATION: Final = ("tso", "gso", "tx-udp-segmentation")


@dataclass
class End:
    """One end of a cable: its host, its device, its addresses."""

    host: Namespace
    device: str
    v4: str
    v6: str

    def offload(self, **features: bool) -> None:
        """Switch offloads by their names in ethtool (``gro``, ``tso``, ...; underscores for dashes)."""
        words = [w for name, on in features.items() for w in (name.replace("_", "-"), "on" if on else "off")]
        self.host.run("ethtool", "-K", self.device, *words)

    def segmentation(self, on: bool) -> None:
        """Whether this end sends packets longer than the MTU, as a NIC that cuts them itself would take them."""
        self.offload(**{name.replace("-", "_"): on for name in SEGMENTATION})

    def mtu(self, size_bytes: int) -> None:
        """Set the device's MTU."""
        self.host.run("ip", "link", "set", self.device, "mtu", str(size_bytes))

    def limit(self, **sizes: int) -> None:
        """Set ``gro_max_size``, ``gro_ipv4_max_size``, ``gso_max_size``, ... ; `child.Failed` if unknown."""
        words = [w for name, size in sizes.items() for w in (name, str(size))]
        self.host.run("ip", "link", "set", "dev", self.device, *words)

    def rps(self, cpus: list[int]) -> None:
        """Spread what arrives here over CPUs; none switches RPS off."""
        mask = sum(1 << cpu for cpu in cpus)
        self.host.write(f"/sys/class/net/{self.device}/queues/rx-0/rps_cpus", f"{mask:x}")


@contextmanager
def cable(left: Namespace, right: Namespace, number: int = 0) -> Iterator[tuple[End, End]]:
    """Connect two hosts; addresses are of cable `number`: 10.9.N.1 and .2, fd09:N::1 and ::2.

    Devices are named for this process, so that a tracepoint's filter by name sees no other's.
    """
    ends = []
    for side, host in enumerate((left, right)):
        device = f"rp{number}{'ab'[side]}{os.getpid()}"
        ends.append(End(host, device, f"10.9.{number}.{side + 1}", f"fd09:{number}::{side + 1}"))
    one, other = ends
    child.run([
        *left.inside(["ip", "link", "add", one.device, "type", "veth", "peer", "name", other.device]),
        "netns", str(right.pid),
    ])
    for end in ends:
        end.host.run("ip", "addr", "add", f"{end.v4}/24", "dev", end.device)
        end.host.run("ip", "-6", "addr", "add", f"{end.v6}/64", "dev", end.device, "nodad")
        end.host.run("ip", "link", "set", end.device, "up")
    yield one, other
