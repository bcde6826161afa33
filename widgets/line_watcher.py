"""One cache line, access by access: its state in every core's cache, who hands it to whom, and what that costs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import traitlets as t

from sim import line_samples, scenarios
from sim.engine.native import NativeEngine
from sim.line_samples import Taken
from sim.places import Places
from widgets import still, trace_data
from widgets.base import PathWidget

US: Final = 1_000_000
SEEDS: Final = 1_000_000
STILL_STEPS: Final = 24
_LETTERS: Final = {"M": "#d98a2b", "E": "#4aa86a", "S": "#4a8fd4"}


class LineWatcher(PathWidget):
    """A line of `sim.line_samples`, stepped forwards and backwards; with a bug, for the reader to find.

    Parameters
    ----------
    sample
        Name of a sample: "dst-refcount", "socket-lock", "pressure", "spinlock", ... (see `sim.line_samples.SAMPLES`).
    bug
        A fault to find: "missing-invalidation", "lost-wakeup" (sample "wakeup"), "double-release" ("spinlock"),
        "lost-update" ("counter").
    seed
        Seed of the run.
    **knobs
        Knobs of the sample's scenario that differ from the sample's.

    Raises
    ------
    ValueError, traitlets.TraitError
        For an unknown sample, bug or knob, a bug that the sample cannot have, and a value out of its range.

    Examples
    --------
    >>> w = LineWatcher("spinlock", bug="double-release")      # doctest: +SKIP
    >>> w.marked, w.found                                      # doctest: +SKIP
    """

    sidecar = t.Dict().tag(sync=True)
    sample = t.Unicode().tag(sync=True)
    bug = t.Unicode().tag(sync=True)
    seed = t.Int(1, min=1, max=SEEDS).tag(sync=True)
    settings = t.Dict().tag(sync=True)
    selection = t.Int(-1, min=-1).tag(sync=True)
    marked = t.Int(-1, min=-1).tag(sync=True)
    replay = t.Dict().tag(sync=True)
    answer = t.Dict().tag(sync=True)

    def __init__(self, sample: str = "dst-refcount", bug: str | None = None, *, seed: int = 1, **knobs: Any) -> None:
        self._sample = line_samples.load(sample)
        settings = self._sample.settings(bug or "", **knobs)
        self._taken: tuple[Any, Taken] | None = None
        replay: dict[str, Any] = {}
        answer: dict[str, Any] = {}
        if bug:
            taken, found = line_samples.faulty(self._sample, bug, seed, **knobs)
            answer = {"steps": list(found.steps), "why": found.why}
            if bug == line_samples.MISSING:
                steps = [{**asdict(step), "versions": list(step.versions)} for step in taken.steps]
                replay = {"begin": taken.begin, "steps": steps, "cpus": taken.trace.cpus}
        super().__init__(
            sidecar=self._sidecar(settings, [] if bug else [*self._sample.knobs, *knobs]), sample=sample, bug=bug or "",
            seed=seed, settings=settings, replay=replay, answer=answer,
        )

    @t.validate("settings")
    def _allowed(self, proposal: Any) -> dict[str, Any]:
        given = {name: proposal.value[name] for name in proposal.value if name != "bug"}
        return self._sample.settings(self.bug, **given)

    @property
    def knobs(self) -> dict[str, Any]:
        """The scenario's knobs as they are; of a small program there are none."""
        return {name: value for name, value in self.settings.items() if name != "bug"}

    @property
    def result(self) -> Taken:
        """The steps and the states they leave, from the native engine (see `sim.line_samples.Taken`)."""
        wanted = (self.knobs, self.seed)
        if self._taken is None or self._taken[0] != wanted:
            if self.bug:
                taken = line_samples.faulty(self._sample, self.bug, self.seed, **self.knobs)[0]
            else:
                taken = line_samples.take(self._sample, "", self.seed, **self.knobs)
            self._taken = wanted, taken
        return self._taken[1]

    @property
    def found(self) -> bool:
        """Whether the step that the reader marked is the wrong one."""
        return self.marked in self.answer.get("steps", ())

    def page_traits(self) -> tuple[str, ...]:
        """All of its state."""
        return ("sidecar", "sample", "bug", "seed", "settings", "selection", "marked", "replay", "answer")

    def still(self) -> still.Still:
        """The first steps as a table of letters, with a row for every core that takes part, and what each cost."""
        from matplotlib.figure import Figure

        taken = self.result
        steps = taken.steps[:STILL_STEPS]
        used = sorted({core for step in steps for core in (step.core, step.giver, step.to) if core >= 0})
        row = 0.32 if len(used) <= 8 else 0.2
        figure = Figure(figsize=(7.2, 1.8 + row * max(1, len(used))), layout="constrained")
        grid, cost = figure.subplots(2, 1, sharex=True, height_ratios=(max(1, len(used)), 2))
        for at, step in enumerate(steps):
            for lane, core in enumerate(used):
                letter = step.states[core]
                if letter in _LETTERS:
                    grid.bar(at + 1, 0.8, bottom=lane - 0.4, color=_LETTERS[letter], width=0.8)
                    grid.text(at + 1, lane, letter, ha="center", va="center", fontsize=7)
                if core == step.core:
                    grid.bar(at + 1, 0.9, bottom=lane - 0.45, fill=False, edgecolor="#808080", width=0.9)
            cost.bar(at + 1, step.took_ps / 1000, color=still.COLOURS[0], width=0.7)
            cost.bar(at + 1, step.wait_ps / 1000, color="white", edgecolor="#c2185b", hatch="////", width=0.7)
        grid.set_yticks(range(len(used)), [f"core {core}" for core in used], fontsize=8)
        grid.set_ylim(len(used) - 0.4, -0.6)
        cost.set_ylabel("ns", fontsize=8)
        rides = " (empty: together with the core's other thread, which asked first)" * any(s.rides for s in steps)
        key = f"access; M: changed here, E: here alone, S: a copy\nframed: who acts{rides}; hatched: waiting"
        cost.set_xlabel(key, fontsize=8)
        for axes in (grid, cost):
            axes.tick_params(labelsize=8)
        return still.render(figure, self._finding(taken))

    def _finding(self, taken: Taken) -> str:
        moves = sum(step.source == 1 or step.to >= 0 for step in taken.steps)
        words = f"{self._sample.title}: {len(taken.steps)} accesses, {moves} hand-overs from core to core"
        if self.bug == line_samples.MISSING:
            return f"{words}. One step is wrong: find it."
        took = sum(step.took_ps for step in taken.steps) / 1000 / max(1, len(taken.steps))
        return f"{words}, {took:.0f} ns an access." + (" One step is wrong: find it." if self.bug else "")

    def _sidecar(self, settings: dict[str, Any], shown: list[str]) -> dict[str, Any]:
        sample = self._sample
        spec = sample.spec()
        engine = NativeEngine()
        places = Places(spec, engine.build(spec.image({**sample.numbers(settings), "trace_rows": 1})))
        place = places.field(sample.struct, sample.field, sample.row)
        window = line_samples.window(sample, place)
        number = next(lines.number for lines in spec.lines if lines.name == sample.struct)
        knobs: list[dict[str, Any]] = []
        if sample.scenario:
            known = scenarios.load(sample.scenario).knobs
            knobs = [{**k.to_dict(), "word": spec.knob_word(k.name)} for k in known]
        else:
            knobs = [{"name": "bug", "kind": "int", "word": spec.knob_word("bug")}]
        made = trace_data.of_spec(spec)
        return {
            **made,
            "title": sample.title,
            "about": sample.about,
            "line": places.line(place),
            "knobs": knobs,
            "shown": list(dict.fromkeys(name for name in shown if name != "bug")),
            "watch": {"set": number, "row": sample.row, "field": sample.field},
            "window": {"start": window.start_ps, "until": window.until_ps, "events": window.events},
        }
