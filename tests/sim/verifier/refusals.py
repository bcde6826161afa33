"""Unsound programs by the reason for which they are refused; each is a case of a test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim.verifier import Unsound, verify
from tests.sim.verifier.small import R1, Body, Small


class Refusals(list[tuple[str, str, Body, str]]):
    """Cases of a module: name, kind of context, program, reason."""

    def refused(self, kind: str, reason: str) -> Callable[[Body], Body]:
        """The body below, executed by a context of this kind, is refused for this reason."""

        def keep(body: Body) -> Body:
            self.append((body.__name__, kind, body, reason))
            return body

        return keep

    def each(self) -> pytest.MarkDecorator:
        """The test below takes each case as ``kind``, ``body`` and ``reason``."""
        return pytest.mark.parametrize(("kind", "body", "reason"), [c[1:] for c in self], ids=[c[0] for c in self])


def check_refusal(kind: str, body: Body, reason: str) -> None:
    """The program is refused for the reason, at an instruction that is named as it stands."""
    last = {"thread": "halt", "agent": "halt", "softirq": "end"}[kind]

    def whole(s: Small) -> None:
        body(s)
        getattr(s.p, last)()

    small = Small(**{kind: whole})
    small.p.label("end of the program")
    with pytest.raises(Unsound) as caught:
        verify(small.spec)
    assert caught.value.reason == reason
    assert caught.value.address is not None
    assert caught.value.symbol in ("tcp_v4_rcv", "tcp_recvmsg", "sender")
    assert caught.value.line.split()[0].upper() == small.p.code[caught.value.address].op


def a_row(s: Small) -> None:
    """R1 = a socket."""
    s.p.uniform(R1, 3)
