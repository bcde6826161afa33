"""The later life of each idea, 2008 to 2026: a picture that leads to the chapters, and the same as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from book.figures.svg import WIDTH, Picture
from book.figures.table import Cell, Link, Table
from sim.scenarios.scenario import Scenario

FIRST, LAST = 2008, 2027
#: What happened to an idea: its colour, and how the picture's key puts it.
KINDS: Final = {
    "begun": ("c0", "begun"),
    "mended": ("c3", "mended"),
    "widened": ("c2", "widened"),
    "removed": ("c1", "removed"),
}


class Event(NamedTuple):
    """Something that happened to an idea.

    `when` is a year or ``year-month``; `kernel` the release that first had it, empty where no source was read;
    `source` the first twelve digits of a commit, or an address.
    """

    when: str
    kernel: str
    kind: str
    what: str
    source: str

    @property
    def year(self) -> float:
        """Its place on the axis, in years; the middle of a year if no month is known."""
        year, _, month = self.when.partition("-")
        return int(year) + ((int(month) - 0.5) / 12 if month else 0.5)

    @property
    def link(self) -> Link:
        """Where it stands."""
        if self.source.startswith("https://"):
            return Link(self.source.split("/")[2], self.source)
        return Link(self.source, f"https://git.kernel.org/linus/{self.source}")


class Idea(NamedTuple):
    """An idea of a chapter, and what became of it in order of time."""

    name: str
    page: str
    events: tuple[Event, ...]


IDEAS: Final = (
    Idea("A count that nobody shares", "chapters/tcp-prequeue", (
        Event("2008-11", "", "begun", "the route's count gets a line of its own", "5635c10d9767"),
        Event("2014-09", "3.18", "mended", "parked packets let go of their route", "ca777eff51f7"),
        Event("2016-04", "", "mended", "the prequeue gets a limit", "0cef6a4c34b5"),
        Event("2017", "4.14", "removed", "the prequeue, with all that was done for it", "e7942d0633c4"),
        Event("2018-11", "", "widened", "the backlog lets go of routes as well", "ade9628ed049"),
        Event("2023-03", "6.4", "mended", "its neighbours leave the count's line", "d288a162dd1c"),
        Event("2023-03", "6.4", "widened", "a count without a loop", "bc9d3a9f2afc"),
    )),
    Idea("Ask without a lock", "chapters/packet-rollover", (
        Event("2013-03", "3.10", "begun", "a full socket's packets roll over to others", "77f65ebdca50"),
        Event("2015-05", "4.2", "mended", "a full socket is marked, and left alone", "2ccdbaa6d55b"),
        Event("2015-05", "4.2", "mended", "the mark is written under the lock only", "54d7c01d3ed6"),
        Event("2019-06", "", "widened", "nobody takes the lock to ask", "4373a5e2606b"),
    )),
    Idea("Look up once", "chapters/udpv6-early-demux", (
        Event("2012-06", "", "begun", "early demux, for TCP over IPv4", "41063e9dd119"),
        Event("2012-06", "", "mended", "a switch for routers", "6648bd7e0e62"),
        Event("2013-10", "", "widened", "UDP over IPv4", "421b3885bf6d"),
        Event("2017-03", "4.12", "widened", "UDP over IPv6", "5425077d73e0"),
        Event("2017-03", "4.12", "mended", "a switch each for TCP and UDP", "dddb64bcb346"),
        Event("2017-04", "4.12", "mended", "connected sockets only", "0bd84065b19b"),
        Event("2022-07", "", "mended", "the switches act in every namespace", "11052589cf5c"),
        Event("2024-03", "", "widened", "no count of references at all", "08842c43d016"),
    )),
    Idea("Keep one packet", "chapters/tcp-rx-skb-cache", (
        Event("2019-03", "5.2", "begun", "a socket keeps the packet that it read last", "8b27dae5a2e8"),
        Event("2019-06", "5.2", "mended", "a switch for each half, both off", "0b7d7f6b2208"),
        Event("2021-09", "5.16", "removed", "both caches", "d8b81175e412"),
    )),
    Idea("Free it where it came from", "chapters/tcp-5.17/defer-free", (
        Event("2021-11", "5.17", "begun", "a list for each socket", "f35f821935d8"),
        Event("2022-01", "", "mended", "kernel TLS empties it", "ffef737fd037"),
        Event("2022-01", "", "mended", "a destroyed socket empties it, and warns", "79074a72d335"),
        Event("2022-01", "", "mended", "splice() empties it", "ebdc1a030962"),
        Event("2022-04", "5.19", "widened", "a list for each CPU", "68822bdf76f1"),
        Event("2022-05", "5.19", "mended", "a limit, a switch, an earlier kick",
              "https://lore.kernel.org/netdev/20220516042456.3014395-1-eric.dumazet@gmail.com/"),
        Event("2024-03", "", "mended", "real-time kernels: threads instead of interrupts", "80d2eefcb4c8"),
        Event("2025-09", "6.18", "widened", "UDP", "6471658dc66c"),
        Event("2025-09", "6.18", "widened", "lists for each pair of CPU and node, without a lock",
              "https://lore.kernel.org/netdev/20250928084934.3266948-1-edumazet@google.com/"),
        Event("2025-11", "", "widened", "packets that were sent", "86b721bb0b4c"),
        Event("2026-02", "", "mended", "zero-copy packets are not kept", "0943404b1f3b"),
    )),
    Idea("Fields by who writes them", "chapters/tcp-5.17/sharing", (
        Event("2021-11", "5.17", "begun", "two counters of all TCP sockets part", "91b6d3256356"),
        Event("2021-11", "5.17", "begun", "early demux finds its fields on one line", "43f51df41729"),
        Event("2022-06", "", "widened", "each CPU keeps a reserve of the memory counter", "e10b02ee5b6c"),
        Event("2023-11", "6.8", "widened", "the hot fields of each struct, written down", "14006f1d8fa2"),
        Event("2024-02", "", "widened", "struct sock, sorted anew", "5d4cc87414c5"),
    )),
    Idea("Say less", "chapters/tcp-5.17/acks", (
        Event("2021-11", "5.17", "begun", "no ACK while a backlog waits", "29fbc26e6dfc"),
        Event("2023-09", "6.7", "widened", "one ACK for the whole backlog", "133c4c0d3717"),
    )),
)
LEFT, RIGHT = 18.0, WIDTH - 18.0
LANE, LEVEL, APART = 54.0, 13.0, 25.0


def place(year: float) -> float:
    """Where a year lies on the axis."""
    return LEFT + (RIGHT - LEFT) * (year - FIRST) / (LAST - FIRST)


def levels(places: Sequence[float]) -> list[int]:
    """For each dot with its number the lowest level on which it stands clear of those before it."""
    ends: list[float] = []
    found = []
    for x in places:
        level = next((at for at, end in enumerate(ends) if x - end >= APART), len(ends))
        ends[level : level + 1] = [x]
        found.append(level)
    return found


def numbered(ideas: Sequence[Idea] = IDEAS) -> list[tuple[int, Idea, Event]]:
    """All events with the numbers that picture and table share."""
    return [
        (number, idea, event)
        for number, (idea, event) in enumerate(((i, e) for i in ideas for e in i.events), 1)
    ]


def timeline(ideas: Sequence[Idea] = IDEAS, up: str = "../", end: str = ".html") -> Picture:
    """A lane for each idea, a numbered dot for each event; the lane's name leads to its chapter."""
    events = numbered(ideas)
    lives = "; ".join(f"{idea.name.lower()} {idea.events[0].when[:4]} to {idea.events[-1].when[:4]}" for idea in ideas)
    rows = {
        idea.name: levels([place(event.year) for _, its, event in events if its is idea]) for idea in ideas
    }
    counted = tally(ideas)
    height = 56 + sum(LANE + LEVEL * max(row) for row in rows.values())
    picture = Picture(
        height,
        f"None of the {len(ideas)} ideas was finished with its patch: after {counted['history-begun']} beginnings came "
        f"{counted['history-mended']} repairs, {counted['history-widened']} wider uses and "
        f"{counted['history-removed']} removals ({lives}). The table below lists the numbered events.",
    )
    for at, (kind, words) in enumerate(KINDS.values()):
        picture.dot(LEFT + 84 * at + 5, 10, 5, kind)
        picture.text(LEFT + 84 * at + 14, 14, words, "small")
    y = 24.0
    for idea in ideas:
        own = [(number, event) for number, its, event in events if its is idea]
        y += LANE + LEVEL * max(rows[idea.name])
        picture.link(LEFT - 14, y - 30 - LEVEL * max(rows[idea.name]), idea.name, f"{up}{idea.page}{end}", "strong")
        picture.line([(LEFT, y), (RIGHT, y)], "grid")
        picture.line([(place(own[0][1].year), y), (place(own[-1][1].year), y)], "rule")
        for (number, event), level in zip(own, rows[idea.name], strict=True):
            x = place(event.year)
            at = y - LEVEL * level - 2 * (level > 0)
            picture.line([(x, y), (x, at)], "grid")
            picture.dot(x, at, 5, KINDS[event.kind][0])
            picture.text(x + 7, at + 4 if level else y - 2, str(number), "small")  # the lane's line stays clear
    for year in range(FIRST, LAST + 1, 3):
        picture.text(place(year), y + 22, str(year), "mid small quiet")
        picture.line([(place(year), y + 6), (place(year), y + 10)], "rule")
    return picture


