"""Fields moved by hand: a scenario in which the lines of one struct's fields are knobs.

A patch that moves fields is a layout key, with two layouts. Here any layout can be run: declarations are put in
another order, C's rule gives the offsets, and each field's line is a setting of the image. So a page moves a field
and runs the real scenario again.

>>> from sim.placement import SAMPLES
>>> sample = SAMPLES["tcp_globals"]
>>> placed = sample.placed()
>>> [placed.lines(layout)["tcp globals.tcp_sockets_allocated.counters"] for layout in sample.layouts.values()]
[0, 1]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from . import structs
from .expression import Number
from .knob import Knob, KnobError, numbers
from .layout import LINE_BYTES, Layout, LayoutError, Member
from .listing import specialise
from .result import Role
from .scenarios import SCENARIOS, Scenario
from .schema import nearest
from .spec import Domain, Lines, Spec

#: Lines of a struct that a moved field may lie on; a layout with more is refused.
MOST_LINES: Final = 40


def arranged(layout: Layout, order: Sequence[str], aligned: Collection[str] = ()) -> Layout:
    """The struct with its declarations in another order, placed by C's rule.

    Parameters
    ----------
    layout
        A layout that `Layout.pack` made.
    order
        All of its fields, in their new order.
    aligned
        Fields that begin a cache line (``____cacheline_aligned``); the others have their natural alignment.

    Raises
    ------
    LayoutError
        if `order` leaves a field out, repeats one, or names one that is not there.
    """
    for name in (*order, *aligned):
        layout.field(name)
    repeated = [name for name in order if list(order).count(name) > 1]
    missing = [f.name for f in layout.fields if f.name not in order]
    if repeated or missing:
        what = f"{repeated[0]!r} stands twice in" if repeated else f"{missing[0]!r} is missing from"
        raise LayoutError(f"{layout.name}: {what} the order of its fields")
    members = [
        Member(f.name, f.size, LINE_BYTES if f.name in aligned else natural(layout, f.name), f.comment)
        for f in map(layout.field, order)
    ]
    return Layout.pack(layout.name, members, source=layout.source, status="assumed")


def natural(layout: Layout, name: str) -> int:
    """The alignment of a field without an attribute; of one that has it, the largest power of two in its size, to 8."""
    one = layout.field(name)
    return one.align if 0 < one.align < LINE_BYTES else min(one.size & -one.size, 8)


def aligned_fields(layout: Layout) -> list[str]:
    """Fields that a layout begins a cache line for."""
    return [f.name for f in layout.fields if f.align >= LINE_BYTES]


class _PlacedSpec(Spec):
    """A spec that takes the lines of one struct's fields from knobs, whatever layout its part declares."""

    placed: str = ""

    def struct(self, name: str, domain: Domain, fields: Mapping[str, Number], per_row: Number) -> Lines:
        if name != self.placed:
            return super().struct(name, domain, fields, per_row)
        lines = {one: self.values.knob(f"{name}.{one}") for one in fields}
        return super().struct(name, domain, lines, self.values.knob(f"{name} lines"))


