"""An experiment: a question, its arms, and both run in turns so that a drift of the machine hits them alike."""

from __future__ import annotations

import math
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..result import STUDENT_T
from . import load, tools
from .load import UNITS, Reading, Setup

BASE: Final = ("Linux", "root", "unshare", "ip", "ethtool", "network namespaces")
LONGEST_S: Final = 30.0
LARGEST_ROUNDS: Final = 50


@dataclass(frozen=True)
class Experiment:
    """A question to this kernel.

    Attributes
    ----------
    name, question
        What the command line calls it; one sentence.
    arms
        Setups by name; the first one is what the others are compared with.
    answers
        The number that the question is about, a name of `sim.host.load.UNITS`.
    expect
        What the mechanism says about it, in words: shown after the numbers.
    """

    name: str
    question: str
    arms: Mapping[str, Setup]
    answers: str
    expect: str

    @property
    def needs(self) -> tuple[str, ...]:
        """What a system must have for it, names of `sim.host.tools.NEEDS`."""
        tcp = any(setup.load.startswith("tcp") for setup in self.arms.values())
        return (*BASE, "iperf3") if tcp else BASE


@dataclass(frozen=True)
class Estimate:
    """Mean of some rounds with its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Estimate:
        """Student's interval; as wide as the mean itself for a single number, which says nothing about spread."""
        mean = statistics.fmean(numbers)
        if len(numbers) < 2:
            return cls(mean, mean - abs(mean), mean + abs(mean))
        t = STUDENT_T[min(len(numbers) - 1, len(STUDENT_T)) - 1]
        half = t * statistics.stdev(numbers) / math.sqrt(len(numbers))
        return cls(mean, mean - half, mean + half)


@dataclass(frozen=True)
class Outcome:
    """What an experiment showed: readings of each arm, round by round, in the same order."""

    experiment: Experiment
    readings: Mapping[str, Sequence[Reading]]

    def estimate(self, arm: str, name: str) -> Estimate:
        """A number of an arm over the rounds."""
        return Estimate.of([r.numbers[name] for r in self.readings[arm]])

    def change(self, arm: str, name: str) -> Estimate | None:
        """Change against the first arm in per cent, round by round; None if the first arm's number was 0."""
        first = next(iter(self.readings))
        pairs = zip(self.readings[first], self.readings[arm], strict=True)
        numbers = [(a.numbers[name], b.numbers[name]) for a, b in pairs]
        if any(a == 0 for a, _ in numbers):
            return None
        return Estimate.of([100 * (b / a - 1) for a, b in numbers])

    def to_dict(self) -> dict[str, Any]:
        """JSON values: where it ran, and each arm's numbers with interval and unit."""
        arms = {}
        for arm, readings in self.readings.items():
            names = [n for n in UNITS if n in readings[0].numbers]
            arms[arm] = {n: {**vars(self.estimate(arm, n)), "unit": UNITS[n]} for n in names}
        changes = {
            arm: vars(found) for arm in list(self.readings)[1:]
            if (found := self.change(arm, self.experiment.answers)) is not None
        }
        return {
            "experiment": self.experiment.name, "question": self.experiment.question,
            "answers": self.experiment.answers, "rounds": len(next(iter(self.readings.values()))),
            "machine": where(), "arms": arms, "change_pct": changes,
        }


def where() -> dict[str, Any]:
    """The machine that it ran on, as far as it says."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123  a file of the kernel
            name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass
    return {"processor": name, "cpus": load.online(), "kernel": platform.release(), "machine": platform.machine()}


def order(arms: Sequence[str], rounds: int) -> list[list[str]]:
    """The arms of each round: forwards, then backwards, so that a drift cancels."""
    return [list(arms) if n % 2 == 0 else list(reversed(arms)) for n in range(rounds)]


def perform(
    experiment: Experiment, seconds: float = 1.0, rounds: int = 5, progress: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Run all arms `rounds` times for `seconds` each.

    Raises
    ------
    ValueError
        for a time or number of rounds out of range.
    tools.Unavailable
        if this system lacks something, in one line.
    child.Failed
        if a program or a switch of the kernel refuses.
    """
    if not 0.1 <= seconds <= LONGEST_S:
        raise ValueError(f"{seconds:g} s: a run takes 0.1 to {LONGEST_S:g} s")
    if not 1 <= rounds <= LARGEST_ROUNDS:
        raise ValueError(f"{rounds} rounds: 1 to {LARGEST_ROUNDS}")
    tools.require(experiment.needs, f"the experiment {experiment.name}")
    wanted = 1 + max(max(s.sender_cpu, s.reader_cpu, *s.rps_cpus) for s in experiment.arms.values())
    if load.online() < wanted:
        raise tools.Unavailable(
            f"the experiment {experiment.name} needs {wanted} CPUs, and this process may use {load.online()}; "
            f"{tools.WITHOUT}"
        )
    readings: dict[str, list[Reading]] = {arm: [] for arm in experiment.arms}
    for number, arms in enumerate(order(list(experiment.arms), rounds)):
        for arm in arms:
            progress(f"round {number + 1} of {rounds}: {arm}")
            readings[arm].append(load.run(experiment.arms[arm], seconds))
    return Outcome(experiment, readings)
