"""How to cite the book, from ``CITATION.cff``: one source for the page, for hosts that read the file, and for tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FILE = "CITATION.cff"


def read(root: Path) -> dict[str, Any]:
    """The file's entries."""
    return dict(yaml.safe_load((root / FILE).read_text(encoding="utf-8")))


def authors(entry: dict[str, Any]) -> str:
    """People by family name first, groups by their name, joined as BibTeX joins them."""
    names = (
        f"{who['family-names']}, {who['given-names']}" if "family-names" in who else f"{{{who['name']}}}"
        for who in entry["authors"]
    )
    return " and ".join(names)


def sentence(entry: dict[str, Any]) -> str:
    """The reference as a line of text."""
    who = authors(entry).replace("{", "").replace("}", "").replace(" and ", "; ")
    licences = " and ".join([entry["license"]] if isinstance(entry["license"], str) else entry["license"])
    return f"{who} ({year(entry)}). {entry['title']}. Version {entry['version']}. {licences}."


def year(entry: dict[str, Any]) -> str:
    """The year of the release."""
    return str(entry["date-released"])[:4]


def bibtex(entry: dict[str, Any]) -> str:
    """The reference as a BibTeX entry."""
    words = re.findall(r"[a-z]+", entry["title"].split(":")[0].lower())
    key = "".join(word for word in words if word not in {"the", "a", "an"}) + year(entry)
    fields = {
        "author": authors(entry),
        "title": "{" + entry["title"] + "}",
        "year": year(entry),
        "version": entry["version"],
        "note": "Executable textbook",
        **({"url": entry["url"]} if "url" in entry else {}),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@book{{{key},\n{lines}\n}}"


class CiteThis(SphinxDirective):
    """``{cite-this}``: the reference as text and as BibTeX."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / FILE))
        entry = read(root)
        text = bibtex(entry)
        return [nodes.paragraph("", sentence(entry)), nodes.literal_block(text, text, language="bibtex")]


def connect(app: Sphinx) -> None:
    """The directive."""
    app.add_directive("cite-this", CiteThis)
