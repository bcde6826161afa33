"""Where the hot fields of `struct sock` lie as the 5.17 series goes on: a table, and bytes drawn to scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures import kept
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim import scenarios, structs
from sim.layout import LINE_BYTES, Layout
from sim.timing import timing

SHRUNK: Final = {"drop_forced_caps": True, "drop_nocaps": True, "fill_sock_hole": True}

#: States of the struct, in the order of the series.
STATES: Final[Mapping[str, Layout]] = {
    "before": structs.sock(),
    "with 5, 6, 8": structs.sock(**SHRUNK),
    "and 17": structs.sock(**SHRUNK, defer_free=True),
    "and 20": structs.sock(**SHRUNK, defer_free=True, demux_fields_close=True),
}

_TCP: Final = "whoever runs TCP, and the reader"
#: Fields that a receiver touches: who writes them for each packet or call.
HOT: Final[Mapping[str, str]] = {
    "skc_portpair": "nobody", "skc_v6_rcv_saddr": "nobody", "sk_refcnt": "softirq, taken and dropped",
    "sk_rx_dst": "nobody", "sk_rx_dst_ifindex": "nobody", "sk_rx_dst_cookie": "nobody",
    "sk_lock.slock": "both CPUs", "sk_receive_queue": _TCP, "sk_rmem_alloc": _TCP,
    "sk_backlog.tail": "both CPUs", "defer_list": "both CPUs", "sk_forward_alloc": _TCP,
    "sk_rcvbuf": "nobody", "sk_sndbuf": "nobody", "sk_err": "nobody", "sk_rcvtimeo": "nobody",
    "sk_shutdown": "nobody", "sk_data_ready": "nobody", "sk_backlog_rcv": "nobody",
}

#: What is drawn: fields, colour class, words.
DRAWN: Final = (
    (("sk_rx_dst", "sk_rx_dst_ifindex", "sk_rx_dst_cookie"), "c0", "route for early demux"),
    (("sk_refcnt",), "ink", "sk_refcnt"),
    (("sk_lock.slock", "sk_lock.owned", "sk_receive_queue", "sk_receive_queue.qlen", "sk_receive_queue.lock",
      "sk_rmem_alloc", "sk_backlog.len", "sk_backlog.head", "sk_backlog.tail", "sk_forward_alloc"), "c1",
     "written for each packet"),
    (("defer_list",), "c2", "defer_list"),
)


def place(layout: Layout, field: str) -> str | None:
    """A field's line and offset in words; nothing if the layout has no such field."""
    if field not in {f.name for f in layout.fields}:
        return None
    found = layout.field(field)
    return f"{found.line} ({found.offset})"


def lines(fields: Sequence[str] | None = None) -> Table:
    """Line and offset of hot fields in each state."""
    rows: list[Sequence[Cell]] = [
        [field, HOT[field], *(place(layout, field) for layout in STATES.values())]
        for field in (fields or HOT)
    ]
    rows.append(["size of the struct", None, *(f"{x.size} bytes, {x.lines} lines" for x in STATES.values())])
    columns = ["field", "written for each packet by", *STATES]
    return Table("struct sock: the line of a field, and its offset", columns, rows, code=["field"])


def companions(layout: Layout, field: str) -> list[str]:
    """Other hot fields on a field's line."""
    return [name for name in layout.on_line(layout.line(field)) if name in HOT and name != field]


def strip(first: int = 128, last: int = 384) -> Picture:
    """Bytes `first` to `last` of the struct in each state, to scale, with the ends of cache lines."""
    after = [name for name in companions(STATES["and 17"], "sk_rx_dst") if HOT[name] == _TCP]
    picture = Picture(
        30 + 58 * len(STATES) + 40,
        "Patch 17's list head pushes the route's fields over the end of a line and puts "
        f"{' and '.join(after)}, which is written for each packet, on the line of the route's pointer; patch 20 brings "
        "the three fields together beside the reference count and the lock.",
    )
    left, width = 6.0, 348.0

    def x(byte: int) -> float:
        return left + width * (byte - first) / (last - first)

    for line in range(first // LINE_BYTES, last // LINE_BYTES):
        picture.text(x(line * LINE_BYTES) + width * LINE_BYTES / (last - first) / 2, 14, f"line {line}",
                     "mid small quiet")
    for row, (name, layout) in enumerate(STATES.items()):
        y = 24 + 58 * row
        picture.text(left, y + 12, name, "small strong")
        for fields, colour, _ in DRAWN:
            for field in layout.fields:
                if field.name in fields and first <= field.offset < last:
                    picture.box(x(field.offset), y + 18, x(field.end) - x(field.offset), 22, colour, 0)
        for line in range(first // LINE_BYTES, last // LINE_BYTES):
            picture.box(x(line * LINE_BYTES), y + 18, x((line + 1) * LINE_BYTES) - x(line * LINE_BYTES), 22, "box", 0)
    y = 30 + 58 * len(STATES)
    for number, (_, colour, words) in enumerate(DRAWN):
        at = left + 176 * (number % 2)
        picture.box(at, y + 18 * (number // 2), 11, 11, colour, 0)
        picture.text(at + 15, y + 10 + 18 * (number // 2), words, "small quiet")
    return picture


#: What early demux does, as it is told to a reader: the fields that it touches; none for its own work.
DEMUX: Final[Mapping[str, Sequence[str]]] = {
    "looking up": (), "ports and addresses": ("skc_portpair", "skc_v6_rcv_saddr"), "sk_refcnt": ("sk_refcnt",),
    "the route's fields": ("sk_rx_dst", "sk_rx_dst_ifindex"),
}
#: Patches 17 and 20 of the three columns.
_WITH: Final = {"before both": (0, 0), "with 17": (1, 0), "with 17 and 20": (1, 1)}


def _demux(seeds: int) -> list[dict[str, Any]]:
    scenario = scenarios.load("tcp-5.17")
    program = scenario.spec.program
    own = program.symbols.index("tcp_v6_early_demux")
    rows = []
    for patch_17, patch_20 in _WITH.values():
        took = dict.fromkeys(DEMUX, 0.0)
        for seed in range(1, seeds + 1):
            timed = timing(scenario, seed, defer_free=patch_17, demux_fields_close=patch_20)
            for at, one in enumerate(program.code):
                if one.symbol == own and timed.visits[0][at]:
                    field = one.words[3] if one.op == "ACCESS" else None
                    part = next(p for p, fields in DEMUX.items() if field in fields or not (field or fields))
                    took[part] += timed.time_ps[0][at] / timed.visits[0][at] / 1000 / seeds
        rows.append(took)
    return rows


def demux(seeds: int = 5) -> Table:
    """The time of early demux for a GRO packet, field by field, as patches 17 and 20 move the route's fields."""
    columns = kept.once(f"demux-{seeds}", lambda: _demux(seeds))
    rows: list[Sequence[Cell]] = [[part, *(one[part] for one in columns)] for part in DEMUX]
    return Table("tcp_v6_early_demux, ns for a GRO packet", ["part", *_WITH], rows)
