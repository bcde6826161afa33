"""A verdict on an answer of several parts."""

from __future__ import annotations

from collections.abc import Mapping

from .verdict import Verdict, partly, right, wrong


def each(parts: Mapping[str, Verdict]) -> Verdict:
    """All parts count the same; the words are those of the parts that lost points."""
    lost = {name: v for name, v in parts.items() if v.share < 1}
    if not lost:
        return right()
    message = " ".join(f"`{name}`: {v.message}" for name, v in lost.items())
    hint = " ".join(f"`{name}`: {v.hint}." if not v.hint.endswith(("?", ".")) else f"`{name}`: {v.hint}"
                    for name, v in lost.items())
    share = sum(v.share for v in parts.values()) / len(parts)
    return partly(share, message, hint) if share else wrong(message, hint)
