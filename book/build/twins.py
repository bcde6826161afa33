"""Notebook twins: an ``.ipynb`` below ``lab/`` for each page, to read, run and change in JupyterLab.

The pages are the source; a twin is made from them anew each time, so work is saved under another name.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from jupyter_cache import get_cache
from nbformat import NotebookNode
from pybtex.database import Entry, parse_file

from .places import BUILD, LAB, ROOT
from .plain import Page
from .report import run, say

ROOMS = ("book", "chapters")
ASSETS = {".svg", ".png", ".json", ".csv"}
STILL = {"image/png", "text/plain"}  # a widget's picture and its finding in words
RICH = {"text/html", "text/markdown", "image/svg+xml", "text/latex"}
LINK = re.compile(r"(\]\([^()\s:]+)\.md((?:#[^()\s]*)?\))")


def pages(root: Path = ROOT) -> list[Path]:
    """The pages that the table of contents lists, in order."""
    listed = re.findall(
        r"^\s*-?\s*(?:file|root):\s*(\S+)", (root / "book/_toc.yml").read_text(), re.MULTILINE
    )
    return [root / f"{name}.md" for name in listed]


def label(entry: Entry) -> str:
    """Author and year of a bibliography entry, linked where it has an address."""
    people = [" ".join(person.last_names) for person in entry.persons.get("author", [])]
    who = people[0] if people else entry.fields.get("title", entry.key)
    more = " et al." if len(people) > 2 else f" and {people[1]}" if len(people) == 2 else ""
    words = f"{who}{more} {entry.fields.get('year', '')}".replace("{", "").replace("}", "").strip()
    return f"[{words}]({entry.fields['url']})" if "url" in entry.fields else words


def citations(root: Path = ROOT) -> dict[str, str]:
    """Markdown for each key of the bibliographies."""
    found: dict[str, str] = {}
    for path in sorted((root / "book").glob("*.bib")):
        found.update({key: label(entry) for key, entry in parse_file(str(path)).entries.items()})
    return found


def executed(notebook: NotebookNode, build: Path = BUILD) -> NotebookNode | None:
    """The notebook with its outputs, as the book was last built; None before that."""
    for folder in build.glob(".jupyter_cache-*"):
        cache = get_cache(str(folder))
        try:
            return cache.get_cache_bundle(cache.match_cache_notebook(notebook).pk).nb
        except KeyError:
            continue
    return None


def glued(notebook: NotebookNode | None) -> dict[str, str]:
    """Text of the values that an executed notebook computed for its sentences."""
    found: dict[str, str] = {}
    for cell in notebook.cells if notebook else []:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            data: dict[str, Any] = output.get("data", {})
            text = data.get("text/plain", data.get("application/papermill.record/text/plain"))
            if name and isinstance(text, str):
                found[name] = text.strip("'\"")
    return found


def twin(page: Path, cited: dict[str, str], root: Path = ROOT, *, outputs: bool = False) -> NotebookNode:
    """The notebook of one page, its text as plain Markdown.

    ``outputs`` keeps what the cells gave when the book was last built, as far as a notebook program can show it.
    """
    notebook = jupytext.read(page, fmt="md:myst")
    done = executed(notebook, root / "_build")
    depth = len(page.relative_to(root).parts) - 1
    plain = Page(cited=cited, glued=glued(done), depth=depth)
    # what is kept of an executed notebook is its code cells only
    outcomes = iter([cell for cell in done.cells if cell.cell_type == "code"] if done else [])
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1.ipynb\2", plain.text(cell.source))
            continue
        cell.metadata.pop("mystnb", None)  # only the book's builder knows it
        outcome = next(outcomes, None)
        if outputs and outcome is not None:
            cell.outputs = shown(outcome)
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def shown(cell: NotebookNode) -> list[NotebookNode]:
    """A cell's outputs without those that only a page or a live kernel can show."""
    if {"remove-cell", "remove-output"} & set(cell.metadata.get("tags", [])):
        return []
    kept = []
    for output in cell.outputs:
        data = output.get("data")
        if data is None:
            kept.append(output)
        elif "scrapbook" not in output.get("metadata", {}):
            live = "application/vnd.jupyter.widget-view+json" in data
            output.data = {kind: value for kind, value in data.items() if kind in (STILL if live else STILL | RICH)}
            output.metadata = {}
            kept.append(output)
    return kept


def write(root: Path = ROOT, lab: Path = LAB) -> list[Path]:
    """Write all twins and the pictures that they show; a reader's own files in the folder stay."""
    cited = citations(root)
    written = []
    for page in pages(root):
        target = lab / page.relative_to(root).with_suffix(".ipynb")
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(twin(page, cited, root), target)
        written.append(target)
    assets(root, lab)
    return written


def assets(root: Path, lab: Path) -> list[Path]:
    """Copy the pictures and data that pages show beside the twins."""
    copied = []
    for room in ROOMS:
        for asset in sorted((root / room).rglob("*")):
            if asset.suffix in ASSETS and not {"vendor", "static"} & set(asset.parts):
                copy = lab / asset.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(asset, copy)
                copied.append(copy)
    return copied


def main() -> None:
    """Write the twins; with ``--lab`` open JupyterLab on them."""
    parser = argparse.ArgumentParser(prog="python -m book.build.twins", description=__doc__)
    parser.add_argument("--lab", action="store_true", help="open JupyterLab on the twins")
    options = parser.parse_args()
    written = write()
    say(f"{len(written)} notebooks in {LAB.name}/ (made anew each time; save yours under other names)")
    if options.lab:
        subprocess.run([sys.executable, "-m", "jupyterlab", "--ServerApp.root_dir", str(LAB)], check=False)


if __name__ == "__main__":
    run(main)
