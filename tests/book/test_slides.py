"""Slides: taken from the built pages, complete in one file each, and fit for a screen, a keyboard and paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from bs4.element import Tag

from book.build import slides
from book.build.deck import read
from book.build.leads import lead
from book.build.places import HTML
from book.build.report import Refusal
from book.build.visuals import MOST_LINES, MOST_ROWS, evenly
from tests.conftest import Watched

PAGES = [page for part in slides.listed().values() for page in part]
THREADS = ("tcp-prequeue", "packet-rollover", "udpv6-early-demux", "tcp-rx-skb-cache")
SCREEN = {"width": 1280, "height": 720}
#: Goes through a deck as a lecturer does; of each slide its heading, and by how much it is too long or too wide.
WALK = """async () => {
  const out = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (;;) {
    await frame();
    const slide = Reveal.getCurrentSlide();
    const body = slide.querySelector(".body");
    const box = slide.getBoundingClientRect();
    const inside = [...slide.querySelectorAll("h1, h2, li, p, td, figure > svg, figure > img")]
      .filter((part) => !part.closest(".notes"))
      .every((part) => {
        const own = part.getBoundingClientRect();
        return own.bottom <= box.bottom + 1 && own.right <= box.right + 1 && own.top >= box.top - 1;
      });
    out.push({
      heading: slide.querySelector("h1, h2")?.textContent ?? "",
      over: Math.max(body.scrollHeight - body.clientHeight, body.scrollWidth - body.clientWidth),
      inside, size: Number(body.dataset.fit),
    });
    if (Reveal.isLastSlide()) return out;
    Reveal.next();
  }
}"""
PAGE = """<article class="bd-article"><section id="t"><h1>On lines<a class="headerlink">#</a></h1>
<div class="tip admonition"><p class="admonition-title">On one screen</p>
<p><strong>You will understand</strong> lines. <strong>You need</strong> C.</p></div>
<section id="a"><h2>Owners</h2>
<p>A line has one owner, and everybody else must ask it first. It may be asked by many.</p>
<p>Two rules follow:</p>
<ol><li><p>A write takes the line away from all the others. Always.</p></li></ol>
<div class="cell"><div class="cell_input"><pre>secret()</pre></div><div class="cell_output">
<figure><svg role="img" aria-label="One owner" viewbox="0 0 360 100"></svg>
<figcaption><p>A line and its owner.</p></figcaption></figure></div></div>
<p>What became of it is told by
<a class="reference" href="../book/bibliography.html#id1" title="Ada. Lines. 2014.">Ada14</a>, at length, later.</p>
<details><p>The answer is folded.</p></details>
<div class="rp-prediction"><p><label>How many?</label> <span><input/> Mpps</span></p></div>
<div class="rp-prediction"><p><label>How long?</label> <span><input/> ns</span></p></div>
<p>It is nine<span data-guess="x"></span>, as everybody says who is asked such a question.</p></section>
<section id="e"><h2>Exercises</h2>
<div class="exercise admonition"><p class="admonition-title">Exercise 1</p>
<section><p><strong>Recall.</strong>
Who owns the line <span class="math">\\(n + 1\\)</span>?</p></section></div>
<div class="solution"><p>Nobody knows.</p></div></section>
<section id="s"><h2>Symbols of this chapter</h2><p>line: 64 bytes, and this is left out of the slides.</p></section>
</section></article>"""


def paragraph(html: str) -> Tag:
    found = BeautifulSoup(html, "html.parser").p
    assert found is not None
    return found


def test_a_lead_is_the_first_sentence_that_says_something() -> None:
    said = "<p>Compare the bill. Before, the reader paid for <code>45. Really</code> page references. Then not.</p>"
    assert lead(paragraph(said)) == (
        "Compare the bill. Before, the reader paid for <code>45. Really</code> page references."
    )
    said = "<p><strong>The wrong list.</strong> Each CPU keeps free pages in a list of its own. Most</p>"
    assert lead(paragraph(said)) == (
        "<strong>The wrong list.</strong> Each CPU keeps free pages in a list of its own."
    )
    assert lead(paragraph("<p>E. Dumazet and V. Jacobson wrote it in 2014, both of them. So.</p>")) == (
        "E. Dumazet and V. Jacobson wrote it in 2014, both of them."
    )
    assert lead(paragraph("<p>No end</p>")) == "No end"


def test_a_page_becomes_slides_in_its_own_words() -> None:
    deck = read(PAGE, "chapters/lines")
    assert [slide.heading for slide in deck.slides] == [
        "On lines", "Owners", "Predict", "Exercise 1: Recall", "Sources",
    ]  # fmt: skip
    title, owners, predict, exercise, sources = deck.slides
    assert title.body == "<p><strong>You will understand</strong> lines.</p><p><strong>You need</strong> C.</p>"
    assert "<li>Two rules follow:</li><li>A write takes the line away from all the others.</li>" in owners.body
    assert "<figcaption>A line and its owner.</figcaption>" in owners.body
    assert 'aria-label="One owner"' in owners.body
    assert "It may be asked by many." in owners.notes
    assert "In the book: On lines › Owners (chapters/lines)" in owners.notes
    assert predict.body.count('class="asked"') == 2
    assert "How many? <em>(Mpps)</em>" in predict.body
    assert "<math" in exercise.body
    assert sources.body == "<ul><li>[Ada14] Ada. Lines. 2014.</li></ul>"
    whole = "".join(slide.body + slide.notes for slide in deck.slides)
    for absent in ("secret", "folded", "Nobody knows", "64 bytes", "nothing yet", "<a "):
        assert absent not in whole, absent


def test_long_tables_and_listings_are_divided_or_shortened() -> None:
    rows = "".join(f"<tr><td>{n}</td></tr>" for n in range(19))
    lines = "\n".join(["@@ -1 +1 @@", *("  same" for _ in range(30)), *(f"+ new {n}" for n in range(20))])
    page = (
        '<article class="bd-article"><section><h1>T</h1><section><h2>Rows</h2>'
        f"<div><table><caption>C</caption><tbody>{rows}</tbody></table></div><div><pre>{lines}</pre></div>"
        "</section></section></article>"
    )
    *tables, listing = read(page, "book/t").slides[1:]
    assert [slide.heading for slide in tables] == [f"Rows ({n} of 3)" for n in (1, 2, 3)]
    assert [slide.body.count("<tr>") for slide in tables] == [7, 7, 5]
    assert all("<caption>C</caption>" in slide.body for slide in tables)
    assert listing.body.count("+ new") == MOST_LINES
    assert "4 more lines are in the book." in listing.body
    assert "same" not in listing.body
    assert [len(part) for part in evenly(range(MOST_ROWS + 1))] == [5, 4]


def test_what_is_no_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="book/x is no page of the book"):
        read("<p>nothing</p>", "book/x")
    with pytest.raises(Refusal, match="is not built: make book"):
        slides.write(tmp_path / "slides", tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("slides")
    slides.write(made)
    return made


@pytest.fixture(scope="module")
def soups(folder: Path) -> dict[str, BeautifulSoup]:
    return {page: BeautifulSoup((folder / slides.file_name(page)).read_text("utf-8"), "html.parser") for page in PAGES}


def test_every_slide_has_a_heading_and_says_where_it_is_from(soups: dict[str, BeautifulSoup]) -> None:
    for page, soup in soups.items():
        found = soup.select(".slides > section")
        assert len(found) >= 8, page
        for section in found:
            heading = section.select("h1, h2")
            assert len(heading) == 1, (page, section.get_text()[:80])
            assert heading[0].get_text(strip=True)
            assert section.select(f".place:-soup-contains('({page})')"), page
            body = section.select_one(".body")
            assert body is not None
            assert body.get_text(strip=True) or body.select_one("svg, img"), page


def test_figures_keep_their_alternatives_and_need_no_other_file(soups: dict[str, BeautifulSoup]) -> None:
    pictures = 0
    for page, soup in soups.items():
        there = (HTML / f"{page}.html").read_text("utf-8")
        wanted = {unescape(words) for words in re.findall(r'(?:aria-label|alt)="([^"]*)"', there)}
        for picture in soup.select(".body svg[role], .body img"):
            words = str(picture.get("aria-label") or picture.get("alt"))
            assert words in wanted, page
            assert len(words.split()) >= 3, page
            pictures += 1
        assert all(str(image["src"]).startswith("data:image/") for image in soup.select("img")), page
        assert soup.select("script[src], link[href]") == [], page
        assert [str(a["href"]) for a in soup.select("a[href]") if not str(a["href"]).startswith("http")] == [], page
    assert pictures > 60


@pytest.mark.parametrize("thread", THREADS)
def test_a_thread_has_its_predictions_its_table_of_figures_and_its_exercises(
    soups: dict[str, BeautifulSoup], thread: str
) -> None:
    soup = soups[f"chapters/{thread}"]
    assert soup.select("section.predict .asked")
    tables = soup.select("section.table")
    reported = [table for table in tables if table.select_one("h2:-soup-contains('Reported beside simulated')")]
    assert any("predicted" in section.get_text() for section in reported)
    assert sum("Exercise" in s.h2.get_text() for s in soup.select("section.box") if s.h2) >= 4
    assert soup.select("section.sources li")


def test_the_list_leads_to_every_deck(folder: Path) -> None:
    soup = BeautifulSoup((folder / "index.html").read_text("utf-8"), "html.parser")
    links = [str(link["href"]) for link in soup.select(".slides a")]
    assert links == [slides.file_name(page) for page in PAGES]
    assert all((folder / link).is_file() for link in links)


def shown(watch: Callable[..., Watched], folder: Path, page: str) -> Watched:
    watched = watch((folder / slides.file_name(page)).as_uri(), viewport=SCREEN)
    watched.page.wait_for_function("Reveal.isReady()")
    return watched


def assert_fits(watched: Watched) -> None:
    for number, slide in enumerate(watched.page.evaluate(WALK), 1):
        assert slide["heading"], number
        assert slide["over"] <= 1, (number, slide)
        assert slide["inside"], (number, slide)
        assert slide["size"] >= 0.6, (number, slide)
    assert watched.errors == []
    assert watched.foreign == []


@pytest.mark.browser
def test_a_deck_is_shown_from_a_file_with_the_network_cut(watch: Callable[..., Watched], folder: Path) -> None:
    assert_fits(shown(watch, folder, "chapters/tcp-5.17/defer-free"))


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_slide_fits_its_screen(watch: Callable[..., Watched], folder: Path, page: str) -> None:
    assert_fits(shown(watch, folder, page))


@pytest.mark.browser
def test_keys_turn_pages_and_show_the_notes(watch: Callable[..., Watched], folder: Path) -> None:
    page = shown(watch, folder, "book/machine").page
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert page.evaluate("Reveal.getIndices().h") == 2
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("s")
    notes = page.locator(".speaker-notes")
    assert "In the book: The machine" in notes.inner_text()
    beside = page.locator("section.present h2").bounding_box()
    assert beside
    assert 0 <= beside["x"] < beside["x"] + beside["width"] <= 0.75 * SCREEN["width"]
    page.keyboard.press("s")
    assert not notes.is_visible()
    page.keyboard.press("End")
    assert page.evaluate("Reveal.isLastSlide()")


@pytest.mark.browser
def test_axe_finds_nothing_serious_on_slides(watch: Callable[..., Watched], folder: Path) -> None:
    page = shown(watch, folder, "book/machine").page
    for number in (0, 2, 9):
        page.evaluate("number => Reveal.slide(number)", number)
        found = Axe().run(page).response["violations"]
        assert [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}] == [], number


@pytest.mark.browser
def test_paper_gets_a_page_for_each_slide_and_its_notes(watch: Callable[..., Watched], folder: Path) -> None:
    address = (folder / slides.file_name("chapters/tcp-prequeue")).as_uri()
    watched = watch(f"{address}?print-pdf", viewport=SCREEN)
    watched.page.wait_for_selector(".pdf-page")
    count = watched.page.evaluate("Reveal.getTotalSlides()")
    assert watched.page.locator(".pdf-page").count() == count
    printed = watched.page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == count
    with_notes = watch(f"{address}?print-pdf&showNotes=separate-page", viewport=SCREEN)
    with_notes.page.wait_for_selector(".speaker-notes-pdf")
    assert with_notes.page.locator(".speaker-notes-pdf").count() == count
    assert watched.errors == with_notes.errors == []


def test_the_vendored_files_are_named_with_their_licence_and_stay_out_of_the_pages() -> None:
    told = (slides.VENDOR.parent / "README.md").read_text("utf-8")
    version = re.search(r"reveal\.js (\d+\.\d+)", told)
    assert version
    assert f"reveal.js {version[1]}" in (slides.VENDOR / "reveal.js").read_text("utf-8")[:200]
    assert "Permission is hereby granted" in (slides.VENDOR / "LICENSE").read_text("utf-8")
    assert not (HTML / "reveal.js").exists()
    assert not (HTML / "reveal").exists()
