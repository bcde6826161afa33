"""Fields moved by hand: C's rule places them, and a run with their lines is the run of the layout key."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import scenarios
from sim.knob import KnobError, numbers
from sim.layout import Layout, LayoutError, Member
from sim.placement import MOST_LINES, SAMPLES, Placed, aligned_fields, arranged, natural
from sim.verifier import verify

MEMBERS = [Member("a", 4), Member("b", 8), Member("c", 2), Member("far", 8, 64)]
SMALL = Layout.pack("small", MEMBERS, source="an example")


def test_declarations_in_another_order_are_placed_by_the_rule_of_c() -> None:
    moved = arranged(SMALL, ["b", "a", "c", "far"])
    assert [(f.name, f.offset) for f in moved.fields] == [("b", 0), ("a", 8), ("c", 12), ("far", 16)]
    assert arranged(SMALL, ["c", "b", "a", "far"], ["a"]).field("a").offset == 64
    assert natural(SMALL, "far") == 8


@pytest.mark.parametrize("name", SAMPLES)
def test_the_order_that_a_layout_has_gives_the_layout(name: str) -> None:
    for layout in SAMPLES[name].layouts.values():
        again = arranged(layout, [f.name for f in layout.fields], aligned_fields(layout))
        assert again.fields == layout.fields
        assert again.lines == layout.lines


@given(st.permutations([f.name for f in SMALL.fields]), st.sets(st.sampled_from([f.name for f in SMALL.fields])))
@settings(max_examples=40, deadline=None)
def test_no_order_makes_fields_overlap_or_breaks_an_alignment(order: list[str], aligned: set[str]) -> None:
    made = arranged(SMALL, order, aligned)  # a Layout refuses fields that overlap
    assert [f.name for f in made.fields] == order
    assert all(f.offset % (64 if f.name in aligned else natural(SMALL, f.name)) == 0 for f in made.fields)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["a", "b", "c"], "'far' is missing from the order"),
        (["a", "a", "b", "c", "far"], "'a' stands twice"),
        (["a", "b", "c", "fat"], "the nearest is 'far'"),
    ],
)
def test_an_order_that_is_none_is_refused(order: list[str], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        arranged(SMALL, order)


@pytest.mark.parametrize(
    ("name", "key", "knobs"),
    [
        ("sock", "demux_fields_close", {}),
        ("tcp_globals", "align_memory_globals", {}),
        pytest.param("dst_entry", "dst_padding", {}, marks=pytest.mark.slow),
    ],
)
def test_a_run_with_a_layouts_lines_is_the_run_of_its_key(name: str, key: str, knobs: dict[str, int]) -> None:
    sample = SAMPLES[name]
    placed, plain = sample.placed(), scenarios.load(sample.scenario)
    chosen = {**sample.knobs, **knobs}
    until = plain.quick_ps
    layouts = list(sample.layouts.values())
    results = []
    for side, layout in enumerate((layouts[0], layouts[-1])):
        mine = placed.run(replications=1, until_ps=until, **chosen, **placed.lines(layout))
        real = plain.run(replications=1, until_ps=until, **{**chosen, key: side})
        assert mine.replications == real.replications
        results.append(mine.replications[0].metrics)
    assert results[0] != results[1]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_program_is_sound_wherever_the_fields_lie(name: str) -> None:
    sample = SAMPLES[name]
    placed = sample.placed()
    fields = [f"{placed.struct}.{f}" for f in placed.fields]
    for lines in (dict.fromkeys(fields, 0), dict.fromkeys(fields, MOST_LINES - 1)):
        chosen = placed.settings(**sample.knobs, **{f"{placed.struct} lines": max(lines.values()) + 1, **lines})
        verify(placed.spec, {**numbers(placed.knobs, chosen), "seed": 1, "trace_rows": 0})


def test_a_field_beyond_the_last_line_is_refused_before_it_is_run() -> None:
    placed = SAMPLES["tcp_globals"].placed()
    lines = {"tcp globals lines": 1, "tcp globals.tcp_memory_allocated": 1}
    with pytest.raises(KnobError, match="lies on line 1, but the struct ends with line 0"):
        placed.run(replications=1, **lines)


def test_a_struct_that_is_not_touched_or_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="touches no struct 'socks'; the nearest is 'sock'"):
        Placed(scenarios.load("tcp-5.17"), "socks")
    placed = SAMPLES["sock"].placed()
    layout = next(iter(SAMPLES["sock"].layouts.values()))
    names = [f.name for f in layout.fields]
    with pytest.raises(LayoutError, match="more than the 40 that may be run"):
        placed.lines(arranged(layout, names, names))


def test_uses_name_who_touches_a_field_and_how() -> None:
    sample = SAMPLES["dst_entry"]
    uses = sample.placed().uses(list(sample.layouts.values()), **sample.knobs)
    assert uses["__refcnt"]["dst_release"] == "atomic"
    assert uses["rt_genid"] == {"ipv4_dst_check": "read"}
    assert uses["rt_type"] == {"ip_rcv_finish": "read"}  # merged with rt_genid until it lies elsewhere
    assert SAMPLES["sock"].placed().uses([], **SAMPLES["sock"].knobs)["sk_lock.slock"]["_raw_spin_lock"] == "atomic"
