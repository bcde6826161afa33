"""Layouts: lines by offset, moves that overlap are refused, C's packing rule, diffs and tables."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.layout import Field, Layout, LayoutError, Member

PAIR = Layout.of("pair", [("count", 0, 4), ("generation", 24, 4), ("far", 128, 8)], source="an example")


def test_a_line_is_the_offset_divided_by_64() -> None:
    assert [PAIR.line(name) for name in ("count", "generation", "far")] == [0, 0, 2]
    assert PAIR.shares("count", "generation")
    assert not PAIR.shares("count", "far")
    assert PAIR.lines == 3
    assert PAIR.on_line(0) == ("count", "generation")


def test_a_field_across_a_boundary_touches_two_lines() -> None:
    layout = Layout.of("straddle", [("wide", 60, 8)], source="an example")
    assert layout.lines_of("wide") == (0, 1)
    assert not layout.shares("wide")
    assert layout.on_line(1) == ("wide",)


def test_a_move_gives_a_new_layout_and_leaves_the_old() -> None:
    moved = PAIR.move("generation", 64)
    assert (moved.line("generation"), PAIR.line("generation")) == (1, 0)
    assert moved.move("far", 320).size == 328
    assert PAIR.move({"count": 24, "generation": 0}).line("count") == 0


def test_moves_that_overlap_are_refused_with_both_names() -> None:
    both = r"'count' \(bytes 0 to 3\) and 'generation' \(bytes 2 to 5\) overlap"
    with pytest.raises(LayoutError, match=both):
        PAIR.move("generation", 2)


@pytest.mark.parametrize(
    ("move", "message"),
    [
        (("generations", 64), "the nearest is 'generation'"),
        (("far", -8), "'far' at offset -8"),
        (("far", None), "where to move 'far' is not said"),
    ],
)
def test_moves_that_cannot_be_are_refused(move: tuple[str, int | None], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        PAIR.move(*move)


def test_a_field_that_stands_twice_and_a_struct_too_small_are_refused() -> None:
    with pytest.raises(LayoutError, match="stands twice"):
        Layout.of("twice", [("a", 0, 4), ("a", 8, 4)], source="an example")
    with pytest.raises(LayoutError, match="2 bytes cannot hold 'a'"):
        Layout("tiny", (Field("a", 0, 4),), 2, "an example")


def test_a_diff_tells_what_moved_came_and_went() -> None:
    after = Layout.of("pair", [("count", 0, 4), ("generation", 64, 4), ("new", 8, 8)], source="an example")
    changes = {change.name: change for change in PAIR.diff(after)}
    assert set(changes) == {"generation", "far", "new"}
    assert str(changes["generation"]) == "generation: offset 24, line 0 -> offset 64, line 1"
    assert changes["far"].after is None
    assert changes["new"].before is None
    assert all(change.line_changed for change in changes.values())
    assert PAIR.diff(PAIR) == ()


def test_a_table_shows_the_holes() -> None:
    rows = PAIR.table()
    assert [(row["offset"], row["size"]) for row in rows if row["field"] == ""] == [(4, 20), (28, 100)]
    assert sum(int(row["size"]) for row in rows) == PAIR.size


SCALARS = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}


@given(st.lists(st.sampled_from(sorted(SCALARS)), min_size=1, max_size=24))
def test_packing_follows_the_c_compiler(sizes: list[int]) -> None:
    fields = [(f"f{i}", SCALARS[size]) for i, size in enumerate(sizes)]
    native = type("Native", (ctypes.Structure,), {"_fields_": fields})
    members = [Member(f"f{i}", size) for i, size in enumerate(sizes)]
    layout = Layout.pack("native", members, source="an example", align=max(sizes))
    assert [field.offset for field in layout.fields] == [getattr(native, name).offset for name, _ in fields]
    assert layout.size == ctypes.sizeof(native)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 16)), min_size=1, max_size=6))
def test_fields_never_overlap_in_a_layout_that_exists(rows: list[tuple[int, int]]) -> None:
    fields = [(f"f{i}", offset, size) for i, (offset, size) in enumerate(rows)]
    taken = [byte for _, offset, size in fields for byte in range(offset, offset + size)]
    if len(taken) == len(set(taken)):
        layout = Layout.of("some", fields, source="an example")
        assert sum(int(row["size"]) for row in layout.table()) == layout.size
    else:
        with pytest.raises(LayoutError, match="overlap"):
            Layout.of("some", fields, source="an example")
