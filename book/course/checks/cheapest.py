"""A cheap design for a site, found by trying: what designs of students are compared with.

A receiving CPU's and a reader's rate are measured alone, for each choice of what else can be bought; designs that
could then be enough are tried from the cheapest up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Final

from sim.exercises.receiver import CPUS, Design, Site, design

EXTRAS: Final = tuple(
    dict(zip(("mtu", "gro_max_size", "defer_per_cpu", "page_recycling"), chosen, strict=True))
    for chosen in product((1500, 9000), (65_536, 262_144), (0, 1), (0, 1))
)
SLACK: Final = 1.1  # a rate measured alone may be so much too low
MOST_TRIED: Final = 60


@cache
def _alone(processor: str, link_gbps: int, flows: int, extra: int) -> tuple[float, float]:
    """Rates of one receiving CPU and of one reader, each with many of the others."""
    site = Site(processor, link_gbps, flows, 0, {})
    chosen = EXTRAS[extra]
    return (site.look(design(rx_queues=1, readers=8, **chosen)), site.look(design(rx_queues=8, readers=1, **chosen)))


def _candidates(site: Site) -> Iterator[tuple[int, Design]]:
    for extra, chosen in enumerate(EXTRAS):
        queue, reader = (rate * SLACK for rate in _alone(site.processor, site.link_gbps, site.flows, extra))
        for queues, readers in product(range(1, CPUS), repeat=2):
            apart = design(rx_queues=queues, readers=readers, **chosen)
            if queues + readers <= CPUS and min(queues * queue, readers * reader) >= site.target_gbps:
                yield site.price(apart), apart
            if queues == readers and queues / (1 / queue + 1 / reader) >= site.target_gbps:
                shared = {**apart, "reader_cpus": "same"}
                yield site.price(shared), shared


def cheapest(site: Site) -> tuple[int, Mapping[str, int | str]]:
    """Price and design of the cheapest that reached the site's target.

    Raises
    ------
    ValueError
        if none of those tried did.
    """
    order = sorted(_candidates(site), key=lambda item: (item[0], sorted(map(str, item[1].items()))))
    for price, chosen in order[:MOST_TRIED]:
        if site.look(chosen) >= site.target_gbps and site.run(chosen).metrics["gbps"].low >= site.target_gbps:
            return price, chosen
    raise ValueError(f"no design reaches {site.target_gbps} Gbit/s at {site}: {len(order)} candidates")