class Placed(Scenario):
    """A scenario whose knobs also say on which line each field of a struct lies: ``rtable.__refcnt``, ``rtable lines``.

    Raises
    ------
    ValueError
        for a struct that the scenario does not touch, with the nearest one.
    """

    def __init__(self, inner: Scenario, struct: str) -> None:
        super().__init__(inner.machine, inner.changes)
        self.inner, self.struct = inner, struct
        for name in ("name", "title", "varies", "warm_ps", "quick_ps", "until_ps", "patches", "metrics", "verified"):
            setattr(self, name, getattr(inner, name))
        known = {x.name: x for x in inner.spec.lines}
        if struct not in known:
            raise ValueError(f"{inner.name} touches no struct {struct!r}; {nearest(struct, list(known))}")
        self.fields = tuple(known[struct].fields)
        self.knobs = (
            *inner.knobs,
            Knob(f"{struct} lines", MOST_LINES, "Cache lines of the struct.", 1, MOST_LINES, unit="lines"),
            *(Knob(f"{struct}.{f}", 0, f"Line of {f}.", 0, MOST_LINES - 1, unit="line") for f in self.fields),
        )

    @cached_property
    def _composed(self) -> tuple[Spec, tuple[Role, ...]]:
        spec = _PlacedSpec([k.name for k in self.knobs])
        spec.placed = self.struct
        return spec, tuple(self.inner.compose(spec))

    def settings(self, **knobs: Any) -> dict[str, int | str]:
        """As of any scenario; raises KnobError too for a field beyond the struct's last line."""
        chosen = super().settings(**knobs)
        last = int(chosen[f"{self.struct} lines"]) - 1
        for name in self.fields:
            line = int(chosen[f"{self.struct}.{name}"])
            if line > last:
                raise KnobError(f"{self.struct}.{name} lies on line {line}, but the struct ends with line {last}")
        return chosen

    def lines(self, layout: Layout) -> dict[str, int]:
        """The knobs that stand for a layout. Raises LayoutError if the struct has more lines than may be run."""
        if layout.lines > MOST_LINES:
            raise LayoutError(f"{layout.name}: {layout.lines} lines are more than the {MOST_LINES} that may be run")
        there = {f.name for f in layout.fields}
        # a field that a patch adds is touched by that patch's code only: without it any line will do
        places = {f"{self.struct}.{f}": layout.line(f) if f in there else 0 for f in self.fields}
        return {f"{self.struct} lines": layout.lines, **places}

    def uses(self, layouts: Sequence[Layout], **knobs: Any) -> dict[str, dict[str, str]]:
        """Who touches which field at a setting: field to kernel symbol to ``read``, ``write`` or ``atomic``.

        A symbol that does several things to a field has the strongest of them; a spinlock's field is changed by an
        atomic. A load that one of the layouts merges with another one counts, since a moved field may need it.
        """
        spec = self.spec
        number = next(x.number for x in spec.lines if x.name == self.struct)
        strongest = ("read", "write", "atomic")
        found: dict[str, dict[str, str]] = {}
        apart = {f"{self.struct}.{name}": line for line, name in enumerate(self.fields)}
        placed = [*map(self.lines, layouts), {f"{self.struct} lines": MOST_LINES, **apart}]
        reached = [specialise(spec, numbers(self.knobs, self.settings(**{**knobs, **one}))) for one in placed]
        for one in dict(pair for some in reached for pair in some).values():
            if one.op == "ACCESS" and one.operands[1] == number:
                name, kind = one.words[3], one.words[0]
            elif one.op in ("LOCK", "UNLOCK") and spec.locks[int(str(one.operands[0]))].lines.number == number:
                name, kind = spec.locks[int(str(one.operands[0]))].field, "atomic"
            else:
                continue
            by = found.setdefault(name, {})
            symbol = spec.program.symbols[one.symbol]
            by[symbol] = max(by.get(symbol, "read"), kind, key=strongest.index)
        return found


@dataclass(frozen=True)
class Sample:
    """A struct whose layout a thread turned on, and the run that shows it.

    Attributes
    ----------
    layouts
        By the name of the kernel or patch; the first is before, the last after.
    symbols
        Who touches the fields that the thread is about.
    metrics
        What the layout changes, the most telling first.
    hot
        The field whose line others take away again and again, if it is the neighbours that are moved; and its words.
    """

    name: str
    title: str
    scenario: str
    struct: str
    layouts: Mapping[str, Layout]
    symbols: tuple[str, ...]
    metrics: tuple[str, ...]
    knobs: Mapping[str, Any]
    why: str
    replications: int = 5
    about: tuple[str, ...] = ()
    hot: tuple[str, str] = ("", "")

    def placed(self) -> Placed:
        """The scenario whose fields can be moved."""
        return Placed(SCENARIOS[self.scenario](), self.struct)


SAMPLES: Final = {
    sample.name: sample
    for sample in (
        Sample(
            "sock",
            "struct sock around the fields of early demux",
            "tcp-5.17",
            "sock",
            {
                "before patch 20": structs.sock(defer_free=True),
                "after patch 20": structs.sock(defer_free=True, demux_fields_close=True),
            },
            ("tcp_v6_early_demux",),
            ("gbps", "transfers_per_packet", "mpps"),
            {"defer_free": 1, "gro_max_segs": 4},
            "GRO stops at four segments here, so that early demux runs often enough for one line to show.",
            about=("sk_rx_dst", "sk_rx_dst_ifindex", "sk_rx_dst_cookie", "sk_refcnt"),
        ),
        Sample(
            "dst_entry",
            "struct rtable, which begins with a dst_entry",
            "tcp-prequeue",
            "rtable",
            {"3.17 (2014)": structs.RTABLE_3_17, "6.0 (2022)": structs.RTABLE_6_0, "6.4 (2023)": structs.RTABLE_6_4},
            ("ipv4_dst_check", "ip_rcv_finish"),
            ("mpps", "dst_transfers"),
            {"drop_dst_early": 0},
            "The patch of 2014 is off, so that every packet to a reader takes and drops a reference.",
            2,
            ("__refcnt", "rt_genid", "rt_type"),
            hot=("__refcnt", "the count's"),
        ),
        Sample(
            "tcp_globals",
            "two counters of TCP, placed by the linker",
            "tcp-5.17",
            "tcp globals",
            {"before patch 10": structs.TCP_COUNTERS_BEFORE, "after patch 10": structs.TCP_COUNTERS_AFTER},
            ("tcp_v6_init_sock",),
            ("neighbour_reads_per_s", "transfers_per_packet", "gbps"),
            {"defer_free": 1, "neighbours": 1},
            "Two other programs charge memory and open connections, since one flow alone seldom touches the counters.",
            about=("tcp_memory_allocated", "tcp_sockets_allocated.counters"),
            hot=("tcp_memory_allocated", "the memory count's"),
        ),
    )
}
