"""Comparing a number with the right one, and knowing the usual ways to miss it."""

from __future__ import annotations

from collections.abc import Sequence

from .verdict import Verdict, partly, right, wrong

#: (the value that a usual mistake gives, the hint for it), or with the share of the points in between.
Trap = tuple[float, str] | tuple[float, float, str]


def near(
    answer: float, truth: float, *, relative: float = 0.0, absolute: float = 0.0, traps: Sequence[Trap] = (),
    hint: str = "go through the units, then through each step on paper",
) -> Verdict:
    """Right within a tolerance; else what the mistake looks like.

    Parameters
    ----------
    relative, absolute
        The tolerance is the larger of `relative` times the right number and `absolute`.
    traps
        Values of usual mistakes with their hints; a trap that lies within the tolerance of the right number is no trap.
    """
    def close(a: float, b: float) -> bool:
        return abs(a - b) <= max(relative * abs(b), absolute) * (1 + 1e-9) + 1e-12

    if close(answer, truth):
        return right()
    for value, *share, text in traps:
        if close(answer, value) and not close(value, truth):
            if share:
                return partly(float(share[0]), "Not quite.", str(text))
            return wrong("This is not the number.", str(text))
    side = "too high" if answer > truth else "too low"
    if truth and answer:
        factor = answer / truth
        for size, what in ((8, "bits and bytes"), (1000, "two units a thousand apart"), (1e6, "units a million apart")):
            if any(abs(factor / size ** sign - 1) <= max(relative, 0.02) for sign in (1, -1)):
                return wrong(f"This is {side}.", f"the factor looks like {what}")
    return wrong(f"This is {side}.", hint)
