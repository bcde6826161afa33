"""Pictures and tables of the page on what to believe of the simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim import constants, reported, scenarios
from sim.result import Estimate, Result, interval
from sim.scenarios.scenario import Scenario

#: What constants rest on, best first (a stand-in is sourced, for another processor).
STANDINGS: Final = ("sourced", "stand-in", "fitted", "assumed")


def ingredients() -> Picture:
    """What goes into a run and what comes out of it."""
    picture = Picture(
        274,
        "Machine, layouts, program and workload make one spec; a seed makes one run of it; a run yields counts and "
        "times, and only several runs yield a figure with an interval.",
    )
    parts = (("machine", "what a line, a lock costs"), ("layouts", "which fields share a line"),
             ("program", "what CPUs execute"), ("workload", "what arrives, when"))
    for place, (name, words) in enumerate(parts):
        x, y = 4 + 180 * (place % 2), 4 + 50 * (place // 2)
        picture.box(x, y, 172, 40, "wash", 6)
        picture.text(x + 86, y + 17, name, "mid strong")
        picture.text(x + 86, y + 33, words, "mid small quiet")
    picture.arrow(180, 96, 180, 112, "rule")
    picture.box(90, 114, 180, 30, "box", 6)
    picture.text(180, 133, "spec at one setting of knobs", "mid small")
    picture.text(356, 164, "one seed each", "end small quiet")
    for place in range(5):
        x = 90 + 38 * place
        picture.arrow(180, 144, x + 14, 174, "rule")
        picture.box(x, 176, 28, 26, "box", 4)
        picture.text(x + 14, 193, "run", "mid small")
        picture.arrow(x + 14, 202, 180, 230, "rule")
    picture.box(60, 232, 240, 34, "warm", 6)
    picture.text(180, 253, "mean, 95 % interval, profile", "mid strong")
    return picture


def doctrine() -> Picture:
    """The order in which figures meet the model."""
    picture = Picture(
        238,
        "Public measurements and figures from before a patch set the constants; then the fit is closed, the key is "
        "turned, and only then are the figures from after the patch compared, and a miss is kept.",
    )
    steps = (
        ("wash", "public measurements", "costs of lines and pages: input"),
        ("wash", "figures from before", "what no source gives: fitted"),
        ("box", "the fit is closed", "each constant names its figure"),
        ("box", "the key is turned", "same constants, same seeds"),
        ("warm", "figures from after", "compared: hit or miss"),
    )
    for place, (kind, title, words) in enumerate(steps):
        y = 4 + 48 * place
        picture.box(4, y, 150, 34, kind, 6)
        picture.text(79, y + 22, title, "mid strong")
        picture.text(162, y + 21, words, "small")
        if place:
            picture.arrow(79, y - 14, 79, y - 2, "rule")
    return picture


def standings() -> Table:
    """How many constants of each scenario rest on what."""
    rows: list[Sequence[Cell]] = []
    for name in scenarios.names():
        counted = Counter(c.status for c in constants.read(scenarios.load(name)))
        if odd := set(counted) - set(STANDINGS):
            raise ValueError(f"{name}: constants with a standing that the table has no column for: {odd}")
        rows.append((name, sum(counted.values()), *(counted[s] for s in STANDINGS)))
    return Table("What the constants of each scenario rest on", ["scenario", "constants", *STANDINGS], rows,
                 code=["scenario"])


def by_hand() -> Table:
    """Constants that were set by hand with a figure from after the patch in view, and how much rests on each."""
    rows: list[Sequence[Cell]] = []
    for thread in (name for name in scenarios.names() if name in reported.threads()):
        scenario = scenarios.load(thread)
        for one in reported.by_hand(thread):
            knob = scenario.knob(one.knob)
            rests = sum(f.role == "dependent" and f.knobs in one.runs for f in reported.figures(thread))
            stated = f"{one.in_view.figure}: {one.in_view.reported:g} {one.in_view.unit}"
            rows.append((thread, one.knob, f"{knob.default:,} {knob.unit}", stated, rests))
    columns = ["thread", "constant", "set to", "figure in view", "dependent figures of the patched runs"]
    return Table("Set by hand, with a figure from after the patch in view", columns, rows, code=["thread", "constant"])


def first(run: Result, metric: str, count: int) -> Estimate:
    """The mean of a metric and its interval as the first replications alone give them."""
    values = [r.metrics[metric] for r in run.replications[:count]]
    step = max(r.resolution[metric] for r in run.replications[:count])
    return Estimate(*interval(values, step), run.units[metric])


def seeds(run: Result, metric: str, counts: Sequence[int], scale: float, unit: str) -> Picture:
    """Each replication as a dot; under them the mean and the interval of the first few."""
    values = [r.metrics[metric] / scale for r in run.replications]
    found = {n: first(run, metric, n) for n in counts}
    low = min(min(values), *(e.low / scale for e in found.values()))
    high = max(max(values), *(e.high / scale for e in found.values()))
    widths = ", ".join(f"{n} runs ± {(e.high - e.low) / 2 / scale:.3f}" for n, e in found.items())
    picture = Picture(
        76 + 32 * len(counts),
        f"Runs that differ in their seed alone give {min(values):.2f} to {max(values):.2f} {unit}; the interval of "
        f"their mean narrows with their number: {widths}.",
    )

    def x_of(value: float) -> float:
        return 70 + 270 * (value - low) / (high - low)

    picture.text(4, 24, f"{len(values)} runs", "strong")
    for place, value in enumerate(values):
        picture.dot(x_of(value), 14 + 4 * (place % 4), 3.5, "c0")
    picture.line([(70, 40), (340, 40)], "rule")
    for place, (n, estimate) in enumerate(found.items()):
        y = 64 + 32 * place
        picture.text(4, y + 4, f"first {n}", "strong")
        picture.line([(x_of(estimate.low / scale), y), (x_of(estimate.high / scale), y)], "l1")
        picture.dot(x_of(estimate.mean / scale), y, 4, "c1")
        picture.text(205, y + 18, f"{estimate.mean / scale:.3f} ± {(estimate.high - estimate.low) / 2 / scale:.3f}",
                     "mid small quiet")
    picture.text(340, picture.height - 4, unit, "end small quiet")
    return picture


def written_in(scenario: Scenario, constant: str, key: str, less_ps: int) -> Scenario:
    """The scenario with a fault put in: one of its constants is smaller when a key is on.

    Only a time differs, so what the verifier has found of the program still holds.
    """
    spec, program = scenario.spec, scenario.spec.program
    value = spec.constants[constant]
    chosen = spec.values.knob(key).choose(value - less_ps, value)
    for at, code in enumerate(program.code):
        if code.op == "WORK" and code.operands[0] == value:
            words = (f"({value - less_ps} if {key} else {value})", *code.words[1:])
            program = program.replaced(at, operands=(chosen, *code.operands[1:]), words=words)
    spec.program = program
    return scenario
