"""The choice that the slow tests take of a family."""

from __future__ import annotations

import pytest

from .chosen import chosen


def test_those_that_are_not_chosen_are_marked_and_none_is_lost() -> None:
    first, second, third = chosen(["a", "b", ("c", 1)], ["b"])
    assert second == "b"
    assert (first.values, third.values) == (("a",), ("c", 1))
    assert [mark.name for each in (first, third) for mark in each.marks] == ["exhaustive", "exhaustive"]


def test_a_name_that_is_gone_and_a_choice_of_all_are_refused() -> None:
    with pytest.raises(ValueError, match="not of the family: \\['d'\\]"):
        chosen(["a", "b"], ["d"])
    with pytest.raises(ValueError, match="no choice"):
        chosen(["a", "b"], ["a", "b"])
