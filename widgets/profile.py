"""Two profiles side by side, as a difference or by layer, with the shares that the thread reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import traitlets as t

from sim import scenarios, shares
from sim.layers import layer, present
from sim.result import Result
from sim.schema import nearest
from widgets import still
from widgets.pair import Pair, PairWidget
from widgets.sidecar import figures, of_scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VIEWS: Final = ("bars", "difference", "flame")
SORTS: Final = ("largest", "before", "after", "difference", "name")
#: Symbols that a still picture shows; a page shows all.
STILL_ROWS: Final = 18


class Profile(PairWidget):
    """Where two runs spend their CPUs' time, by kernel symbol.

    Parameters
    ----------
    scenario, before, after
        A scenario's name and two settings of its knobs; or two results of one scenario, and nothing else.
    role
        Whose CPU: a role of the scenario, or ``*`` for all; the last role if not given.
    view
        ``bars`` side by side, ``difference``, or ``flame``: layers of the path, and their symbols.
    sort
        ``largest``, ``before``, ``after``, ``difference`` or ``name``.
    seed, replications
        First seed, and how many seeds from it.

    Raises
    ------
    ValueError
        For an unknown scenario, role or knob, for a value out of its range, and for results of different scenarios.

    Examples
    --------
    >>> Profile("tcp-5.17", {"defer_free": 0, "mtu": 4168}, {"defer_free": 1, "mtu": 4168})   # doctest: +SKIP
    >>> s = scenarios.load("tcp-5.17")                                                        # doctest: +SKIP
    >>> Profile(s.run(defer_free=0), s.run(defer_free=1))                                     # doctest: +SKIP
    """

    role = t.Unicode().tag(sync=True)
    view = t.Enum(VIEWS, default_value=VIEWS[0]).tag(sync=True)
    sort = t.Enum(SORTS, default_value=SORTS[0]).tag(sync=True)
    selection = t.Unicode().tag(sync=True)

    def __init__(
        self,
        scenario: str | Result,
        before: Mapping[str, Any] | Result | None = None,
        after: Mapping[str, Any] | None = None,
        *,
        role: str | None = None,
        view: str = VIEWS[0],
        sort: str = SORTS[0],
        seed: int = 1,
        replications: int = 5,
    ) -> None:
        self._fixed: Pair | None = None
        self._partial = False  # a recording says nothing of some roles, nor of all CPUs
        if isinstance(scenario, Result):
            self._fixed = _two_results(scenario, before, after)
            seed, replications = scenario.seed, len(scenario.replications)
            name = scenario.scenario
            self._roles = [r for r in scenario.cpu if all(one.profile(r) for one in self._fixed)] or list(scenario.cpu)
            self._partial = len(self._roles) < len(scenario.cpu)
            if name in scenarios.names():
                self._scenario = scenarios.load(name)
            self._sides: tuple[dict[str, Any], dict[str, Any]] = (
                dict(self._fixed.before.knobs),
                dict(self._fixed.after.knobs),
            )
        else:
            self._scenario = scenarios.load(scenario)
            self._roles = [r.name for r in self._scenario.roles]
            if isinstance(before, Result):
                raise ValueError("either a scenario's name and two settings, or two results")
            # its errors name the nearest knob and the range
            self._sides = (self._scenario.settings(**(before or {})), self._scenario.settings(**(after or {})))
        role = role or self._roles[-1]
        self._check(role)
        self._names = _names(self._fixed)
        traits = {"role": role, "view": view, "sort": sort, "seed": seed}
        super().__init__(sidecar=self._sidecar(), replications=max(replications, 2), **traits)

    def _check(self, role: str) -> None:
        if role not in self._choices():
            raise ValueError(f"no role {role!r}; {nearest(role, self._choices())}")

    def _choices(self) -> list[str]:
        return self._roles if self._partial else [*self._roles, shares.ALL]

    @t.validate("role")
    def _known(self, proposal: Any) -> str:
        self._check(proposal.value)
        return str(proposal.value)

    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both settings."""
        return self._sides

    @property
    def knobs(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All knobs of both runs."""
        return self._sides

    @property
    def result(self) -> Pair:
        """Both results: those that were given, or runs of the settings."""
        return self._fixed or super().result

    def shares(self, role: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Estimates by symbol (and group of symbols that the thread reports) of a role, before and after."""
        one = role or self.role
        self._check(one)
        before, after = (shares.estimates(r, one, self._groups(one)) for r in self.result)
        return before, after

    def extra(self) -> list[dict[str, Any]]:
        """The shares of all roles with intervals, and the differences, for a front end."""
        out: list[dict[str, Any]] = [{"shares": {}}, {"shares": {}, "differences": {}}]
        for role in self._choices():
            for side, table in enumerate(self.shares(role)):
                out[side]["shares"][role] = {name: e.to_dict() for name, e in table.items()}
            changes = shares.differences(*self.result, role, self._groups(role))
            if changes is not None:
                out[1]["differences"][role] = {name: e.to_dict() for name, e in changes.items()}
        return out

    def page_traits(self) -> tuple[str, ...]:
        """Everything but the answer of a kernel."""
        return ("sidecar", "role", "view", "sort", "selection", "seed", "replications")

    def reported(self, side: int) -> list[dict[str, Any]]:
        """Shares of the role that the thread reports for the settings of a side: rows with their ``symbols``."""
        return [row for row in self._stated if self._answers(row, side) and _role(row) == self.role]

    def still(self) -> still.Still:
        """The largest shares, before above after, with the reported ones as marks."""
        from matplotlib.figure import Figure

        before, after = self.shares()
        marks = [{"+".join(r["symbols"]): r["reported"] for r in self.reported(side)} for side in (0, 1)]
        means = {name: [x[name].mean if name in x else 0.0 for x in (before, after)] for name in (*before, *after)}
        singles = [name for name in means if "+" not in name or any(name in m for m in marks)]
        names = sorted(singles, key=lambda name: -max(means[name]))[:STILL_ROWS]
        figure = Figure(figsize=(7.2, 0.32 * len(names) + 0.8), layout="constrained")
        _bars(figure.subplots(), names, (before, after), marks, self._names)
        return still.render(figure, self.finding())

    def finding(self) -> str:
        """The text alternative: the largest shares and the largest change."""
        before, after = self.shares()
        parts = []
        for name, table in zip(self._names, (before, after), strict=True):
            top = sorted((e.mean, s) for s, e in table.items() if "+" not in s)[::-1][:3]
            parts.append(f"{name} " + ", ".join(f"{s} {share:.1f} %" for share, s in top))
        moved = {s: after[s].mean - before[s].mean for s in before if s in after and "+" not in s}
        most = max(moved, key=lambda s: abs(moved[s]), default="")
        change = f" {most} changes most: {moved[most]:+.1f} points." if most else ""
        return f"Profile of {_whose(self.role)} in {self.sidecar['scenario']}: {'; '.join(parts)}.{change}"

    def _answers(self, row: Mapping[str, Any], side: int) -> bool:
        """Whether a row of the thread is a share, stated for a side's settings."""
        reading = row["reading"]
        plain = reading["term"].startswith("profile:") and not (reading["over"] or reading["times"])
        now, usual = self._sides[side], {k.name: k.default for k in self._scenario.knobs}
        plain = plain and reading["scale"] == 1 and not reading["offset"]
        return plain and all(row["knobs"].get(n, usual[n]) == now[n] for n in usual)

    def _groups(self, role: str) -> list[list[str]]:
        found = (r["symbols"] for r in self._stated if len(r["symbols"]) > 1 and _role(r) == role)
        return [list(group) for group in dict.fromkeys(map(tuple, found))]

    def _sidecar(self) -> dict[str, Any]:
        if self._fixed is None:
            made = {**of_scenario(self._scenario), "fixed": None}
        else:
            result = self._fixed.before
            known = result.scenario in scenarios.names()
            symbols = sorted({s for r in self._fixed for x in r.replications for p in x.profile.values() for s in p})
            made = {
                "scenario": result.scenario,
                "symbols": symbols,
                "layers": {symbol: layer(symbol) for symbol in symbols},
                "layer_order": present(symbols),
                "roles": [{"name": name} for name in self._roles],
                "partial": self._partial,
                "names": list(_names(self._fixed)),
                "sources": [r.engine if _recorded(r) else "" for r in self._fixed],
                "knobs": [k.to_dict() for k in self._scenario.knobs] if known else [],
                "metrics": [{"name": name} for name in result.metrics],
                "reported": figures(result.scenario) if known else [],
                "engine_hash": result.engine_hash or result.engine,
            }
        made["reported"] = self._stated = [row for row in made["reported"] if row["kind"] == "profile"]
        made["sides"] = list(self._sides)
        if self._fixed is not None:
            made["fixed"] = {"arms": [r.to_dict() for r in self._fixed], "extra": self.extra()}
        return made


def _two_results(first: Result, second: Any, rest: Any) -> Pair:
    if not isinstance(second, Result) or rest is not None:
        raise ValueError("either a scenario's name and two settings, or two results")
    if first.scenario != second.scenario:
        raise ValueError(f"results of two scenarios, {first.scenario} and {second.scenario}, have no common profile")
    return Pair(first, second)


def _recorded(result: Result) -> bool:
    """Whether a result is a recording of a machine in the form of a run."""
    return all(r.status == "measured" for r in result.replications)


def _names(fixed: Pair | None) -> tuple[str, str]:
    """What both sides are called: a recording beside a run is no *after*."""
    if fixed is None or _recorded(fixed.before) == _recorded(fixed.after):
        return "before", "after"
    before, after = ("recorded" if _recorded(r) else "simulated" for r in fixed)
    return before, after


def _role(row: Mapping[str, Any]) -> str:
    """The role whose share a row of a thread is."""
    return str(row["reading"]["term"]).split(":")[1]


def _whose(role: str) -> str:
    return "all CPUs" if role == shares.ALL else f"the {role} CPU"


def _bars(
    axes: Axes, names: list[str], tables: tuple[dict[str, Any], dict[str, Any]], marks: list[Any],
    called: tuple[str, str],
) -> None:
    for side, (label, table) in enumerate(zip(called, tables, strict=True)):
        for at, name in enumerate(names):
            if name not in table:
                continue
            one = table[name]
            place = at - 0.2 + 0.4 * side
            error = [[one.mean - max(0.0, one.low)], [min(100.0, one.high) - one.mean]]  # what a share can be
            colour = still.COLOURS[side]
            first = label if at == 0 else None
            axes.barh([place], [one.mean], xerr=error, height=0.38, color=colour, ecolor="#808080", label=first)
            if name in marks[side]:
                axes.plot([marks[side][name]], [place], "D", color="#c2185b", markersize=5)
    axes.set_yticks(range(len(names)), [n if len(n) < 44 else f"{n[:43]}…" for n in names], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("% of the CPU's busy time; diamonds: reported", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.legend(fontsize=8, frameon=False)
