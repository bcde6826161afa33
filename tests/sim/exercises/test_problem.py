"""Practice problems: solvable from what they state, explained, and forgiving in the right places."""

from __future__ import annotations

import dataclasses
import re

import pytest

from sim import packing, scenarios
from sim.exercises import assignments, formula
from sim.exercises.instance import Given
from sim.exercises.kind import CHAPTERS, REPLICATIONS, Kind, Step
from sim.exercises.problem import KINDS, Problem, of_chapter, practice

PENCIL = [name for name, kind in KINDS.items() if not kind.scenarios]
RUN = [name for name, kind in KINDS.items() if kind.scenarios]
SEEDS = range(1, 301)


def test_there_are_kinds_for_every_chapter() -> None:
    assert len(PENCIL) >= 16
    assert len(RUN) >= 4
    assert [chapter for chapter in CHAPTERS if not list(of_chapter(chapter))] == []
    assert len({kind.title for kind in KINDS.values()}) == len(KINDS)


def test_no_kind_is_a_graded_question() -> None:
    graded = {name for assignment in assignments.names() for name in assignments.load(assignment).names}
    assert graded & set(KINDS) == set()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_nothing_is_drawn_for_nothing(kind: Kind) -> None:
    parts = [kind.text, *(step.formula for step in (*kind.derived, *kind.steps))]
    parts += [formula for run in (*kind.before, *kind.after) for formula in run.knobs.values()]
    used = set(re.findall(r"\w+", " ".join(parts)))
    assert [given.name for given in kind.givens if given.name not in used] == []


@pytest.mark.parametrize("name", PENCIL)
def test_every_problem_is_solved_by_the_numbers_that_it_states(name: str) -> None:
    """With what stands in the text, rounded as it stands there."""
    for seed in SEEDS:
        problem = practice(name, seed)
        stated = {
            key: float(formula.shown(value).replace(",", "").replace("−", "-")) if not isinstance(value, str) else value
            for key, value in problem.known.items()
        }
        for step in problem.kind.steps:
            stated[step.name] = formula.evaluate(formula.parse(step.formula), stated)
        mine = float(stated[problem.kind.answer.name])
        assert problem.check(mine).right, (seed, mine, problem.answer())
        assert problem.check(float(formula.shown(mine).replace(",", "").replace("−", "-"))).right, (seed, mine)


@pytest.mark.parametrize("name", ["gro-time", "cost-of-a-byte", "big-tcp"])
def test_no_packet_is_larger_than_gro_can_make_it(name: str) -> None:
    """Each up to the limit, and some full: 65,535 bytes with their headers, 524,280 with BIG TCP."""
    spare = []
    for seed in SEEDS:
        known = {key: int(value) for key, value in practice(name, seed).known.items()}
        if name == "big-tcp":
            assert known["small_kib"] * 1024 < packing.GRO_LIMIT_BYTES
            spare.append(packing.GRO_MAX_SIZE[1] - known["small_kib"] * 1024 * known["times"])
        else:
            spare.append(packing.GRO_LIMIT_BYTES - 1 - 72 - known["segments"] * known["payload_bytes"])
    assert min(spare) >= 0
    assert min(spare) < 100_000 if name == "big-tcp" else min(spare) < 1240


@pytest.mark.parametrize("name", KINDS)
def test_the_explanation_ends_with_the_answer_and_the_text_states_all_numbers(name: str) -> None:
    problem = practice(name, 5)
    assert problem.explanation()[-1].endswith(formula.amount(problem.answer(), problem.unit))
    assert "{" not in problem.text
    assert problem.to_dict()["answer"] == problem.answer()
    assert problem.check(problem.answer()).message.startswith("Right: ")


@pytest.mark.parametrize("name", PENCIL)
def test_a_usual_slip_gets_its_hint(name: str) -> None:
    for trap in practice(name, 1).kind.traps:
        told = 0
        for seed in SEEDS[:100]:
            problem = practice(name, seed)
            verdict = problem.check(formula.evaluate(formula.parse(trap.formula), problem.solved))
            told += verdict.message == f"Not yet. {trap.hint}"
        assert told >= 10, trap


def test_slips_of_units_and_sides_are_told() -> None:
    problem = practice("lowest-ceiling", 3)
    truth = problem.answer()
    assert problem.check(truth / 8).message == "Not yet: too low. Are these bits or bytes?"
    assert problem.check(truth * 1000).message == "Not yet: too high. A unit is a thousand off."
    assert problem.check(truth * 1.3).message == "Not yet: too high."
    assert not problem.check(float("nan")).right
    # no bits in it, no word of bits
    assert practice("amdahl", 3).check(practice("amdahl", 3).answer() * 8).message == "Not yet: too high."


def test_tolerances_are_what_is_said() -> None:
    problem = practice("gro-time", 4)
    assert problem.check(problem.answer() * 1.0099).right
    assert not problem.check(problem.answer() * 1.0101).right
    moved = practice("moved-work", 4)
    assert moved.check(moved.answer() + 0.49).right
    assert not moved.check(moved.answer() + 0.51).right
    lines = practice("lines-of-counters", 4)
    assert not lines.check(lines.answer() + 1).right


def test_problems_differ_from_seed_to_seed_and_not_from_day_to_day() -> None:
    drawn = {"most": 18, "payload_bytes": 3560, "gbps_tenths": 460, "segments": 18.0, "gbps": 46.0}
    assert practice("gro-time", 7).known == drawn
    assert len({practice("gro-time", seed).text for seed in SEEDS}) == len(SEEDS)
    few = {name: len({practice(name, seed).text for seed in SEEDS}) for name in PENCIL}
    assert [name for name, count in few.items() if count < 60] == []


@pytest.mark.parametrize("name", RUN)
def test_a_run_answers_what_is_asked_of_the_engine(name: str) -> None:
    problem = practice(name, 11)
    last = problem.kind.after[-1]
    knobs = {}
    for knob, written in last.knobs.items():
        given = problem.known.get(written, written.strip("'"))
        knobs[knob] = given if isinstance(given, str) and not given.isdigit() else int(given)
    result = scenarios.load(last.scenario).run(seed=1, replications=REPLICATIONS, **knobs)
    assert problem.solved[last.name] == result.metrics[last.metric].mean


def test_nobody_finds_a_kind_by_guessing_twice() -> None:
    with pytest.raises(KeyError, match="the nearest is 'gro-time'"):
        practice("gro-tim", 1)
    with pytest.raises(KeyError, match="the nearest is 'machine'"):
        list(of_chapter("machines"))


def test_a_kind_that_states_what_is_not_known_is_refused() -> None:
    kind = KINDS["gro-time"]
    with pytest.raises(ValueError, match="gro-time: mtu stands there before it is known"):
        dataclasses.replace(kind, text="{mtu}")
    with pytest.raises(ValueError, match="nothing leads to an answer"):
        dataclasses.replace(kind, steps=())
    with pytest.raises(ValueError, match="no chapter 'nowhere'"):
        dataclasses.replace(kind, chapter="nowhere")


def test_a_constant_needs_no_sum_in_the_explanation() -> None:
    kind = Kind("k", "K", "path", (Given("a", 3, 3),), "{a}?", (Step("b", "B", "bytes", "a"),), "")
    assert Problem(kind, 1).explanation() == ["B: 3 bytes"]
