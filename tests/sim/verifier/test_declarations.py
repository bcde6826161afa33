"""Unsound declarations are refused: machine, sets, first contents, threads and agents, image words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sim.engine import tables as T
from sim.spec import Integer, Reference, Spec
from sim.verifier import Unsound, verify, verify_image
from tests.sim.verifier.small import Small

Change = Callable[[Small], object]
CASES: dict[str, tuple[Change, str]] = {
    "negative cost": (
        lambda s: s.spec.cost(memory_ps=-1),
        "machine 5 (memory_ps): is -1: it may not be negative",
    ),
    "cost too large": (
        lambda s: s.spec.cost(atomic_ps=1 << 34),
        "machine 6 (atomic_ps): is 17179869184: times could overflow from 17179869184 on",
    ),
    "smt too large": (
        lambda s: s.spec.cost(smt_permille=16_001),
        "machine: smt_permille is 16001: times could overflow above 16000",
    ),
    "no core": (
        lambda s: s.spec.cost(sockets=0), "machine: there are 0 cores; a machine has one at least"
    ),
    "too many cores": (
        lambda s: s.spec.cost(cores_per_socket=113),
        "machine: there are 113 cores; a line's sharers are 112 at most",
    ),
    "three threads a core": (
        lambda s: s.spec.cost(threads_per_core=3), "machine: a core has 3 threads; 1 or 2 are possible"
    ),
    "negative count": (
        lambda s: s.spec.domain("none", -1), "domain 5 (none): has -1 rows; 0 to 67108864 are possible"
    ),
    "huge arena": (
        lambda s: s.spec.struct("huge", s.spec.domain("huge", 1 << 26), {}, 1), "size: the arena needs about"
    ),
    "negative lines": (
        lambda s: s.spec.struct("less", s.sock, {}, -1),
        "lines 1 (less): has -1 lines a row; 0 to 65536 are possible",
    ),
    "lock beside its row": (
        lambda s: s.spec.spinlocks("wide", s.spec.struct("narrow", s.sock, {"lock": 1}, 1), "lock"),
        "lock 2 (wide): lies on line 1 of a row, which has 1",
    ),
    "kind of lock": (
        lambda s: s.spec.spinlocks("odd", s.lines, "lock", 2),
        "lock 2 (odd): is of kind 2; 0 (ticket) and 1 (queued) are possible",
    ),
    "negative capacity": (
        lambda s: s.spec.queue("less", s.one, s.skb, -1), "queue 3 (less): has room for -1 items"
    ),
    "cpu of a thread": (
        lambda s: s.spec.spawn_threads("far", "thread", 3, base=0, mod=3),
        "spawn 2 (far): runs on CPU 2; they go from 0 to 1",
    ),
    "negative number of threads": (
        lambda s: s.spec.spawn_threads("few", "thread", -1), "spawn 2 (few): there are -1 of them"
    ),
    "agent after the end of time": (
        lambda s: s.spec.spawn_agents("late", "agent", 2, stagger=T.INF),
        f"spawn 2 (late): begins at {T.INF} ps; times go from 0 to {T.INF - 1}",
    ),
    "agent before time": (
        lambda s: s.spec.spawn_agents("early", "agent", start=-1),
        "spawn 2 (early): begins at -1 ps; times go from 0",
    ),
    "too many actors": (
        lambda s: s.spec.spawn_agents("many", "agent", 1022),
        "spawns: 1025 CPUs and agents; the calendar has room for 1024",
    ),
    "fill of missing items": (
        lambda s: s.spec.fill(s.pages, 5), "fill 1 of queue 2 (pages): puts items 0 to 4; they go from 0 to 3"
    ),
    "fill of missing rows": (
        lambda s: s.spec.fill(s.pages, 4, row=1),
        "fill 1 of queue 2 (pages): fills rows 1 to 1; they go from 0 to 0",
    ),
    "fill of a negative number": (
        lambda s: s.spec.fill(s.pages, -4), "fill 1 of queue 2 (pages): puts -4 items"
    ),
    "item on two queues": (
        lambda s: s.spec.fill(s.backlog, 1, first=7),
        "fill 1 of queue 1 (backlog): puts items that fill 0 puts on a queue too",
    ),
    "fill above capacity": (
        lambda s: s.spec.fill(s.spec.queue("short", s.one, s.page, 2), 3),
        "fill 1 of queue 3 (short): puts 3 items where 2 fit",
    ),
    "init outside the type": (
        lambda s: s.spec.init(s.table, "state", 5, mod=3, mul=2),
        "init 1 of sock.state: a cell begins with 9; its type has 0 to 7",
    ),
    "random init outside the type": (
        lambda s: s.spec.init(s.table, "state", 0, mod=9, random=True),
        "init 1 of sock.state: a cell begins with 8; its type has 0 to 7",
    ),
    "random init that overflows": (
        lambda s: s.spec.init(s.table, "bytes", 0, mod=1 << 31, random=True),
        "init 1 of sock.bytes: a draw of 2147483648 could overflow",
    ),
    "cell that begins with 0": (
        lambda s: s.spec.table("late", s.sock, one=Integer(1, 2)),
        "column late.one: a cell begins with 0; its type has 1 to 2",
    ),
    "reference to an empty domain": (
        lambda s: s.spec.table("empty", s.sock, one=Reference(s.spec.domain("nothing", 0))),
        "column empty.one: a cell begins with 0; its type has -1 to -1",
    ),
    "reference to another spec": (
        lambda s: s.spec.table("other", s.sock, one=Reference(Spec().domain("other", 3))),
        "table other: column one refers to a domain of another spec",
    ),
    "value that overflows": (
        lambda s: s.spec.domain("far", (s.number + (1 << 61)) * 2),
        "is 4611686018427387904, which could overflow",
    ),
    "negative trace": (lambda s: setattr(s.spec, "trace_rows", s.number - 1), "trace rows: is -1"),
}


@pytest.mark.parametrize("name", CASES)
def test_unsound_declaration_is_refused(name: str) -> None:
    small = Small()
    verify(small.spec)
    change, reason = CASES[name]
    change(small)
    with pytest.raises(Unsound) as caught:
        verify(small.spec)
    assert reason in str(caught.value)
    assert caught.value.address is None


def word(section: str, row: int, column: str) -> Callable[[np.ndarray], int]:
    """Where a word of a section stands in an image."""

    def find(image: np.ndarray) -> int:
        k = list(T.SECTIONS).index(section)
        words = T.SECTIONS[section]
        return int(image[T.S_SECTION + 2 * k]) + row * len(words) + words.index(column)

    return find


IMAGES: dict[str, tuple[Callable[[np.ndarray], int], int, str]] = {
    "magic": (lambda _: T.S_MAGIC, 1, "header: magic, version and words are"),
    "version": (lambda _: T.S_VERSION, 9, "header: magic, version and words are"),
    "section": (lambda _: T.S_DOMAINS, 9, "section domains: lies at 9 with 5 rows, but"),
    "rows": (lambda _: T.S_MACHINE + 1, 5, "header: the sections end at word"),
    "seed": (lambda _: T.S_SEED, 999, "seed: there is no value 999"),
    "no counter": (lambda _: T.S_STATS, 0, "header: there must be a symbol and a counter"),
    "forward value": (
        word("values", 1, "fn"), T.V_ADD,
        "value 1: refers to value 1, which does not come before it",
    ),
    "function": (word("values", 0, "fn"), 12, "value 0: there is no function 12"),
    "knob": (word("values", 0, "a"), 4, "value 0: there is no knob 4; there are 4"),
    "domain": (word("queues", 1, "domain"), 5, "queue 1 (backlog): there is no domain 5; there are 5"),
    "other lines": (word("locks", 0, "domain"), 1, "lock 0 (slock): lies on lines of another domain"),
    "columns": (word("tables", 0, "columns"), 5, "tables: the tables are not those of the spec"),
    "init column": (word("inits", 0, "column"), 4, "init 0: table 0 (sock) has no column 4"),
    "init draw": (word("inits", 0, "draw"), 2, "init 0 of sock.head: there is no draw 2"),
    "spawn": (
        word("spawns", 0, "kind"), 0,
        "spawn 0 (reader): is of kind 0; 1 (thread) and 2 (agent) are possible",
    ),
    "entry": (word("vectors", 0, "entry"), 3, "vector 0 (softirq): there is no code 3; there are 3"),
    "opcode": (
        word("code", 1, "op"), 29,
        "instruction 1 (thread) `opcode 29` in tcp_recvmsg: there is no opcode 29",
    ),
    "mask": (word("code", 1, "mask"), 1, "mask 1 puts values where none may stand"),
    "symbol": (word("code", 1, "symbol"), 4, "`halt` in symbol 4: there is no symbol 4"),
}


@pytest.mark.parametrize("name", IMAGES)
def test_unsound_image_is_refused(name: str) -> None:
    small = Small()
    image = small.spec.image()
    find, number, reason = IMAGES[name]
    image[find(image)] = number
    with pytest.raises(Unsound) as caught:
        verify_image(small.spec, image)
    assert reason in str(caught.value)


def test_more_vectors_than_a_cpu_has_are_refused() -> None:
    small = Small()
    small.spec.vectors += ["softirq"] * 4
    with pytest.raises(Unsound, match="5 vectors, but a CPU has 4"):
        verify(small.spec)


def test_an_image_is_not_shorter_than_its_header() -> None:
    with pytest.raises(Unsound, match="an image has at least"):
        verify_image(Spec(), np.zeros(3, np.int64))
