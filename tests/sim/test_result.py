"""Results: shares and rates add up, intervals are never zero wide, the JSON is the contract's."""

from __future__ import annotations

import json
import pickle
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.result import STUDENT_T, Estimate, Result, interval


def test_an_interval_is_students() -> None:
    mean, low, high = interval([1.0, 2.0, 3.0], 0.0)
    assert mean == pytest.approx(2.0)
    assert high - mean == pytest.approx(4.302652730 / 3**0.5)
    assert mean - low == pytest.approx(high - mean)


def test_students_t_falls_towards_the_normal_quantile() -> None:
    assert list(STUDENT_T) == sorted(STUDENT_T, reverse=True)
    assert STUDENT_T[-1] > NormalDist().inv_cdf(0.975)


@given(st.floats(0, 1e6), st.integers(1, 30), st.floats(1e-3, 10))
def test_equal_values_still_leave_a_width(value: float, count: int, resolution: float) -> None:
    mean, low, high = interval([value] * count, resolution)
    assert low < mean < high


def test_one_replication_says_nothing_about_the_spread() -> None:
    assert interval([7.0], 0.1) == (7.0, 0.0, 14.0)


def test_no_interval_of_a_run_is_zero_wide(after: Result) -> None:
    estimates = [*after.metrics.values(), *(after.cpu_estimate(role) for role in after.cpu)]
    estimates += [e for role in after.cpu for e in after.profile_estimates(role).values()]
    assert all(e.low < e.mean < e.high for e in estimates)


def test_a_profile_is_all_of_its_cpus_busy_time(after: Result) -> None:
    for role in after.cpu:
        assert sum(after.profile(role).values()) == pytest.approx(100.0)
        assert 0.0 <= after.cpu[role] <= 100.0 + 1e-9


def test_rates_agree_with_each_other(after: Result) -> None:
    payload = after.gbps * 1000 / 8 / after.mpps
    assert payload == pytest.approx(1428, rel=0.03)


def test_the_json_is_the_contracts(after: Result) -> None:
    document = json.loads(json.dumps(after.to_dict()))
    contract = ("scenario", "knobs", "seed", "replications", "engine", "metrics", "cpu", "profile")
    assert set(contract) <= set(document)
    assert document["scenario"] == "tcp-5.17"
    assert document["replications"] == len(after.replications)
    for estimate in document["metrics"].values():
        assert set(estimate) == {"mean", "low", "high", "unit"}
    for role, share in document["cpu"].items():
        assert isinstance(share, float)
        assert all(isinstance(x, float) for x in document["profile"][role].values())


def test_what_is_not_there_is_told_with_what_is(after: Result) -> None:
    with pytest.raises(AttributeError, match="gbps, mpps"):
        _ = after.gpbs
    with pytest.raises(KeyError, match="softirq, reader"):
        after.profile("disk")


def test_a_result_goes_through_a_pipe_to_another_process(after: Result) -> None:
    assert pickle.loads(pickle.dumps(after)).to_dict() == after.to_dict()


def test_an_estimate_reads_as_a_sentence() -> None:
    assert str(Estimate(1.5, 1.25, 1.75, "Mpps")) == "1.5 [1.25, 1.75] Mpps"
