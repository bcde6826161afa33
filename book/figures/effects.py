"""What one patch of the 5.17 series does to a run: time of the functions it touches, lines that move, rates.

Each patch has a trial: the setting in which its code runs, the functions whose time it can change, on which CPU, and
the event by which that time is divided. Both arms run on the same seeds, and a change is the mean of the differences
seed by seed. Runs are kept, since several pages show them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from book.figures import kept
from book.figures.series import KEYS, patch
from book.figures.table import Cell, Table
from sim import scenarios
from sim.comparison import compare
from sim.knob import numbers
from sim.result import Estimate, Replication, Result, interval
from sim.scenarios.scenario import Scenario

SEEDS: Final = 10

#: Events by name: how many there are in a second.
EVENTS: Final[Mapping[str, Callable[[Mapping[str, float]], float]]] = {
    "packet": lambda m: m["mpps"] * 1e6,
    "GRO packet": lambda m: m["mpps"] * 1e6 / m["gro_segments"],
    "ACK": lambda m: m["acks_per_s"],
    "read": lambda m: m["reads_per_s"],
}


class Trial(NamedTuple):
    """Where a patch is tried: functions whose time is summed, the role whose CPU runs them, the event, the setting."""

    symbols: tuple[str, ...]
    role: str
    event: str
    knobs: Mapping[str, Any] = {}

    @property
    def functions(self) -> str:
        """What is timed, as the head of a row."""
        return ", ".join(self.symbols) or f"all of the {self.role}'s CPU"


_OWNERSHIP: Final = ("release_sock", "lock_sock_nested", "_raw_spin_lock", "__release_sock", "__sk_flush_backlog")
_COLD: Final = {"defer_free": 0, "ack_after_backlog": 1, "recv_size_bytes": 1048576}

#: Trials by patch.
TRIALS: Final[Mapping[int, Trial]] = {
    1: Trial(("tcp_add_backlog",), "softirq", "GRO packet", {"gro_max_segs": 1}),
    3: Trial(("tcp_v6_send_check",), "reader", "ACK", _COLD),
    5: Trial((), "reader", "GRO packet", {"defer_free": 0}),
    6: Trial((), "reader", "GRO packet", {"defer_free": 0}),
    8: Trial((), "reader", "GRO packet", {"defer_free": 0}),
    10: Trial((), "softirq", "GRO packet", {"neighbours": 1}),
    11: Trial(_OWNERSHIP, "reader", "GRO packet"),
    12: Trial(("__release_sock",), "reader", "GRO packet"),
    14: Trial(("tcp_poll",), "reader", "read", {"poll": 1}),
    15: Trial(("tcp_recvmsg_locked",), "reader", "GRO packet"),
    16: Trial(("sock_rfree",), "reader", "GRO packet"),
    17: Trial((), "reader", "GRO packet"),
    18: Trial(("tcp_recvmsg_locked",), "reader", "read", {"nonblocking": 1, "rcvlowat": 262144, "link_gbps": 40}),
    19: Trial(("tcp_cleanup_rbuf", "__tcp_transmit_skb", "tcp_v6_send_check"), "reader", "GRO packet"),
    20: Trial(("tcp_v6_early_demux",), "softirq", "GRO packet"),
}


class Change(NamedTuple):
    """A quantity without the patch, with it, and by how much it moves, each with its 95 % interval."""

    before: Estimate
    after: Estimate
    moved: Estimate

    @property
    def clear(self) -> bool:
        """Whether the interval of the change leaves zero out."""
        return self.moved.low > 0 or self.moved.high < 0


def nanoseconds(run: Replication, trial: Trial) -> float:
    """Time of the trial's functions on its CPU for one event, ns."""
    profile = run.profile[trial.role]
    share = sum(profile.get(symbol, 0.0) for symbol in trial.symbols) if trial.symbols else sum(profile.values())
    return run.cpu[trial.role] / 100 * share / 100 * 1e9 / EVENTS[trial.event](run.metrics)


QUANTITIES: Final = ("gbps", "transfers_per_packet", "cold_lines_per_packet", "acks_per_s", "neighbour_reads_per_s",
                     "freed_by_softirq", "owned_share", "coalesced_per_s", "reads_per_s")


