"""Sweeps: a scenario over the values of some knobs, as rows.

>>> from sim import sweep
>>> rows = sweep.sweep("tcp-5.17", over={"mtu": [1500, 4168]}, replications=2, defer_free=0)
>>> [row["mtu"] for row in rows]
[1500, 4168]
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from . import batch, scenarios
from .batch import Job, Pool, Progress
from .result import Result
from .scenarios import Scenario

Row = dict[str, Any]


def sweep(
    scenario: Scenario | str,
    over: Mapping[str, Sequence[Any]],
    executor: Pool = None,
    *,
    seed: int = 1,
    replications: int | None = None,
    until_ps: int | None = None,
    progress: Progress | None = None,
    **fixed: Any,
) -> list[Row]:
    """Run every combination of the values of some knobs, the last knob fastest.

    Parameters
    ----------
    scenario
        A scenario or its name.
    over
        Knobs and their values. All are checked before the first run.
    executor
        Any `concurrent.futures` executor, a function that makes one, or None for threads in this process;
        the rows are the same on each. Runs that a dying worker loses are run again, none is counted twice.
    seed, replications, until_ps
        As in `Scenario.run`; every combination uses the same seeds.
    **fixed
        Knobs that stay.

    Returns
    -------
    list of dict
        A row a combination: the swept knobs, ``status`` (``ok``, or how the run ended), every metric as
        ``NAME``, ``NAME_low`` and ``NAME_high`` (95 %), busy shares as ``cpu_ROLE`` with the same bounds,
        percent. A row of a run that ended early has no numbers.

    Raises
    ------
    KnobError
        for an unknown knob or a value out of range.
    ValueError
        for a knob without values, or one that is both swept and fixed.
    """
    loaded = scenarios.load(scenario) if isinstance(scenario, str) else scenario
    for name, values in over.items():
        if not len(values):
            raise ValueError(f"{name} has no values to go over")
        if name in fixed:
            raise ValueError(f"{name} is both swept and fixed")
    settings = [dict(zip(over, chosen, strict=True)) for chosen in itertools.product(*over.values())]
    jobs = [Job.of(loaded, {**fixed, **setting}, seed, replications, until_ps) for setting in settings]
    rows: list[Row] = []
    for job, answer in zip(jobs, batch.run(jobs, executor, progress), strict=True):
        row: Row = {name: dict(job.knobs)[name] for name in over}
        row["status"] = "ok" if isinstance(answer, Result) else str(answer)
        rows.append({**row, **_numbers(answer)} if isinstance(answer, Result) else row)
    return rows


def _numbers(result: Result) -> Row:
    estimates = {**result.metrics, **{f"cpu_{role}": result.cpu_estimate(role) for role in result.cpu}}
    row: Row = {}
    for name, estimate in estimates.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = estimate.mean, estimate.low, estimate.high
    return row


def write_csv(rows: Sequence[Row], file: TextIO) -> None:
    """Write rows as CSV, with a heading; columns in the order in which they first appear."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
