"""Listings: what can be reached at a setting, and a diff that holds what a key changes and nothing else."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from sim.engine.opcodes import ALU_FUNCTIONS
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


def without_line(instruction: str) -> str:
    return re.sub(r" \(line \d+\)$", "", instruction)


def appeared(text: str, mark: str, other: str) -> set[str]:
    """Instructions on one side only: an access whose field has moved to another line stands on both."""
    there = Counter(without_line(line) for line in changed(text, other))
    return set(Counter(without_line(line) for line in changed(text, mark)) - there)


def test_a_diff_holds_only_what_its_key_guards(tcp: Scenario) -> None:
    """What appears is an instruction under a key that names the patch; what else differs is a field on another line."""
    guarded = {
        f"{i.op:<7} {' '.join(w for w in i.words if w != '-')}".strip()
        for i in tcp.spec.program.code if "defer_free" in i.key
    }
    text = tcp.diff("defer_free")
    added = appeared(text, "+", "-")
    assert added
    assert added <= guarded
    assert not appeared(text, "-", "+")


def test_a_patch_that_moves_fields_shows_the_lines_that_change(tcp: Scenario) -> None:
    text = tcp.diff("demux_fields_close")
    assert not appeared(text, "+", "-") | appeared(text, "-", "+")
    assert "ACCESS  read sock flow sk_rx_dst_ifindex (line 5)" in changed(text, "-")
    assert "ACCESS  read sock flow sk_rx_dst_ifindex (line 2)" in changed(text, "+")


def test_under_the_later_form_the_patch_only_moves_fields(tcp: Scenario) -> None:
    text = tcp.diff("defer_free", defer_per_cpu=1)  # the list per CPU takes the place of the socket's
    assert not appeared(text, "+", "-") | appeared(text, "-", "+")


def test_only_a_switch_has_a_diff(tcp: Scenario) -> None:
    with pytest.raises(ValueError, match="mtu is not a switch"):
        tcp.diff("mtu")


def test_a_listing_prints_the_minus_and_leaves_out_what_an_instruction_has_not(tcp: Scenario) -> None:
    rows = [line.split() for line in tcp.listing(defer_free=0).splitlines()]
    assert {row[1] for row in rows if row[:1] == ["ALU"]} <= set(ALU_FUNCTIONS)
    assert any(row[:2] == ["ALU", "-"] for row in rows)
    assert all(row[1:2] != ["-"] for row in rows if row[:1] != ["ALU"])
    assert any(row[:4] == ["WORK", "50000", "0", "0"] for row in rows)  # the register with a length is left out


def test_a_patch_that_replaces_an_indirect_call_takes_one_line_out(tcp: Scenario) -> None:
    """As the page on path programs answers."""
    text = tcp.diff("direct_backlog_call")
    assert changed(text, "+") == []
    assert [line.split()[0] for line in changed(text, "-")] == ["WORK"]


def test_the_deferred_free_is_emptied_by_softirq_and_by_a_reader_that_ends_its_call_or_sleeps(tcp: Scenario) -> None:
    lines = [line.split() for line in tcp.listing(defer_free=1).splitlines()]
    at = [(i, line[1]) for i, line in enumerate(lines) if line[:1] == ["CALL"] and "sk_defer_free_flush" in line[1]]
    assert sorted({name for _, name in at}) == ["sk_defer_free_flush", "sk_defer_free_flush.bh"]
    readers = [i for i, name in at if name == "sk_defer_free_flush"]
    assert any(lines[i + 1] == ["JUMP", "recvmsg.call"] for i in readers)
    assert any("sk_wait_data" in lines[i] for i in readers)
