"""Practice problems without end: a question with numbers of its own, checked, explained and counted in the page."""

from __future__ import annotations

import html
from functools import cache
from typing import Any, Final

import traitlets as t

from sim import scenarios
from sim.exercises import problem as drills
from sim.exercises.kind import CHAPTERS, REPLICATIONS, Kind
from sim.exercises.typed import NotANumber, number
from sim.schema import nearest
from widgets import still
from widgets.base import PathWidget
from widgets.sidecar import of_scenario

PROBLEMS: Final = 9999  # of each kind; more than anybody solves, and a number that can be told
_NEEDED: Final = (  # of a sidecar: what a run and its metrics take
    "scenario", "warm_ps", "until_ps", "spec_b64", "seed_word", "engine_hash", "places", "symbols", "roles", "metrics",
    "student_t",
)
_WIDE: Final = 78  # characters in a line of the still picture


class Practice(PathWidget):
    """A problem of a kind, with a field for the answer, a hint, the way to the answer, and a score kept in the page.

    Parameters
    ----------
    kind
        Name of a kind of `sim.exercises.problem.KINDS`; the first one if not given.
    chapter
        A key of `sim.exercises.kind.CHAPTERS`: all its kinds can be chosen. Without it, those of the whole book, or the
        given kind alone.
    seed
        Number of the problem, 1 to 9,999.

    Raises
    ------
    KeyError, traitlets.TraitError
        For an unknown kind or chapter, with the nearest one, and for a seed out of range.

    Examples
    --------
    >>> Practice("gro-time", seed=7).problem.answer()       # doctest: +SKIP
    """

    kinds = t.List(t.Dict()).tag(sync=True)
    chapters = t.Dict().tag(sync=True)
    sidecars = t.Dict().tag(sync=True)
    last = t.Int(PROBLEMS).tag(sync=True)
    replications = t.Int(REPLICATIONS).tag(sync=True)
    chapter = t.Unicode().tag(sync=True)
    kind = t.Unicode().tag(sync=True)
    seed = t.Int(1, min=1, max=PROBLEMS).tag(sync=True)
    typed = t.Unicode().tag(sync=True)

    def __init__(self, kind: str | None = None, *, chapter: str | None = None, seed: int = 1) -> None:
        kinds = _chosen(kind, chapter)
        self._names = [k.name for k in kinds]
        super().__init__(
            kinds=[k.to_dict() for k in kinds],
            chapters={k.chapter: CHAPTERS[k.chapter][0] for k in kinds},
            sidecars={name: _sidecar(name) for k in kinds for name in k.scenarios},
            chapter=chapter or "",
            kind=kind or kinds[0].name,
            seed=seed,
        )

    @t.validate("kind")
    def _known(self, proposal: dict[str, Any]) -> Any:
        if proposal["value"] not in self._names:
            raise t.TraitError(f"no kind {proposal['value']!r} here; {nearest(proposal['value'], self._names)}")
        return proposal["value"]

    @property
    def problem(self) -> drills.Problem:
        """The problem as it stands."""
        return drills.practice(self.kind, self.seed)

    @property
    def verdict(self) -> drills.Verdict | None:
        """What is to be said of the number that was typed; None if none was."""
        if not self.typed.strip():
            return None
        try:
            return self.problem.check(number(self.typed))
        except NotANumber as error:
            return drills.Verdict(False, str(error))

    def page_traits(self) -> tuple[str, ...]:
        """All but what was typed."""
        return ("kinds", "chapters", "sidecars", "last", "replications", "chapter", "kind", "seed")

    def still(self) -> still.Still:
        """The problem, worked: as text on a page, as a picture elsewhere."""
        problem = self.problem
        lines = [problem.text.replace("`", ""), *problem.explanation()]
        finding = f"A problem, worked. {problem.kind.title}: {' '.join(lines)}"
        drawn = still.render(_paper(problem.kind.title, lines), finding)
        steps = "".join(f"<li>{html.escape(line)}</li>" for line in lines[1:])
        page = (
            f'<div class="rp-worked"><p><strong>A problem, worked: {html.escape(problem.kind.title)}.</strong> '
            f"{html.escape(lines[0])}</p><ol>{steps}</ol></div>"
        )
        return still.Still(finding, page, drawn.png)


def _chosen(kind: str | None, chapter: str | None) -> list[Kind]:
    if kind is not None:
        drills.practice(kind, 1)  # its error names the nearest
    if chapter is not None:
        return list(drills.of_chapter(chapter))
    return list(drills.KINDS.values()) if kind is None else [drills.KINDS[kind]]


@cache
def _sidecar(name: str) -> dict[str, Any]:
    whole = of_scenario(scenarios.load(name))
    wanted = ("name", "kind", "default", "choices", "word")
    knobs = [{k: knob[k] for k in wanted if k in knob} for knob in whole["knobs"]]
    return {**{key: whole[key] for key in _NEEDED}, "knobs": knobs}


def _paper(title: str, lines: list[str]) -> Any:
    import textwrap

    from matplotlib.figure import Figure

    # a dollar sign would begin a formula
    rows = [row for line in lines for row in [*textwrap.wrap(line.replace("$", r"\$"), _WIDE), ""]]
    figure = Figure(figsize=(7.2, 0.5 + 0.19 * (len(rows) + 1)))
    figure.text(0.02, 0.97, f"A problem, worked: {title}", fontsize=11, fontweight="bold", va="top")
    figure.text(0.02, 0.97 - 0.3 / figure.get_figheight(), "\n".join(rows), fontsize=10, va="top", linespacing=1.3)
    return figure
