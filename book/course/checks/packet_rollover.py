"""Right answers of the assignment on packet rollover."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from sim import scenarios
from sim.exercises.assignments.packet_rollover import EFFECTS, LISTINGS
from sim.exercises.instance import Instance
from sim.exercises.pressure_mark import with_mark
from sim.result import Result

from . import Verdict, fault_found, near, question, right, together, wrong
from .trials import Outcome, RunError, Trial, summed

#: Of each listing: the lines that may be named, and the effect.
FAULTS: Final = (((17, 21), 0), ((21, 22, 23), 1), ((25,), 2), ((1,), 3), ((5,), 4), ((8,), 5))
US: Final = 1_000_000  # ps
Trying = Callable[[str], Outcome | None]


@question("rollover-locks", points=3)
def locks(instance: Instance, answer: Mapping[str, int]) -> Verdict:
    """A question and a frame take the receive queue's lock each."""
    members, asked = instance.number("members"), instance.number("asked")
    own = "the own socket is asked first, and whoever fills a frame takes the lock once more"
    return together({
        "saved": near(answer["saved"], asked + 2, traps=[(asked + 1, own), (asked, own)], hint=own),
        "lost": near(answer["lost"], members + 1, traps=[
            (members, "who finds nobody goes back to the own ring, and takes its lock again before it drops"),
            (members + 2, "the own socket is not among those that are looked at"),
        ], hint="own socket, all others, and the own one again"),
        "marked": near(answer["marked"], 3, traps=[
            (2, "the mark spares the questions to full rings, not the one to the ring that has room"),
            (asked + 2, "a marked socket is passed over with a look, without its lock"),
        ], hint="which locks does the mark spare, and which are taken all the same?"),
    })


