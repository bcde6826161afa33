"""A receiver to be designed: what designs cost, what they may say, and that they run."""

from __future__ import annotations

import pytest

from sim.exercises.forms import NotAccepted
from sim.exercises.receiver import CPUS, FORM, PLAIN, Site, design

PRICES = {"cpu": 10, "mtu": 20, "big": 8, "lists": 6, "pool": 5}
SITE = Site("cascade-lake", 200, 16, 120, PRICES)


@pytest.mark.parametrize(("chosen", "cpus"), [
    ({}, 2), ({"reader_cpus": "same"}, 1), ({"rx_queues": 3, "readers": 2}, 5),
    ({"rx_queues": 3, "readers": 2, "reader_cpus": "same"}, 3), ({"rx_queues": 16, "readers": 1}, 16),
    ({"rx_queues": 2, "readers": 2, "rps_cpus": 4}, 8), ({"rx_queues": 2, "readers": 14, "rps_cpus": 4}, 16),
])
def test_each_cpu_is_counted_once(chosen: dict[str, int | str], cpus: int) -> None:
    assert SITE.cpus(design(**chosen)) == cpus


def test_a_price_is_the_sum_of_what_is_chosen() -> None:
    assert SITE.price(design()) == 20
    assert SITE.price(design(mtu=9000)) - SITE.price(design()) == PRICES["mtu"]
    assert SITE.price(design(gro_max_size=262_144)) - SITE.price(design()) == PRICES["big"]
    assert SITE.price(design(defer_per_cpu=1, page_recycling=1)) - SITE.price(design()) == 11
    assert SITE.price(design(mtu=1280, gro_max_size=4096, rfs=1)) == SITE.price(design())


def test_a_design_has_known_words_only() -> None:
    with pytest.raises(KeyError, match="no queues"):
        design(queues=3)
    assert FORM.accept(PLAIN) == PLAIN
    for wrong in ({"rx_queues": 0}, {"mtu": 20_000}, {"rx_queues": CPUS + 1}, {"reader_cpus": "elsewhere"}):
        with pytest.raises(NotAccepted):
            FORM.accept({**PLAIN, **wrong})
    with pytest.raises(NotAccepted, match="no part 'flows'"):
        FORM.accept({**PLAIN, "flows": 1})


def test_more_of_what_is_full_helps_and_more_of_what_is_idle_does_not() -> None:
    receiving, idle, both = (
        SITE.look(design(rx_queues=q, readers=r)) for q, r in ((1, 1), (4, 1), (4, 4))
    )
    assert both > 2 * receiving
    assert idle < 1.3 * receiving
