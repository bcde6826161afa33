"""Labels of citations: pybtex's alphabetic ones, for an author with more than 26 entries of one year.

pybtex tells such entries apart by a letter, and goes on behind *z* with whatever character comes
next. Here *aa* follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.alpha import Style as Alpha
from pybtex.style.labels.alpha import LabelStyle
from sphinx.application import Sphinx

NAME = "many"


def letters(number: int) -> str:
    """a to z for 0 to 25, then aa, ab, as columns of a spreadsheet are named."""
    text = chr(ord("a") + number % 26)
    return text if number < 26 else letters(number // 26 - 1) + text


class ManyLabels(LabelStyle):  # type: ignore[misc]  # pybtex ships no types
    """Alphabetic labels with as many letters as are needed."""

    def format_labels(self, sorted_entries: Sequence[Any]) -> Iterator[str]:
        """One label an entry, in the order of the entries."""
        labels = [self.format_label(entry) for entry in sorted_entries]
        count, counted = Counter(labels), Counter[str]()
        for label in labels:
            yield label if count[label] == 1 else label + letters(counted[label])
            counted[label] += 1


class Style(Alpha):  # type: ignore[misc]
    """The alphabetic style with these labels."""

    default_label_style = NAME


def connect(app: Sphinx) -> None:
    """Make the style known under its name, for ``:style:`` of a bibliography."""
    register_plugin("pybtex.style.labels", NAME, ManyLabels)
    register_plugin("pybtex.style.formatting", NAME, Style)