@question("rollover-budget", points=3)
def budget(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """All CPUs' time over the time of a lost packet."""
    members, load = instance.number("members"), instance.number("load_kpps")
    locks_us = (members + 1) * instance.number("handover_ns") / 1000
    lost = locks_us + instance.number("stack_ns") / 1000
    return together({
        "budget_us": near(answer["budget_us"], 1000 * members / load, relative=0.02, traps=[
            (1000 / load, "that is the time between two packets of all CPUs; each CPU gets one of them in turn"),
        ]),
        "lost_us": near(answer["lost_us"], lost, relative=0.02, traps=[
            (locks_us, "driver and stack take their time, too"),
            (lost - instance.number("handover_ns") / 1000, "how many locks does a lost packet take? see question 1"),
        ], hint="locks of a lost packet, each for a hand-over, and the stack's time"),
        "escape_kpps": near(answer["escape_kpps"], 1000 * members / lost, relative=0.02, traps=[
            (1000 / lost, "that is one CPU's rate; the group has more of them"),
        ], hint="at that load softirq alone takes all the time of all CPUs"),
    })


@question("rollover-profile", points=3)
def profile(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """The sum of nine entries."""
    bench = instance.number("bench") / 100
    total = bench + sum(instance.number(f"task_{k}") for k in range(8)) / 100
    room = instance.number("room") / 100
    return together({
        "spinning_pct": near(answer["spinning_pct"], total, relative=0.01, traps=[
            (bench, "the kernel threads spin, too: all nine entries are the same function"),
            (100 * total, "the entries are in hundredths of a percent"),
        ], hint="add all nine"),
        "room_pct": near(answer["room_pct"], total * room, relative=0.01, traps=[
            (bench * room, "take the same division for the eight other tasks"),
            (100 * room, "a share of all samples, not of the spinning"),
            (total * (1 - room), "that is the part of `tpacket_rcv`"),
        ], hint="the part of the spinning that comes from `packet_rcv_has_room`"),
        "cpus": near(answer["cpus"], 8 * total / 100, relative=0.01, traps=[(total / 100, "of eight CPUs")],
                     hint="samples are taken on eight busy CPUs: how many of them would that share fill?"),
    })


@cache
def _measured(pressure: int, load_kpps: int, ring_frames: int) -> Result:
    s = scenarios.load("packet-rollover")
    return s.run(pressure=pressure, start="full", load_kpps=load_kpps, ring_frames=ring_frames, replications=2,
                 until_ps=s.quick_ps)


@question("rollover-measure", points=3)
def measure(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """The same runs."""
    before, after = (_measured(k, instance.number("kpps"), instance.number("ring_frames")) for k in (0, 1))
    verdicts = {"guesses": right()}
    how = "start=\"full\", your load and ring, two replications, until_ps=s.quick_ps; the metric is "
    for name, run, other, metric, tolerance in (
        ("without", before, after, "mpps", 0.3), ("with_mark", after, before, "mpps", 0.05 * after.mpps),
        ("probes", before, after, "probes_per_packet", 1.0),
    ):
        verdicts[name] = near(
            answer[name], run.metrics[metric].mean, absolute=tolerance, hint=f"{how}`{metric}`",
            traps=[(other.metrics[metric].mean, "is that the run with the mark, or the one without?")],
        )
    if 0.33 <= 1000 * answer["with_mark"] / instance.number("kpps") <= 1.1:  # another seed's turns of the scheduler
        verdicts["with_mark"] = right()
    return together(verdicts)


@question("rollover-mark", points=8)
def mark(instance: Instance, answer: str) -> Verdict:
    """What the routines do in five trials."""
    worth = {_all_full: 3, _owner_clears: 2, _uneven: 1, _reader_clears: 1, _drains: 1}
    lost: dict[Trying, Outcome] = {}
    for trial in worth:
        try:
            outcome = trial(answer)
        except RunError as error:
            status = str(error).split(" at ")[0].removeprefix("packet-rollover: ")
            return wrong(f"The program came to no end: {status}.", "follow each loop and each branch by hand")
        if outcome:
            lost[trial] = outcome
            if trial is _all_full and outcome[0] == 0:  # the other trials pass without any mark
                return summed([outcome], 0)
    if _uneven in lost:  # who asks nobody any more has not found a way to ask less
        worth[_all_full] = 0
    earned = sum(points * (lost[trial][0] if trial in lost else 1) for trial, points in worth.items())
    return summed(list(lost.values()), earned / 8)


def _all_full(text: str) -> Outcome | None:
    """All rings full, nobody reads: who still asks, and who still writes?"""
    m = Trial(with_mark(text), 200 * US, 1000 * US, {"bench_rollover": 0}, {}).run(start="full").metrics
    if m["probes_per_packet"] > 1.2:
        return (0, "With all rings full, a packet still asks other CPUs' sockets under their locks.",
                   "is the mark set when a socket has no room? does the search pass over a socket that has it set?")
    writes = m["pressure_changes_per_s"] / 1e6 / m["polled_mpps"] if m["polled_mpps"] else 0.0
    if writes > 0.1:
        return (0.7, "With all rings full for long, the mark is still written by nearly every packet.",
                     "a line that everybody reads must not be written without need: look first what it says")
    return None


def _owner_clears(text: str) -> Outcome | None:
    """Marks are set and wrong, the first socket gets packets: its own CPU finds that out, and nothing is lost."""
    trial = Trial(with_mark(text), 1, 2000 * US, {"bench_rollover": 0, "poisson source": 1},
                  {("packet_sock", "pressure"): 1}).run(start="empty", load_kpps=500)
    if trial.metrics["own_full"] > 0 or trial.metrics["rolled_over"] > 0:
        return (0, "A packet whose ring has room is sent away.",
                   "`n` is the answer of `packet_rcv_has_room`: the search uses it after your routine has run")
    if trial.cells("packet_sock", "pressure")[0]:
        return (0, "A socket's own CPU has found room, and the mark is still set.",
                   "the mark follows the answer in both directions")
    return None


def _reader_clears(text: str) -> Outcome | None:
    """Marks are set and wrong, all rings are empty, one socket gets too much: its neighbours must become victims."""
    m = Trial(with_mark(text), 1, 4000 * US, {"poisson source": 1}, {("packet_sock", "pressure"): 1}).run(
        start="empty", load_kpps=8000, ring_frames=64).metrics
    if m["ring_drops_mpps"] > 0:
        return (0, "Sockets whose rings have been read empty, but which get no packets of their own, stay marked.",
                   "who notices that such a ring is empty? that is what `poll` is for; what does `k` say?")
    return None


def _uneven(text: str) -> Outcome | None:
    """One socket gets all packets, the others' readers are idle: nothing may be lost."""
    m = Trial(with_mark(text), 1000 * US, 8000 * US, {"poisson source": 1}, {}).run(
        start="empty", load_kpps=8000, ring_frames=64).metrics
    if m["rolled_over"] == 0 or m["ring_drops_mpps"] > 0:
        return (0, "When one socket alone gets more than it can hold, packets are lost beside empty rings.",
                   "whose mark does the search look at: that of the packet's socket or that of the candidate?")
    return None


def _drains(text: str) -> Outcome | None:
    """The thread's benchmark: full rings drain."""
    m = Trial(with_mark(text), 30_000 * US, 36_000 * US, {}, {}).run(start="full").metrics
    if m["mpps"] < 3:
        return (0, "In the benchmark with full rings at the start, the readers do not get on.",
                   "run your program yourself with start=\"full\", and look at probes_per_packet and lock_wait")
    return None


@question("rollover-bug", points=3)
def bug(instance: Instance, answer: Mapping[str, Any]) -> Verdict:
    """Where the fault is, and what it does."""
    lines, effect = FAULTS[LISTINGS.index(str(instance["listing"]))]
    return fault_found(
        answer["line"] in lines, answer["effect"] == EFFECTS[effect],
        "which other CPU, or which later packet, is hurt?",
        "follow one packet that finds room, then one that finds none: locks in pairs, indices in range, the "
        "status word last",
    )
