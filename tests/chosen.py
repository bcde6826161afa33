"""Members of a large family that the slow tests run; `make test-every` runs the others.

A family is the same test over all widgets, pages or decks. Those that are chosen differ in what the test is about; the
reason stands where they are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def chosen(family: Sequence[Any], few: Iterable[Any]) -> list[Any]:
    """Parameters for all of a family, in its order, with the mark `exhaustive` on those that are not chosen.

    Raises
    ------
    ValueError
        if one that is chosen is not of the family, as after a change of its name, or if all are.
    """
    few = list(few)
    if strangers := [each for each in few if each not in family]:
        raise ValueError(f"not of the family: {strangers}")
    if len(few) >= len(family):
        raise ValueError("all are chosen: no choice is needed")
    return [each if each in few else _marked(each) for each in family]


def _marked(each: Any) -> Any:
    values = each if isinstance(each, tuple) else (each,)  # a tuple is several arguments
    return pytest.param(*values, marks=pytest.mark.exhaustive)
