"""Numbers that were typed into a page's prose although a run of the page states them.

A number with a unit of results is *sourced* if its sentence cites something. An unsourced one is a fault

* if its clause says that a run or the model gave it: such a number is glued, since the next run may give another;
* if a cell of the page gives just this number to the page's sentences;
* if it has three significant digits and lies within 1 % of a number that the page computes: it was taken from there,
  and if it is no longer equal it has drifted.

Figures of a thread and results of the pencil pass: the first are cited or stand apart from what the model says, the
second show how they come about.  So does what an exercise supposes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

from nbformat import NotebookNode

from book.build import prose

UNITS = r"Gbit/s|Mbit/s|Mpps|kpps|[Mk] packets(?:/s| a second)|%|points"
TYPED = re.compile(rf"(?<![\w.,/×=-])(?P<number>\d[\d,]*(?:\.\d+)?)(?:\s|&nbsp;)*(?P<unit>{UNITS})(?!\w)")
NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?![\w])")
CLAIMED = re.compile(
    r"\bsimulat(?:ion|ions|ed|es)\b|\b(?:the|this|our) runs?\b|\bruns (?:give|gave|show|end|reach)\b|\bin the model\b"
    r"|\bmodel (?:gives|says|shows|reaches|predicts|finds|has|makes|comes|ends|misses|gains|loses)\b",
    re.IGNORECASE,
)
REPORTED = re.compile(r"\breport(?:s|ed)?\b|\b(?:message|thread|mail|author)\b", re.IGNORECASE)
CLAUSE = re.compile(r",(?!\d)|[;:()]|\s(?:and|but|while|whereas|against|instead of|where|yet)\s")
SOURCED = re.compile(r"\{cite[^}]*\}`")
ARITHMETIC = re.compile(r"[=≈×÷]|\d\s*[/+−-]\s*\d")
#: A sentence ends at its stop, at the end of a paragraph, of an item of a list, and of a table's cell.
SENTENCE = re.compile(
    r"(?<=[.!?:])\)?\*{0,2}\s+(?=[*_\"'(\[{`]*[A-Z0-9{])|\n(?=\s*(?:[-*]|\d+\.)\s)|\n\s*\n|\|"
)
EXERCISE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{exercise\}.*?^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
NO_RESULT = re.compile(r"95\s*%\s*(?:confidence\s*)?intervals?|100\s*%")
CLOSE = 0.01


@dataclass(frozen=True)
class Typed:
    """A number in prose: its line, text, value, unit, the words around it, and whether an exercise supposes it."""

    line: int
    text: str
    value: float
    unit: str
    clause: str
    sentence: str
    supposed: bool

    @property
    def digits(self) -> int:
        """How many significant digits were typed; zeros at the end of a whole number are not."""
        digits = self.text.replace(",", "")
        return len((digits if "." in digits else digits.rstrip("0")).replace(".", "").lstrip("0"))


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Sentences of a page with their roles still in, and the line on which each begins."""
    text = prose.marked(source)
    at = 0
    for end in [*SENTENCE.finditer(text), None]:
        piece = text[at : end.start() if end else len(text)]
        lead = len(piece) - len(piece.lstrip())
        if piece.strip():
            yield text.count("\n", 0, at + lead) + 1, piece.strip()
        at = end.end() if end else at


def unsourced(source: str) -> list[Typed]:
    """Numbers with a unit of results whose sentence cites nothing."""
    found = []
    supposed = set()
    for exercise in EXERCISE.finditer(source):
        first = source.count("\n", 0, exercise.start()) + 1
        supposed |= set(range(first, first + exercise[0].count("\n") + 1))
    for line, sentence in sentences(source):
        if SOURCED.search(sentence):
            continue
        words = NO_RESULT.sub(" ", prose.plain(sentence))
        ends = [0, *(end.start() for end in CLAUSE.finditer(words)), len(words)]
        for match in TYPED.finditer(words):
            at = next(place for place, end in enumerate(ends) if end > match.start())
            value = float(match["number"].replace(",", ""))
            clause = words[ends[at - 1] : ends[at]]
            whole = " ".join(sentence.split())
            found.append(Typed(line, match["number"], value, match["unit"], clause, whole, line in supposed))
    return found


def computed(notebook: NotebookNode) -> set[float]:
    """Numbers in what a page's cells put out: glued values, cells of tables, printed text."""
    values: set[float] = set()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            glued = output.get("metadata", {}).get("scrapbook", {}).get("name")
            texts = [output.get("text", "")]
            texts += [text for kind, text in data.items() if glued and "text/plain" in kind]
            texts += re.findall(r"<td[^>]*>(.*?)</td>", data.get("text/html", ""), re.DOTALL)
            for text in texts:
                values |= {float(number.replace(",", "")) for number in NUMBER.findall(unescape(str(text)))}
    return values


def faults(
    source: str, values: Iterable[float], quoted: Iterable[str] = (), stated: Iterable[str] = ()
) -> list[str]:
    """Typed numbers that should have been computed, each as one line.

    ``values`` are the numbers that the page's cells put out, ``quoted`` the texts that they give to its sentences, and
    ``stated`` the threads' figures with their units, which may stand anywhere.
    """
    known, theirs = sorted(set(values)), set(stated)
    texts = {" ".join(text.split()) for text in quoted}
    found = []
    for typed in unsourced(source):
        what = f"line {typed.line}: {typed.text} {typed.unit}"
        if CLAIMED.search(typed.clause) and not typed.supposed:
            found.append(f"{what}: a run gave it, so glue it: {typed.sentence[:90]}")
        elif f"{typed.text} {typed.unit}" in theirs or any(
            pattern.search(where) for pattern, where in ((REPORTED, typed.clause), (ARITHMETIC, typed.sentence))
        ):
            continue
        elif len(typed.text) > 1 and texts & {typed.text, f"{typed.text} {typed.unit}"}:
            found.append(f"{what}: a cell of the page quotes this number: glue it")
        elif typed.digits >= 3:
            close = [value for value in known if value and abs(typed.value - value) <= CLOSE * abs(value)]
            if close:
                nearest = min(close, key=lambda value: abs(value - typed.value))
                state = "is" if nearest == typed.value else "has drifted from"
                found.append(f"{what}: {state} {nearest:g}, which the page computes: glue it")
    return found
