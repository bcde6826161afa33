"""Routines in text: how they are read, what they may name, where they go, and errors that a person can use."""

from __future__ import annotations

import time

import pytest

from sim import scenarios
from sim.exercises.assembly import MOST_CALLS
from sim.exercises.early_demux import ANY, BOUND, CONNECTED, FORWARD, OwnEarlyDemux, with_early_demux
from sim.exercises.early_demux import words as early_demux_words
from sim.exercises.forms import NotAccepted
from sim.exercises.holes import Bounded, apart, between, named, put
from sim.exercises.notation import FORMS, MOST_COLUMNS, MOST_LINES, RoutineError, read_routine
from sim.exercises.pressure_mark import HOLES, with_mark
from sim.exercises.pressure_mark import words as mark_words
from sim.exercises.routine_form import Routine
from sim.program import Program
from sim.scenarios.scenario import RunError
from sim.spec import Spec

#: What `sim.path.packet` and `sim.path.capture` do, in the words of routines.
MARK = """\
routine has_room
    read   packet_sock.pressure[slot]
    load   other = packet_sock.pressure[slot]
    branch other != n out
    set    other = other ^ 1
    atomic packet_sock.pressure[slot]
    store  packet_sock.pressure[slot] = other
routine search
    read   packet_sock.pressure[slot]
    load   n = packet_sock.pressure[slot]
    branch n != 0 skip
routine poll
    read   packet_sock.pressure[flow]
    load   n = packet_sock.pressure[flow]
    branch n == 0 out
    branch k != 0 out
    atomic packet_sock.pressure[flow]
    store  packet_sock.pressure[flow] = 0
"""
#: What `sim.path.udp` does: as released, and as first posted.
RELEASED = """\
    work   hash
    read   udp_table.hash2
    load   m = udp_table.first
    branch m < 0 out
    read   udp6_sock.skc_portpair[m]
    read   udp6_sock.skc_v6_rcv_saddr[m]
    work   compare
    load   n = udp6_sock.peer[m]
    branch n != flow out
    atomic udp6_sock.sk_refcnt[m]
    set    sk = m
    store  skb.sock[skb] = m
    store  skb.held[skb] = 1
"""
POSTED = """\
    call   __udp6_lib_lookup
    branch sk < 0 out
    atomic udp6_sock.sk_refcnt[sk]
    store  skb.sock[skb] = sk
    store  skb.held[skb] = 1
"""


def test_a_mark_written_by_hand_runs_as_the_kernels_does_to_the_last_digit() -> None:
    own, kernels = with_mark(MARK), scenarios.load("packet-rollover")
    settings = {"start": "full", "replications": 1, "until_ps": 50_000_000_000}
    assert own.run(**settings).metrics == kernels.run(**settings).metrics


@pytest.mark.parametrize(("text", "match_any"), [(RELEASED, 0), (POSTED, 1)])
def test_an_early_demux_written_by_hand_runs_as_the_kernels_does(text: str, match_any: int) -> None:
    own, kernels = with_early_demux(text), scenarios.load("udpv6-early-demux")
    for knobs in ({}, CONNECTED, ANY, FORWARD):
        settings = {**knobs, "replications": 1, "until_ps": 45_000_000_000}
        mine, theirs = own.run(**settings).metrics, kernels.run(match_any=match_any, **settings).metrics
        assert {name: mine[name] for name in theirs} == dict(theirs)


def test_a_socket_bound_to_the_hosts_address_is_first_in_the_chain_and_matches_nobody() -> None:
    settings = {**BOUND, "replications": 1, "until_ps": 45_000_000_000}
    right = with_early_demux(RELEASED).run(**settings)
    careless = with_early_demux(RELEASED.replace("    branch n != flow out\n", "")).run(**settings)
    assert right.demux_found_share == 0
    assert careless.demux_found_share == 100


