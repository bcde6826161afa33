"""Pictures and tables of the page on memory: what a packet is made of, and what its pages cost on which CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from book.figures.sampling import sampled
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from book.figures.verdicts import between
from sim.machine import Machine
from sim.path.costs import COSTS
from sim.result import Result

#: Kinds of work on a packet's memory, by kernel symbol.
TAKING: Final = frozenset({"rmqueue", "rmqueue_bulk", "page_pool_alloc_pages"})
WAKING: Final = frozenset({"sock_def_readable"})
GIVING: Final = frozenset({"put_page", "free_unref_page", "free_pcppages_bulk", "page_pool_put_page"})
#: A full GRO packet at an MTU of 1,500.
SKBS, SEGMENTS = 3, 45
PAYLOAD_BITS: Final = 8 * 1428  # of one of its frames


def anatomy() -> Picture:
    """A GRO packet of two sk_buffs: description, head buffer with shared info, pages."""
    picture = Picture(
        318,
        "A received packet is not one buffer: an sk_buff points to a head with the headers, behind the head the shared "
        "info lists page fragments, and a large GRO packet chains further sk_buffs; each part is freed by itself.",
    )
    for place, (title, words) in enumerate((("first sk_buff", "17 fragments"), ("second sk_buff", "the next 17"))):
        y = 24 + 150 * place
        picture.box(6, y, 104, 60, "wash", 6)
        picture.text(58, y + 20, title, "mid strong")
        picture.text(58, y + 37, "owner, length,", "mid small quiet")
        picture.text(58, y + 51, "pointers", "mid small quiet")
        picture.arrow(110, y + 24, 138, y + 24, "rule")
        picture.box(140, y, 92, 84, "box", 6)
        picture.text(186, y + 18, "head", "mid strong")
        picture.text(186, y + 34, "headers", "mid small quiet")
        picture.line([(140, y + 44), (232, y + 44)], "rule")
        picture.text(186, y + 60, "shared info", "mid strong")
        picture.text(186, y + 76, words, "mid small quiet")
        for page in range(3):
            top = y - 6 + 34 * page
            picture.arrow(232, y + 62, 268, top + 12, "rule")
            picture.box(270, top, 84, 24, "warm", 3)
            picture.text(312, top + 16, "…" if page == 2 else "page", "mid small")
    picture.arrow(186, 108, 70, 172, "l3")
    picture.text(134, 150, "frag_list", "small")
    picture.text(4, 298, "blue: from a slab; white: slab or fragment;", "small quiet")
    picture.text(4, 312, "orange: from the page allocator or a pool", "small quiet")
    return picture


def spent_ns(run: Result, role: str, symbols: frozenset[str]) -> float:
    """Time of a role's CPU in some symbols, ns for one packet from the wire."""
    busy = 10 * run.cpu[role] / run.metrics["mpps"].mean
    return busy * sum(run.profile(role).get(symbol, 0.0) for symbol in symbols) / 100


def price_ns(run: Result, *, one_cpu: bool = False) -> tuple[float, float]:
    """What taking and giving back a packet's page costs, ns; on one CPU both roles are the same profile."""
    roles = ["reader"] if one_cpu else list(run.cpu)
    taking, giving = (sum(spent_ns(run, role, symbols) for role in roles) for symbols in (TAKING, GIVING))
    return taking, giving


def told(run: Result) -> dict[str, str]:
    """What the page tells of a stream on two cores before its predictions, by name: rate, times of one packet, ns."""
    whole = {role: 10 * run.cpu[role] / run.metrics["mpps"].mean for role in run.cpu}
    pages = {role: spent_ns(run, role, TAKING) + spent_ns(run, role, GIVING) for role in run.cpu}
    rest = {role: whole[role] - pages[role] for role in run.cpu}
    return {
        "gbps": f"{run.gbps:.0f}", "softirq-busy": f"{run.cpu['softirq']:.0f} %", "reader": f"{whole['reader']:.0f} ns",
        "giving": f"{spent_ns(run, 'reader', GIVING):.0f} ns", "reader-rest": f"{rest['reader']:.1f} ns",
        "rest": f"{rest['reader']:.1f}", "softirq-rest": f"{rest['softirq']:.1f} ns",
        "bound": f"{PAYLOAD_BITS / rest['reader']:.0f}",
    }


