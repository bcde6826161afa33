"""Listings: what can be reached at a setting, and a diff that holds what a key changes and nothing else."""

from __future__ import annotations

import pytest

from sim.knob import numbers
from sim.listing import specialise
from sim.scenarios import Scenario


def changed(text: str, mark: str) -> list[str]:
    """Instructions of a diff's added or removed lines: opcode and operands, without the symbol."""
    lines = [line[1:] for line in text.splitlines() if line.startswith(mark) and not line.startswith(mark * 3)]
    return [line[:68].strip() for line in lines if line.startswith("  ")]


def test_a_listing_holds_no_undecided_key(tcp: Scenario) -> None:
    assert "KEY" not in tcp.listing(defer_free=1)


def test_every_instruction_of_a_listing_is_one_of_the_program(tcp: Scenario) -> None:
    reached = specialise(tcp.spec, numbers(tcp.knobs, tcp.settings(defer_free=0)))
    assert all(tcp.spec.program.code[at] is instruction for at, instruction in reached)
    assert len(reached) < len(tcp.spec.program.code)


def test_the_diff_of_the_patch_adds_the_deferred_free(tcp: Scenario) -> None:
    text = tcp.diff("defer_free")
    assert any("sk->defer_list" in line for line in changed(text, "+"))
    assert not any("sk->defer_list" in line for line in changed(text, "-"))


def test_a_diff_holds_only_what_its_key_guards(tcp: Scenario) -> None:
    """Lines that appear or vanish are instructions under a key that names the patch, or that lead to those."""
    guarded = {
        f"{i.op:<7} {' '.join(w for w in i.words if w != '-')}".strip()
        for i in tcp.spec.program.code if "defer_free" in i.key
    }
    added = changed(tcp.diff("defer_free"), "+")
    assert added
    assert set(added) <= guarded


def test_a_diff_the_other_way_round_is_empty_under_the_other_form(tcp: Scenario) -> None:
    assert not tcp.diff("defer_free", defer_per_cpu=1).strip()  # the list per CPU takes the place of the socket's


def test_only_a_switch_has_a_diff(tcp: Scenario) -> None:
    with pytest.raises(ValueError, match="mtu is not a switch"):
        tcp.diff("mtu")