def test_a_packet_with_another_flows_socket_is_counted() -> None:
    careless = with_early_demux(RELEASED.replace("    branch n != flow out\n", ""))
    run = careless.run(**CONNECTED, replications=1, until_ps=45_000_000_000)
    assert 70 < run.wrong_socket_share < 100


def test_with_the_key_off_a_routine_is_not_there() -> None:
    own, kernels = with_mark(MARK), scenarios.load("packet-rollover")
    assert own.listing(pressure=0).count("\n") == kernels.listing(pressure=0).count("\n")
    assert "+  BRANCH  != n 0 rollover.skip" in own.diff("pressure")


@pytest.mark.parametrize(("text", "line", "words"), [
    ("routine poll\n  raed packet_sock.pressure[flow]", 2, "no operation 'raed'; the nearest is 'read'"),
    ("routine pol\n", 1, "asked for: has_room, search, poll"),
    ("read packet_sock.pressure[flow]", 1, "a line 'routine NAME' comes first"),
    ("routine poll\nroutine poll", 2, "stands twice"),
    ("routine poll\n read packet_sock.presure[flow]", 2, "the nearest is 'packet_sock.pressure'"),
    ("routine poll\n read packet_sock.pressure[flwo]", 2, "the nearest is 'flow'"),
    ("routine poll\n read packet_sock.pressure", 2, "which socket?"),
    ("routine poll\n load n = packet_sock.pressure[flow]", 2, "load takes no time"),
    ("routine poll\n read packet_sock.pressure[flow]\n store packet_sock.pressure[flow] = 0", 3, "written or"),
    ("routine poll\n branch k != 0 oot", 2, "no label 'oot'; the nearest is 'out'"),
    ("routine poll\n branch k =! 0 out", 2, "no condition '=!'"),
    ("routine poll\n branch k 0 out", 2, "branch is written like this"),
    ("routine poll\nagain: branch k == 0 out\nagain: ret", 3, "'again' is taken"),
    ("routine poll\nout: branch k == 0 out", 2, "'out' is taken"),
    ("routine poll\n work 1e3", 2, "a number of nanoseconds"),
    ("routine poll\n work 200000", 2, "100,000 ns at most"),
    ("routine poll\n set n = 99999999999999", 2, "numbers go up to"),
    ("routine poll\n call kfree_skb", 2, "no subroutine"),
    ("routine has_room\n set n = other + 1", 2, "other is read but not set"),
    ("routine search\n set slot = 9\n read packet_sock.pressure[slot]", 3, "slot is 9"),
    ("routine poll\n atomic packet_sock.pressure[flow]\n store packet_sock.pressure[flow] = 2", 3, "stores 2"),
])
def test_an_error_names_its_line_and_what_would_be_right(text: str, line: int, words: str) -> None:
    with pytest.raises(RoutineError) as caught:
        with_mark(text)
    assert caught.value.line == line
    assert words in str(caught.value)


def test_a_socket_that_may_be_none_is_no_row() -> None:
    with pytest.raises(RoutineError, match="line 5: m may be none"):
        with_early_demux(RELEASED.replace("    branch m < 0 out\n", "\n"))


def test_what_a_routine_spoils_for_others_is_told_with_its_name() -> None:
    with pytest.raises(RoutineError, match=r"refused elsewhere: .* in fanout_demux_rollover: n is read but not set"):
        with_mark("routine has_room\n set n = other")


def test_texts_have_an_end() -> None:
    with pytest.raises(RoutineError, match=f"{MOST_LINES} lines at most"):
        read_routine("ret\n" * (MOST_LINES + 1))
    with pytest.raises(RoutineError, match=f"{MOST_COLUMNS} characters"):
        read_routine("#" * (MOST_COLUMNS + 1))
    with pytest.raises(RoutineError, match=f"{MOST_CALLS} calls"):
        with_early_demux("call __udp6_lib_lookup\n" * (MOST_CALLS + 1))


