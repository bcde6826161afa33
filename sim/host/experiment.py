"""An experiment: a question, its arms, and both run in turns so that a drift of the machine hits them alike."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..layers import LAYERS, OTHER
from ..result import interval
from . import load, record, tools
from .load import Setup
from .read.profile import USER
from .reading import BYTES_OF, UNITS, Reading

BASE: Final = (
    "Linux", "root", "IPv6", "setpriv", "unshare", "nsenter", "taskset", "ip", "ethtool", "network namespaces",
)
SIDES: Final = ("sender", "reader")
SHORTEST_S: Final = 0.1
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
        return cls(*interval(numbers, 0.0))


@dataclass(frozen=True)
class Outcome:
    """What an experiment showed: readings of each arm, round by round, in the same order; and on what machine."""

    experiment: Experiment
    readings: Mapping[str, Sequence[Reading]]
    seconds: float = 1.0
    machine: Mapping[str, Any] = field(default_factory=dict)
    clock: str | None = None  # what perf sampled by

    def names(self) -> list[str]:
        """Numbers that every reading has, in the order of `UNITS`."""
        everyone = [reading.numbers for readings in self.readings.values() for reading in readings]
        return [name for name in UNITS if all(name in numbers for numbers in everyone)]

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

    def sizes(self, arm: str) -> dict[int, float]:
        """Per cent of an arm's sampled packets by the power of two, in bytes, that holds their size."""
        found: dict[int, int] = {}
        for reading in self.readings[arm]:
            for bound, count in reading.sizes.items():
                found[bound] = found.get(bound, 0) + count
        return {bound: 100 * count / sum(found.values()) for bound, count in sorted(found.items())}

    def profile(self, arm: str, side: str) -> dict[str, Estimate]:
        """Shares of an arm's symbols on a side's CPU over the rounds, largest first; empty without ``--perf``."""
        rounds = [reading.profiles.get(side, {}) for reading in self.readings[arm]]
        found = {s: Estimate.of([shares.get(s, 0.0) for shares in rounds]) for s in {s for one in rounds for s in one}}
        return dict(sorted(found.items(), key=lambda item: (-item[1].mean, item[0])))

    def layers(self, arm: str, side: str) -> dict[str, Estimate]:
        """The same by layer of the receive path, in a packet's order."""
        rounds = [record.by_layer(reading.profiles.get(side, {})) for reading in self.readings[arm]]
        return {
            name: Estimate.of([shares.get(name, 0.0) for shares in rounds])
            for name in (*LAYERS, OTHER, USER) if any(name in shares for shares in rounds)
        }

    def to_dict(self) -> dict[str, Any]:
        """JSON values: where it ran, and each arm's numbers with interval and unit."""
        arms = {
            arm: {name: {**vars(self.estimate(arm, name)), "unit": UNITS[name]} for name in self.names()}
            for arm in self.readings
        }
        changes = {
            arm: vars(found) for arm in list(self.readings)[1:]
            if (found := self.change(arm, self.experiment.answers)) is not None
        }
        document = {
            "experiment": self.experiment.name, "question": self.experiment.question,
            "answers": self.experiment.answers, "rounds": len(next(iter(self.readings.values()))),
            "seconds": self.seconds, "machine": self.machine, "bytes_of": BYTES_OF, "arms": arms, "change_pct": changes,
            "packet_sizes_pct": {arm: sizes for arm in self.readings if (sizes := self.sizes(arm))},
        }
        if any(reading.profiles for readings in self.readings.values() for reading in readings):
            document["profile_clock"] = self.clock
            document["profiles"] = {
                arm: {
                    side: {
                        "layers": {n: vars(e) for n, e in self.layers(arm, side).items()},
                        "symbols": {n: vars(e) for n, e in self.profile(arm, side).items()},
                    }
                    for side in SIDES
                }
                for arm in self.readings
            }
        return document


def where() -> dict[str, Any]:
    """The machine that it ran on, as far as it says."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    cpus = load.cpus()
    return {
        "processor": name, "cpus": len(cpus), "kernel": platform.release(), "machine": platform.machine(),
        "siblings": _siblings(cpus[:2]), "load_average": os.getloadavg()[0],
    }


def _siblings(cpus: Sequence[int]) -> bool | None:
    """Whether the CPUs share a core as far as the kernel knows; a virtual machine may not be told."""
    try:
        text = Path(f"/sys/devices/system/cpu/cpu{cpus[0]}/topology/core_cpus_list").read_text(encoding="utf-8")
    except OSError:
        return None
    threads: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        threads |= set(range(int(first), int(last or first) + 1))
    return len(cpus) > 1 and threads >= set(cpus)


def order(arms: Sequence[str], rounds: int) -> list[list[str]]:
    """The arms of each round: forwards, then backwards, so that a drift cancels."""
    return [list(arms) if n % 2 == 0 else list(reversed(arms)) for n in range(rounds)]


def bounded(seconds: float, rounds: int) -> None:
    """Raise ValueError for a time or a number of rounds out of range."""
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise ValueError(f"{seconds:g} s: a run takes {SHORTEST_S:g} to {LONGEST_S:g} s")
    if not 1 <= rounds <= LARGEST_ROUNDS:
        raise ValueError(f"{rounds} rounds: 1 to {LARGEST_ROUNDS}")


def perform(
    experiment: Experiment, seconds: float = 1.0, rounds: int = 5, progress: Callable[[str], None] = lambda _: None,
    profile: bool = False,
) -> Outcome:
    """Run all arms `rounds` times for `seconds` each, twice as long with `profile`.

    Raises
    ------
    ValueError
        for a time or number of rounds out of range.
    tools.Unavailable
        if this system lacks something, in one line.
    child.Failed
        if a program or a switch of the kernel refuses.
    """
    bounded(seconds, rounds)
    tools.require((*experiment.needs, *(("perf",) if profile else ())), f"the experiment {experiment.name}")
    if profile and record.event() is None:
        raise tools.Unavailable("perf samples no clock here: see kernel.perf_event_paranoid; it works without --perf")
    wanted = 1 + max(max(s.sender_cpu, s.reader_cpu, *s.rps_cpus) for s in experiment.arms.values())
    cpus = load.cpus()
    if len(cpus) < wanted:
        raise tools.Unavailable(
            f"the experiment {experiment.name} needs {wanted} CPUs, and this process may use {len(cpus)}; "
            f"{tools.WITHOUT}"
        )
    machine = where()  # its load before ours
    readings: dict[str, list[Reading]] = {arm: [] for arm in experiment.arms}
    for number, arms in enumerate(order(list(experiment.arms), rounds)):
        for arm in arms:
            progress(f"round {number + 1} of {rounds}: {arm}")
            readings[arm].append(load.run(experiment.arms[arm].on(cpus), seconds, profile))
    return Outcome(experiment, readings, seconds, machine, record.event() if profile else None)
