"""Lists of packets to be freed later, in a student's words: two routines in two holes of tcp-5.17.

``eat`` runs when the reader has copied a packet, ``flush`` where softirq looks for packets to free. With the list of
a CPU (5.19) they run where ``defer_per_cpu`` is 1, with that of a socket (5.17) where ``defer_free`` is 1.

>>> scenario = with_cpu_list('''
... routine eat
...     jump free               # as before the patch
... routine flush
...     read softnet_data.defer_lock[cpu]
... ''')
>>> "softnet_defer cpu defer_lock" in scenario.listing(defer_per_cpu=1)
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..path.registers import ASIDE, CPU, FLOW, OTHER, SKB, K, M, N
from ..program import Program
from ..scenarios.tcp_5_17 import Tcp517
from ..spec import Spec
from .assembly import Cell, Field, Words
from .holes import Hole, apart, fill, keyed, named
from .notation import Statement

CPU_LIST: Final = "softnet_data.defer_list"
SOCKET_LIST: Final = "sk.defer_list"
REGISTERS: Final = {"skb": SKB, "aside": ASIDE, "flow": FLOW, "cpu": CPU, "other": OTHER, "n": N, "m": M, "k": K}
ROUTINES: Final = ("eat", "flush")
#: Counters of where a packet is freed: by the CPU that allocated it, or by another one.
HOME, AWAY = "freed_home", "freed_away"


def with_cpu_list(text: str | Sequence[str]) -> Tcp517:
    """tcp-5.17 with a text's routines as the list of a CPU: they run with ``defer_per_cpu=1``.

    Raises RoutineError.
    """
    def words(spec: Spec) -> dict[str, Any]:
        return {
            "fields": {"softnet_data.defer_lock": Field(named(spec.lines, "softnet_defer"), "defer_lock")},
            "cells": {"sk_buff.alloc_cpu": Cell(named(spec.tables, "sk_buff"), "alloc_cpu")},
            "locks": {"defer_lock": named(spec.locks, "defer_lock")},
            "queues": {CPU_LIST: named(spec.queues, CPU_LIST)},
        }

    holes = (
        _hole("eat", "skb_attempt_defer_free", "defer_per_cpu", 0, words),
        _hole("flush", "skb_defer_free_flush", "defer_per_cpu", 1, words),
    )
    return _filled(holes, text, {"defer_free": 0, "defer_per_cpu": 1})


def with_socket_list(text: str | Sequence[str]) -> Tcp517:
    """tcp-5.17 with a text's routines as the list of a socket: they run with ``defer_free=1``, ``flush`` in softirq.

    Raises RoutineError.
    """
    def words(spec: Spec) -> dict[str, Any]:
        return {
            "fields": {
                "sk_buff.next": Field(named(spec.lines, "sk_buff"), "next"),
                SOCKET_LIST: Field(named(spec.lines, "sock"), "defer_list"),
            },
            "queues": {
                "sk.receive_queue": named(spec.queues, "sk_receive_queue"),
                SOCKET_LIST: named(spec.queues, "sk->defer_list"),
            },
        }

    holes = (
        _hole("eat", "tcp_eat_recv_skb", "defer_free", 0, words),
        _hole("flush", "sk_defer_free_flush", "defer_free", 2, words),
    )
    return _filled(holes, text, {"defer_free": 1, "defer_per_cpu": 0})


def _hole(name: str, symbol: str, key: str, which: int, words: Any) -> Hole:
    def known(spec: Spec) -> Words:
        branch = [code for code in spec.program.code if code.op == "KEY" and code.words[0] == key][which]
        leave = {"free": "exercise.free"} if name == "eat" else {"out": str(branch.operands[1])}
        calls = {"kfree_skb": "exercise.kfree_skb"} if name == "flush" else {}
        return Words(registers=REGISTERS, exits=leave, calls=calls, **words(spec))

    return Hole(name, symbol, keyed(key, which), known)


def _filled(holes: Sequence[Hole], text: str | Sequence[str], on: Mapping[str, int]) -> Tcp517:
    scenario = Tcp517()
    _count(scenario.spec.program, named(scenario.spec.tables, "sk_buff"))
    fill(scenario, holes, text, (on, {**on, "reader_cpu": "same_cpu"}))
    scenario.verified = True
    return scenario


def _count(program: Program, table: Any) -> None:
    """Write two doors to ``kfree_skb``, which count who frees and where; neither takes time."""
    for door, stat in (("exercise.free", "freed_by_reader"), ("exercise.kfree_skb", "freed_by_softirq")):
        with program.symbol("__kfree_skb"):
            program.label(door)
            program.count(stat)
            program.load(OTHER, table, "alloc_cpu", SKB)
            program.branch(OTHER, "==", CPU, f"{door}.home")
            program.count(AWAY)
            program.jump("kfree_skb")
            program.label(f"{door}.home")
            program.count(HOME)
            program.jump("kfree_skb")


def locking(text: str) -> list[tuple[int, str]]:
    """Lines that touch a CPU's list without its lock, or free a packet under it, with the reason.

    The verifier has made sure that a place of a routine is always reached with the same locks.
    """
    return [found for statements in apart(text, ROUTINES).values() for found in _locking(statements)]


def _locking(statements: Sequence[Statement]) -> list[tuple[int, str]]:
    at = {label: k for k, statement in enumerate(statements) for label in statement.labels}
    held: dict[int, str] = {}
    work = [(0, "")]
    while work:
        place, lock = work.pop()
        if place in held or place >= len(statements):
            continue
        held[place] = lock
        op, given = statements[place].op, statements[place].given
        lock = given.get("row", "") if op == "lock" else "" if op == "unlock" else lock
        if given.get("to") in at:
            work.append((at[given["to"]], lock))
        if op not in ("jump", "ret"):
            work.append((place + 1, lock))
    found = []
    for place, lock in sorted(held.items()):
        statement = statements[place]
        if statement.op in ("push", "pop") and lock != statement.given.get("row"):
            found.append((statement.line, f"{statement.op} without the lock of that list"))
        if statement.op == "call" and lock:
            found.append((statement.line, "a packet is freed while the lock is held"))
    return found
