"""Validation: its rules on made-up rows, the contract's keys, and that it can fail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sim import reported, validate
from sim.reported import FigureError
from sim.result import Estimate

CONTRACT = (
    "thread", "figure", "unit", "reported", "simulated", "low", "high", "range_low", "range_high", "role", "error_pct",
    "error_points", "verdict", "source", "note",
)


def judged(
    kind: str, stated: float, found: float, span: tuple[float, float] | None = None, role: str = "predicted",
    half: float = 0.1,
) -> str:
    return validate.verdict(kind, role, stated, Estimate(found, found - half, found + half, ""), span)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return validate.rows("tcp-5.17", replications=2)


@pytest.mark.parametrize(
    ("kind", "stated", "found", "verdict"),
    [
        ("rate", 100, 105, "hit"), ("rate", 100, 95, "hit"), ("rate", 100, 105.1, "miss"), ("rate", 100, 94.9, "miss"),
        ("cpu", 60, 65, "hit"), ("cpu", 60, 65.1, "miss"),
        ("profile", 81.06, 76.06, "hit"), ("profile", 10, 4.9, "miss"),
        ("profile", 9.9, 4.95, "hit"), ("profile", 9.9, 4.9, "miss"), ("profile", 0.5, 1.0, "hit"),
        ("profile", 0.5, 1.01, "miss"), ("profile", 0.5, 0.0, "miss"),
        ("size", 65_212, 65_212, "hit"), ("size", 45, 44, "miss"),
        ("direction", 20, 0.2, "hit"), ("direction", 20, 0.05, "miss"), ("direction", 20, -5, "miss"),
        ("direction", -20, -0.2, "hit"), ("direction", -20, 3, "miss"),
        ("rate", 0, 0.05, "hit"), ("rate", 0, 3, "miss"),
    ],
)
def test_each_kind_is_judged_by_its_own_rule(kind: str, stated: float, found: float, verdict: str) -> None:
    assert judged(kind, stated, found) == verdict


@pytest.mark.parametrize(
    ("kind", "stated", "found", "span", "verdict"),
    [
        ("rate", 100, 90, (89, 101), "hit"),  # inside a narrow range
        ("rate", 100, 90, (85, 99), "miss"),  # outside of it
        ("rate", 100, 100, (90, 106), "miss"),  # a range of 16 % would have been right about nearly anything
        ("rate", 96, 95, (80, 105), "miss"),
        ("profile", 80, 80, (73, 86), "miss"),
        ("profile", 80, 74, (74, 81), "hit"),
        ("profile", 0.5, 0.6, (0.3, 0.9), "hit"),  # for small shares the factor of two is the rule
        ("profile", 0.5, 1.2, (0.3, 1.2), "miss"),
        ("direction", 20, 15, (2, 40), "hit"),
    ],
)
def test_a_range_helps_if_it_is_narrow_and_condemns_if_it_is_wide(
    kind: str, stated: float, found: float, span: tuple[float, float], verdict: str
) -> None:
    assert judged(kind, stated, found, span) == verdict


@pytest.mark.parametrize("role", ["fitted", "dependent"])
def test_what_the_model_was_given_must_come_out_too(role: str) -> None:
    assert judged("rate", 100, 101, role=role) == "given"
    assert judged("rate", 100, 80, role=role) == "miss"


def test_an_input_is_given_whatever_the_run_says() -> None:
    assert judged("rate", 100, 50, role="input") == "given"
    assert validate.verdict("rate", "input", 100, None, None) == "given"


def test_every_figure_of_the_thread_is_a_row_of_the_contract(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == len(reported.figures("tcp-5.17"))
    for row in rows:
        assert tuple(row) == CONTRACT
        assert row["verdict"] in ("hit", "miss", "given")
        assert row["error_pct"] is None or row["error_points"] is None
        if row["simulated"] is not None:
            assert row["low"] < row["high"]
            assert row["low"] <= row["simulated"] <= row["high"]
        if row["range_low"] is not None:
            assert row["range_low"] <= row["simulated"] <= row["range_high"]


def test_shares_use_points_and_rates_percent(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["role"] != "input" and row["reported"]:
            assert (row["error_points"] is not None) == (row["unit"] == "%")


def test_misses_are_counted_by_thread(rows: list[dict[str, Any]]) -> None:
    (count,) = validate.counts(rows)
    assert count.thread == "tcp-5.17"
    assert count.given + count.hits + count.misses == count.figures == len(rows)
    assert count.misses == sum(row["verdict"] == "miss" for row in rows)
    assert 0 < count.predicted < count.hits + count.misses


def test_every_direction_is_right(rows: list[dict[str, Any]]) -> None:
    gains = [row for row in rows if "gains" in row["figure"]]
    assert len(gains) == 2
    assert all(row["simulated"] > 0 and row["verdict"] != "miss" for row in gains)


def test_the_same_rows_on_any_number_of_threads(rows: list[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert validate.rows("tcp-5.17", replications=2, executor=pool) == rows


def test_it_can_fail() -> None:
    """A copy that costs half as much again: the fitted rates no longer come out, and neither does the gain's size."""
    chosen = [f for f in reported.figures("tcp-5.17") if f.kind == "rate" and f.reading]
    wrong = validate.rows(replications=2, figures=chosen, changes={"copy_fs_per_byte": 95_000})
    missed = {row["figure"] for row in wrong if row["verdict"] == "miss"}
    assert {"4,096 bytes a packet, before the patch", "4,096 bytes a packet, after the patch"} <= missed


def test_progress_is_told_up_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    chosen = [f for f in reported.figures("tcp-5.17") if f.id in ("rate-before-1500", "gain-1500")]
    validate.rows(replications=2, figures=chosen, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]  # the two figures share their runs


def test_an_unknown_thread_has_no_rows() -> None:
    with pytest.raises(FigureError, match="no figures of a thread"):
        validate.rows("tcp-4.20")
