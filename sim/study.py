"""A sensitivity study: does a patch still gain if the constants are other ones? One at a time, several at once.

For each conclusion of a thread (a figure of the kind ``direction``: what the patch changes, percent) every constant
that the scenario reads is made a quarter smaller and a quarter larger; nothing is fitted anew. Those that move the
gain most are then varied together by Morris's design (SALib): trajectories on a grid between those ends, each step
changing one constant. A mean elementary effect is in points of gain over the whole way from -25 to +25 %.

Runs are short, and both arms of a comparison use the same seeds. What the seeds alone do to a gain is measured first. A
sign counts as kept only beyond their `noise`: twice their spread, over the root of the seeds of a point. The spread is
taken from the median deviation: a thread with two lasting states has seeds that stand far apart and yet agree on the
sign. So of seeds in another state, while they are fewer than half, `noise` knows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Final

from . import batch, constants, scenarios, source_hash
from .batch import Job, Pool
from .constants import Constant
from .progress import Progress
from .result import Result
from .scenarios import RunError, Scenario
from .sensitivity import Answer, Conclusion, Record, beyond, conclusions, image_hash, kept, short

Runner = Callable[[str, Sequence[Job]], list[Answer]]


@dataclass(frozen=True)
class Design:
    """How much is run.

    A point, which is one setting of the constants, takes as many seeds as make up `instructions` in one arm, at most
    `seeds`: scenarios with few events need several, and those with many could not afford them. Morris's design varies
    the `constants` that alone move some conclusion most.
    """

    step: float = 0.25
    seed: int = 1
    noise_seeds: int = 5
    seeds: int = 4
    instructions: int = 2_000_000
    trajectories: int = 6
    levels: int = 4
    constants: int = 8
    resamples: int = 1000


DESIGN: Final = Design()
NORMAL: Final = 1.4826  # a standard deviation of normal numbers in median absolute deviations
CHECKED: Final = 3  # constants whose ends are run again before an older record is taken for good


def study(thread: str, design: Design = DESIGN, executor: Pool = None, quiet: bool = False) -> list[Record]:
    """The sensitivity of all that a thread concludes: a record each, as in the file.

    The numbers are the same on every executor. Raises KeyboardInterrupt at once when interrupted; nothing is written.
    """
    found = conclusions(thread)
    base = scenarios.load(thread)
    known = constants.read(base)

    def run(title: str, jobs: Sequence[Job]) -> list[Answer]:
        with Progress(f"{thread}, {title}", quiet) as progress:
            return batch.run(jobs, executor, progress)

    centre = run("as they are", _pairs(base, {}, found, design.seed, design.noise_seeds, False))
    seeds = _seeds(centre, design)
    ways: list[tuple[Constant, int]] = []
    jobs: list[Job] = []
    for constant in known:
        for sign in (-1, 1):
            scenario, knobs, values = constants.changed(base, {constant.name: 1 + sign * design.step})
            ways.append((constant, values[constant.name]))
            jobs += _pairs(scenario, knobs, found, design.seed, seeds)
    answers = run("one constant at a time", jobs)
    records = [
        _record(base, c, at, ends, ways, {**asdict(design), "seeds": seeds, "until_ps": base.quick_ps})
        for c, at, ends in zip(found, _by_conclusion(centre, found), _by_conclusion(answers, found), strict=True)
    ]
    names = _heaviest(records, design.constants)
    for record, (held, effects) in zip(records, _morris(base, found, names, seeds, design, run), strict=True):
        record["together"] = _together(held, record)
        record["morris"] = effects
        record["survives"] = _survives(record)
    return records


def confirmed(thread: str, old: Sequence[Record], executor: Pool = None, quiet: bool = False) -> list[Record] | None:
    """Older records of a thread with the hashes of today, or None if the study has to be made again.

    Programs change in ways that change no number: a part split in two, a value declared earlier. Then the runs with the
    constants as they are and with each of the heaviest ones at both ends come out as they did, digit for digit, and the
    scenario reads the same constants with the same values.
    """
    found = conclusions(thread)
    base = scenarios.load(thread)
    known = [(c.name, c.value) for c in constants.read(base)]
    if [c.figure.id for c in found] != [r["id"] for r in old] or any(
        known != [(row["name"], row["value"]) for row in r["constants"]] or r["engine"] != source_hash()
        or r["setting"] != dict(c.figure.knobs) or r["before"] != dict(c.figure.before or {})
        or r["reported"] != c.figure.reported for c, r in zip(found, old, strict=True)
    ):
        return None
    design = old[0]["design"]
    jobs = _pairs(base, {}, found, design["seed"], design["noise_seeds"], False)
    ways = [(name, end) for name in _heaviest(old, CHECKED) for end in ("low", "high")]
    for name, end in ways:
        factor = 1 + (design["step"] if end == "high" else -design["step"])
        scenario, knobs, _ = constants.changed(base, {name: factor})
        jobs += _pairs(scenario, knobs, found, design["seed"], design["seeds"])
    with Progress(f"{thread}, whether anything is new", quiet) as progress:
        answers = _by_conclusion(batch.run(jobs, executor, progress), found)
    for conclusion, record, pairs in zip(found, old, answers, strict=True):
        rows = {row["name"]: row for row in record["constants"]}
        for was, pair in zip([record["gain"], *(rows[n][end] for n, end in ways)], pairs, strict=True):
            now = conclusion.held(*pair)
            if (was["before"], was["after"]) != (now["before"], now["after"]):
                return None
    return [{**r, "image": image_hash(base, c.figure)} for r, c in zip(old, found, strict=True)]


def _pairs(
    scenario: Scenario, knobs: Mapping[str, int], found: Sequence[Conclusion], seed: int, seeds: int,
    verified: bool = True,
) -> list[Job]:
    """Jobs before and after, for each conclusion; the first ones of a thread are not verified yet."""
    return [
        Job.of(scenario, {**setting, **knobs}, seed, seeds, scenario.quick_ps, verified)
        for c in found for setting in (c.figure.before_of(c.figure.knobs), c.figure.knobs)
    ]


def _by_conclusion(answers: Sequence[Answer], found: Sequence[Conclusion]) -> list[list[tuple[Answer, Answer]]]:
    """For each conclusion, the answers before and after at each point, out of those to `_pairs` of all points."""
    step = 2 * len(found)
    return [list(zip(answers[2 * i::step], answers[2 * i + 1::step], strict=True)) for i in range(len(found))]


def _seeds(answers: Sequence[Answer], design: Design) -> int:
    steps = max((r.steps for a in answers if isinstance(a, Result) for r in a.replications), default=1)
    return max(1, min(design.seeds, round(design.instructions / steps)))


def _record(
    base: Scenario, conclusion: Conclusion, centre: Sequence[tuple[Answer, Answer]],
    ends: Sequence[tuple[Answer, Answer]], ways: Sequence[tuple[Constant, int]], design: Record,
) -> Record:
    figure, stated = conclusion.figure, conclusion.after
    for answer in centre[0]:
        if isinstance(answer, RunError):
            raise answer
    old, new = (a for a in centre[0] if isinstance(a, Result))
    gain = figure.read(new, old)
    assert figure.reading is not None
    each = [100 * (figure.reading.value(b) / figure.reading.value(a) - 1)
            for a, b in zip(old.replications, new.replications, strict=True)]
    spread = NORMAL * median(abs(x - median(each)) for x in each)
    found = conclusion.held(*centre[0])
    rows = [
        {"name": c.name, "kind": c.kind, "value": c.value, "unit": c.unit, "status": c.status,
         "low": {"value": low, **conclusion.held(*before)}, "high": {"value": high, **conclusion.held(*after)}}
        for (c, low), (_, high), before, after in zip(ways[::2], ways[1::2], ends[::2], ends[1::2], strict=True)
    ]
    return {
        "thread": figure.thread, "id": figure.id, "figure": figure.figure, "unit": figure.unit,
        "reported": figure.reported, "setting": dict(figure.knobs), "before": dict(figure.before or {}),
        "engine": source_hash(), "image": image_hash(base, figure),
        "design": design,
        "gain": {"mean": short(gain.mean), "low": short(gain.low), "high": short(gain.high),
                 "noise": short(2 * spread / math.sqrt(design["seeds"])),
                 "seeds": [short(x) for x in each], "before": found["before"], "after": found["after"]},
        "stated": stated and {"id": stated.id, "reported": stated.reported, "unit": stated.unit, "met": found["rate"]},
        "constants": rows,
    }


def _heaviest(records: Sequence[Record], count: int) -> list[str]:
    """Names of the constants that move some conclusion most, seeds aside, measured by its own largest reach."""
    weight: dict[str, float] = {}
    for record in records:
        reaches = {row["name"]: beyond(row, record["gain"]) for row in record["constants"]}
        largest = max((x for x in reaches.values() if x < math.inf), default=0.0) or 1.0
        for name, value in reaches.items():
            weight[name] = max(weight.get(name, 0.0), value / largest)
    return sorted(weight, key=lambda name: (-weight[name], name))[:count]


def _morris(
    base: Scenario, found: Sequence[Conclusion], names: Sequence[str], seeds: int, design: Design, run: Runner
) -> list[tuple[list[Record], list[Record]]]:
    """Morris's design over some constants: for each conclusion what was held at every point, and the effects."""
    import numpy as np
    from SALib.analyze import morris as analysis
    from SALib.sample import morris as sample

    problem = {"num_vars": len(names), "names": list(names),
               "bounds": [[1 - design.step, 1 + design.step]] * len(names)}
    points = sample.sample(problem, design.trajectories, num_levels=design.levels, seed=design.seed)
    jobs = []
    for point in points:
        scenario, knobs, _ = constants.changed(base, dict(zip(names, point.tolist(), strict=True)))
        jobs += _pairs(scenario, knobs, found, design.seed, seeds)
    out = []
    for conclusion, pairs in zip(found, _by_conclusion(run("several at once", jobs), found), strict=True):
        held = [conclusion.held(*pair) for pair in pairs]
        effects: list[Record] = []
        if all(h["gain"] is not None for h in held):  # no effects from trajectories with a hole
            got = analysis.analyze(
                problem, points, np.array([h["gain"] for h in held]), num_levels=design.levels,
                num_resamples=design.resamples, seed=design.seed,
            )
            effects = [
                {"name": name, "mu_star": short(got["mu_star"][i]), "half_width": short(got["mu_star_conf"][i]),
                 "mu": short(got["mu"][i]), "sigma": short(got["sigma"][i])}
                for i, name in enumerate(names)
            ]
        out.append((held, sorted(effects, key=lambda e: -e["mu_star"])))
    return out


def _together(held: Sequence[Record], record: Record) -> Record:
    """What Morris's points say about the conclusion: gains at the extremes, signs kept, figures met."""
    gains = [h["gain"] for h in held if h["gain"] is not None]
    return {
        "points": len(held), "ended": len(held) - len(gains),
        "lowest": min(gains, default=None), "highest": max(gains, default=None),
        "signs_kept": sum(kept(x, record) for x in gains),
        "rates_met": sum(bool(h["rate"]) for h in held) if record["stated"] else None,
    }


def _survives(record: Record) -> Record:
    """Whether the conclusion holds for each constant alone, and with which it is lost: the sign, or the figure."""
    def losers(test: Callable[[Record], bool]) -> list[str]:
        return [c["name"] for c in record["constants"] if not (test(c["low"]) and test(c["high"]))]

    signs = losers(lambda end: kept(end["gain"], record))
    rates = losers(lambda end: bool(end["rate"])) if record["stated"] else []
    return {"sign": not signs, "sign_lost_with": signs,
            "rate": None if not record["stated"] else not rates, "rate_lost_with": rates}
