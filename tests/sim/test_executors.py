"""Sweeps on dask.distributed, two workers on loopback: the same rows, also when a worker is killed on the way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

import pytest

from sim import batch, validate
from sim.sweep import sweep

OVER = {"mtu": [1500, 4168], "defer_free": [0, 1]}
SHORT: dict[str, Any] = {"replications": 2, "until_ps": 1_800_000_000}


def test_deaths_of_workers_are_told_from_mistakes_of_jobs() -> None:
    distributed = pytest.importorskip("distributed")
    lost = distributed.scheduler.KilledWorker.__new__(distributed.scheduler.KilledWorker)
    assert batch.died(lost)
    assert batch.died(BrokenExecutor())
    assert batch.died(CancelledError())
    assert not batch.died(ValueError("a mistake"))
    assert not batch.died(MemoryError())


def test_a_mistake_of_a_job_is_raised_and_not_run_again() -> None:
    class Mistaken(Executor):
        submitted = 0

        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            self.submitted += 1
            future: Future[Any] = Future()
            future.set_exception(ZeroDivisionError("a mistake"))
            return future

    pool = Mistaken()
    with pytest.raises(ZeroDivisionError):
        sweep("tcp-5.17", {"mtu": [1500]}, pool, **SHORT)
    assert pool.submitted == 1


@pytest.fixture
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    import dask

    quiet = {"distributed.admin.log-format": "", "logging.distributed": "critical"}
    with (
        dask.config.set(quiet),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return sweep("tcp-5.17", OVER, **SHORT)


def kill_one(client: Any) -> None:
    pids = client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_rows_and_validation(client: Any, rows: list[dict[str, Any]]) -> None:
    assert sweep("tcp-5.17", OVER, client.get_executor(), **SHORT) == rows
    figures = [f for f in validate._figures("tcp-5.17") if f.reading is not None][:1]
    alone = validate.rows("tcp-5.17", figures=figures, replications=2)
    assert validate.rows("tcp-5.17", figures=figures, replications=2, executor=client.get_executor()) == alone


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("failures", [3, 0])
def test_a_dask_worker_that_is_killed_loses_nothing_and_nothing_counts_twice(
    client: Any, rows: list[dict[str, Any]], failures: int
) -> None:
    """With no failures allowed dask gives the runs up, and they are run again on fresh processes."""
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if done == 1:
            kill_one(client)

    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", failures))
    found = sweep("tcp-5.17", OVER, client.get_executor(), progress=progress, **SHORT)
    assert found == rows
    assert told == [(n, len(rows)) for n in range(1, len(rows) + 1)]