def pencil(run: Result, machine: Machine) -> dict[str, str]:
    """The two sums that the page's questions ask for, on the bill of a stream on two cores, by name.

    With a pool the reader pays the ring in place of the allocator. If packets go home as well, softirq takes and gives
    back, finds each page's line at hand, and frees a GRO packet's sk_buffs.
    """
    whole = 10 * run.cpu["reader"] / run.metrics["mpps"].mean
    softirq = 10 * run.cpu["softirq"] / run.metrics["mpps"].mean
    rest = softirq - spent_ns(run, "softirq", TAKING) - spent_ns(run, "softirq", GIVING)
    hit, atomic, free = (machine.cost(name) / 1000 for name in ("hit_ps", "atomic_ps", "page_free_ps"))
    pool, ring, skb = (COSTS[name].value / 1000 for name in ("page_pool_ps", "page_pool_ring_ps", "skb_free_ps"))
    taking, giving, skbs = pool + hit, ring + hit + atomic + hit, skb * SKBS / SEGMENTS
    full = rest + taking + giving + skbs
    zone = round(spent_ns(run, "reader", frozenset({"free_pcppages_bulk"})), 1)
    net = round(free, 1) + zone - ring - hit  # of the figures that the page shows
    return {
        "allocator": f"{free:.1f} ns", "ring": f"{ring:.1f} ns", "pool": f"{pool:.1f} ns", "hit": f"{hit:.0f} ns",
        "dropped": f"{hit + atomic:.0f} ns", "skb": f"{skb:.0f} ns", "skbs": f"{skbs:.1f} ns",
        "zone": f"{zone:.1f} ns", "net": f"{net:.1f} ns", "net-gain": f"{100 * (whole / (whole - net) - 1):.0f} %",
        "pool-gain": f"{100 * (whole / (whole - free + ring) - 1):.0f} %",
        "taking": f"{taking:.1f}", "giving": f"{giving:.1f}", "softirq": f"{full:.0f} ns",
        "bound": f"{PAYLOAD_BITS / full:.0f}",
    }


def prices(caption: str, runs: Mapping[str, Result], one_cpu: Sequence[str] = ()) -> Table:
    """Throughput and the price of a page, a row for each setting; settings of `one_cpu` have both roles there."""
    rows: list[Sequence[Cell]] = []
    for name, run in runs.items():
        rate = run.metrics["gbps"]
        taking, giving = price_ns(run, one_cpu=name in one_cpu)
        rows.append((
            name, f"{rate.mean:.1f}", between(rate.low, rate.high), taking, giving, taking + giving,
            f"{run.metrics['freed_by_softirq'].mean:.0f} %", f"{run.cpu['softirq']:.0f} / {run.cpu['reader']:.0f}",
        ))
    columns = ["setting", "Gbit/s", "95 %", "taking a page, ns", "giving it back, ns", "together, ns",
               "freed by softirq", "softirq / reader busy, %"]
    return Table(f"{caption}; {sampled(next(iter(runs.values())))}", columns, rows, digits=0)


def allocators(caption: str, runs: Mapping[str, Result]) -> Table:
    """Requests and replies: objects of a slab that went home, and time spun for the allocator's locks."""
    rows: list[Sequence[Cell]] = [
        (name, *(run.metrics[metric].mean for metric in ("mpps", "remote_frees", "alien_frees")),
         run.metrics["lock_wait"].mean / 100)
        for name, run in runs.items()
    ]
    columns = ["setting", "M requests/s", "SLUB: freed to another CPU's slab", "SLAB: freed to another node",
               "CPUs that spin"]
    return Table(caption, columns, rows, digits=2)
