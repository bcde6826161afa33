"""The socket's owner between two batches of the backlog: what the page on the lock draws and tries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from book.figures import series_faults
from book.figures.effects import Change, change, measured, minus, spread
from book.figures.svg import Picture
from book.figures.table import Cell, Table

#: What the reader does to work off a backlog: name, steps (words, width, how it is drawn), the stretch not owned.
_PAIR: Final = (
    ("take", 40, "warm"), ("TCP for each packet", 132, "wash"), ("look", 40, "warm"), ("free", 40, "box"),
    ("own", 40, "warm"),
)
_FLUSH: Final = (("take", 40, "warm"), ("TCP for each packet", 132, "wash"), ("look", 40, "warm"))


def doors() -> Picture:
    """Release and lock against flush, as what the reader does one after the other."""
    picture = Picture(
        176,
        "Releasing and locking the socket takes its spinlock three times for one backlog and leaves a moment in which "
        "nobody owns it; flushing takes it twice and never gives up ownership.",
    )
    for row, (name, steps) in enumerate((("release_sock(), lock_sock()", _PAIR), ("__sk_flush_backlog()", _FLUSH))):
        y = 16 + 72 * row
        picture.text(4, y, name, "small strong")
        x = 4.0
        for words, width, kind in steps:
            picture.box(x, y + 8, width, 24, kind, 2)
            picture.text(x + width / 2, y + 24, words, "mid small")
            if kind == "box":
                picture.text(x + width / 2, y + 46, "a packet may enter", "mid small quiet")
            x += width + 3
    picture.box(4, 154, 11, 11, "warm", 0)
    picture.text(20, 164, "spinlock taken", "small quiet")
    picture.box(124, 154, 11, 11, "wash", 0)
    picture.text(140, 164, "owned, lock free", "small quiet")
    picture.box(256, 154, 11, 11, "box", 0)
    picture.text(272, 164, "not owned", "small quiet")
    return picture


@cache
def uncounted(defer_free: int, segments: int, seeds: int = 6) -> Change:
    """What patch 11 adds to the rate, Gbit/s, where softirq takes no reference on the socket."""
    scenario = series_faults.uncounted()
    arms = [
        scenario.run(replications=seeds, defer_free=defer_free, gro_max_segs=segments, flush_backlog=side).replications
        for side in (0, 1)
    ]
    return change(*([run.metrics["gbps"] for run in arm] for arm in arms), "Gbit/s", 0.01)


def by_size(segments: Sequence[int] = (1, 2, 8, 45)) -> Table:
    """What patch 11 changes, with and without patch 17, as GRO packets grow."""
    rows: list[Sequence[Cell]] = []
    for defer_free in (0, 1):
        for count in segments:
            found = measured(11, defer_free=defer_free, gro_max_segs=count)
            rows.append([
                f"{'with' if defer_free else 'without'} patch 17, {count} segment{'s' * (count > 1)}",
                f"{found['ns'].before.mean:.0f}", minus(f"{found['ns'].moved.mean:+.0f}"),
                f"{found['owned_share'].before.mean:.1f}", f"{found['owned_share'].after.mean:.1f}",
                f"{found['gbps'].before.mean:.1f}", minus(spread(found["gbps"].moved, 2, "+")),
                minus(spread(uncounted(defer_free, count).moved, 2, "+")),
            ])
    columns = [
        "setting", "lock and release, ns", "change", "owned before, %", "after", "Gbit/s before", "change (95 %)",
        "the same without the reference",
    ]
    return Table("Patch 11 and the size of a GRO packet", columns, rows)


def words(payload: int = 1428) -> dict[str, str]:
    """What sentences quote of the patch without patch 17.

    Without GRO: time of a packet before, and the gain in per cent. Of larger packets: time of the lock before.
    """
    rate = measured(11, defer_free=0, gro_max_segs=1)["gbps"]
    larger = {count: measured(11, defer_free=0, gro_max_segs=count)["ns"].before.mean for count in (8, 45)}
    return {
        **{f"lock-{count}-ns": f"{ns:.0f}" for count, ns in larger.items()},
        "lock-one-ns": f"{payload * 8 / rate.before.mean:.0f}",
        "lock-one-gain": f"{100 * rate.moved.mean / rate.before.mean:.1f} %",
    }
