"""The twenty patches of the 5.17 series: what the mails state of each, and the picture of all of them.

Titles and line counts are those of the mails, commits those of the merged tree; which page a patch is on, and which key
of the scenario switches it, is the book's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from book.figures.svg import Picture
from book.figures.table import Cell, Link, Table
from book.figures.verdicts import between
from sim.result import Result
from sim.scenarios.scenario import Scenario

COVER: Final = "https://lore.kernel.org/netdev/20211115190249.3936899-{}-eric.dumazet@gmail.com/"
INSERTIONS, DELETIONS = 149, 95  # of the whole series, as the cover letter adds up its files

#: Ideas, in the order of their pages: what the page is called, and its colour in the picture.
IDEAS: Final[Mapping[str, tuple[str, str]]] = {
    "lines": ("cold lines", "c0"),
    "sharing": ("layout", "c3"),
    "calls": ("calls, branches", "c2"),
    "lock": ("the lock", "ink"),
    "acks": ("ACKs", "warm"),
    "races": ("races, clean-ups", "box"),
    "defer-free": ("who frees", "c1"),
}


class Patch(NamedTuple):
    """One patch: its number, commit, title, lines added and removed, the idea it belongs to, the key that runs it."""

    number: int
    commit: str
    title: str
    added: int
    removed: int
    idea: str
    key: str | None = None

    @property
    def mail(self) -> str:
        """Address of the message."""
        return COVER.format(self.number + 1)


PATCHES: Final = (
    Patch(1, "d519f350967a", "tcp: minor optimization in tcp_add_backlog()", 2, 3, "lines", "backlog_limit_late"),
    Patch(2, "283c6b54bca1", "tcp: remove dead code in __tcp_v6_send_check()", 3, 9, "races"),
    Patch(3, "373544020024", "tcp: small optimization in tcp_v6_send_check()", 1, 3, "lines", "send_check_hot_addr"),
    Patch(4, "42f67eea3ba3", "net: use sk_is_tcp() in more places", 9, 14, "races"),
    Patch(5, "d0d598ca86bd", "net: remove sk_route_forced_caps", 3, 5, "sharing", "drop_forced_caps"),
    Patch(6, "aba546565b61", "net: remove sk_route_nocaps", 11, 11, "sharing", "drop_nocaps"),
    Patch(7, "1b31debca832", "ipv6: shrink struct ipcm6_cookie", 2, 2, "sharing"),
    Patch(8, "1ace2b4d2b4e", "net: shrink struct sock by 8 bytes", 1, 1, "sharing", "fill_sock_hole"),
    Patch(9, "6c302e799a0d", "net: forward_alloc_get depends on CONFIG_MPTCP", 7, 4, "races"),
    Patch(10, "91b6d3256356", "net: cache align tcp_memory_allocated, tcp_sockets_allocated", 4, 4, "sharing",
          "align_memory_globals"),
    Patch(11, "93afcfd1db35", "tcp: small optimization in tcp recvmsg()", 1, 2, "lock", "flush_backlog"),
    Patch(12, "d2489c7b6d7d", "tcp: add RETPOLINE mitigation to sk_backlog_rcv", 14, 4, "calls",
          "direct_backlog_call"),
    Patch(13, "0307a0b74b3a", "tcp: annotate data-races on tp->segs_in and tp->data_segs_in", 10, 4, "races"),
    Patch(14, "7b6a893a5991", "tcp: annotate races around tp->urg_data", 11, 10, "lines", "poll_urg_first"),
    Patch(15, "b96c51bd3bd8", "tcp: tp->urg_data is unlikely to be set", 7, 7, "calls", "urg_unlikely"),
    Patch(16, "3df684c1a3d0", "tcp: avoid indirect calls to sock_rfree", 15, 5, "calls", "direct_rfree"),
    Patch(17, "f35f821935d8", "tcp: defer skb freeing after socket lock is released", 42, 2, "defer-free",
          "defer_free"),
    Patch(18, "8bd172b78729", "tcp: check local var (timeo) before socket fields in one test", 2, 2, "calls",
          "timeo_first"),
    Patch(19, "29fbc26e6dfc", "tcp: do not call tcp_cleanup_rbuf() if we have a backlog", 1, 2, "acks",
          "ack_after_backlog"),
    Patch(20, "43f51df41729", "net: move early demux fields close to sk_refcnt", 5, 3, "lines",
          "demux_fields_close"),
)

KEYS: Final = {patch.number: patch.key for patch in PATCHES if patch.key is not None}


def patch(number: int) -> Patch:
    """A patch by its number in the series, from 1."""
    return PATCHES[number - 1]


def keys(numbers: Sequence[int] | None = None) -> dict[str, Any]:
    """All keys of the series as knobs: on for these patches (all if not said), off for the rest."""
    return {key: int(numbers is None or number in numbers) for number, key in KEYS.items()}


def contents(idea: str | None = None) -> Table:
    """The patches of an idea, or of the series: title, commit, lines, key."""
    rows: list[Sequence[Cell]] = [
        [str(p.number), Link(p.title, p.mail), p.commit, f"+{p.added} −{p.removed}", p.key]
        for p in PATCHES if idea in (None, p.idea)
    ]
    columns = ["patch", "title", "commit", "lines, as posted", "key here"]
    return Table("Patches, commits and keys", columns, rows, code=["commit", "key here"])


def ladder(scenario: Scenario, replications: int = 8, **knobs: Any) -> list[tuple[int, Result]]:
    """Runs of the series applied patch by patch: number 0 is none, then up to each patch that has a key."""
    numbers = [0, *KEYS]
    return [
        (n, scenario.run(replications=replications, **knobs, **keys([k for k in KEYS if k <= n]))) for n in numbers
    ]


class Rung(NamedTuple):
    """The rate (Gbit/s, with its interval) after a patch and all those before it."""

    number: int
    mean: float
    low: float
    high: float


def climb(rungs: Sequence[Rung], reported: Mapping[int, float]) -> Picture:
    """The rate as the series is applied patch by patch; rings are the rates that the mail states."""
    picture = Picture(
        204,
        "Applied patch by patch, the series raises the simulated rate in one step, at patch 17: "
        f"{rungs[0].mean:.1f} Gbit/s before all of them, {rungs[-1].mean:.1f} after.",
    )
    floor, top = 40.0, 75.0
    left, right, low, high = 34.0, 350.0, 168.0, 14.0

    def at(number: int) -> float:
        return left + 8 + (right - left - 16) * number / len(PATCHES)

    def level(rate: float) -> float:
        return low - (low - high) * (rate - floor) / (top - floor)

    for rate in (40, 50, 60, 70):
        picture.line([(left, level(rate)), (right, level(rate))], "grid")
        picture.text(left - 4, level(rate) + 4, str(rate), "end small quiet")
    path: list[tuple[float, float]] = []
    for rung, after in zip(rungs, [*rungs[1:], None], strict=True):
        end = at(after.number) if after else right
        path += [(at(rung.number), level(rung.mean)), (end, level(rung.mean))]
    picture.line(path, "l0")
    for rung in rungs:
        picture.line([(at(rung.number), level(rung.low)), (at(rung.number), level(rung.high))], "l1")
    for number, rate in reported.items():
        picture.dot(at(number), level(rate), 5, "l3")
    for number in (0, 5, 10, 15, 17, 20):
        picture.text(at(number), low + 15, str(number), "mid small")
    picture.text(left, low + 30, "patches applied; Gbit/s, one flow, 1,428 bytes a packet", "small quiet")
    return picture


def portrait(effects: Mapping[int, str]) -> Picture:
    """The series at a glance: each patch with its idea, its lines, and what its run found."""
    row, top = 21, 40
    picture = Picture(
        top + row * len(PATCHES) + 62,
        "Twenty patches: patch 17 adds 42 lines and is the only one that changes the rate by more than one "
        "per cent; most of the others change fewer than a dozen lines and save a few nanoseconds each.",
    )
    picture.text(4, 14, "patch", "small quiet")
    picture.text(196, 14, "lines changed", "small quiet")
    picture.text(356, 14, "saved", "end small quiet")
    picture.text(356, 28, "ns a GRO packet", "end small quiet")
    scale = 62 / max(p.added + p.removed for p in PATCHES)
    for place, p in enumerate(PATCHES):
        y = top + row * place
        picture.box(4, y + 2, 11, 11, IDEAS[p.idea][1], 0)
        picture.text(34, y + 12, str(p.number), "end small strong")
        picture.text(40, y + 12, _short(p), "small")
        picture.box(196, y + 3, scale * p.added, 10, "wash", 0)
        picture.box(196 + scale * p.added, y + 3, scale * p.removed, 10, "warm", 0)
        picture.text(356, y + 12, effects.get(p.number, "–"), "end small")
    y = top + row * len(PATCHES) + 6
    x = 4.0
    for place, (words, colour) in enumerate(IDEAS.values()):
        if place in (3, 6):
            x, y = 4.0, y + 18
        picture.box(x, y, 11, 11, colour, 0)
        picture.text(x + 15, y + 10, words, "small quiet")
        x += 120
    return picture


_SHORT: Final = {
    1: "backlog limit, read late", 2: "dead checksum code", 3: "address in the hot part", 4: "sk_is_tcp()",
    5: "sk_route_forced_caps", 6: "sk_route_nocaps", 7: "ipcm6_cookie", 8: "a hole in struct sock",
    9: "forward_alloc_get", 10: "two globals, two lines", 11: "flush, do not release", 12: "backlog call by name",
    13: "segs_in, annotated", 14: "poll: urg_data first", 15: "urgent is unlikely", 16: "sock_rfree by name",
    17: "the free is deferred", 18: "timeo first", 19: "backlog, then the ACK", 20: "demux fields close",
}


def _short(p: Patch) -> str:
    return _SHORT[p.number]


#: The four arms in which the whole series is compared, and what is on in each.
ARMS: Final[Mapping[str, Sequence[int]]] = {
    "none": (),
    "all but 17": [n for n in KEYS if n != 17],
    "17 alone": (17,),
    "all": list(KEYS),
}


def arms(scenario: Scenario, replications: int = 8, **knobs: Any) -> dict[str, Result]:
    """Runs of the series in its four arms, on the same seeds."""
    return {
        name: scenario.run(replications=replications, **knobs, **keys(numbers)) for name, numbers in ARMS.items()
    }


def four(runs: Mapping[str, Mapping[str, Result]]) -> Table:
    """The four arms at some settings: rate, interval, busy CPUs, lines handed over."""
    rows: list[Sequence[Cell]] = [
        [f"{setting}: {arm}", f"{run.gbps:.2f}", between(run.metrics["gbps"].low, run.metrics["gbps"].high),
         run.cpu["softirq"], run.cpu["reader"], f"{run.transfers_per_packet:.2f}"]
        for setting, by_arm in runs.items() for arm, run in by_arm.items()
    ]
    columns = [
        "setting and patches", "Gbit/s", "95 %", "softirq CPU, %", "reader's CPU, %", "lines handed over, a packet",
    ]
    return Table("The series in four arms", columns, rows)
