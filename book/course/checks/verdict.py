"""What a check says of an answer, and what the student reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """The share of the points, 0 to 1; what was wrong; a hint. Neither holds the answer."""

    share: float
    message: str
    hint: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"a share of {self.share} is not between 0 and 1")
        if self.share < 1 and not self.hint:
            raise ValueError(f"{self.message!r}: who loses points gets a hint")


@dataclass(frozen=True)
class Judgement:
    """A verdict in points of a question."""

    points: float
    of: float
    message: str
    hint: str = ""

    @property
    def text(self) -> str:
        """What the student reads, one paragraph."""
        return " ".join(filter(None, (self.message, self.hint and f"Hint: {self.hint}")))


def right(message: str = "Right.") -> Verdict:
    """All points."""
    return Verdict(1, message)


def partly(share: float, message: str, hint: str) -> Verdict:
    """Some of the points."""
    return Verdict(share, message, hint)


def wrong(message: str, hint: str) -> Verdict:
    """No points."""
    return Verdict(0, message, hint)


def fault_found(line: bool, effect: bool, whom: str, follow: str) -> Verdict:
    """Whether a fault's line and its effect were named: half of the points each.

    `whom` hints at the effect to somebody who has the line, `follow` at where to begin to somebody who has neither.
    """
    if line and effect:
        return right()
    if line:
        return partly(0.5, "The line is right, the effect is not.", whom)
    if effect:
        return partly(0.5, "The effect is right, the line is not.", "which line, moved or added, would undo it?")
    return wrong("Neither the line nor the effect is right.", follow)


def together(parts: Mapping[str, Verdict]) -> Verdict:
    """The verdicts on an answer of several parts as one: all count the same, and what is wrong is said part by part."""
    failed = {name: verdict for name, verdict in parts.items() if verdict.share < 1}
    if not failed:
        return right()
    fine = [f"`{name}`" for name in parts if name not in failed]
    said = [f"`{name}`: {verdict.message}" for name, verdict in failed.items()]
    hints = [f"`{name}`: {_ended(verdict.hint)}" for name, verdict in failed.items()]
    share = sum(verdict.share for verdict in parts.values()) / len(parts)
    return Verdict(share, " ".join([*said, *([f"Right: {', '.join(fine)}."] if fine else [])]), " ".join(hints))


def _ended(text: str) -> str:
    return text if text.endswith((".", "?")) else text + "."
