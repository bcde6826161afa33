"""Sweeps: the same rows on every executor, also when workers die on the way."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from sim import batch, scenarios
from sim.batch import BatchError, Job
from sim.knob import KnobError
from sim.result import Result
from sim.scenarios import RunError, Scenario
from sim.sweep import sweep, write_csv

OVER = {"mtu": [1500, 4168], "defer_free": [0, 1]}
SHORT: dict[str, Any] = {"replications": 2, "until_ps": 1_800_000_000}


class Serial(Executor):
    """Runs each job as it is submitted; dies on chosen submissions, as a pool whose worker was killed."""

    def __init__(self, dies_at: tuple[int, ...] = (), refuses_from: int | None = None) -> None:
        self.dies_at = dies_at
        self.refuses_from = refuses_from
        self.submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        number, self.submitted = self.submitted, self.submitted + 1
        if self.refuses_from is not None and number >= self.refuses_from:
            raise BrokenExecutor("a worker was killed")
        future: Future[Any] = Future()
        if number in self.dies_at:
            future.set_exception(BrokenExecutor("a worker was killed"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return sweep("tcp-5.17", OVER, **SHORT)


def test_every_combination_is_a_row_the_last_knob_fastest(rows: list[dict[str, Any]]) -> None:
    assert [(r["mtu"], r["defer_free"]) for r in rows] == [(1500, 0), (1500, 1), (4168, 0), (4168, 1)]
    for row in rows:
        assert row["status"] == "ok"
        for name in ("gbps", "mpps", "cpu_reader", "cpu_softirq"):
            assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]


def test_a_row_is_the_run_at_its_setting(tcp: Scenario, rows: list[dict[str, Any]]) -> None:
    run = tcp.run(mtu=4168, defer_free=0, **SHORT)
    assert rows[2]["gbps"] == run.gbps
    assert rows[2]["cpu_softirq"] == run.cpu["softirq"]


@pytest.mark.parametrize("make", [Serial, lambda: ThreadPoolExecutor(1), lambda: ThreadPoolExecutor(4)])
def test_the_same_rows_on_every_executor(rows: list[dict[str, Any]], make: Callable[[], Executor]) -> None:
    with make() as pool:
        assert sweep("tcp-5.17", OVER, pool, **SHORT) == rows


def test_the_same_rows_on_processes(rows: list[dict[str, Any]]) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert sweep("tcp-5.17", OVER, pool, **SHORT) == rows


@pytest.mark.parametrize(
    "first", [Serial(dies_at=(0,)), Serial(dies_at=(1, 2)), Serial(refuses_from=0), Serial(refuses_from=2)]
)
def test_what_a_dying_worker_loses_is_run_again_and_nothing_twice(
    rows: list[dict[str, Any]], first: Serial
) -> None:
    pools = iter([first, Serial()])
    told: list[int] = []
    found = sweep("tcp-5.17", OVER, lambda: next(pools), progress=lambda done, total: told.append(done), **SHORT)
    assert found == rows
    assert told == [1, 2, 3, 4]


def test_a_pool_whose_processes_are_killed_is_replaced(rows: list[dict[str, Any]]) -> None:
    def killed() -> Executor:
        return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=os._exit, initargs=(1,))

    pools = iter([killed, Serial])
    assert sweep("tcp-5.17", OVER, lambda: next(pools)(), **SHORT) == rows


def test_workers_that_die_again_and_again_are_told_with_the_run(tcp: Scenario) -> None:
    made: list[Serial] = []

    def always() -> Serial:
        made.append(Serial(dies_at=(0,)))
        return made[-1]

    with pytest.raises(BatchError, match=r"workers died 3 times over 1 runs: tcp-5\.17 mtu=4168"):
        batch.run([Job.of(tcp, {"mtu": 4168}, replications=1)], always)
    assert len(made) == batch.ATTEMPTS


def test_equal_jobs_are_run_once(tcp: Scenario) -> None:
    pool = Serial()
    jobs = [Job.of(tcp, {}, replications=1, until_ps=SHORT["until_ps"])] * 3
    assert len(batch.run(jobs, pool)) == 3
    assert pool.submitted == 1


class Stuck(Scenario):
    """A scenario that ends as a deadlock, without an engine."""

    name = "stuck"
    knobs = scenarios.load("tcp-5.17").knobs
    until_ps = 1

    def default_machine(self) -> Any:
        return scenarios.load("tcp-5.17").machine

    @property
    def spec(self) -> Any:
        return None

    def run(self, **_: Any) -> Result:  # type: ignore[override]
        raise RunError("stuck: deadlock at 3.000 us")


def test_a_run_that_ends_early_is_a_row_that_says_how() -> None:
    (row,) = sweep(Stuck(), {"mtu": [1500]}, replications=1)
    assert row == {"mtu": 1500, "status": "stuck: deadlock at 3.000 us"}


@pytest.mark.parametrize(
    ("over", "fixed", "error", "words"),
    [
        ({"mtuu": [1]}, {}, KnobError, "did you mean mtu"),
        ({"mtu": [1500, 1]}, {}, KnobError, "1,280 to 9,000"),
        ({"mtu": []}, {}, ValueError, "no values"),
        ({"mtu": [1500]}, {"mtu": 1500}, ValueError, "both swept and fixed"),
        ({"mtu": [1500]}, {"rfs": 7}, KnobError, "rfs"),
    ],
)
def test_a_wrong_sweep_is_refused_before_the_first_run(
    over: dict[str, list[int]], fixed: dict[str, int], error: type[Exception], words: str
) -> None:
    pool = Serial()
    with pytest.raises(error, match=words):
        sweep("tcp-5.17", over, pool, **fixed)
    assert pool.submitted == 0


def test_rows_are_written_as_csv(rows: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    write_csv(rows, text)
    read = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert [row["mtu"] for row in read] == ["1500", "1500", "4168", "4168"]
    assert float(read[3]["gbps"]) == rows[3]["gbps"]