def _rows(scenario: Scenario, number: int, trial: Trial, seeds: int) -> list[dict[str, Any]]:
    arms = [
        scenario.run(replications=seeds, **{**trial.knobs, KEYS[number]: side}).replications for side in (0, 1)
    ]
    units = {m.name: m.unit for m in scenario.metrics}
    rows = [{"name": "ns", "unit": "ns", "arms": [[nanoseconds(run, trial) for run in arm] for arm in arms],
             "piece": 1e-3}]  # profiles count picoseconds
    for name in QUANTITIES:
        rows.append({
            "name": name, "unit": units[name], "arms": [[run.metrics[name] for run in arm] for arm in arms],
            "piece": max(run.resolution[name] for arm in arms for run in arm),
        })
    return rows


def measured(number: int, seeds: int = SEEDS, **knobs: Any) -> dict[str, Change]:
    """What a patch changes in its trial, with further knobs if given: ``ns`` of its functions for one event, rates.

    Raises KeyError for a patch without a key, KnobError for an impossible setting.
    """
    trial = TRIALS[number]._replace(knobs={**TRIALS[number].knobs, **knobs})
    told = f"{trial!r} {seeds} {_code()}"
    name = f"patch-{number}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    rows = kept.once(name, lambda: _rows(_scenario(), number, trial, seeds))
    return {row["name"]: change(*row["arms"], row["unit"], row["piece"]) for row in rows}


def change(before: Sequence[float], after: Sequence[float], unit: str, piece: float) -> Change:
    """Two arms on the same seeds, and the mean of the differences; `piece` is the finest step a run can show."""
    moved = [b - a for a, b in zip(before, after, strict=True)]
    return Change(*(Estimate(*interval(values, piece), unit) for values in (before, after, moved)))


def gained(before: Result, after: Result) -> str:
    """What one run adds to the rate of another on the same seeds, Gbit/s with its interval, for a sentence."""
    arms = [[one.metrics["gbps"] for one in run.replications] for run in (before, after)]
    piece = max(one.resolution["gbps"] for run in (before, after) for one in run.replications)
    return minus(spread(change(arms[0], arms[1], "Gbit/s", piece).moved, 2, "+"))


@cache
def _scenario() -> Scenario:
    return scenarios.load("tcp-5.17")


@cache
def _code() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def spread(estimate: Estimate, digits: int = 1, sign: str = "") -> str:
    """A mean with its interval."""
    return f"{estimate.mean:{sign}.{digits}f} ({estimate.low:{sign}.{digits}f} to {estimate.high:{sign}.{digits}f})"


def minus(text: str) -> str:
    """A number as it is set: with a minus sign instead of a hyphen, and no sign before zero."""
    return text.replace("-", "−")


def instructions(number: int, **knobs: Any) -> tuple[int, int, int]:
    """Instructions that the patch adds, takes away and changes in its trial, as `ProgramDiff` has them."""
    scenario, given = _scenario(), {**TRIALS[number].knobs, **knobs}
    sides = [numbers(scenario.knobs, scenario.settings(**{**given, KEYS[number]: side})) for side in (0, 1)]
    kinds = [row.kind for row in compare(scenario.spec, *sides)]
    return kinds.count("added"), kinds.count("removed"), kinds.count("changed")


def _an(event: str) -> str:
    return f"an {event}" if event[0] in "AEIO" else f"a {event}"


_ROWS: Final = (
    ("transfers_per_packet", "lines handed over, a packet", 3),
    ("cold_lines_per_packet", "lines from beyond the core's cache, a packet", 3),
    ("gbps", "Gbit/s", 2),
)


def table(number: int, also: Sequence[tuple[str, str, int]] = (), **knobs: Any) -> Table:
    """A patch's run: the time of its functions, the lines that moved, the rate."""
    trial, found = TRIALS[number], measured(number, **knobs)
    what = f"ns in {trial.functions}, for {_an(trial.event)}"
    rows: list[Sequence[Cell]] = []
    for name, words, digits in (("ns", what, 1), *also, *_ROWS):
        c = found[name]
        rows.append([
            words, f"{c.before.mean:,.{digits}f}", f"{c.after.mean:,.{digits}f}",
            minus(f"{c.moved.mean:+,.{digits}f}"),
            minus(f"{c.moved.low:+,.{digits}f} to {c.moved.high:+,.{digits}f}"),
        ])
    given = {**trial.knobs, **knobs}
    where = ", ".join(f"{k}={v}" for k, v in given.items()) or "the thread's setting"
    columns = ["quantity", "without", "with", "change", "95 % interval"]
    return Table(f"Patch {number}, {KEYS[number]}, at {where}", columns, rows)


