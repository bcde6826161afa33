"""The prose of a page: what a reader reads as sentences, line for line where it stands.

Checks of spelling, of copied sentences and of typed numbers all read pages through this module.  Code, formulas,
options of directives and the targets of roles are blanked out; lines keep their numbers, so that a finding can say
where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .plain import LABEL, OPENING, OPTION, ROLE, TITLED

#: Directives whose inside is no prose.
CODE = {
    "code-cell", "code-block", "code", "sourcecode", "literalinclude", "math", "raw", "eval-rst", "nb-exec-table",
    "bibliography", "api-reference", "symbol-index", "cite-this", "toctree",
}
#: Directives whose argument is a name or a number, not a title.
NAMED = {"figure", "image", "solution", "tab-set", "grid", "predict", "figure-md"}
#: Roles whose text is shown as it stands; of others only a title in front of a target is shown.
SHOWN = {"term", "abbr", "sub", "sup", "kbd", "dfn", "guilabel", "index"}
PROSE_OPTIONS = {"alt", "caption", "figcaption"}

_FENCE = re.compile(r"^\s*(?P<fence>`{3,}|:{3,}|~{3,})")
_CAPTION = re.compile(r"^(?P<indent>\s*)(?:caption|alt):\s*(?P<words>.*)$")
WORDS = "the words inside"  # what a link leaves: its text, line ends and all
_INLINE = (
    (re.compile(r"<(script|style)\b.*?</\1>", re.S), ""),
    (re.compile(r"\$\$.*?\$\$", re.S), ""),
    (re.compile(r"(?<![\\$\w])\$(?!\s)[^$\n]*(?:\n[^$\n]+)?(?<!\s)\$(?!\d)"), ""),
    (re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S), ""),
    (re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)", re.S), WORDS),
    (re.compile(r"<https?://[^>\s]*>|https?://\S+"), ""),
    (re.compile(r"</?[a-zA-Z][^<>]*>", re.S), ""),
    (re.compile(r"(?<=\S)\{[.#][^{}]*\}"), ""),
    (re.compile(r"&[a-z]+;"), " "),
)


@dataclass(frozen=True)
class Line:
    """One line of a page: its number in the file, from 1, and what of it is prose."""

    number: int
    text: str


def blanked(text: str) -> str:
    """As many line ends as the text has."""
    return "\n" * text.count("\n")


def marked(source: str) -> str:
    """A page's prose with roles and links still in it; every other line is empty."""
    out: list[str] = []
    #: Open fences: the fence, whether its inside is prose, whether options may still come.
    fences: list[list[str | bool]] = []
    lines = source.splitlines()
    at = _front_matter(lines)
    out += [""] * at
    caption: int | None = None
    for line in lines[at:]:
        stripped = line.strip()
        inside = not fences or bool(fences[-1][1])
        fence = _FENCE.match(line)
        if fences and fence and set(stripped) == {str(fences[-1][0])[0]} and len(stripped) >= len(str(fences[-1][0])):
            fences.pop()
            out.append("")
        elif inside and (opening := OPENING.match(line)):
            name = opening["name"]
            fences.append([opening["fence"], name not in CODE, True])
            out.append("" if name in CODE or name in NAMED else opening["argument"])
            caption = None
        elif inside and fence:
            fences.append([fence["fence"], False, False])
            out.append("")
        elif not inside:
            shown, caption = _caption(line, caption)
            out.append(shown)
        elif fences and fences[-1][2] and (option := OPTION.match(stripped)):
            out.append(option["value"] if option["key"] in PROSE_OPTIONS else "")
        else:
            if fences and stripped:
                fences[-1][2] = False
            out.append("" if LABEL.match(line) or line.startswith("% ") or stripped.startswith("+++") else line)
    return "\n".join(out)


def _front_matter(lines: list[str]) -> int:
    """How many lines the YAML at the top of a page takes."""
    if not lines or lines[0].strip() != "---":
        return 0
    return next((at + 1 for at, line in enumerate(lines) if at and line.strip() == "---"), 0)


def _caption(line: str, indent: int | None) -> tuple[str, int | None]:
    """A cell's caption is prose, although it stands among its options: the line's words, and whether more follow."""
    found = _CAPTION.match(line)
    if found:
        return found["words"].strip("|> "), len(found["indent"])
    if indent is not None and line.strip() and len(line) - len(line.lstrip()) > indent:
        return line, indent
    return "", None


def plain(text: str) -> str:
    """Marked prose without its markup: roles as the words that are shown, code and formulas gone."""
    text = ROLE.sub(lambda match: _role(match["name"], match["text"]) + blanked(match[0]), text)
    for pattern, shown in _INLINE:
        text = pattern.sub(lambda match, shown=shown: match[1] if shown == WORDS else shown + blanked(match[0]), text)
    return text


def _role(name: str, text: str) -> str:
    titled = TITLED.match(text)
    if titled:
        return "" if name.startswith(("cite", "glue", "py:")) else " ".join(titled["title"].split())
    return " ".join(text.split()) if name in SHOWN else ""


def prose(source: str) -> Iterator[Line]:
    """The lines of a page that hold prose."""
    for number, text in enumerate(plain(marked(source)).split("\n"), 1):
        if text.strip():
            yield Line(number, text)


def of(page: Path) -> list[Line]:
    """The prose of a page's file."""
    return list(prose(page.read_text(encoding="utf-8")))
