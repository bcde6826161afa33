"""The scenarios: one for each thread, by the thread's name.

>>> from sim import scenarios
>>> s = scenarios.load("tcp-5.17")
>>> s.run(defer_free=1, replications=1).gbps > 60
True
"""

from __future__ import annotations

from collections.abc import Mapping

from ..machine import Machine
from .lab import Lab
from .packet_rollover import PacketRollover
from .scenario import RunError, Scenario, nearest
from .tcp_5_17 import Tcp517
from .tcp_prequeue import TcpPrequeue
from .tcp_rx_skb_cache import TcpRxSkbCache
from .udpv6_early_demux import UdpV6EarlyDemux

SCENARIOS: dict[str, type[Scenario]] = {
    s.name: s for s in (Tcp517, TcpPrequeue, TcpRxSkbCache, PacketRollover, UdpV6EarlyDemux, Lab)
}

__all__ = ["SCENARIOS", "RunError", "Scenario", "load", "names"]


def names() -> list[str]:
    """Names of all scenarios."""
    return list(SCENARIOS)


def load(name: str, machine: Machine | None = None, changes: Mapping[str, int] | None = None) -> Scenario:
    """A scenario by name, on its own machine or another, with other values for constants of the path.

    Raises ValueError with the nearest name if there is none.
    """
    if name not in SCENARIOS:
        raise ValueError(f"no scenario {name!r}; {nearest(name, names())}")
    return SCENARIOS[name](machine, changes)
