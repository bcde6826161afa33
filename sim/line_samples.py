"""Samples of one cache line's life: windows of the scenarios, and small programs made for the purpose.

A sample is a spec, its knobs, one line of it and a window; `take` records the accesses. Four faults can be put in
for a reader to find: an invalidation that goes missing, which no engine of ours can do and `sim.coherence.replay`
does on the sample's own accesses; a wake-up that is lost, a lock that is released twice and an addition that is lost,
which are faults of a program, so the engine runs them. The verifier refuses the double release, as it should.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from . import coherence, line_programs, scenarios
from .coherence import Fault, Step
from .engine.native import NativeEngine
from .knob import numbers
from .places import Places
from .schema import nearest
from .spec import Spec
from .trace import Trace, Window, record

EVENTS: Final = 48  # accesses of a sample
LONGEST_US: Final = 150
US: Final = 1_000_000
MISSING, LOST, TWICE, UPDATE = BUGS = ("missing-invalidation", "lost-wakeup", "double-release", "lost-update")


@dataclass(frozen=True)
class LineSample:
    """One line to watch.

    Parameters
    ----------
    name, title, about
        For `load`; a heading; what to look at.
    struct, field, row
        The line: a struct's field, of one row.
    scenario
        Whose window it is; "" for a program of this module.
    knobs
        Those of the scenario that differ from its defaults.
    start_ps
        Where the window begins.
    cpus
        CPUs of a program.
    bugs
        The faults that can be put in.
    """

    name: str
    title: str
    about: str
    struct: str
    field: str
    row: int = 0
    scenario: str = ""
    knobs: Mapping[str, int | str] = dataclasses.field(default_factory=dict)
    start_ps: int = 0
    cpus: int = 0
    bugs: tuple[str, ...] = ()

    def spec(self) -> Spec:
        """The spec."""
        return scenarios.load(self.scenario).spec if self.scenario else line_programs.build(self.name, self.cpus)

    def settings(self, bug: str = "", **knobs: int | str) -> dict[str, int | str]:
        """All knobs; raises KnobError for a scenario's, ValueError for a program's, which has none."""
        if self.scenario:
            return scenarios.load(self.scenario).settings(**{**self.knobs, **knobs})
        if knobs:
            raise ValueError(f"the sample {self.name!r} is a program without knobs")
        return {"bug": int(bug in _ANSWERS)}

    def numbers(self, settings: Mapping[str, int | str]) -> dict[str, int]:
        """The same as integers of the spec."""
        if self.scenario:
            return numbers(scenarios.load(self.scenario).knobs, dict(settings))
        return {name: int(value) for name, value in settings.items()}


@dataclass(frozen=True)
class Taken:
    """A sample as it was recorded: the states at first, the steps, and the trace that they come from."""

    sample: LineSample
    begin: str
    steps: tuple[Step, ...]
    trace: Trace
    spec: Spec
    place: int


def take(sample: LineSample, bug: str = "", seed: int = 1, **knobs: int | str) -> Taken:
    """Run a sample and record its line. Raises as `LineSample.settings` does."""
    spec, engine = sample.spec(), NativeEngine()
    image = spec.image({**sample.numbers(sample.settings(bug, **knobs)), "seed": seed, "trace_rows": 1})
    place = Places(spec, engine.build(image)).field(sample.struct, sample.field, sample.row)
    trace = record(engine, image, window(sample, place))
    return Taken(sample, coherence.start(trace), tuple(coherence.steps(trace, spec)), trace, spec, place)


def window(sample: LineSample, place: int) -> Window:
    """What is recorded of a sample."""
    return Window(sample.start_ps, sample.start_ps + LONGEST_US * US, watch=place, events=EVENTS)


@dataclass(frozen=True)
class Answer:
    """What is wrong: the steps that a reader may name, and why."""

    steps: tuple[int, ...]
    why: str


def faulty(sample: LineSample, bug: str, seed: int = 1, **knobs: int | str) -> tuple[Taken, Answer]:
    """A sample with a fault, and the answer. Raises ValueError for a fault that this sample cannot have."""
    if bug not in BUGS:
        raise ValueError(f"no bug {bug!r}; {nearest(bug, BUGS)}")
    if bug not in sample.bugs:
        able = ", ".join(s.name for s in SAMPLES.values() if bug in s.bugs)
        raise ValueError(f"{sample.name!r} cannot have the bug {bug!r}; samples that can: {able}")
    taken = take(sample, bug, seed, **knobs)
    if bug == MISSING:
        fault = coherence.place_fault(taken.steps, taken.begin)
        steps = tuple(coherence.replay(taken.steps, taken.begin, fault))
        return Taken(sample, taken.begin, steps, taken.trace, taken.spec, taken.place), _missing(steps, fault)
    return taken, _ANSWERS[bug](taken)


def _missing(steps: tuple[Step, ...], fault: Fault) -> Answer:
    writer = steps[fault.step].core
    later = range(fault.step + 1, len(steps))
    met = next((n for n in later if steps[n].core == fault.core and not steps[n].rides), fault.step)
    return Answer(
        (fault.step,),
        f"Core {writer} writes, and core {fault.core} keeps its copy: from here on an owner and another copy exist "
        f"side by side. Core {fault.core} meets it at step {met + 1}, where it uses a value that is no longer true.",
    )


def _lost(taken: Taken) -> Answer:
    code = taken.spec.program
    late = code.address("consumer.announce")
    looks = [n for n, step in enumerate(taken.steps) if step.pc == code.address("consumer")]
    announces = [n for n, step in enumerate(taken.steps) if step.pc == late]
    return Answer(
        (looks[-1], announces[-1]),
        f"The consumer looks first (step {looks[-1] + 1}) and says only later that it will sleep (step "
        f"{announces[-1] + 1}). Between the two the producer puts an item there, finds nobody waiting and wakes nobody."
        " Both sleep for ever. It must announce itself first and look again after that.",
    )


def _twice(taken: Taken) -> Answer:
    again = taken.spec.program.address("release.again")
    first = next(n for n, step in enumerate(taken.steps) if step.pc == again)
    return Answer(
        (first,),
        f"CPU {taken.steps[first].cpu} releases a lock that it has given away already. Whoever held it shares its "
        "section with the next from here on, and one of their counts is lost.",
    )


def _updated(taken: Taken) -> Answer:
    wrong, read = [], dict.fromkeys(range(len(taken.begin)), -1)
    for n, step in enumerate(taken.steps):
        if step.kind == "read":
            read[step.core] = n
        elif any(other.kind == "write" for other in taken.steps[read[step.core] + 1 : n]):
            wrong.append(n)
    if not wrong:
        raise coherence.NoFaultError(f"no core comes between another's read and write in {len(taken.steps)} steps")
    mine = taken.steps[wrong[0]].core
    looked = max(m for m in range(wrong[0]) if taken.steps[m].core == mine)
    return Answer(
        tuple(wrong),
        f"Core {mine} writes what it read at step {looked + 1}, plus one. Another core has written since then, and its "
        "packet is no longer in the sum: two packets, one count.",
    )


#: Who finds the wrong step of a program with a fault.
_ANSWERS: Final[Mapping[str, Callable[[Taken], Answer]]] = {LOST: _lost, TWICE: _twice, UPDATE: _updated}


def _by_name(samples: Iterable[LineSample]) -> dict[str, LineSample]:
    return {sample.name: sample for sample in samples}


#: The samples by name.
SAMPLES: Final = _by_name((
    LineSample(
        "dst-refcount", "The reference count of a route", "Softirqs take a reference, readers drop it: every access "
        "wants the line for itself, and the two fields read beside the count go the same way.",
        "rtable", "__refcnt", 0, "tcp-prequeue", {"drop_dst_early": 0}, 1_750 * US, bugs=(MISSING,),
    ),
    LineSample(
        "socket-lock", "The lock of a socket", "The softirq takes it for each packet, the reader for each look at the "
        "queue; whoever had it last still has the line.",
        "sock", "sk_lock.slock", 0, "tcp-5.17", {}, 300 * US, bugs=(MISSING,),
    ),
    LineSample(
        "pressure", "The mark of a full packet socket", "The mark is set, and the others look and pass by: a hit each. "
        "The socket's own CPU finds room and clears it; all fetch the line and ask, until one finds the ring full "
        "again and sets it.",
        "packet_sock", "pressure", 0, "packet-rollover", {"start": "full"}, 2_722 * US, bugs=(MISSING,),
    ),
    LineSample(
        "rollover-lock", "The same question without the mark", "Every look for room takes the lock of the other "
        "socket's receive queue: the line goes round, and the CPUs wait in line.",
        "packet_sock", "sk_receive_queue.lock", 0, "packet-rollover", {"start": "full", "pressure": 0}, 9_600 * US,
        bugs=(MISSING,),
    ),
    LineSample(
        "tcp-memory", "TCP's memory counter and its neighbour", "One CPU charges memory, another opens connections: "
        "they want different variables, and the same line.",
        "tcp globals", "tcp_memory_allocated", 0, "tcp-5.17", {"neighbours": 1, "align_memory_globals": 0}, 300 * US,
        bugs=(MISSING,),
    ),
    LineSample(
        "slab-list", "The list lock of a slab cache", "CPUs that ran out of objects of their own, or have too many, "
        "come here now and then.",
        "skb kmem_cache_node", "list_lock", 0, "tcp-rx-skb-cache", {"rx_skb_cache": 0}, 600 * US, bugs=(MISSING,),
    ),
    LineSample(
        "false-sharing", "Two counters on one line", "Each CPU writes its own counter, and each takes the other's.",
        "counters", "of CPU 0", cpus=2, bugs=(MISSING,),
    ),
    LineSample(
        "readers", "One writer, three readers", "Reading is free while nobody writes; one write costs every reader a "
        "fetch.", "setting", "value", cpus=4, bugs=(MISSING,),
    ),
    LineSample(
        "spinlock", "A spinlock", "The word of a lock that three CPUs want.", "lock", "word", cpus=3,
        bugs=(MISSING, TWICE),
    ),
    LineSample(
        "counter", "A counter that every CPU raises", "Each adds one by a read and a write; the line may go to another "
        "core between the two.", "tcp_sock", "segs_in", cpus=2, bugs=(UPDATE,),
    ),
    LineSample(
        "wakeup", "A consumer that sleeps", "An item and a word that says who waits, on one line.",
        "queue", "item", cpus=2, bugs=(LOST,),
    ),
))


def load(name: str) -> LineSample:
    """The sample of a name; raises ValueError with the nearest."""
    if name not in SAMPLES:
        raise ValueError(f"no sample {name!r}; {nearest(name, SAMPLES)}")
    return SAMPLES[name]