def table(ideas: Sequence[Idea] = IDEAS) -> Table:
    """The same events in words, each with its source."""
    rows: list[list[Cell]] = [
        [f"{number}. {event.what}", event.when, event.kernel or None, idea.name.lower(), event.kind, event.link]
        for number, idea, event in numbered(ideas)
    ]
    columns = ["what happened", "when", "kernel", "idea", "it was", "where it stands"]
    return Table("What became of the ideas (a dash: its first release was not looked up)", columns, rows)


def tally(ideas: Sequence[Idea] = IDEAS) -> dict[str, str]:
    """What the page's sentences quote: how many events of each kind, and how many in all."""
    events = numbered(ideas)
    counted = {kind: sum(event.kind == kind for _, _, event in events) for kind in KINDS}
    return {"history-events": str(len(events)), **{f"history-{kind}": str(count) for kind, count in counted.items()}}


def lists(scenario: Scenario) -> dict[str, str]:
    """What a solution quotes: the lists of 5.17 and 5.19 for small packets without RFS, and the reader's load there."""
    old, new = (
        scenario.run(rfs=0, mtu=1500, defer_free=socket, defer_per_cpu=cpu, replications=3)
        for socket, cpu in ((1, 0), (0, 1))
    )
    return {
        "history-lists-socket": f"{old.gbps:.1f}",
        "history-lists-cpu": f"{new.gbps:.1f}",
        "history-lists-reader": f"{new.cpu['reader']:.0f}",
    }
