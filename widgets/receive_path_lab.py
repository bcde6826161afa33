"""The receive-path lab: both arms of a patch, run again whenever a switch moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import traitlets as t

from sim import scenarios
from sim.schema import nearest
from widgets import still
from widgets.base import PathWidget
from widgets.knob_trait import knob_trait
from widgets.sidecar import of_scenario

if TYPE_CHECKING:
    from sim.result import Result

SEEDS = 1_000_000
#: Knobs in sight, if the scenario has them; the others are one click away.
FIRST = ("mtu", "gro_max_size", "rps_cpus", "tcp_early_demux", "recv_size_bytes", "reader_cpu")


class Arms(NamedTuple):
    """The two results of a lab: the patch off and on, all other knobs equal."""

    before: Result
    after: Result


class ReceivePathLab(PathWidget):
    """Switches and sliders of a scenario, and what both arms of its patch do with them.

    Every knob of the scenario is a synced trait of the same name, so it can be read, set, observed and
    linked; `knobs` is all of them, `result` both arms as they are now.

    Parameters
    ----------
    scenario
        Name of a scenario (see ``python -m sim list``).
    arm
        The switch that separates before from after; the scenario's own patch if not given.
    headline
        The metric that is drawn as the rate. If not given it is that of the kind of socket, where the scenario has
        several kinds, and else the scenario's first.
    seed, replications
        First seed, and how many seeds from it.
    first
        Names of the knobs in sight; the others are one click away.
    **knobs
        Values that differ from the scenario's defaults.

    Raises
    ------
    ValueError, traitlets.TraitError
        For an unknown scenario, arm, metric or knob, and for a value out of its range, with what is allowed.

    Examples
    --------
    >>> lab = ReceivePathLab("tcp-5.17", mtu=4096)      # doctest: +SKIP
    >>> lab.result.after.gbps.mean                      # doctest: +SKIP
    """

    sidecar = t.Dict().tag(sync=True)
    arm = t.Unicode().tag(sync=True)
    headline = t.Unicode().tag(sync=True)
    seed = t.Int(1, min=1, max=SEEDS).tag(sync=True)
    replications = t.Int(5, min=2, max=30).tag(sync=True)
    first = t.List(t.Unicode()).tag(sync=True)
    answer = t.Dict().tag(sync=True)

    def __init__(
        self,
        scenario: str = "tcp-5.17",
        *,
        arm: str | None = None,
        headline: str | None = None,
        seed: int = 1,
        replications: int = 5,
        first: Sequence[str] = FIRST,
        **knobs: Any,
    ) -> None:
        self._scenario = scenarios.load(scenario)
        sidecar = of_scenario(self._scenario)
        self._kinds = {k["name"]: k for k in sidecar["knobs"]}
        arm = arm or self._scenario.patches[0]
        if arm not in self._kinds or self._kinds[arm]["kind"] != "switch":
            switches = ", ".join(n for n, k in self._kinds.items() if k["kind"] == "switch")
            raise ValueError(f"arm {arm!r} is no switch of {scenario}; its switches: {switches}")
        metrics = [m.name for m in self._scenario.metrics]
        if headline is not None and headline not in metrics:
            raise ValueError(f"{headline!r} is no metric of {scenario}; {nearest(headline, metrics)}")
        self._scenario.settings(**knobs)  # its errors name the nearest knob and the range
        self._ran: dict[str, Any] = {}
        self._result: Arms | None = None
        self.add_traits(**{name: knob_trait(k) for name, k in self._kinds.items() if name != arm})
        super().__init__(
            sidecar=sidecar, arm=arm, headline=headline or "", seed=seed, replications=replications,
            first=list(first), **knobs,
        )
        self.observe(self._moved, [*self.knobs, "seed", "replications"])

    @property
    def knobs(self) -> dict[str, Any]:
        """The knobs as they are, but for the arm, which is both."""
        return {name: getattr(self, name) for name in self._kinds if name != self.arm}

    @property
    def result(self) -> Arms:
        """Both arms for the knobs as they are; runs them if they have not been run."""
        wanted = {**self.knobs, "seed": self.seed, "replications": self.replications}
        if self._result is None or self._ran != wanted:
            before, after = (self._run({**self.knobs, self.arm: side}) for side in (0, 1))
            self._result, self._ran = Arms(before, after), wanted
        return self._result

    def _run(self, knobs: dict[str, Any]) -> Result:
        return self._scenario.run(seed=self.seed, replications=self.replications, **knobs)

    def page_traits(self) -> tuple[str, ...]:
        """Everything but the answer of a kernel."""
        return ("sidecar", "arm", "headline", "seed", "replications", "first", *self.knobs)

    def greet(self) -> None:
        """Answer for the knobs as they are."""
        self._moved(None)

    @property
    def rate(self) -> tuple[str, str]:
        """The metric that is drawn as the rate for the knobs as they are, and its unit in words."""
        metrics = {m["name"]: m["unit"] for m in self.sidecar["metrics"]}
        by_knob = self.sidecar["headlines"]
        own = by_knob and by_knob["metrics"][self.knobs[by_knob["knob"]]]
        name = self.headline or (own["name"] if own else next(iter(metrics)))
        return name, own["unit"] if own and own["name"] == name else metrics[name]

    def still(self) -> still.Still:
        """Both arms as a picture, with the reported rates of this setting."""
        results = [r.to_dict() for r in self.result]
        name, unit = self.rate
        for result in results:
            result["metrics"][name]["unit"] = unit
        reported = [[r for r in self.reported(side) if r.get("metric") == name] for side in (0, 1)]
        return still.arms(
            results, name, self.sidecar["layers"], self.sidecar["layer_order"], reported, self._names()
        )

    def _names(self) -> tuple[str, str]:
        """A thread's scenario has a patch; the lab has switches."""
        if self.sidecar["reported"]:
            return "Before the patch", "after the patch"
        return f"With {self.arm} off", f"with {self.arm} on"

    def reported(self, side: int) -> list[dict[str, Any]]:
        """Rows of the thread that were stated for the knobs as they are, with the arm off (0) or on (1)."""
        return [
            row
            for row in self.sidecar["reported"]
            if row["knobs"].get(self.arm) == side
            and all(row["knobs"].get(name, self._kinds[name]["default"]) == now for name, now in self.knobs.items())
        ]

    def _moved(self, _change: Any) -> None:
        # One message may move several knobs: the first notice runs them all, the rest find them run.
        arms = [r.to_dict() for r in self.result]
        answer = {"knobs": self.knobs, "seed": self.seed, "arms": arms}
        if answer != self.answer:
            self.answer = answer
