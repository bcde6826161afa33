"""`make fuzz` runs, and says what to do when engines disagree."""

from __future__ import annotations

import pytest

from sim.reference import Machine
from tests.sim import fuzz


def test_one_case_is_checked_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--seed", "7", "--show"]) == 0
    out = capsys.readouterr().out
    assert "1 cases" in out
    assert "engines agree" in out
    assert "WORK" in out


def test_a_disagreement_names_the_word_and_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = Machine.time_moves

    def late(machine: Machine, now: int) -> None:
        moves(machine, now)
        machine.memory.transfers += 1

    monkeypatch.setattr(Machine, "time_moves", late)
    assert fuzz.main(["--seed", "7"]) == 1
    out = capsys.readouterr().out
    assert "header transfers: reference" in out
    assert "python -m tests.sim.fuzz --seed 7" in out
