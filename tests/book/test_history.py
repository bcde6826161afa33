"""The later life of the ideas: in order, sourced in the bibliography, and linked to pages that exist."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from book.build.places import ROOT
from book.build.twins import pages
from book.figures import history
from sim import scenarios
from sim.result import Result

BIBLIOGRAPHY = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "book").glob("*.bib")))
TCP = scenarios.load("tcp-5.17")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("idea", history.IDEAS, ids=lambda idea: idea.name)
def test_an_idea_s_events_are_in_order_and_begin_with_its_beginning(idea: history.Idea) -> None:
    assert all(before.year <= after.year for before, after in pairwise(idea.events))
    assert idea.events[0].kind == "begun"
    assert all(history.FIRST <= event.year < history.LAST for event in idea.events)
    assert {event.kind for event in idea.events} <= set(history.KINDS)


@pytest.mark.parametrize(("number", "idea", "event"), history.numbered(), ids=lambda value: str(value)[:20])
def test_every_event_s_source_is_in_the_bibliography(number: int, idea: history.Idea, event: history.Event) -> None:
    assert event.source in BIBLIOGRAPHY, f"{number}. {event.what}"


def test_every_event_is_cited_on_the_page() -> None:
    """By a key whose entry names its source, but for details that a chapter tells."""
    text = (ROOT / "book/after.md").read_text(encoding="utf-8")
    cited = {key.strip() for keys in re.findall(r"\{cite\}`([^`]+)`", text) for key in keys.split(",")}
    entries = dict(re.findall(r"^@\w+\{([^,\s{}]+),\n(.*?)^\}", BIBLIOGRAPHY, re.MULTILINE | re.DOTALL))
    told = "\n".join(entries[key] for key in cited)
    untold = [event.what for _, _, event in history.numbered() if event.source not in told]
    assert set(untold) <= IN_CHAPTERS


IN_CHAPTERS = {
    "the prequeue gets a limit",
    "early demux finds its fields on one line",
    "two counters of all TCP sockets part",
    "no ACK while a backlog waits",
    "a list for each socket",
    "a socket keeps the packet that it read last",
    "a full socket's packets roll over to others",
    "a full socket is marked, and left alone",
}


def test_the_picture_has_a_link_for_each_idea_and_a_dot_for_each_event() -> None:
    picture = history.timeline()
    root = ElementTree.fromstring(picture.svg())
    assert root.get("role") == "group", "an image would hide its links from a screen reader"
    links = [link.get("href") for link in root.iter(f"{SVG}a")]
    assert links == [f"../{idea.page}.html" for idea in history.IDEAS]
    labels = {element.text for element in root.iter(f"{SVG}text")}
    assert {str(number) for number, _, _ in history.numbered()} <= labels
    for element in root.iter():
        assert 0 <= float(element.get("y", 0)) <= picture.height
        assert 0 <= float(element.get("cx", 0)) <= 360


def test_dots_that_would_touch_stand_above_each_other() -> None:
    assert history.levels([0.0, 5.0, 40.0, 45.0, 47.0, 65.0]) == [0, 1, 0, 1, 2, 0]


def test_no_dot_hides_another() -> None:
    root = ElementTree.fromstring(history.timeline().svg())
    centres = [(float(dot.get("cx", 0)), float(dot.get("cy", 0))) for dot in root.iter(f"{SVG}circle")]
    assert len(centres) == len(history.numbered()) + len(history.KINDS)
    for place, (x, y) in enumerate(centres):
        assert all((x - other_x) ** 2 + (y - other_y) ** 2 >= 10**2 for other_x, other_y in centres[:place])


def test_what_a_solution_says_of_the_two_lists_is_so() -> None:
    def run(rfs: int, mtu: int, per_cpu: int) -> Result:
        return TCP.run(rfs=rfs, mtu=mtu, defer_free=1 - per_cpu, defer_per_cpu=per_cpu, replications=3)

    socket, cpu = run(0, 1500, 0), run(0, 1500, 1)
    assert socket.metrics["gbps"].low > cpu.metrics["gbps"].high
    assert min(socket.cpu["softirq"], cpu.cpu["softirq"]) > 99
    large = [run(0, 4168, per_cpu).metrics["gbps"] for per_cpu in (0, 1)]
    assert large[0].low < large[1].high
    assert large[1].low < large[0].high
    for mtu in (1500, 4168):
        assert run(1, mtu, 0).metrics["gbps"].high < run(1, mtu, 1).metrics["gbps"].low


def test_the_ideas_lead_to_pages_of_the_book() -> None:
    known = {page.relative_to(ROOT).with_suffix("").as_posix() for page in pages()}
    assert {idea.page for idea in history.IDEAS} <= known


def test_the_table_numbers_the_events_as_the_picture_does() -> None:
    rows = history.table().rows
    assert [int(str(row[0]).split(".")[0]) for row in rows] == list(range(1, len(rows) + 1))
    assert sum(int(value) for name, value in history.tally().items() if name != "history-events") == len(rows)
