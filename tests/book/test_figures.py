"""The pictures and tables of the book's own pages."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from book.figures import Table, machine, program
from book.figures.gains import Gain, gains
from book.figures.verdicts import (
    between,
    evidence_table,
    miss_table,
    role_table,
    row_interval,
    source,
    summary_table,
    verdict_table,
)
from sim import machine as machines
from sim import reported
from sim.validate import counts

BOOK = Path(__file__).parents[2] / "book"


def pictures():
    """Every picture, with numbers that need no run."""
    host = machines.load("cascade-lake")
    yield machine.topology("a server", 7.6, 47, 134)
    yield machine.ownership(47)
    yield machine.handovers([host, machines.load("skylake-client")])
    yield machine.contention("A72", machine.measured_curves("cortex-a72", ["atomic_add", "ticket_lock"]))
    yield program.next_actor()
    yield program.three_engines()
    yield gains([Gain("small", "before", 50, 49, 51, 55), Gain("small", "after", 60, 59, 61, None)])


@pytest.mark.parametrize("picture", list(pictures()), ids=lambda p: p.alt[:24])
def test_a_picture_is_sound_xml_names_its_finding_and_stays_inside_its_frame(picture):
    root = ElementTree.fromstring(picture.svg())
    assert root.get("role") == "img"
    assert len(root.get("aria-label", "").split()) > 12
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, 0)) <= 360, ElementTree.tostring(element)
        assert 0 <= float(element.get("y", 0)) <= picture.height


def test_a_table_refuses_a_row_of_another_length():
    with pytest.raises(ValueError, match="2 cells, the table 1 columns"):
        Table("wrong", ["one"], [("a", "b")])


def test_a_table_shows_numbers_right_words_escaped_and_nothing_as_a_dash():
    html = Table("t", ["name", "n", "x", "none"], [("a<b", 1234, 2.25, None)])._repr_html_()
    assert "a&lt;b" in html
    assert '<td class="num">1,234</td>' in html
    assert '<td class="num">2.2</td>' in html
    assert "<td>–</td>" in html


def test_an_excerpt_of_a_listing_keeps_its_lines_and_moves_the_symbols_left():
    text = "one:\n  WORK    5" + " " * 57 + "first\n  RET" + " " * 60 + "second\ntwo:\n  END\n"
    assert program.excerpt(text, "one", "two") == "one:\n  WORK    5  first\n  RET        second"


def test_an_interval_is_as_exact_as_its_mean_and_no_count_is_below_zero():
    assert between(0.464, 0.471) == "0.5 to 0.5"
    assert between(0.464, 0.471, 2) == "0.46 to 0.47"
    assert between(-0.004, 0.004, 2) == "0.00 to 0.00"
    assert between(None, 1.0) == "–"
    row = {"thread": "tcp-5.17", "figure": "reader after the patch", "verdict": "miss", "reported": 0,
           "simulated": 5.394, "low": -2.0, "high": 5.412}
    assert row_interval(row) == "0.00 to 5.41"
    gain = next(f for f in reported.figures("tcp-5.17") if f.kind == "direction")
    assert row_interval({**row, "figure": gain.figure}) == "-2.00 to 5.41"


def test_verdicts_are_counted_by_thread_and_by_role():
    row = {
        "thread": "tcp-5.17",
        "figure": "after",
        "unit": "Gbit/s",
        "reported": 95,
        "simulated": 96.0,
        "low": 95.5,
        "high": 96.5,
        "range_low": 90.0,
        "range_high": 97.0,
        "role": "predicted",
        "error_pct": 1.1,
        "error_points": None,
        "verdict": "hit",
        "source": "cover letter",
        "note": "",
    }
    share = {**row, "figure": "copy", "error_pct": None, "error_points": -6.0, "verdict": "miss", "low": None}
    assert summary_table(counts([row, share])).rows == [["tcp-5.17", 2, 0, 1, 1, 0, 0]]
    assert role_table([row, share]).rows[-1][-1] == 2
    cells = verdict_table([row, share]).rows
    assert cells[0] == ["after", "hit", "95.0 Gbit/s", "96.0 Gbit/s", "+1.1 %", "predicted"]
    assert cells[1][4] == "-6.0 points"
    assert [r[:3] for r in evidence_table([row, share]).rows] == [
        ["after", "95.5 to 96.5", "90.0 to 97.0"],
        ["copy", "–", "90.0 to 97.0"],
    ]
    assert [r[0] for r in miss_table([row, share]).rows] == ["copy"]


def test_a_source_with_an_address_is_a_link():
    row = {"source": "A. Author, 2021-11-15: a mail, https://lore.kernel.org/netdev/x/"}
    html = Table("t", ["where"], [(source(row),)])._repr_html_()
    assert '<a href="https://lore.kernel.org/netdev/x/">A. Author, 2021-11-15: a mail</a>' in html


def test_the_glossary_has_eighty_terms_and_none_twice():
    text = (BOOK / "glossary.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\{glossary\}\n(.*?)^```", text, flags=re.M | re.S)
    terms = [line.lower() for block in blocks for line in block.splitlines() if line and line[0] != " "]
    assert len(terms) >= 80
    assert len(terms) == len(set(terms))
