"""The states of a line, and the faults that readers look for: the engine and the small protocol agree without them."""

from __future__ import annotations

from functools import cache

import pytest

from sim import coherence, line_samples
from sim.coherence import Fault, Line, broken
from sim.engine import tables as T
from sim.knob import KnobError
from sim.line_samples import BUGS, SAMPLES, Taken, faulty, load, take
from sim.trace import CORE, HERE
from sim.verifier import Unsound, verify

every = pytest.mark.parametrize("name", SAMPLES)


@cache
def taken(name: str) -> Taken:
    return take(load(name))


@every
def test_a_line_has_one_owner_or_sharers_at_every_step(name: str) -> None:
    one = taken(name)
    assert len(one.steps) == line_samples.EVENTS
    assert not broken(one.begin)
    for step in one.steps:
        assert not broken(step.states)
        assert step.rides or step.states[step.to if step.to >= 0 else step.core] != "I"
        if step.kind != "read" and not step.rides:
            assert step.states.count("M") == 1
            assert set(step.states) <= {"M", "I"}


@every
def test_the_protocol_without_a_fault_has_the_states_of_the_engine(name: str) -> None:
    one = taken(name)
    replayed = coherence.replay(one.steps, one.begin)

    def coarse(states: str) -> str:  # the engine's first owner may have read only
        return states.replace("E", "M")

    assert [coarse(step.states) for step in replayed] == [coarse(step.states) for step in one.steps]
    assert not any(broken(step.states) for step in replayed)


@every
def test_a_copy_that_is_here_costs_no_hand_over(name: str) -> None:
    before = taken(name).begin
    for step in taken(name).steps:
        if step.kind in ("read", "write", "atomic") and before[step.core] in "ME":
            assert step.source in (HERE, 2, 3)  # its own, or gone from its cache meanwhile
        if before[step.core] == "I" and step.to < 0:
            assert (step.source >= CORE) != step.rides
        before = step.states


@pytest.mark.parametrize("name", [name for name in SAMPLES if line_samples.MISSING in SAMPLES[name].bugs])
def test_a_lost_invalidation_breaks_the_states_from_its_step_on(name: str) -> None:
    one, answer = faulty(load(name), line_samples.MISSING)
    (wrong,) = answer.steps
    assert not any(broken(step.states) for step in one.steps[:wrong])
    assert broken(one.steps[wrong].states)
    sound = taken(name).steps
    assert [s.pc for s in one.steps] == [s.pc for s in sound]
    later = [step for step in one.steps[wrong + 1 :] if step.source == HERE]
    assert any(s.source == HERE != t.source for s, t in zip(one.steps, sound, strict=True)) or later


def test_a_lost_wake_up_leaves_both_asleep_and_the_right_order_does_not() -> None:
    lost, answer = faulty(load("wakeup"), line_samples.LOST)
    assert lost.trace.status == T.STATUS_NAMES[T.DEADLOCK]
    look, announce = answer.steps
    assert [lost.steps[n].kind for n in answer.steps] == ["read", "write"]
    between = lost.steps[look + 1 : announce]
    assert [step.kind for step in between] == ["write", "read"]  # an item comes, and nobody seems to wait
    assert {step.core for step in between} != {lost.steps[look].core}
    assert taken("wakeup").trace.status == "more"


def test_a_lock_that_is_released_twice_is_held_by_two_and_refused_by_the_verifier() -> None:
    twice, answer = faulty(load("spinlock"), line_samples.TWICE)
    (wrong,) = answer.steps
    assert twice.steps[wrong].kind == "unlock"
    assert wrong > coherence.EARLIEST
    mine = [step for step in twice.steps[:wrong] if step.core == twice.steps[wrong].core]
    assert mine[-1].kind == "unlock"  # it had released it already
    with pytest.raises(Unsound, match="releases a lock that is not held"):
        verify(twice.spec, {"bug": 1, "seed": 1})
    verify(twice.spec, {"bug": 0, "seed": 1})


def test_a_count_is_lost_where_another_core_writes_between_a_read_and_its_write() -> None:
    lost, answer = faulty(load("counter"), line_samples.UPDATE)
    (wrong,) = answer.steps
    mine, other = lost.steps[wrong], lost.steps[wrong - 1]
    assert mine.kind == other.kind == "write"
    assert mine.core != other.core
    looked = max(n for n, step in enumerate(lost.steps[:wrong]) if step.core == mine.core)
    assert lost.steps[looked].kind == "read"
    assert looked < wrong - 1
    assert f"step {looked + 1}" in answer.why
    locked = taken("counter").steps
    assert all(read.core == write.core for read, write in zip(locked[::2], locked[1::2], strict=True))
    with pytest.raises(coherence.NoFaultError, match="no core comes between"):
        faulty(load("counter"), line_samples.UPDATE, seed=2)


def test_after_a_lost_invalidation_a_read_is_old_and_a_write_is_lost() -> None:
    line = Line(2)
    line.access(0, True)
    line.access(1, False)
    line.access(0, True, deaf=1)
    assert (line.states, line.versions) == (["M", "S"], [2, 1])
    line.access(1, False)
    assert line.versions == [2, 1]  # what core 1 reads is no longer true
    line.access(1, True)
    assert line.versions[1] == line.latest == 2  # and its write is not on top of core 0's second


def test_a_fault_is_not_put_where_it_would_show_nowhere() -> None:
    alone = [step for step in taken("false-sharing").steps if step.core == 0]
    with pytest.raises(coherence.NoFaultError):
        coherence.place_fault(alone, "MI")
    assert coherence.place_fault(taken("readers").steps, taken("readers").begin) == Fault(15, 2)


def test_errors_name_the_nearest_sample_and_bug() -> None:
    with pytest.raises(ValueError, match="'spinlock'"):
        load("spinlok")
    with pytest.raises(ValueError, match="'lost-wakeup'"):
        faulty(load("wakeup"), "lost-wakup")
    with pytest.raises(ValueError, match="samples that can: wakeup"):
        faulty(load("spinlock"), "lost-wakeup")
    with pytest.raises(ValueError, match="without knobs"):
        take(load("spinlock"), mtu=1500)
    with pytest.raises(KnobError):
        take(load("dst-refcount"), drop_dst_erly=1)
    assert set(BUGS) == {bug for sample in SAMPLES.values() for bug in sample.bugs}


def test_the_patch_takes_the_reference_counts_from_the_line() -> None:
    before, after = taken("dst-refcount"), take(load("dst-refcount"), drop_dst_early=1)
    assert sum(step.kind == "atomic" for step in before.steps) > 20
    assert coherence.transfers(before.steps) > 20
    assert {step.kind for step in after.steps} == {"read"}
    assert coherence.transfers(after.steps) == 0
