"""What the assignments ask, give and take, from their sources: tables for the teacher's guide."""

from __future__ import annotations

from collections import Counter
from typing import Final

from sim.exercises import assignments
from sim.exercises.instance import Assignment

from .table import Cell, Table

PENCIL, RUN, PROFILE, PROGRAM, FAULT, LAYOUT, DESIGN, ESSAY = (
    "pencil", "predict and measure", "read a profile", "write a path program", "find a fault", "struct layout",
    "design", "essay",
)
#: What a question asks of a student; a question that is not here is pencil work.
KINDS: Final = {
    "reader-bill": PROFILE, "line-bill": PROFILE, "rollover-profile": PROFILE, "demux-profile": PROFILE,
    "skb-profile": PROFILE,
    "prediction": RUN, "measurement": RUN, "padding-prediction": RUN, "padding-measurement": RUN,
    "rollover-measure": RUN, "demux-measure": RUN, "skb-measure": RUN, "design-first": RUN, "design-change": RUN,
    "neighbours": LAYOUT, "route-layout": LAYOUT,
    "cpu-list": PROGRAM, "rollover-mark": PROGRAM, "demux-routine": PROGRAM,
    "defer-bug": FAULT, "parking-bug": FAULT, "rollover-bug": FAULT, "demux-bug": FAULT, "skb-bug": FAULT,
    "design-receiver": DESIGN,
}
#: The chapter that an assignment follows, as the table of contents names it, in the order of teaching.
CHAPTERS: Final = {
    "tcp-prequeue": "chapters/tcp-prequeue", "packet-rollover": "chapters/packet-rollover",
    "udpv6-early-demux": "chapters/udpv6-early-demux", "tcp-rx-skb-cache": "chapters/tcp-rx-skb-cache",
    "tcp-5.17": "chapters/tcp-5.17/defer-free", "receiver-design": "book/playground",
}


def kind(question: str) -> str:
    """What a question asks of a student."""
    return KINDS.get(question, PENCIL)


def kinds(assignment: Assignment) -> str:
    """How many questions of each kind an assignment has, in words."""
    found = Counter(map(kind, assignment.names))
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in found.items())


def points(name: str) -> dict[str, float]:
    """Points of an assignment by question, what people grade among them.

    Raises
    ------
    LookupError
        where the book was installed without its clone: sources of assignments are not handed out.
    """
    try:
        from book.course import sources
    except ModuleNotFoundError:
        raise LookupError("points stand in the assignments' sources, which only the clone has") from None
    notebook = sources.notebook(name)
    return {**sources.points(notebook), **sources.points_by_hand(notebook)}


def overview() -> Table:
    """The assignments: time, points, and what they ask for."""
    rows: list[list[Cell]] = []
    for name in CHAPTERS:
        each = assignments.load(name)
        given = points(name)
        by_check = sum(value for question, value in given.items() if question in each.names)
        rows.append([name, each.minutes, by_check, sum(given.values()) - by_check, kinds(each)])
    return Table(
        "The assignments, in the order of teaching",
        ["assignment", "minutes", "points by checks", "points by hand", "questions, beside the essay"], rows, digits=0,
    )


def questions(name: str) -> Table:
    """An assignment's questions: what each asks for, and what it gives."""
    each, given = assignments.load(name), points(name)
    rows: list[list[Cell]] = [
        [question.title, kind(question.name), given[question.name]] for question in each.questions
    ]
    rows += [["Essay", ESSAY, value] for question, value in given.items() if question not in each.names]
    return Table(f"{each.title} ({name})", ["question", "asks for", "points"], rows, digits=0)


def totals() -> dict[str, float]:
    """Over all assignments: their number, minutes, points by checks and by hand, and questions."""
    found: Counter[str] = Counter()
    for name in CHAPTERS:
        each = assignments.load(name)
        for question, value in points(name).items():
            found["points" if question in each.names else "by_hand"] += int(value)
        found["minutes"] += each.minutes
        found["questions"] += len(each.names)
        found["assignments"] += 1
    return dict(found)
