"""Kernel symbols and the glossary: a widget's page knows where the entry of a symbol stands."""

from __future__ import annotations

import json
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from book.build.places import ROOT

GLOSSARY = "```{glossary}\ntcp_rcv()\n  Takes a packet.\n\nearly demux\n  Two words.\n```\n"
WIDGET = '<div data-receive-path-widget="Profile"></div>\n'


def built(folder: Path) -> Path:
    """A book of two pages in different folders: one with a widget, one with a glossary."""
    (folder / "deep").mkdir()
    (folder / "index.md").write_text(f"# Index\n\n{WIDGET}\n```{{toctree}}\ndeep/glossary\n```\n")
    (folder / "deep/glossary.md").write_text(f"# Words\n\n{GLOSSARY}")
    (folder / "conf.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'book/_ext')!r})\n"
        "from receive_path_book import terms\nextensions = ['myst_parser']\nsetup = terms.connect\n"
    )
    with docutils_namespace():
        Sphinx(folder, folder, folder / "out", folder / "trees", "html", status=None).build()
    return folder / "out"


def test_a_widgets_page_is_told_where_a_symbols_entry_stands(tmp_path: Path) -> None:
    out = built(tmp_path)
    script = (out / "_static/receive-path-terms.js").read_text()
    found = json.loads(script.partition(" = ")[2].rstrip(";\n"))
    page, _, label = found["tcp_rcv()"].partition("#")
    assert f'id="{label}"' in (out / page).read_text()
    assert "early demux" not in found  # no symbol


def test_a_page_without_widgets_does_not_load_the_places(tmp_path: Path) -> None:
    out = built(tmp_path)
    assert "receive-path-terms.js" in (out / "index.html").read_text()
    assert "receive-path-terms.js" not in (out / "deep/glossary.html").read_text()


def test_a_builder_that_finds_all_pages_read_gets_the_places_too(tmp_path: Path) -> None:
    """As the one of the PDF does behind that of the pages."""
    built(tmp_path)
    with docutils_namespace():
        Sphinx(tmp_path, tmp_path, tmp_path / "single", tmp_path / "trees", "singlehtml", status=None).build()
    assert "tcp_rcv()" in (tmp_path / "single/_static/receive-path-terms.js").read_text()
