"""Results: what one replication measured, and means with 95 % intervals over several.

The reduction from an arena to numbers is declared as data (`Metric`, `Role`), so that a page does the same with
the same declarations. An interval is Student's t over replications, one seed each, and never narrower than one
counted event more or less: a zero-width interval would claim what no simulation knows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .engine import tables as T
from .engine.jit import Array

if TYPE_CHECKING:
    from .spec import Spec

#: Student's t, two-sided 95 %, for 1 to 30 degrees of freedom.
STUDENT_T = (
    12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
    2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
    2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
    2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
)


@dataclass(frozen=True)
class Metric:
    """A measured quantity: scale * sum(numerator) / sum(denominator).

    A term is ``stat:NAME``, ``header:NAME`` (a word of the arena's header), ``queue:NAME`` (length times time,
    ps), ``lock_wait:NAME`` (ps, ``*`` for all locks), ``transfers:STRUCT`` (hand-overs of its lines) or ``time`` (ps
    since the warm-up). `events` are the terms
    that say in how many pieces the numerator was counted: bytes come in packets, so one packet more or less is the
    finest difference a run can show. Without it the pieces are ones.
    """

    name: str
    unit: str
    numerator: tuple[str, ...]
    denominator: tuple[str, ...] = ("time",)
    scale: float = 1.0
    doc: str = ""
    events: tuple[str, ...] = ()


@dataclass(frozen=True)
class Role:
    """A CPU with a part to play; `value` is the row of the values table that says which CPU it is."""

    name: str
    value: int
    doc: str = ""


@dataclass(frozen=True)
class Estimate:
    """Mean and 95 % interval of a metric over replications."""

    mean: float
    low: float
    high: float
    unit: str

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}] {self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON contract."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "unit": self.unit}


@dataclass(frozen=True)
class Replication:
    """What one seed measured: metrics, the busy share of each role's CPU, its profile by symbol (both percent)."""

    seed: int
    metrics: Mapping[str, float]
    resolution: Mapping[str, float]
    cpu: Mapping[str, float]
    profile: Mapping[str, Mapping[str, float]]
    steps: int
    status: str


def _term(arena: Array, spec: Spec, term: str, elapsed: int) -> int:
    kind, _, name = term.partition(":")
    if kind == "time":
        return elapsed
    if kind == "stat":
        return int(arena[arena[T.H_AT_STAT] + spec.stats.index(name)])
    if kind == "header":
        return int(arena[T.HEADER.index(name)])
    if kind == "queue":
        total = 0
        for at in queue_rows(arena, spec, name):
            since = int(arena[T.H_UNTIL]) - int(arena[at + T.Q_SINCE])
            total += int(arena[at + T.Q_AREA]) + int(arena[at + T.Q_LENGTH]) * max(0, since)
        return total
    if kind == "lock_wait":
        return sum(int(arena[at + T.K_WAIT_PS]) for at in lock_rows(arena, spec, name))
    if kind == "transfers":
        return sum(int(arena[at + T.L_TRANSFERS]) for at in line_rows(arena, spec, name))
    raise ValueError(f"no term {term!r}")


def _value(arena: Array, row: int) -> int:
    return int(arena[arena[T.H_AT_VALUE] + row])


def queue_rows(arena: Array, spec: Spec, name: str) -> list[int]:
    """Arena offsets of the rows of the queues of a name."""
    at = int(arena[T.H_AT_SET]) + len(spec.tables) + len(spec.lines) + len(spec.locks)
    return [
        int(arena[at + queue.number]) + T.QUEUE_WORDS * i
        for queue in spec.queues if queue.name == name
        for i in range(_value(arena, queue.domain.count.row))
    ]


def lock_rows(arena: Array, spec: Spec, name: str) -> list[int]:
    """Arena offsets of the rows of the locks of a name (``*``: of all)."""
    at = int(arena[T.H_AT_SET]) + len(spec.tables) + len(spec.lines)
    return [
        int(arena[at + locks.number]) + T.LOCK_WORDS * i
        for locks in spec.locks if name in ("*", locks.name)
        for i in range(_value(arena, locks.domain.count.row))
    ]


def line_rows(arena: Array, spec: Spec, name: str) -> list[int]:
    """Arena offsets of the cache lines of the struct of a name."""
    at = int(arena[T.H_AT_SET]) + len(spec.tables)
    return [
        int(arena[at + lines.number]) + T.LINE_WORDS * i
        for lines in spec.lines if lines.name == name
        for i in range(_value(arena, lines.domain.count.row) * _value(arena, lines.per_row.row))
    ]


