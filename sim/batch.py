"""Batches: many runs on any `concurrent.futures` executor, with the same numbers on each.

A job says everything about one run (scenario, machine, constants, knobs, seeds), so a worker needs nothing
else and the answer does not depend on where or in which order it is computed. Equal jobs are run once. A
worker that dies takes its pool with it; what was answered is kept, the rest is given to a new pool.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final

from .machine import Machine
from .result import Result
from .scenarios import RunError, Scenario

#: Told after each answer: how many jobs are done, and of how many.
Progress = Callable[[int, int], None]
Pool = Executor | Callable[[], Executor] | None

ATTEMPTS: Final = 3
SCENARIOS_KEPT: Final = 32
#: What executors of other packages raise for a job whose worker died, by module and name: they know no BrokenExecutor.
WORKER_DIED: Final = frozenset({
    ("distributed.scheduler", "KilledWorker"), ("distributed.comm.core", "CommClosedError"),
    ("distributed.client", "FutureCancelledError"), ("ipyparallel.error", "EngineError"),
})
_composing = threading.Lock()
_scenarios: dict[tuple[type[Scenario], Machine, tuple[tuple[str, int], ...]], Scenario] = {}


class BatchError(RuntimeError):
    """Workers died again and again on the same jobs."""


@dataclass(frozen=True)
class Job:
    """One run: a scenario's class, machine and changed constants, a setting, and its seeds.

    `verified` says that the same program was verified before, with constants that differ in size only.
    """

    scenario: type[Scenario]
    machine: Machine
    changes: tuple[tuple[str, int], ...]
    knobs: tuple[tuple[str, int | str], ...]
    seed: int
    replications: int
    until_ps: int
    verified: bool = False

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        knobs: Mapping[str, Any],
        seed: int = 1,
        replications: int | None = None,
        until_ps: int | None = None,
        verified: bool = False,
    ) -> Job:
        """The job that runs a scenario at a setting. Raises KnobError, before anything is run."""
        chosen = scenario.settings(**knobs)
        return cls(
            type(scenario),
            scenario.machine,
            tuple(sorted(scenario.changes.items())),
            tuple(chosen.items()),
            seed,
            scenario.replications if replications is None else replications,
            until_ps or scenario.until_ps,
            verified,
        )

    def __str__(self) -> str:
        default = {k.name: k.default for k in self.scenario.knobs}
        changed = [f"{name}={value}" for name, value in self.knobs if default[name] != value]
        return f"{self.scenario.name} {' '.join(changed)}".rstrip()

    def run(self) -> Result | RunError:
        """The result, or how the run ended before its time."""
        scenario = _composed(self)
        scenario.verified |= self.verified
        knobs: dict[str, Any] = dict(self.knobs)
        try:
            return scenario.run(
                seed=self.seed,
                replications=self.replications,
                threads=1,
                until_ps=self.until_ps,
                **knobs,
            )
        except RunError as ended:
            return ended


def _composed(job: Job) -> Scenario:
    """The job's scenario, composed once for all threads of this process."""
    key = (job.scenario, job.machine, job.changes)
    with _composing:
        if key not in _scenarios:
            if len(_scenarios) == SCENARIOS_KEPT:
                _scenarios.clear()
            scenario = job.scenario(job.machine, dict(job.changes))
            _ = scenario.spec  # composed here, under the lock
            _scenarios[key] = scenario
        return _scenarios[key]


def _run(job: Job) -> Result | RunError:
    return job.run()


def workers() -> int:
    """CPUs that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _replacement() -> Executor:
    return ProcessPoolExecutor(workers(), mp_context=get_context("spawn"))


def run(
    jobs: Sequence[Job], executor: Pool = None, progress: Progress | None = None
) -> list[Result | RunError]:
    """Run jobs and return their answers in the order of the jobs.

    Parameters
    ----------
    executor
        An executor, a function that makes one, or None for threads in this process. An executor that breaks
        is replaced: by the function's next one, else by a pool of fresh processes.
    progress
        Told after each answer.

    Raises
    ------
    BatchError
        if workers die `ATTEMPTS` times without a single answer in between.
    """
    answers: dict[Job, Result | RunError] = {}
    wanted = list(dict.fromkeys(jobs))
    make: Callable[[], Executor] = _replacement
    given: Executor | None = None
    if executor is None:

        def make() -> Executor:
            return ThreadPoolExecutor(workers())
    elif isinstance(executor, Executor):
        given = executor
    else:
        make = executor
    failures = 0
    while left := [job for job in wanted if job not in answers]:
        before = len(answers)
        pool = given or make()
        try:
            _attempt(pool, left, answers, progress, len(wanted))
        finally:
            if pool is not given:
                pool.shutdown(wait=False, cancel_futures=True)
        given = None
        failures = failures + 1 if len(answers) == before else 0
        if failures == ATTEMPTS:
            lost = "; ".join(str(job) for job in left[:3])
            raise BatchError(f"workers died {ATTEMPTS} times over {len(left)} runs: {lost}")
    return [answers[job] for job in jobs]


def died(error: BaseException) -> bool:
    """Whether an error says that a worker died, not that the job went wrong."""
    if isinstance(error, BrokenExecutor | CancelledError):
        return True
    return any((kind.__module__, kind.__name__) in WORKER_DIED for kind in type(error).__mro__)


def _attempt(
    pool: Executor,
    jobs: Sequence[Job],
    answers: dict[Job, Result | RunError],
    progress: Progress | None,
    total: int,
) -> None:
    """Give all jobs to a pool and keep what it answers; jobs of workers that died stay without an answer."""
    futures: dict[Future[Result | RunError], Job] = {}
    try:
        for job in jobs:
            futures[pool.submit(_run, job)] = job
    except Exception as error:
        if not died(error):
            raise
        # it broke while it was being filled: what was taken may still answer
    try:
        for future in as_completed(futures):
            try:
                answers[futures[future]] = future.result()
            except Exception as error:
                if not died(error):
                    raise
                continue
            if progress is not None:
                progress(len(answers), total)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
