"""Two settings of one program: rows by address, in every scenario and for every switch."""

from __future__ import annotations

import pytest

from sim import scenarios
from sim.comparison import Row, compare
from sim.knob import numbers
from sim.listing import specialise


def rows(scenario: str, key: str, **knobs: int) -> list[Row]:
    s = scenarios.load(scenario)
    both = [numbers(s.knobs, s.settings(**{**knobs, key: side})) for side in (0, 1)]
    return compare(s.spec, *both)


def differing(found: list[Row], kind: str) -> list[str]:
    return [f"{row.op} {row.before if row.after is None else row.after}" for row in found if row.kind == kind]


def test_a_branch_in_the_program_adds_instructions() -> None:
    found = rows("tcp-5.17", "defer_free")
    assert "PUSH sk->defer_list flow skb tail" in differing(found, "added")
    assert differing(found, "removed") == []
    assert "sk_defer_free_flush.bh" in {label for row in found for label in row.labels}


def test_a_patch_of_the_layout_changes_lines_and_nothing_else() -> None:
    found = [row for row in rows("tcp-5.17", "demux_fields_close") if row.kind != "same"]
    assert {row.kind for row in found} == {"changed"}
    moved = next(row for row in found if "sk_rx_dst_ifindex" in str(row.before))
    assert moved.before == "read sock flow sk_rx_dst_ifindex (line 5)"
    assert moved.after == "read sock flow sk_rx_dst_ifindex (line 2)"


def test_a_cost_that_a_key_decides_is_written_out() -> None:
    found = [row for row in rows("udpv6-early-demux", "calibrated", uid_rules=8) if row.kind == "changed"]
    assert any(row.op == "WORK" and "(= " in str(row.before) and row.before != row.after for row in found)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "lab" else n for n in scenarios.names()]
)
def test_each_side_of_every_switch_is_the_specialised_program(name: str) -> None:
    s = scenarios.load(name)
    for knob in s.knobs:
        if knob.kind != "switch" or knob.effect == "refused":
            continue
        found = rows(name, knob.name)
        for side in (0, 1):
            mine = [row.address for row in found if (row.after if side else row.before) is not None]
            reached = specialise(s.spec, numbers(s.knobs, s.settings(**{knob.name: side})))
            assert mine == [address for address, _ in reached], (knob.name, side)
