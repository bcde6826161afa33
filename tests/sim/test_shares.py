"""Shares of busy time: of one CPU and of all, sums with the interval of the sum, changes paired by seed."""

from __future__ import annotations

import pytest

from sim import scenarios, shares
from sim.result import Replication, Result


def replication(seed: int, first: float) -> Replication:
    profile = {"a": {"x": first, "y": 100 - first}, "b": {"x": 50.0, "z": 50.0}}
    return Replication(seed, {"m": 1.0}, {"m": 1.0}, {"a": 100.0, "b": 25.0}, profile, 1, "reached")


def result(*firsts: float, seed: int = 1) -> Result:
    return Result("s", {}, seed, "native", tuple(replication(seed + i, x) for i, x in enumerate(firsts)), {"m": "1/s"})


def test_all_cpus_count_by_how_long_they_were_busy() -> None:
    assert shares.of(replication(1, 60.0), "*") == {"x": 58.0, "y": 32.0, "z": 10.0}
    assert shares.of(replication(1, 60.0), "a") == {"x": 60.0, "y": 40.0}
    with pytest.raises(KeyError, match="no role 'c'; there are a, b"):
        shares.of(replication(1, 60.0), "c")


def test_a_sum_has_the_interval_of_the_sum() -> None:
    table = shares.estimates(result(10.0, 30.0), "a", [["x", "y"]])
    assert table["x"].low < 0 < table["x"].high
    assert table["x+y"].mean == 100.0
    assert table["x+y"].high - table["x+y"].low < 1e-6  # what x gains y loses


def test_changes_are_paired_by_seed() -> None:
    change = shares.differences(result(10.0, 30.0), result(11.0, 31.0), "a")
    assert change is not None
    assert change["x"].mean == 1.0
    assert change["x"].high - change["x"].low < 1e-6
    assert shares.differences(result(10.0, 30.0), result(11.0, 31.0, seed=2), "a") is None


def test_one_cpus_shares_are_those_of_the_result() -> None:
    s = scenarios.load("tcp-5.17")
    run = s.run(replications=2, until_ps=s.quick_ps)
    for name, estimate in shares.estimates(run, "reader").items():
        assert estimate.mean == pytest.approx(run.profile("reader")[name])
