"""The pages for teachers and students of a course, against what the course does."""

from __future__ import annotations

import re

import pytest

from book.build.places import ROOT
from book.course import __main__ as command_line
from book.course import sources
from book.course.grading import lms
from book.course.sandbox import Limits
from book.figures import course, slips
from sim.exercises import assignments

GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
STUDENTS = (ROOT / "book" / "for-students.md").read_text(encoding="utf-8")
PAGES = {"teaching": GUIDE, "for-students": STUDENTS}
BLOCKS = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_tables_have_every_assignment_and_every_question() -> None:
    assert sorted(course.CHAPTERS) == sorted(sources.names()) == sorted(assignments.names())
    asked = {name for each in course.CHAPTERS for name in assignments.load(each).names}
    assert set(course.KINDS) <= asked, "a question that is gone, or misspelt, has a kind"
    for name in course.CHAPTERS:
        rows = course.questions(name).rows
        assert len(rows) == len(assignments.load(name).names) + 1, "the essay comes last"
        assert rows[-1][1] == course.ESSAY


def test_points_in_the_tables_are_those_of_the_sources() -> None:
    total = course.totals()
    for row, name in zip(course.overview().rows, course.CHAPTERS, strict=True):
        made = sources.notebook(name)
        assert row[2] == sum(sources.points(made).values())
        assert row[3] == sum(sources.points_by_hand(made).values())
    assert total["points"] == sum(row[2] for row in course.overview().rows)
    assert total["minutes"] == sum(assignments.load(name).minutes for name in course.CHAPTERS)


@pytest.mark.parametrize("weeks", ["Three", "Six", "Twelve"])
def test_a_syllabus_has_a_row_for_each_week_and_ends_with_work_that_is_handed_in(weeks: str) -> None:
    text = GUIDE.split(f"**{weeks} weeks**")[1].split("\n\n")[1]
    rows = [line for line in text.splitlines() if re.match(r"\| \d+ ", line)]
    assert len(rows) == {"Three": 3, "Six": 6, "Twelve": 12}[weeks]
    named = re.findall(r"\| `([\w.-]+)` \|$", text, re.MULTILINE)
    assert set(named) <= set(sources.names())
    assert rows[-1].rstrip(" |").endswith("`")
    if weeks == "Twelve":
        assert named == list(course.CHAPTERS)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_that_there_are(page: str) -> None:
    for address in re.findall(r"\]\(([\w./-]+\.md)\)", PAGES[page]):
        assert (ROOT / "book" / address).resolve().is_file(), address


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_are_commands(page: str) -> None:
    text = "\n".join(BLOCKS.findall(PAGES[page])) + "\n".join(re.findall(r"`([^`\n]+)`", PAGES[page]))
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"^make ([\w-]+)", text, re.MULTILINE)) <= targets
    assert set(re.findall(r"book\.course (\w+)", text)) <= set(command_line.COMMANDS)
    assert set(re.findall(r"--lms (\w+)", text)) <= set(lms.FORMS)


def test_limits_in_the_guide_are_the_sandboxs() -> None:
    table = GUIDE.split("| limit | value |")[1]
    limits = Limits()
    for words in (
        f"| a cell | {limits.cell_seconds:.0f} s ", f"| a notebook | {limits.total_seconds:.0f} s ",
        f"{limits.memory_mb / 1000:g} GB for each process", f"| processes and threads | {limits.processes} |",
        f"three folders of {limits.disk_mb} MB", f"| output | {limits.output_kb} kB a cell |",
    ):
        assert words in table


def test_what_the_check_says_is_what_the_page_for_students_quotes() -> None:
    said = (ROOT / "sim/exercises/presubmit.py").read_text(encoding="utf-8")
    quoted = re.findall(r"^\| ([^|]+) \| (?!do)", STUDENTS.split("| it says | do |")[1], re.MULTILINE)
    assert len(quoted) >= 5
    for words in quoted:
        for part in words.replace(" 2 ", "...").split("..."):
            assert part.strip() in said, words


def test_each_slip_has_another_value_than_the_right_way() -> None:
    rows = slips.slips().rows
    assert len(rows) == 6
    for _, wrong, right, _ in rows:
        assert str(wrong).split(":")[0] != right


def test_work_that_moved_gains_less_than_its_share() -> None:
    """The guide calls this the most valuable mistake: it has to be one in the model, too."""
    found = slips.share(slips._run(0), slips._run(1))
    foretold, gained = (float(re.sub(r"[^\d.]", "", text)) for text in (found.wrong, found.right))
    assert gained < 0.8 * foretold
