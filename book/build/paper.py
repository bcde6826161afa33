"""The book on paper and on readers: PDF and EPUB, with a still picture and a caption where a page has a widget.

Both come from the same text and the same executed outputs as the pages.  The PDF is the whole book as one page,
printed by the browser of the tests; the EPUB is Sphinx's own, checked to be what readers of EPUB demand.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import sync_playwright

from . import browser
from .pages import ANSI, KERNEL_NOTICE, causes, command
from .places import BUILD, ROOT
from .report import Refusal, run, say
from .twins import pages

PDF, EPUB = BUILD / "receive-path.pdf", BUILD / "receive-path.epub"
WHOLE = "whole.html"
#: Where one page of the book ends and the next begins, on the single page.
BEGINS = re.compile(r'<span id="document-([^"]+)"></span>')
#: Names of places, and everything that refers to one.
ID = re.compile(r'(?<=\sid=")(?!document-)[^"]+(?=")')
LINK = re.compile(r'(?<=\shref="#)(?!document-)[^"]+(?=")')
#: A picture's link to another page; Sphinx has turned all others into places.
PAGE = re.compile(r'(?<=<a href=")(?:\.\./)+([\w./-]+)\.html(?=")')
OTHERS = re.compile(r'(?:(?<=\sfor=")|(?<=\saria-labelledby=")|(?<=:href="#))[^"]+(?=")|(?<=url\(#)[^)]+(?=\))')
SEARCH = re.compile(r'<script[^>]*\bsrc="searchindex\.js[^>]*></script>')  # a single page has none
FOOT = '<div style="font:8px sans-serif;width:100%;text-align:center"><span class="pageNumber"></span></div>'
#: Paper has no folds to open and no links to hover over; a chapter begins on a page of its own.
UNFOLD = """
for (const fold of document.querySelectorAll("details")) fold.open = true;
for (const part of document.querySelectorAll(".toggle-hidden")) part.classList.remove("toggle-hidden");
for (const mark of document.querySelectorAll("a.headerlink, button")) mark.remove();
"""
STYLE = 'span[id^="document-"] + section { break-before: page }'
MARGIN = {"top": "18mm", "bottom": "18mm", "left": "17mm", "right": "17mm"}


def sphinx(*builder: str) -> None:
    """Run a builder over the book; a failure is told in the lines that matter."""
    done = subprocess.run(
        [*command(ROOT), *builder], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )
    if done.returncode:
        lines = [line for line in ANSI.sub("", done.stdout).splitlines() if KERNEL_NOTICE not in line]
        print("\n".join(causes(lines) or lines[-20:]), file=sys.stderr)
        raise Refusal(f"the book was not built as {builder[-1]}: the lines above say why")


def cover(root: Path = ROOT) -> str:
    """The page that the table of contents begins with, as Sphinx names it."""
    return pages(root)[0].relative_to(root).with_suffix("").as_posix()


def name(page: str, place: str) -> str:
    """A place's name in the whole book; the cover's places keep theirs."""
    return f"{page.replace('/', '-')}--{place}" if page else place


def unique(html: str) -> str:
    """The single page with names of places that occur once, and with links that lead to the right one.

    Each page of the book has its own ``id1``; on a single page the first would take all links.
    """
    pieces = BEGINS.split(html)
    out = [pieces[0]]
    for page, text in [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]:
        text = PAGE.sub(r"#document-\1", text).replace(f'"#document-{cover()}"', '"#"')  # the cover is the top
        text = ID.sub(lambda match, page=page: name(page, match[0]), text)
        text = OTHERS.sub(lambda match, page=page: name(page, match[0]), text)
        text = LINK.sub(lambda match, page=page: followed(page, match[0]), text)
        if page:
            out += [f'<span id="document-{page}"></span>', text]
        else:
            out[0] = text
    return "".join(out)


def followed(page: str, target: str) -> str:
    """A link's target: a place on the same page, or ``page::place``."""
    other, into, place = target.partition("::")
    return name("" if other == cover() else other, place) if into else name(page, target)


def whole(folder: Path = BUILD / "singlehtml") -> Path:
    """Build the book as one page; its addresses are relative to the folder that it is in."""
    shutil.rmtree(folder, ignore_errors=True)
    sphinx("--builder", "singlehtml")
    text = SEARCH.sub("", (folder / f"{cover()}.html").read_text(encoding="utf-8"))
    page = folder / WHOLE
    page.write_text(unique(text), encoding="utf-8")
    return page


def printed(page: Path, target: Path) -> None:
    """Print a page as PDF: A4, with an outline and tags for screen readers."""
    path = browser.find()
    if not path:
        raise Refusal("a PDF needs a browser: make browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        tab = started.new_context(offline=True, color_scheme="light").new_page()
        missing: list[str] = []
        tab.on("requestfailed", lambda request: missing.append(request.url))
        tab.goto(page.as_uri())
        tab.evaluate("document.fonts.ready.then(() => window.MathJax?.startup?.promise)")
        tab.evaluate(UNFOLD)
        tab.add_style_tag(content=STYLE)
        tab.pdf(
            path=target, format="A4", scale=0.8, outline=True, tagged=True, print_background=True, margin=MARGIN,
            display_header_footer=True, header_template="<span></span>", footer_template=FOOT,
        )
        started.close()
    if missing:
        target.unlink()
        raise Refusal(f"the PDF lacks what its page asks for: {', '.join(missing[:3])}")


def faults(book: Path) -> list[str]:
    """What a reader of EPUB would refuse: text that is no XML, a script, a picture that is not in the file."""
    found = []
    with zipfile.ZipFile(book) as archive:
        names = set(archive.namelist())
        if archive.infolist()[0].filename != "mimetype":
            found.append("the first file is not mimetype")
        for member in sorted(names):
            if not member.endswith(".xhtml"):
                continue
            try:
                tree = ElementTree.fromstring(archive.read(member))
            except ElementTree.ParseError as error:
                found.append(f"{member}: raw HTML that is no XML ({error})")
                continue
            for element in tree.iter():
                tag = str(element.tag).rpartition("}")[2]
                source = element.get("src", "")
                if tag == "script":
                    found.append(f"{member}: a script")
                if tag == "img" and not source.startswith("data:") and inside(member, source) not in names:
                    found.append(f"{member}: {source} is not in the file")
    return found


def inside(member: str, address: str) -> str:
    """An address in one of the EPUB's texts, from the EPUB's root."""
    parts: list[str] = []
    for part in [*member.split("/")[:-1], *address.split("/")]:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def pdf() -> Path:
    """The whole book as PDF."""
    say("printing the book as PDF")
    printed(whole(), PDF)
    return PDF


def epub() -> Path:
    """The whole book as EPUB."""
    say("building the book as EPUB")
    shutil.rmtree(BUILD / "epub", ignore_errors=True)
    sphinx("--builder", "custom", "--custom-builder", "epub")
    made = next((BUILD / "epub").glob("*.epub"))
    if found := faults(made):
        raise Refusal(f"the EPUB is not sound: {'; '.join(found[:5])}")
    shutil.copyfile(made, EPUB)
    return EPUB


def main() -> None:
    """Make one form and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m book.build.paper", description=__doc__)
    parser.add_argument("form", choices=["pdf", "epub"])
    form = parser.parse_args().form
    made = pdf() if form == "pdf" else epub()
    say(f"{made.relative_to(ROOT)}, {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    run(main)
