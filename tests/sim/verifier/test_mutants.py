"""Mutants of sound specs are refused, or they run clean with bounds checks on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from sim import ROOT
from sim.verifier import Unsound, verify_image
from tests.chosen import chosen
from tests.sim.verifier.mutants import Mutant, mutants
from tests.sim.verifier.small import R1, Small

Outcomes = list[tuple[str, str]]


def outcomes(accepted: list[Mutant]) -> list[str]:
    """What happens to mutants in plain Python with bounds checks, in order."""
    lines = "".join(json.dumps([int(word) for word in mutant.image]) + "\n" for mutant in accepted)
    done = subprocess.run(
        [sys.executable, "-m", "tests.sim.verifier.checked"], input=lines, capture_output=True, text=True,
        cwd=ROOT.parent, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, timeout=120, check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def judged(count: int, seed: int) -> Outcomes:
    """The change and the outcome of every mutant."""
    out: Outcomes = []
    accepted: list[Mutant] = []
    for mutant in mutants(count, seed):
        try:
            verify_image(mutant.spec, mutant.image)
            accepted.append(mutant)
        except Unsound:
            out.append((mutant.change, "refused"))
    ran = outcomes(accepted)
    assert len(ran) == len(accepted)
    return out + [(mutant.change, what) for mutant, what in zip(accepted, ran, strict=True)]


def assert_sound(found: Outcomes) -> None:
    """No mutant that was accepted left its table, went back in time or let go of a lock it did not hold."""
    assert not [(change, what) for change, what in found if what.startswith("fault")]
    kinds = Counter(what.split()[0] for _, what in found)
    assert kinds["refused"] > len(found) / 2
    assert kinds["clean"] > len(found) / 5
    # Whose an item in a cell is, is not followed by the verifier: the engine ends such a run as corrupted.
    assert kinds["shared"] == 0


def test_mutants_are_refused_or_run_clean() -> None:
    assert_sound(judged(240, 20211115))


@pytest.mark.slow
@pytest.mark.parametrize("seed", chosen(range(5), [0]))
def test_more_mutants_are_refused_or_run_clean(seed: int) -> None:
    assert_sound(judged(2_000, seed))


def test_the_checks_see_an_index_beyond_its_set() -> None:
    """Row 3 of three lies in the arena, but in the next set."""

    def body(s: Small) -> None:
        s.p.set(R1, 3)
        s.p.lock(s.lock, R1)
        s.p.halt()

    spec = Small(thread=body).spec
    (what,) = outcomes([Mutant(spec, spec.image(), "row 3")])
    assert what.startswith("fault word")