def summary(numbers: Sequence[int]) -> Table:
    """Some patches, a row each: instructions, time, and what it did to the rate in the patch's own setting."""
    rows: list[Sequence[Cell]] = []
    for number in numbers:
        trial, found = TRIALS[number], measured(number)
        added, removed, changed = instructions(number)
        counted = [f"+{added} −{removed}"] * bool(added + removed) + [f"{changed} changed"] * bool(changed)
        rows.append([
            f"{number}  {patch(number).key}", ", ".join(counted), trial.event,
            minus(spread(found["ns"].moved, 1, "+")), minus(spread(found["gbps"].moved, 2, "+")),
        ])
    columns = ["patch", "instructions", "event", "ns an event, change", "Gbit/s, change"]
    return Table("What each patch changes in its own setting, with 95 % intervals", columns, rows)


def words(number: int, **knobs: Any) -> dict[str, str]:
    """What sentences quote of a patch's run: ``p12-ns-before`` and the like."""
    quoted = {}
    for name, c in measured(number, **knobs).items():
        digits = 1 if name == "ns" else 0 if name.endswith("_per_s") else 2
        for side, estimate in zip(("before", "after", "moved"), c, strict=True):
            mean = abs(estimate.mean) if side == "moved" else estimate.mean
            quoted[f"p{number}-{name}-{side}"] = f"{mean:,.{digits}f}"
    return quoted


def saved(number: int) -> str:
    """Nanoseconds that a patch saves for a GRO packet in the thread's own setting, for the picture of the series."""
    trial = TRIALS[number]._replace(event="GRO packet", knobs={})
    name = f"saved-{number}-{hashlib.sha256(f'{trial!r} {_code()}'.encode()).hexdigest()[:12]}"
    rows = kept.once(name, lambda: _rows(_scenario(), number, trial, SEEDS))
    ns = next(change(*row["arms"], "ns", row["piece"]) for row in rows if row["name"] == "ns")
    return minus(f"{-ns.moved.mean:,.0f}") if ns.clear and abs(ns.moved.mean) >= 0.5 else "0"


#: Patches that need cold caches: the function that they shorten, and what else the lab must be told.
CROWDED: Final[Mapping[int, tuple[str, Mapping[str, Any]]]] = {
    3: ("tcp_v6_send_check", {}),
    14: ("tcp_poll", {"poll": 1}),
}


def _crowd(number: int, flows: Sequence[int], seeds: int) -> list[dict[str, Any]]:
    lab = scenarios.load("lab")
    symbol, given = CROWDED[number]
    readers = int(lab.knob("readers").default)
    rows = []
    for count in flows:
        knobs = {**given, "flows": count, "replications": seeds, "until_ps": lab.quick_ps}
        both = []
        for side in (0, 1):
            arm = lab.run(**{**knobs, KEYS[number]: side}).replications
            both.append([
                run.cpu["reader"] / 100 * run.profile["reader"].get(symbol, 0.0) / 100 * 1e9
                / (run.metrics["reads_per_s"] / min(count, readers))
                for run in arm
            ])
        rows.append({"flows": count, "arms": both})
    return rows


def crowd(number: int, flows: Sequence[int] = (1, 16, 64, 512), seeds: int = 6) -> Table:
    """The time of a patch's function for a read, over the number of flows that four CPUs read in the lab."""
    told = f"{flows!r} {seeds} {CROWDED[number]!r} {_code()}"
    name = f"crowd-{number}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    rows = kept.once(name, lambda: _crowd(number, flows, seeds))
    cells: list[Sequence[Cell]] = []
    for row in rows:
        c = change(*row["arms"], "ns", 1e-3)
        cells.append([
            f"{row['flows']:,}", f"{c.before.mean:.1f}", f"{c.after.mean:.1f}", minus(spread(c.moved, 1, "+")),
        ])
    columns = ["flows", "without, ns", "with, ns", "change (95 %)"]
    return Table(f"{CROWDED[number][0]}, for a read, as more flows share the readers' caches", columns, cells)
