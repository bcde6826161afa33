"""Tables of the page that shows each thread's scenario at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from book.figures.table import Cell, Link, Table
from book.figures.verdicts import between, digits, error, miss_table, row_interval, with_unit
from sim import constants, reported
from sim.result import Estimate, Result, interval
from sim.scenarios import Scenario
from sim.validate import judgement

Settings = Mapping[str, int | str]
Row = Mapping[str, Any]


class Trial(NamedTuple):
    """A setting in which a patch is tried: what is special about it, the arms, and the number of seeds."""

    what: str
    before: Settings
    after: Settings


def words(thread: str, rows: Sequence[Row]) -> dict[str, str]:
    """What a page's sentences quote, by name: each figure of a thread as reported and as simulated."""
    quoted = {}
    for figure, row in zip(reported.figures(thread), rows, strict=True):
        quoted[f"{thread}-{figure.id}"] = _plain(figure.reported, figure.unit)
        quoted[f"{thread}-{figure.id}-here"] = with_unit(row["simulated"], row["unit"])
    return quoted


def _plain(value: float, unit: str) -> str:
    """A stated number as the message has it, with no decimals added."""
    return f"{value:,.15g} {unit}"


def sources(thread: str) -> Table:
    """The messages that a thread's figures come from."""
    stated: dict[reported.Source, int] = {}
    for figure in reported.figures(thread):
        stated[figure.source] = stated.get(figure.source, 0) + 1
    rows = [(source.when, source.who, Link(source.what, source.url), count) for source, count in stated.items()]
    return Table(f"{thread}: where the figures stand", ["date", "who", "message", "figures"], rows)


def glance(scenario: Scenario) -> Table:
    """What a scenario holds: receiver, program, knobs, constants, time."""
    topology = scenario.machine.topology
    by_effect = {e: sum(k.effect == e for k in scenario.knobs) for e in ("acts", "inert", "refused")}
    read = constants.read(scenario)
    open_ = [c for c in read if c.status == "assumed"]
    measured_ms = (scenario.until_ps - scenario.warm_ps) / 1e9
    fitted = sorted({c.name for c in read if c.status == "fitted"})
    seen = {one.knob: one.in_view.figure for one in reported.by_hand(scenario.name)}
    rows: list[Sequence[Cell]] = [
        ("costs of lines and locks", scenario.machine.title),
        ("the receiver", f"{_many(topology.sockets, 'package')} of {_many(topology.cores_per_socket, 'core')} of "
                         f"{_many(topology.threads_per_core, 'thread')}: {topology.cpus} CPUs"),
        ("program", f"{len(scenario.spec.program.code):,} instructions in "
                    f"{len(scenario.spec.program.symbols)} kernel symbols"),
        ("patches as keys", ", ".join(scenario.patches)),
        ("knobs", ", ".join(f"{n} {_EFFECT[e]}" for e, n in by_effect.items() if n)),
        ("constants", f"{len(read)}, of which {len(open_)} are assumed and {len(fitted)} fitted"),
        ("fitted", ", ".join(fitted) or None),
        ("set by hand, with a figure from after the patch in view",
         "; ".join(f"{knob}: {figure}" for knob, figure in seen.items()) or None),
        ("a run", f"{scenario.warm_ps / 1e9:g} ms to warm up, then {measured_ms:g} ms, {scenario.replications} times"),
        ("the seed varies", scenario.varies),
    ]
    return Table(f"{scenario.name}: what the scenario holds", ["part", "here"], rows)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


_EFFECT: Final = {"acts": "act", "inert": "are inert", "refused": "are refused"}


def assumptions(scenario: Scenario) -> Table:
    """What the thread leaves open, with the settings over which the predictions range."""
    tried: dict[str, list[int | str]] = {}
    for figure in reported.figures(scenario.name):
        for name, settings in figure.assume.items():
            tried.setdefault(name, []).extend(s for s in settings if s not in tried.get(name, []))
    rows = []
    for name, settings in tried.items():
        knob = scenario.knob(name)
        allowed = ", ".join(knob.choices) if knob.choices else f"{knob.low:,} to {knob.high:,}"
        shown = ", ".join(f"{s:,}" if isinstance(s, int) else s for s in settings)
        rows.append((name, knob.doc, shown, str(knob.default), allowed, knob.unit or "–"))
    columns = ["knob", "what it stands for", "the range runs over", "default", "allowed", "unit"]
    return Table(f"{scenario.name}: what the thread leaves open", columns, rows, code=["knob"])


def beside(thread: str, rows: Sequence[Row]) -> Table:
    """Reported beside simulated, for all figures but those that the model was given."""
    return Table(
        f"{thread}: reported and simulated",
        ["figure", "verdict", "reported", "simulated", "95 % interval", "range", "error", "role"],
        [
            (row["figure"], judgement(row), with_unit(row["reported"], row["unit"]),
             with_unit(row["simulated"], row["unit"]), row_interval(row),
             between(row["range_low"], row["range_high"], digits(row["range_high"])), error(row), row["role"])
            for row in rows if row["role"] != "input"
        ],
        code=["role"],
    )


def misses(thread: str, rows: Sequence[Row]) -> Table:
    """A thread's misses, or one row that says that it has none."""
    table = miss_table(rows, f"{thread}: the misses")
    if not table.rows:
        table.rows = [["none", *[None] * (len(table.columns) - 1)]]
    return table


def change(
    scenario: Scenario, metric: str, trial: Trial, seeds: int, until_ps: int | None = None
) -> tuple[Estimate, Estimate, Estimate]:
    """Both arms of a trial on the same seeds, and the change in percent; in short runs if no end is given."""
    old, new = (
        scenario.run(replications=seeds, until_ps=until_ps or scenario.quick_ps, **knobs)
        for knobs in (trial.before, trial.after)
    )
    return old.metrics[metric], new.metrics[metric], moved(old, new, metric)


def moved(old: Result, new: Result, metric: str) -> Estimate:
    """The change of a metric between two runs on the same seeds, percent."""
    pairs = zip(old.replications, new.replications, strict=True)
    found = [100.0 * (b.metrics[metric] / a.metrics[metric] - 1.0) for a, b in pairs]
    step = 100.0 * max(r.resolution[metric] / r.metrics[metric] for r in old.replications)
    return Estimate(*interval(found, step), "%")


def trials(
    scenario: Scenario, metric: str, tried: Sequence[Trial], seeds: int = 3, until_ps: int | None = None
) -> Table:
    """Where a patch gains, where it does nothing, and where it costs; in short runs if no end is given."""
    unit = next(m.unit for m in scenario.metrics if m.name == metric)
    rows: list[Sequence[Cell]] = []
    for trial in tried:
        old, new, found = change(scenario, metric, trial, seeds, until_ps)
        rows.append((trial.what, f"{old.mean:.3g} {unit}", f"{new.mean:.3g} {unit}", f"{found.mean:+.1f} %",
                     between(found.low, found.high)))
    columns = ["setting", "without", "with", "change, seed by seed", "95 % interval, %"]
    end_ps = until_ps or scenario.quick_ps
    counted = f"{seeds} runs each, counted from {scenario.warm_ps / 1e9:g} to {end_ps / 1e9:g} ms"
    return Table(f"{scenario.name}: {metric} without and with the patch, {counted}", columns, rows)


def arms(settings: Mapping[str, Settings], off: Settings, on: Settings) -> list[Trial]:
    """Trials of one patch in several settings: each with the patch's keys `off` and `on`."""
    return [Trial(what, {**off, **knobs}, {**on, **knobs}) for what, knobs in settings.items()]

