"""The 5.17 series without GRO: what the page on shared lines says of its loss holds for the runs that it shows."""

from __future__ import annotations

import pytest

from book.figures import series, single_segments
from sim import scenarios, structs

pytestmark = pytest.mark.slow


def lost(name: str) -> float:
    """What a part of the series loses, in percent of the rate without it."""
    runs = single_segments.parts()
    return 100 - 100 * runs[name].gbps / runs["none"].gbps


def test_its_rows_are_those_of_the_opening() -> None:
    run = scenarios.load("tcp-5.17").run(replications=single_segments.SEEDS, gro_max_segs=1, **series.keys([17]))
    assert run.to_dict() == single_segments.parts()["17"].to_dict()
    assert [row[0] for row in single_segments.table().rows[2:5]] == ["17", *single_segments.HALVES]


def test_each_half_of_patch_17_loses_and_softirq_frees_nothing() -> None:
    assert structs.sock(defer_free=True).line("sk_forward_alloc") == structs.sock().line("sk_forward_alloc") + 1
    assert all(3 < lost(half) < lost("17") for half in single_segments.HALVES)
    assert single_segments.parts()["17"].freed_by_softirq < 0.1


def test_losses_add_up_to_more_than_the_whole() -> None:
    assert lost("17") + lost("19") + lost("20") > 1.2 * lost("all")
    assert lost("17, 20") < lost("20") + 1
    assert lost("11, 17, 19, 20") < lost("17, 19, 20") - 3


def test_a_dearer_ack_makes_the_flow_faster_until_patch_19_takes_it_away() -> None:
    words = single_segments.words()
    free, assumed, dear = (float(words[f"off-ack-{price}"]) for price in single_segments.PRICES_NS)
    assert dear > assumed + 1 > free + 2
    with_19 = [float(words[f"off-ack-{price}-19"]) for price in single_segments.PRICES_NS]
    assert max(with_19) - min(with_19) < 0.5
