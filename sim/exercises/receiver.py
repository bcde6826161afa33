"""A receiver to be designed on the lab: a site with its traffic and its prices, and what may be chosen.

>>> from sim.exercises.receiver import Site, design
>>> site = Site("cascade-lake", 200, 16, 120, {"cpu": 10, "mtu": 20, "big": 8, "lists": 6, "pool": 5})
>>> site.price(design(rx_queues=3, readers=3, mtu=9000))
80
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from .. import scenarios
from ..packing import GRO_LIMIT_BYTES
from ..result import Result
from ..scenarios.scenario import Scenario
from .forms import Choice, Number, Parts

PACKAGES, CORES = 2, 8
CPUS: Final = PACKAGES * CORES
MTU, BIG_TCP = 1500, GRO_LIMIT_BYTES  # above these a design costs more
Design = Mapping[str, int | str]

#: What a design says, and the design that a host has when nobody has thought about it.
PLAIN: Final[Design] = {
    "rx_queues": 1, "readers": 1, "reader_cpus": "behind", "rps_cpus": 0, "rfs": 0, "mtu": MTU,
    "gro_max_size": BIG_TCP, "defer_per_cpu": 0, "page_recycling": 0,
}
FORM: Final = Parts({
    "rx_queues": Number("queues", 1, CPUS, whole=True), "readers": Number("CPUs", 1, CPUS, whole=True),
    "reader_cpus": Choice(("behind", "same")), "rps_cpus": Number("CPUs", 0, CPUS, whole=True),
    "rfs": Number("", 0, 1, whole=True), "mtu": Number("bytes", 1280, 9000, whole=True),
    "gro_max_size": Number("bytes", 4096, 524_280, whole=True), "defer_per_cpu": Number("", 0, 1, whole=True),
    "page_recycling": Number("", 0, 1, whole=True),
})


@cache
def _lab() -> Scenario:
    """The lab, put together once: its runs do not change it."""
    return scenarios.load("lab")


def design(**chosen: int | str) -> dict[str, int | str]:
    """The plain design with what is chosen; raises KeyError for a word that no design has."""
    unknown = set(chosen) - set(PLAIN)
    if unknown:
        raise KeyError(f"a design has no {', '.join(sorted(unknown))}; it has {', '.join(PLAIN)}")
    return {**PLAIN, **chosen}


@dataclass(frozen=True)
class Site:
    """A host with two packages of eight cores, bulk TCP over some flows, a rate to reach, and prices.

    Attributes
    ----------
    prices
        Of a CPU that receives, steers or reads; of a larger MTU; of GRO packets above 64 KB; of lists that send freed
        packets home; of a pool of pages in the driver.
    """

    processor: str
    link_gbps: int
    flows: int
    target_gbps: float
    prices: Mapping[str, int]

    @classmethod
    def of(cls, givens: Mapping[str, Any]) -> Site:
        """A student's site, from the givens of a question."""
        prices = {name: int(givens[f"price_{name}"]) for name in ("cpu", "mtu", "big", "lists", "pool")}
        link = int(givens["link_gbps"])
        return cls(str(givens["processor"]), link, int(givens["flows"]), link * int(givens["target_pct"]) / 100, prices)

    def knobs(self, chosen: Design) -> dict[str, Any]:
        """Settings of the lab for a design at this site."""
        machine = {"processor": self.processor, "sockets": PACKAGES, "cores_per_socket": CORES, "threads_per_core": 1}
        return {**machine, "socket": "tcp_bulk", "link_gbps": self.link_gbps, "flows": self.flows, **chosen}

    def run(self, chosen: Design, replications: int = 3) -> Result:
        """Run a design."""
        return _lab().run(replications=replications, **self.knobs(chosen))

    def look(self, chosen: Design) -> float:
        """Gbit/s of a design in one short replication: a first look, when many designs are tried."""
        return _lab().run(replications=1, until_ps=_lab().quick_ps, **self.knobs(chosen)).gbps

    def cpus(self, chosen: Design) -> int:
        """How many CPUs a design uses, each counted once."""
        queues, readers = min(int(chosen["rx_queues"]), CPUS), min(int(chosen["readers"]), CPUS)
        first = 0 if chosen["reader_cpus"] == "same" else queues
        first = min(first, CPUS - readers)
        rps = min(int(chosen["rps_cpus"]), CPUS)
        return len({*range(queues), *range(first, first + readers), *range(CPUS - rps, CPUS)})

    def price(self, chosen: Design) -> int:
        """What a design costs."""
        extras = {
            "mtu": int(chosen["mtu"]) > MTU, "big": int(chosen["gro_max_size"]) > BIG_TCP,
            "lists": bool(chosen["defer_per_cpu"]), "pool": bool(chosen["page_recycling"]),
        }
        return self.prices["cpu"] * self.cpus(chosen) + sum(self.prices[name] for name, on in extras.items() if on)
