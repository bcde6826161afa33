"""What widgets share that run two settings of a scenario: seed, replications, both results, a kernel's answer."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import traitlets as t

from widgets.base import PathWidget

if TYPE_CHECKING:
    from sim.result import Result
    from sim.scenarios import Scenario

SEEDS = 1_000_000


class Pair(NamedTuple):
    """Two results of one scenario; what differs between them is the widget's subject."""

    before: Result
    after: Result


class PairWidget(PathWidget):
    """Base of widgets with two runs. A subclass sets `_scenario` before it calls this class, and says `sides`."""

    sidecar = t.Dict().tag(sync=True)
    seed = t.Int(1, min=1, max=SEEDS).tag(sync=True)
    replications = t.Int(5, min=2, max=30).tag(sync=True)
    answer = t.Dict().tag(sync=True)
    _scenario: Scenario

    def __init__(self, **traits: Any) -> None:
        self._ran: tuple[Any, ...] = ()
        self._result: Pair | None = None
        super().__init__(**traits)
        moving = [n for n in self.page_traits() if n not in ("sidecar", "selection")]
        self.observe(self._moved, moving)

    @abstractmethod
    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The knobs of both runs that differ from the scenario's defaults."""

    @property
    def knobs(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All knobs of both runs."""
        before, after = (self._scenario.settings(**side) for side in self.sides())
        return before, after

    @property
    def result(self) -> Pair:
        """Both results for the widget as it is; runs them if they have not been run."""
        sides = self.sides()
        wanted = (sides, self.seed, self.replications)
        if self._result is None or self._ran != wanted:
            before, after = (
                self._scenario.run(seed=self.seed, replications=self.replications, **side) for side in sides
            )
            self._result, self._ran = Pair(before, after), wanted
        return self._result

    def greet(self) -> None:
        """Answer for the widget as it is."""
        self._moved(None)

    def extra(self) -> list[dict[str, Any]]:
        """What an answer carries for each run besides its result."""
        return [{}, {}]

    def _moved(self, _change: Any) -> None:
        # One message may move several traits: the first notice runs them all, the rest find them run.
        answer = {"seed": self.seed, "arms": [r.to_dict() for r in self.result], "extra": self.extra()}
        if answer != self.answer:
            self.answer = answer
