"""Labels and titles of citations: pybtex's alphabetic style, with labels that last and titles as they were written.

pybtex tells entries of an author and a year apart by a letter, and goes on behind *z* with whatever character comes
next. Here *aa* follows. And it lowers the letters of titles, which are names of functions, options and protocols here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pybtex.backends.plaintext import Backend as Plain
from pybtex.plugin import register_plugin
from pybtex.richtext import Text
from pybtex.style.formatting.alpha import Style as Alpha
from pybtex.style.labels.alpha import LabelStyle
from pybtex.style.template import field, sentence
from pybtex_docutils import Backend as Nodes
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
    """The alphabetic style with these labels and with titles as they were written."""

    default_label_style = NAME

    def format_title(self, e: Any, which_field: str, as_sentence: bool = True) -> Any:
        """A title with its capital letters."""
        title = field(which_field, apply_func=as_written)
        return sentence[title] if as_sentence else title


def as_written(text: Text) -> Text:
    """A title with its braces, which BibTeX has no other way to write than as commands that pybtex leaves alone."""
    return Text(str(text).replace("\\lbrace ", "{").replace("\\rbrace ", "}"))


def connect(app: Sphinx) -> None:
    """Make the style known under its name, for ``:style:`` of a bibliography.

    And the two backends that each citation asks for: pybtex otherwise reads the list of all installed packages for it,
    six hundred times in this book.
    """
    register_plugin("pybtex.style.labels", NAME, ManyLabels)
    register_plugin("pybtex.style.formatting", NAME, Style)
    register_plugin("pybtex.backends", "plaintext", Plain, force=True)  # forced: each is installed under that name
    register_plugin("pybtex.backends", "docutils", Nodes, force=True)
