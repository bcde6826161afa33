"""How much was simulated for a figure, in the words of a caption."""

from __future__ import annotations

from sim import scenarios
from sim.result import Result


def sampled(run: Result, until_ps: int | None = None) -> str:
    """Number and length of a run's replications, without their warm-up; `until_ps` as it was given to the run."""
    scenario = scenarios.load(run.scenario)
    length_ms = ((until_ps or scenario.until_ps) - scenario.warm_ps) / 1e9
    return f"{len(run.replications)} runs of {length_ms:.1f} ms each"
