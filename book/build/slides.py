"""Slides for every chapter, from the built pages: one file a deck, to be shown with no network and no server.

``python -m book.build.slides`` (``make slides``) writes ``_build/slides/``; ``index.html`` lists the decks.
"""

from __future__ import annotations

import argparse
import base64
import mimetypes
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any, Final

import yaml

from .deck import Deck, Slide, read
from .places import BUILD, HTML, ROOT
from .report import Refusal, run, say

FOLDER: Final = BUILD / "slides"
VENDOR: Final = ROOT / "book/vendor/reveal"
STYLE: Final = ROOT / "book/build/slides.css"
SCRIPT: Final = ROOT / "book/build/slides.js"
#: Parts of the table of contents that are taught from.
PARTS: Final = ("Before the patches", "Five threads", "One series, twenty patches", "What came after")
NO_LECTURE: Final = frozenset({"book/scenarios"})  # tables to look things up in
KEYS: Final = (
    "Arrows or <em>Space</em> go on, <em>Esc</em> shows all slides, <em>F</em> fills the screen, <em>?</em> lists the "
    "keys.",
    "<em>S</em> shows and hides the notes: where a slide is from, and the text that it is taken from.",
    "For paper, open a deck with <code>?print-pdf</code> behind its address and print it; with "
    "<code>?print-pdf&amp;showNotes=separate-page</code> the notes come along.",
)
_IMAGE: Final = re.compile(r'(?<=<img )([^>]*?)src="([^"]+)"')


def listed(root: Path = ROOT) -> dict[str, list[str]]:
    """Pages that become decks, by part."""
    contents: dict[str, Any] = yaml.safe_load((root / "book/_toc.yml").read_text(encoding="utf-8"))
    parts = {part["caption"]: [entry["file"] for entry in part["chapters"]] for part in contents["parts"]}
    if missing := [name for name in PARTS if name not in parts]:
        raise Refusal(f"the table of contents has no part {', '.join(missing)}")
    return {name: [page for page in parts[name] if page not in NO_LECTURE] for name in PARTS}


def file_name(page: str) -> str:
    """A deck's file: ``chapters/tcp-5.17/lock`` is ``tcp-5.17-lock.html``."""
    return page.partition("/")[2].replace("/", "-") + ".html"


def inlined(html: str, page: Path) -> str:
    """HTML with its pictures inside."""

    def inside(found: re.Match[str]) -> str:
        source = page.parent / found[2]
        if found[2].startswith("data:"):
            return found[0]
        kind = mimetypes.guess_type(source.name)[0] or "application/octet-stream"
        return f'{found[1]}src="data:{kind};base64,{base64.b64encode(source.read_bytes()).decode()}"'

    return _IMAGE.sub(inside, html)


def section(slide: Slide) -> str:
    """A slide as reveal.js wants it."""
    level = "h1" if slide.kind == "title" else "h2"
    kicker = f'<p class="kicker">{escape(slide.kicker)}</p>' if slide.kicker else ""
    notes = f'<aside class="notes">{slide.notes}</aside>' if slide.notes else ""
    return (
        f'<section class="{slide.kind}">{kicker}<{level}>{escape(slide.heading)}</{level}>'
        f'<div class="body">{slide.body}</div>{notes}</section>\n'
    )


def document(deck: Deck) -> str:
    """A deck as one file."""
    reveal, own = (VENDOR / "reveal.js").read_text(encoding="utf-8"), SCRIPT.read_text(encoding="utf-8")
    reveal = re.sub(r"//# sourceMappingURL=\S+", "", reveal).replace("</script", "<\\/script")
    styles = (VENDOR / "reveal.css").read_text(encoding="utf-8") + STYLE.read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(deck.title)}: slides</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{styles}</style></head>\n'
        '<body><main class="reveal" aria-label="Slides"><div class="slides">\n'
        f'{"".join(map(section, deck.slides))}</div></main>\n'
        f"<script>{reveal}</script>\n<script>{own}</script></body></html>\n"
    )


def overview(decks: dict[str, list[Deck]]) -> Deck:
    """The deck that lists the others."""
    points = "".join(f"<li>{line}</li>" for line in KEYS)
    first = Slide("The Receive Path", "<p>Slides of the book, chapter by chapter.</p>", kind="title")
    out = Deck("The Receive Path", "index", [first, Slide("How to show them", f"<ul>{points}</ul>")])
    for part, its in decks.items():
        links = "".join(f'<li><a href="{file_name(d.page)}">{escape(d.title)}</a></li>' for d in its)
        out.slides.append(Slide(part, f"<ul>{links}</ul>", "Decks", kind="contents"))
    return out


def write(folder: Path = FOLDER, html: Path = HTML) -> list[Path]:
    """Write all decks; their files, the list of decks first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    decks: dict[str, list[Deck]] = {}
    files = []
    for part, pages in listed().items():
        for name in pages:
            page = html / f"{name}.html"
            if not page.is_file():
                raise Refusal(f"{name} is not built: make book")
            deck = read(page.read_text(encoding="utf-8"), name)
            decks.setdefault(part, []).append(deck)
            files.append(folder / file_name(name))
            files[-1].write_text(inlined(document(deck), page), encoding="utf-8")
    index = folder / "index.html"
    index.write_text(document(overview(decks)), encoding="utf-8")
    return [index, *files]


def main() -> None:
    """Write the decks and say where they are."""
    argparse.ArgumentParser(prog="python -m book.build.slides", description=__doc__).parse_args()
    files = write()
    size = sum(file.stat().st_size for file in files)
    say(f"{len(files)} decks, {size / 1e6:.1f} MB: open {files[0].as_uri()}")


if __name__ == "__main__":
    run(main)
