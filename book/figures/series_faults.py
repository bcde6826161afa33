"""Faults put into the program of the 5.17 scenario, for the exercises of its part, and what runs make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from book.figures import faults
from book.figures.effects import minus, spread
from book.figures.program import narrow
from book.figures.table import Cell, Table
from sim import scenarios
from sim.scenarios.scenario import RunError, Scenario
from sim.verifier import Unsound


def fresh(name: str = "tcp-5.17") -> Scenario:
    """A scenario, to be broken: that of the series, or the lab, whose TCP is the same."""
    return scenarios.load(name)


def behind(scenario: Scenario, label: str, op: str, *words: str) -> int:
    """Where the first instruction behind a label stands whose words begin so. Raises ValueError if nowhere."""
    program = scenario.spec.program
    for at in range(program.address(label), len(program.code)):
        if program.code[at].op == op and tuple(program.code[at].words[: len(words)]) == words:
            return at
    raise ValueError(f"{scenario.name}: no {op} {' '.join(words)} behind {label}")


def never_owned() -> Scenario:
    """No thread ever sets the flag *owned by user*: softirq never meets an owned socket."""
    s = fresh()
    at = behind(s, "lock_sock", "STORE", "sock", "owned")
    operands = (*s.spec.program.code[at].operands[:-1], 0)
    return faults.changed(s, at, operands=operands, words=("sock", "owned", "flow", "0"))


def end_of_file() -> Scenario:
    """A read that may not block returns although it copied nothing."""
    return faults.without(fresh(), "recvmsg.short", "recvmsg.wait", "BRANCH", "==", "copied", "0")


def tail_kept() -> Scenario:
    """Flushing the backlog leaves the pointer to its last packet as it was."""
    return faults.without(fresh(), "__release_sock", "__release_sock.next", "STORE", "sock", "backlog_tail")


def uncounted() -> Scenario:
    """Softirq delivers packets to the socket without a reference on it."""
    s = fresh()
    for at, one in enumerate(s.spec.program.code):
        if one.op == "ACCESS" and {"atomic", "sk_refcnt"} <= set(one.words):
            s = faults.changed(s, at, **faults.NOTHING)
    return s


def silent() -> Scenario:
    """No ACK is sent when a call ends."""
    return faults.without(fresh(), "recvmsg.done", "tcp_cleanup_rbuf", "CALL", "tcp_cleanup_rbuf")


def counts_itself() -> Scenario:
    """The neighbour that opens connections looks at the counter of memory."""
    s = fresh()
    counter = s.spec.program.code[behind(s, "charger", "ACCESS", "atomic")]
    at = behind(s, "opener", "ACCESS", "read")
    return faults.changed(s, at, operands=(0, *counter.operands[1:]), words=("read", *counter.words[1:]))


def no_unlock() -> Scenario:
    """A packet that is merged into the last one of the backlog leaves without giving the lock back."""
    s = fresh()
    program = s.spec.program
    at = behind(s, "tcp_add_backlog", "BRANCH", "!=", "n", "0")
    target = "tcp_add_backlog.merged"
    program.labels[target] = program.address("tcp_add_backlog.out") + 1
    old = program.code[at]
    return faults.changed(s, at, operands=(*old.operands[:-1], target), words=(*old.words[:-1], target))


def late_flag(name: str = "tcp-5.17") -> Scenario:
    """The reader says that it waits only after it has let go of the socket, and does not look at the queue again."""
    s = fresh(name)
    at = behind(s, "recvmsg.wait", "STORE", "sock", "waiting")
    flag, release = s.spec.program.code[at : at + 2]
    for step, old in ((0, release), (1, flag)):
        s = faults.changed(s, at + step, op=old.op, operands=old.operands, words=old.words)
    for step in (2, 3):
        s = faults.changed(s, at + step, **faults.NOTHING)
    return s


def backwards() -> Scenario:
    """The condition of the deferral is turned round: a packet is freed at once if another one waits."""
    s = fresh()
    at = behind(s, "eat_skb", "BRANCH", "!=", "n", "0", "eat_skb.defer")
    old = s.spec.program.code[at]
    return faults.changed(s, at, operands=(0, *old.operands[1:]), words=("==", *old.words[1:]))


def outcome(scenario: Scenario, metrics: Sequence[str], replications: int = 4, **knobs: Any) -> list[str]:
    """A run's metrics and busy CPUs as cells; how it ended, if it did before its time."""
    try:
        run = scenario.run(replications=replications, **knobs)
    except RunError as error:
        return [str(error).partition(": ")[2], *["–"] * (len(metrics) + 1)]
    cells = [_cell(run.metrics[name].mean, run.metrics[name].unit) for name in metrics]
    if run.metrics[metrics[0]].unit != "1/s":
        cells[0] = spread(run.metrics[metrics[0]])
    return [*cells, *(f"{share:.0f}" for share in run.cpu.values())]


def _cell(value: float, unit: str) -> str:
    return minus(f"{value:,.0f}" if unit == "1/s" else f"{value:,.1f}")


def against(
    wrong: Scenario, metrics: Sequence[str], settings: Mapping[str, Mapping[str, Any]], names: Sequence[str],
    caption: str,
) -> Table:
    """The right program and a wrong one under some settings."""
    right = fresh(wrong.name)
    units = {m.name: m.unit for m in right.metrics}
    rows: list[Sequence[Cell]] = [
        [f"{setting}: {name}", *outcome(scenario, metrics, **knobs)]
        for setting, knobs in settings.items() for name, scenario in zip(names, (right, wrong), strict=True)
    ]
    columns = [f"{name}, {units[name]}" for name in metrics]
    return Table(caption, ["run", *columns, "softirq CPU, %", "reader's CPU, %"], rows)


def lines_from(scenario: Scenario, label: str, count: int, **knobs: Any) -> str:
    """So many lines of a listing from a label on; what was taken out of it leaves no trace."""
    found = [line for line in scenario.listing(**knobs).splitlines() if line.split()[:4] != ["WORK", "0", "0", "0"]]
    at = found.index(f"{label}:")
    return narrow("\n".join(found[at : at + count]))


def refusal(scenario: Scenario, **knobs: Any) -> str:
    """What the verifier says to a program, or that it has nothing to say."""
    try:
        scenario.run(replications=1, until_ps=scenario.quick_ps, **knobs)
    except Unsound as error:
        return str(error)
    return "The verifier finds nothing wrong."
