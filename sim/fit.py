"""Fitting: constants that no source gives, on a thread's before-figures and on side facts, never on after-figures.

`python -m sim fit` writes `sim/fitted.json`. A fit reads only the figures it is given by name (see `TARGETS`);
the test changes every other figure by half and finds the same constants to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from . import scenarios
from .fitted import FILE, records
from .result import Result

#: What is fitted for tcp-5.17, on which figure, and why that figure may be used.
TARGETS: Final = {
    "copy_fs_per_byte": ("before_mtu_4096", "the rate before the patch at 4096 bytes of payload"),
    "datagram_fragment_ps": ("before_mtu_1500", "the rate before the patch at MTU 1500"),
    "softirq_packet_ps": (
        "softirq_mpps_mtu_1500",
        "5.8 Mpps keep one core busy in the softirq: a figure of the patched run, so 66 Gbit/s rests on it",
    ),
    "split_buffer_ps": ("softirq_share_mtu_4096", "2.6 Mpps of 4096 bytes keep 60 % of a core busy in the softirq"),
    "coalesce_us": ("interrupts_mtu_4096", "25,000 receive interrupts a second at 2.6 Mpps"),
}
THREAD: Final = "tcp-5.17"
MTU_4096: Final = 4168
LINK_AT_2_6_MPPS: Final = 87  # Gbit/s: (4168 + 38) bytes * 8 * 2.6 Mpps
STARTING_CONSTANTS: Final = {"split_buffer_ps": 20_000}
STARTING_KNOBS: Final = {"coalesce_us": 12}
COALESCE_US: Final = range(5, 31)  # waits of the NIC's interrupt that are tried
FAST_SOFTIRQ_NS: Final = 20  # while the reader is fitted the softirq may not be what limits

Log = Callable[[str], None]


def _run(changes: Mapping[str, int], **knobs: Any) -> Result:
    """A run in which nothing comes from an earlier fit: what is not yet fitted has its starting value."""
    scenario = scenarios.load(THREAD, changes={**STARTING_CONSTANTS, **changes})
    return scenario.run(**{**STARTING_KNOBS, **knobs})


def _bisect(low: int, high: int, too_high: Callable[[int], bool]) -> int:
    """The whole number between `low` and `high` where `too_high` turns true, by halving."""
    while high - low > 1:
        middle = (low + high) // 2
        if too_high(middle):
            high = middle
        else:
            low = middle
    return low


def fit_reader(figures: Mapping[str, float], log: Log) -> dict[str, int]:
    """Copy rate and cost per fragment from the two rates before the patch.

    The reader's time for a packet is linear in both, so each round solves for both from the two misses.
    """
    want_1500 = figures[TARGETS["datagram_fragment_ps"][0]]
    want_4096 = figures[TARGETS["copy_fs_per_byte"][0]]
    copy, fragment = 70_000.0, 10_000.0
    for round_ in range(6):
        changes = {"copy_fs_per_byte": round(copy), "datagram_fragment_ps": round(fragment)}
        fast = {"defer_free": 0, "softirq_packet_ns": FAST_SOFTIRQ_NS}
        small = _run(changes, mtu=1500, **fast).gbps
        large = _run(changes, mtu=MTU_4096, link_gbps=200, **fast).gbps
        log(f"round {round_ + 1}: {small:.2f} and {large:.2f} Gbit/s with {changes}")
        miss_1500 = 8e6 * (1 / want_1500 - 1 / small)  # fs per byte
        miss_4096 = 8e6 * (1 / want_4096 - 1 / large)
        per_fragment = (miss_1500 - miss_4096) / (1 / 1428 - 1 / 4096)  # fs
        fragment += per_fragment / 1000
        copy += miss_4096 - per_fragment / 4096
    return {"copy_fs_per_byte": round(copy), "datagram_fragment_ps": max(0, round(fragment))}


def fit_softirq(figures: Mapping[str, float], constants: Mapping[str, int], log: Log) -> dict[str, int]:
    """Softirq cost of a packet, the extra of a split buffer, and interrupt moderation, from the side facts."""
    mpps = figures[TARGETS["softirq_packet_ps"][0]]
    packet_ns = _bisect(
        20, 200, lambda ns: _run(constants, mtu=1500, defer_free=1, softirq_packet_ns=ns).mpps < mpps
    )
    log(f"softirq_packet_ps: {packet_ns} ns")
    share = figures[TARGETS["split_buffer_ps"][0]]
    interrupts = figures[TARGETS["coalesce_us"][0]]
    at = {"mtu": MTU_4096, "defer_free": 1, "softirq_packet_ns": packet_ns, "link_gbps": LINK_AT_2_6_MPPS}

    @cache
    def side(split_ns: int, coalesce_us: int) -> Result:
        return _run({**constants, "split_buffer_ps": split_ns * 1000}, coalesce_us=coalesce_us, **at)

    def split_at(coalesce_us: int) -> int:
        # Neither does the softirq's share rise evenly: the nearest of the neighbours, with as many seeds as a run has.
        near = _bisect(0, 150, lambda ns: side(ns, coalesce_us).cpu["softirq"] > share)
        return min(range(max(0, near - 8), near + 9), key=lambda ns: abs(side(ns, coalesce_us).cpu["softirq"] - share))

    def miss(split_ns: int, coalesce_us: int) -> float:
        found = side(split_ns, coalesce_us)
        return max(abs(found.cpu["softirq"] / share - 1), abs(found.interrupts_per_s / interrupts - 1))

    # The two depend on each other, and the rate of interrupts does not fall evenly with the wait. So every whole
    # microsecond is tried with the split cost that belongs to it; the pair wins whose worse miss is the smallest.
    pairs = [(split_at(us), us) for us in COALESCE_US]
    split_ns, coalesce_us = min(pairs, key=lambda pair: miss(*pair))
    log(f"split_buffer_ps: {split_ns} ns, coalesce_us: {coalesce_us}")
    return {
        "softirq_packet_ps": packet_ns * 1000, "split_buffer_ps": split_ns * 1000, "coalesce_us": coalesce_us,
    }


def fit(figures: Mapping[str, float], log: Log = print) -> list[dict[str, Any]]:
    """All fitted constants as the rows of `fitted.json`.

    Parameters
    ----------
    figures
        Reported figures by name; KeyError if one of `TARGETS` is missing. No other is read.
    """
    used = {name: figures[name] for name, _ in TARGETS.values()}
    constants = fit_reader(used, log)
    constants |= fit_softirq(used, constants, log)
    machine = scenarios.load(THREAD).machine.name
    return [
        {
            "scenario": THREAD, "machine": machine, "constant": name, "value": constants[name],
            "unit": name.rpartition("_")[2] if not name.endswith("per_byte") else "fs/byte",
            "figure": TARGETS[name][0], "reported": used[TARGETS[name][0]], "fitted_on": TARGETS[name][1],
        }
        for name in TARGETS
    ]


def write(rows: list[dict[str, Any]]) -> None:
    """Put rows into `fitted.json`, a row a line; rows of scenarios that are not among them stay."""
    scenarios_written = {row["scenario"] for row in rows}
    kept = [row for row in records() if row["scenario"] not in scenarios_written]
    every = sorted([*kept, *rows], key=lambda row: str(row["scenario"]))
    FILE.write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in every) + "\n]\n", encoding="utf-8")
    records.cache_clear()
