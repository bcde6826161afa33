"""A refusal names the instruction; only what the knobs leave in is looked at."""

from __future__ import annotations

import pytest

from sim.spec import Integer
from sim.verifier import Unsound, verify
from tests.sim.verifier.small import R0, R1, Small


def test_the_refusal_names_the_instruction() -> None:
    def body(s: Small) -> None:
        s.p.uniform(R1, 4)
        s.p.read(s.lines, "lock", R1)
        s.p.halt()

    small = Small(thread=body)
    with pytest.raises(Unsound) as caught:
        verify(small.spec)
    error = caught.value
    assert (error.address, error.label, error.line, error.symbol) == (
        2, "thread+1", "access read sock r1 lock", "tcp_recvmsg",
    )
    assert str(error) == (
        "instruction 2 (thread+1) `access read sock r1 lock` in tcp_recvmsg: "
        "r1 is 0 to 3; rows of lines 0 (sock) go from 0 to 2"
    )


def test_only_what_the_knobs_leave_in_is_followed() -> None:
    def body(s: Small) -> None:
        with s.p.when("key"):
            s.p.work(s.number)
        s.p.halt()

    spec = Small(thread=body).spec
    verify(spec, {"key": 0, "number": -1})
    verify(spec, {"key": 1, "number": 1})
    with pytest.raises(Unsound, match="the work is -1 ps"):
        verify(spec, {"key": 1, "number": -1})


def test_the_default_integer_takes_any_number() -> None:
    def body(s: Small) -> None:
        s.p.now(R0)
        s.p.store(s.table, "bytes", R0)
        s.p.load(R0, s.table, "bytes")
        s.p.count("n", R0)
        s.p.halt()

    assert Integer() == Small().table.columns["bytes"]
    verify(Small(thread=body).spec)