def measure(
    arena: Array, spec: Spec, metrics: Sequence[Metric], roles: Sequence[Role], seed: int
) -> Replication:
    """Reduce an arena at the end of its run (times in ps since `reset_statistics`)."""
    elapsed = int(arena[T.H_UNTIL]) - int(arena[T.H_RESET_TIME])
    values: dict[str, float] = {}
    resolution: dict[str, float] = {}
    for m in metrics:
        top = sum(_term(arena, spec, t, elapsed) for t in m.numerator)
        bottom = sum(_term(arena, spec, t, elapsed) for t in m.denominator)
        values[m.name] = m.scale * top / bottom if bottom else 0.0
        events = sum(_term(arena, spec, t, elapsed) for t in m.events)
        piece = top / events if events else 1.0
        resolution[m.name] = abs(m.scale) * piece / bottom if bottom else abs(m.scale)
    cpu: dict[str, float] = {}
    profile: dict[str, dict[str, float]] = {}
    symbols = spec.program.symbols
    cpus = int(arena[T.H_CPUS])
    for role in roles:
        number = int(arena[arena[T.H_AT_VALUE] + role.value])
        times = [0] * len(symbols)
        for row in (number, cpus + number):
            at = int(arena[T.H_AT_PROFILE]) + row * len(symbols)
            for k in range(len(symbols)):
                times[k] += int(arena[at + k])
        busy = sum(times)
        base = int(arena[T.H_AT_CPU]) + T.CPU_WORDS * number
        idle = int(arena[base + T.C_IDLE])
        if arena[base + T.C_STATE] == T.IDLE:
            idle += max(0, int(arena[T.H_UNTIL]) - int(arena[base + T.C_IDLE_SINCE]))
        total = busy + idle
        cpu[role.name] = 100.0 * busy / total if total else 0.0
        profile[role.name] = {
            name: 100.0 * t / busy for name, t in zip(symbols, times, strict=True) if t
        } if busy else {}
    return Replication(
        seed, values, resolution, cpu, profile, int(arena[T.H_STEPS]), T.STATUS_NAMES[int(arena[T.H_STATUS])]
    )


def interval(values: Sequence[float], resolution: float) -> tuple[float, float, float]:
    """Mean, low and high of a 95 % t-interval; at least `resolution` / (number of values) to each side."""
    n = len(values)
    mean = math.fsum(values) / n
    half = resolution / n
    if n > 1:
        variance = math.fsum((x - mean) ** 2 for x in values) / (n - 1)
        t = STUDENT_T[min(n - 1, len(STUDENT_T)) - 1]
        half = max(half, t * math.sqrt(variance / n))
    else:
        half = max(half, abs(mean))  # one replication says nothing about the spread
    return mean, mean - half, mean + half


@dataclass(frozen=True)
class Result:
    """A run: several replications of a scenario at one setting.

    ``r.gbps`` and every other metric's name give its mean; ``r.metrics[name]`` its `Estimate`;
    ``r.cpu[role]`` the busy share and ``r.profile(role)`` the profile, both in percent.
    """

    scenario: str
    knobs: Mapping[str, int | str]
    seed: int
    engine: str
    replications: tuple[Replication, ...]
    units: Mapping[str, str]
    engine_hash: str = ""
    metrics: Mapping[str, Estimate] = field(init=False)
    cpu: Mapping[str, float] = field(init=False)

    def __post_init__(self) -> None:
        metrics = {}
        for name, unit in self.units.items():
            values = [r.metrics[name] for r in self.replications]
            resolution = max(r.resolution[name] for r in self.replications)
            metrics[name] = Estimate(*interval(values, resolution), unit)
        object.__setattr__(self, "metrics", metrics)
        roles = self.replications[0].cpu
        object.__setattr__(self, "cpu", {r: self._mean([x.cpu[r] for x in self.replications]) for r in roles})

    @staticmethod
    def _mean(values: Sequence[float]) -> float:
        return math.fsum(values) / len(values)

    def __getattr__(self, name: str) -> float:
        metrics: Mapping[str, Estimate] = self.__dict__.get("metrics", {})
        if name in metrics:
            return metrics[name].mean
        raise AttributeError(f"a result has no {name!r}; its metrics are {', '.join(metrics)}")

    def profile(self, role: str) -> dict[str, float]:
        """Share of the busy time of a role's CPU by symbol, percent, largest first; KeyError names the roles."""
        return {name: e.mean for name, e in self.profile_estimates(role).items()}

    def profile_estimates(self, role: str) -> dict[str, Estimate]:
        """As `profile`, with intervals."""
        if role not in self.cpu:
            raise KeyError(f"no role {role!r}; there are {', '.join(self.cpu)}")
        names = {s for r in self.replications for s in r.profile[role]}
        out = {
            s: Estimate(*interval([r.profile[role].get(s, 0.0) for r in self.replications], 1e-9), "%")
            for s in names
        }
        return dict(sorted(out.items(), key=lambda item: (-item[1].mean, item[0])))

    def cpu_estimate(self, role: str) -> Estimate:
        """Busy share of a role's CPU with its interval, percent."""
        return Estimate(*interval([r.cpu[role] for r in self.replications], 1e-9), "%")

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON contract: shares are percent."""
        return {
            "scenario": self.scenario, "knobs": dict(self.knobs), "seed": self.seed,
            "replications": len(self.replications), "engine": self.engine, "engine_hash": self.engine_hash,
            "metrics": {name: e.to_dict() for name, e in self.metrics.items()},
            "cpu": dict(self.cpu), "profile": {role: self.profile(role) for role in self.cpu},
        }
