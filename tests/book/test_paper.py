"""PDF and EPUB: links that lead to the right page, files that readers accept, a picture where a widget stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest
from receive_path_book.stills import LIVE, as_xml

from book.build import paper
from tests.book.onepage import OnePageBook

SINGLE = (
    '<p id="id1"><a href="#id1">up</a> <a href="#book/two::id1">there</a> <a href="../book/two.html">page</a></p>'
    '<span id="document-book/one"></span><p id="id1"><label for="id1">x</label><a href="#id1">up</a></p>'
    '<span id="document-book/two"></span><p id="id1"><a href="#book/one::id1">one</a>'
    '<a href="#book/index::id1">cover</a><a href="#document-book/index">top</a></p>'
)


def test_places_of_the_single_page_are_unique_and_links_lead_to_the_right_one() -> None:
    html = paper.unique(SINGLE)
    places = re.findall(r'\sid="([^"]+)"', html)
    assert max(Counter(places).values()) == 1
    assert re.findall(r'href="#([^"]+)"', html) == [
        "id1", "book-two--id1", "document-book/two", "book-one--id1", "book-one--id1", "id1",
    ]
    assert 'for="book-one--id1"' in html


def written(folder: Path, **texts: str) -> Path:
    """An EPUB with the given texts."""
    path = folder / "book.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("images/a.png", b"")
        for name, body in texts.items():
            archive.writestr(f"text/{name}.xhtml", f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>')
    return path


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<p><img src="../images/a.png" alt="a"/></p>', None),
        ("<p>one<br>two</p>", "raw HTML that is no XML"),
        ("<script>alert(1)</script>", "a script"),
        ('<p><img src="../images/b.png" alt="b"/></p>', r"\.\./images/b\.png is not in the file"),
    ],
    ids=["sound", "not closed", "script", "lost picture"],
)
def test_an_epub_that_readers_refuse_is_refused(tmp_path: Path, body: str, fault: str | None) -> None:
    found = paper.faults(written(tmp_path, page=body))
    if fault is None:
        assert found == []
    else:
        assert len(found) == 1
        assert re.search(rf"^text/page\.xhtml: .*{fault}|^text/page\.xhtml: {fault}", found[0])


def test_a_page_s_html_becomes_xml() -> None:
    html = (
        '<p>a&nbsp;b &amp; c<br>d <input type="number" min="0"> <a href="../a/b.html#c">e</a></p>'
        "<script>1 < 2</script>"
    )
    root = ElementTree.fromstring(as_xml(html))
    assert "".join(root.itertext()) == "a\u00a0b & cd  e"
    assert root.find("a").get("href") == "../a/b.xhtml#c"


PAGE = """\
from widgets import LineCost
LineCost()
```

A line of $n$ bytes:

$$ t = \\frac{n}{r} $$

```{predict} how-fast
:unit: ns
How fast?
```

```{dropdown} Answer
Deep inside.
```

```{code-cell} ipython3
print("done")
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> OnePageBook:
    """A book of one page with a widget, formulas, a prediction and a fold."""
    return OnePageBook.below(tmp_path_factory.mktemp("paper"), PAGE)


def make(book: OnePageBook, form: str) -> Path:
    """What ``make pdf`` or ``make epub`` runs."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", "book.build.paper", form],
        cwd=book.root, env=environment, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"_build/receive-path.{form}, " in done.stdout
    return book.root / f"_build/receive-path.{form}"


@pytest.mark.slow
def test_an_epub_has_a_still_picture_with_a_caption_where_the_widget_stands(book: OnePageBook) -> None:
    with zipfile.ZipFile(make(book, "epub")) as archive:
        page = archive.read("chapters/one/page.xhtml").decode()
        picture = re.search(r'<img alt="(Cost of one count[^"]+)" src="([^"]+\.png)"', page)
        assert picture
        assert archive.read(paper.inside("chapters/one/page.xhtml", picture[2]))[:4] == b"\x89PNG"
        assert f"{picture[1]} {LIVE}" in page.replace("’", "'")
        assert "data-receive-path-widget" not in page
        assert page.count("<math ") == 2
        assert "How fast?" in page
        assert not [name for name in archive.namelist() if "mathjax" in name]


@pytest.mark.slow
@pytest.mark.browser
def test_a_pdf_has_the_picture_the_formulas_and_open_folds(book: OnePageBook) -> None:
    made = make(book, "pdf").read_bytes()
    assert made.startswith(b"%PDF-")
    assert b"/StructTreeRoot" in made, "no tags for screen readers"
    assert b"/Outlines" in made
    single = book.root / "_build/singlehtml" / paper.WHOLE
    html = single.read_text(encoding="utf-8")
    assert LIVE in html.replace("’", "'")
    assert "data-receive-path-widget" not in html


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_that_asks_for_a_lost_picture_is_not_printed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<html><body><img src="lost.png" alt=""></body></html>')
    # in a thread of its own: the tests' browser has the main one
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(paper.Refusal, match=r"the PDF lacks what its page asks for: .*lost\.png"),
    ):
        pool.submit(paper.printed, page, tmp_path / "page.pdf").result()
    assert not (tmp_path / "page.pdf").exists()
