"""The spelling of the pages: an English dictionary, the project's own words, and British forms throughout.

A word that is right and unknown goes into ``book/words.txt``, one a line, sorted.  Code, symbols, formulas and options
are no prose (see `book.build.prose`), so the kernel's names need no entry.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import spylls.hunspell
from spylls.hunspell import Dictionary

from . import prose
from .places import ROOT
from .report import run

WORDS = ROOT / "book/words.txt"
ENGLISH = Path(spylls.hunspell.__file__).parent / "data/en/en_US"
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
#: A number with its unit, a name with a digit, underscore, dot or slash inside: no word.
NO_WORD = re.compile(r"\S*[\d_@#]\S*|\S+[./](?=\w)\S*|\S+\(\)|--\w\S*")
CAPITALS = re.compile(r"[A-Z]{2,}(?:s|['’]s)?$")
#: What American and British English spell differently, as the dictionary knows it and as the pages have it.
BRITISH = (
    (re.compile(r"(?i)\b(arm|behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|rum)or(?!ous|ious|at|ari)"), r"\1our"),
    (re.compile(r"(?i)(?<=[a-z]{3})iz(e|es|ed|er|ers|ing|able|ation|ations)$"), r"is\1"),
    (re.compile(r"(?i)(anal|paral|catal)yz(e|es|ed|er|ing)$"), r"\1ys\2"),
    (re.compile(r"(?i)\b(cancel|channel|fuel|label|level|model|signal|total|travel|tunnel)(ed|ing|er|ers)$"), r"\1l\2"),
    (re.compile(r"(?i)\bcenter"), "centre"),
    (re.compile(r"(?i)\bgray"), "grey"),
    (re.compile(r"(?i)\b(de|of)fense"), r"\1fence"),
    (re.compile(r"(?i)\b(acknowledg|judg)ment"), r"\1ement"),
    (re.compile(r"(?i)\bfiber"), "fibre"),
)
#: The way back, for words that the dictionary has in American spelling only.
AMERICAN = (("our", "or"), ("is", "iz"), ("ys", "yz"), ("ll", "l"), ("centre", "center"), ("grey", "gray"),
            ("fence", "fense"), ("gement", "gment"), ("fibre", "fiber"))
#: Words in -ize that are no verbs from the Greek.
SIZES = re.compile(r"(?i)^(?:re|over|under|down|cap)?siz|^prize|^seiz|^assiz")


class Finding(NamedTuple):
    """A word that is not right, and what may have been meant."""

    page: Path
    line: int
    word: str
    hint: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.word}: {self.hint}"


def pages(root: Path = ROOT) -> list[Path]:
    """All that is spelt: the book's pages, its assignments, and the words at the root of the clone."""
    written = [*(root / "book").glob("*.md"), *(root / "book" / "course" / "source").rglob("*.md")]
    return sorted([*root.glob("*.md"), *written, *(root / "chapters").rglob("*.md")])


@cache
def english() -> Dictionary:
    """The English dictionary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the library leaves its files to be closed when forgotten
        return Dictionary.from_files(str(ENGLISH))


@cache
def own() -> frozenset[str]:
    """The project's words."""
    return frozenset(WORDS.read_text(encoding="utf-8").split())


def british(word: str) -> str | None:
    """The British form of an American one; None if the word is the same in both."""
    if SIZES.match(word):
        return None
    for american, form in BRITISH:
        if american.search(word):
            return american.sub(form, word)
    return None


@cache
def known(word: str) -> bool:
    """Whether a word is in one of the dictionaries; a name in capitals and its plural always are."""
    bare = word.removesuffix("'s").removesuffix("'")
    if len(bare) == 1 or CAPITALS.match(word):
        return True
    forms = {word, bare, *({bare.lower(), bare[0].lower() + bare[1:]} if bare[0].isupper() else ())}
    return bool(forms & own()) or any(english().lookup(form) or only_british(form) for form in (word, bare))


def only_british(word: str) -> bool:
    """Whether a word is the British form of one that the dictionary has."""
    twins = {word.replace(ours, theirs) for ours, theirs in AMERICAN if ours in word}
    return any(british(twin) == word and english().lookup(twin) for twin in twins)


def words(lines: Iterable[prose.Line]) -> Iterator[tuple[int, str]]:
    """Each word with the number of its line."""
    for line in lines:
        for found in WORD.finditer(NO_WORD.sub(" ", line.text)):
            yield line.number, found[0].replace("’", "'")


def check(page: Path, lines: Iterable[prose.Line] | None = None) -> list[Finding]:
    """The words of a page that are not right."""
    found = []
    for number, word in words(prose.of(page) if lines is None else lines):
        if word.lower() not in own() and (form := british(word)):
            found.append(Finding(page, number, word, f"the book says {form}"))
        elif not known(word):
            found.append(Finding(page, number, word, "in no dictionary; if it is right, add it to book/words.txt"))
    return found


def near(word: str, most: int = 3) -> list[str]:
    """What may have been meant; slow, so only for words that are wrong."""
    return list(english().suggest(word))[:most]


def main() -> None:
    """Check all pages; each wrong word is one line."""
    found = [finding for page in pages() for finding in check(page)]
    for at, finding in enumerate(found):
        likely = near(finding.word) if at < 10 and "no dictionary" in finding.hint else []
        print(f"{finding}{' (near: ' + ', '.join(likely) + ')' if likely else ''}", file=sys.stderr)
    if found:
        sys.exit(f"error: {len(found)} words are not spelt as the book spells them")


if __name__ == "__main__":
    run(main)