@pytest.mark.parametrize("text", [
    "x: jump x", "x: work 0.001\n jump x", "set n = 1\nx: set n = n + 1\n branch n > 0 x",
    "set n = 2\nx: loop n x\n set n = 2\n jump x",
])
def test_a_loop_without_an_end_is_stopped(text: str) -> None:
    scenario = with_early_demux(text)
    began = time.process_time()
    with pytest.raises(RunError, match=r"livelock|after 3,000,000 instructions"):
        scenario.replicate(Bounded(3_000_000), 1)
    assert time.process_time() - began < 5


def test_each_operation_is_read_as_it_is_shown() -> None:
    shown = (
        "in __netif_receive_skb_core", "work 12.5", "read a.b[r]", "write a.b[r]", "atomic a.b", "load r = a.b[r]",
        "store a.b[r] = -1", "add a.b[r] += r", "set r = r min 4", "set r = r // 4", "set r = r", "branch r >= 4 there",
        "jump there", "loop r there", "call sub.routine", "lock a.lock[r]", "unlock a.lock[r]", "push a.queue[r] r",
        "push a.queue[r] r full there", "pop r = a.queue[r] empty there", "qlen r = a.queue", "raise kick[r]", "ret",
    )
    assert [statement.op for statement in read_routine(shown)] == [row.split()[0] for row in shown]
    assert {row.split()[0] for row in shown} == set(FORMS)


def test_comments_and_labels_do_not_count_as_instructions() -> None:
    first, last = read_routine("# nothing\n\na: b:  # two names\n   ret  # and one\nend:")
    assert (first.line, first.labels, first.op) == (4, ("a", "b"), "ret")
    assert (last.labels, last.op) == (("end",), "")


def test_routines_keep_the_line_numbers_of_the_whole_text() -> None:
    found = apart("# mine\nroutine one\n ret\n\nroutine two  # other\n ret", ["one", "two"])
    assert {name: [s.line for s in rows] for name, rows in found.items()} == {"one": [3], "two": [6]}


def test_a_hole_into_which_somebody_jumps_is_refused() -> None:
    spec = Spec()
    p = spec.program
    p.label("a")
    p.ret()
    p.label("b")
    p.ret()
    p.label("c")
    p.jump("b")
    with pytest.raises(ValueError, match="address 2 goes to a label that lies in the hole"):
        put(p, between("a", "c")(p), lambda part: part.halt())


def test_what_lies_behind_a_hole_moves_with_its_labels() -> None:
    scenario = scenarios.load("packet-rollover")
    before = scenario.spec.program

    def three(part: Program) -> None:
        for _ in range(3):
            part.count("more")

    after = put(before, HOLES[1].place(before), three)
    moved = len(after.code) - len(before.code)
    first, end = HOLES[1].place(before)
    assert moved == 3 - (end - first)
    assert {after.labels[name] - at for name, at in before.labels.items() if at >= end} == {moved}
    assert {after.labels[name] - at for name, at in before.labels.items() if at <= first} == {0}
    assert after.code[end + moved:] == before.code[end:]


def test_a_routine_as_an_answer_is_refused_in_words() -> None:
    form = Routine(with_mark)
    assert form.accept(MARK) == MARK
    for answer in (None, 7, "", "  ", ["ret"], "x" * 20_000, MARK.replace("read", "reed")):
        with pytest.raises(NotAccepted):
            form.accept(answer)


def test_what_a_routine_may_name_can_be_printed() -> None:
    assert "fields:    packet_sock.pressure" in mark_words()
    assert "costs:     hash, compare" in early_demux_words()
    for usage, _ in FORMS.values():
        assert usage in mark_words()


def test_the_scenario_for_early_demux_says_what_it_cannot_change() -> None:
    knob = OwnEarlyDemux().knob("match_any")
    assert knob.effect == "inert"
    assert named(OwnEarlyDemux().spec.tables, "udp_table").columns.keys() == {"first"}
