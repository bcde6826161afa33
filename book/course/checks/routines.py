"""Routines that students hand in, as texts."""

from __future__ import annotations


def same(text: str, other: str) -> bool:
    """Whether two routines are the same but for comments, blank lines and white space."""
    return _lines(text) == _lines(other)


def _lines(text: str) -> list[list[str]]:
    return [words for line in text.splitlines() if (words := line.partition("#")[0].split())]
