"""Common wrong answers, worked out on the machines of the book: what is typed, and what it gives away.

Each slip is computed as a student computes it, beside what the question asks for; none is an answer to a graded
question, whose machines are other ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from sim import packing, scenarios
from sim.result import Result

from .table import Table

MTU: Final = 1500
GRO_LIMIT: Final = 65_536


class Slip(NamedTuple):
    """A wrong way: the question, what is typed for it, what is right, and what the teacher learns."""

    question: str
    way: str
    wrong: str
    right: str
    reveals: str


def _run(defer_free: int) -> Result:
    scenario = scenarios.load("tcp-5.17")
    return scenario.run(defer_free=defer_free, mtu=MTU, replications=2, until_ps=scenario.quick_ps)


def headers() -> Slip:
    """GRO's limit divided by whole packets."""
    return Slip(
        "How many segments does GRO merge?", "the limit over the packet's size",
        f"{(GRO_LIMIT - 1) // MTU}", f"{packing.pack(mtu=MTU).segments}",
        "headers are counted for each segment",
    )


def share(before: Result, after: Result) -> Slip:
    """The gain read off the share of the removed work, as if nothing else could bind."""
    profile = before.profile("reader")
    freed = sum(profile.get(name, 0.0) for name in ("put_page", "free_unref_page", "__kfree_skb", "free_pcppages_bulk"))
    foretold = 100 * (1 / (1 - freed / 100) - 1)
    gained = 100 * (after.gbps / before.gbps - 1)
    return Slip(
        "How much does moving the free gain?",
        f"Amdahl's law on its {freed:.0f} % of the reader, 1 / (1 − {freed / 100:.2f})",
        f"+{foretold:.0f} %", f"+{gained:.0f} %",
        "moved work is taken for gone",
    )


def profiled(before: Result) -> Slip:
    """Per cent of a profile taken for nanoseconds."""
    profile = before.profile("reader")
    busy_ns = before.cpu["reader"] / 100 / before.mpps * 1000  # for a packet on the wire
    return Slip(
        "What does put_page cost a packet?", "the profile's per cent, written as ns",
        f"{profile['put_page']:.0f} ns",
        f"{profile['put_page'] / 100 * busy_ns:.0f} ns: {profile['put_page']:.0f} % of {busy_ns:.0f} ns",
        "per cent of what was not asked",
    )


def visits() -> Slip:
    """A line's traffic counted by its writes."""
    packets_per_ms = 1000
    return Slip(
        "Time between visits of a line?",
        "only the writes of 1 Mpps", f"{1e6 / packets_per_ms / 2:.0f} ns", f"{1e6 / packets_per_ms / 4:.0f} ns",
        "reads of a shared line are thought free",
    )


def slower() -> Slip:
    """A mean of rates where times add."""
    fast, slow = 4.0, 1.0
    return Slip(
        "Half at 4 Mpps, half at 1: what rate?",
        "the mean of the rates", f"{(fast + slow) / 2:.1f} Mpps", f"{2 / (1 / fast + 1 / slow):.1f} Mpps",
        "rates are added, not times",
    )


def padding() -> Slip:
    """Offsets as sums of sizes."""
    return Slip(
        "A char, then a u64: at what offset is the u64?", "the sum of the sizes before it", "1", "8",
        "alignment is not known",
    )


def slips() -> Table:
    """All of them."""
    before, after = _run(0), _run(1)
    made: list[Callable[[], Slip]] = [
        headers, lambda: share(before, after), lambda: profiled(before), visits, slower, padding,
    ]
    found = [each() for each in made]
    rows = [[slip.question, f"{slip.wrong}: {slip.way}", slip.right, slip.reveals] for slip in found]
    return Table("Six slips, worked out", ["asked", "wrong", "right", "what it reveals"], rows)
