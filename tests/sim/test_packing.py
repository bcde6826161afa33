"""GRO's packing: what the thread states, the kernel's comparison segment by segment, and the path program's limit."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from sim import packing, scenarios
from sim.expression import Value
from sim.knob import numbers

LIMITS = (16384, 65536, 184393, 524280)


@pytest.mark.parametrize("row", packing.STATED, ids=lambda row: row.label)
def test_the_arithmetic_gives_what_the_thread_states(row: packing.Stated) -> None:
    packet = packing.pack(row.mtu, row.ip, 1, row.gro_max_size)
    assert packet.segments == row.segments
    assert getattr(packet, row.what) == row.bytes


def merged(mtu: int, headers: int, limit: int) -> int:
    """Segments of a packet that takes one after the other until the kernel's comparison refuses one."""
    length, segments = mtu, 1
    while length + (mtu - headers) < limit:
        length, segments = length + (mtu - headers), segments + 1
    return segments


def chained(segments: int, each: int, most: int) -> tuple[int, ...]:
    """Segments of each sk_buff if a segment's fragments go to the last one unless they exceed its room."""
    chain = [1]
    for _ in range(segments - 1):
        if (chain[-1] + 1) * each > most:
            chain.append(0)
        chain[-1] += 1
    return tuple(chain)


@pytest.mark.parametrize("limit", LIMITS)
def test_packets_fill_as_by_merging_segment_after_segment(limit: int) -> None:
    for mtu, ip, stamps, frags in product(range(1280, 9001, 97), ("IPv4", "IPv6"), (0, 1), (17, 45)):
        packet = packing.pack(mtu, ip, stamps, limit, frags)
        headers = packing.headers_bytes(ip, stamps)
        assert packet.segments == merged(mtu, headers, limit)
        assert packet.sk_buffs == chained(packet.segments, packet.fragments_per_segment, frags)
        assert packet.length_bytes == headers + packet.segments * packet.payload_bytes
        assert packet.length_bytes + packet.spare_bytes == limit - 1
        assert packet.fragments <= len(packet.sk_buffs) * frags


def test_the_path_program_has_the_same_limit_of_segments() -> None:
    lab = scenarios.load("lab")
    program = lab.spec.program
    limits = {
        operand.row
        for one in program.code
        if program.symbols[one.symbol] == "dev_gro_receive" and one.op == "BRANCH"
        for operand in one.operands
        if isinstance(operand, Value)
    }
    assert len(limits) == 1
    for mtu, limit in product(range(1280, 9001, 60), LIMITS[:3]):
        settings = {"seed": 1, "trace_rows": 0, **numbers(lab.knobs, lab.settings(mtu=mtu, gro_max_size=limit))}
        found = lab.spec.values.evaluate([settings[name] for name in lab.spec.knobs])[limits.copy().pop()]
        assert found == min(packing.pack(mtu, "IPv6", 1, limit).segments, 129)


@pytest.mark.parametrize("limit", LIMITS)
def test_beyond_a_sweet_spot_a_segment_fewer_fits(limit: int) -> None:
    spots = packing.sweet_spots("IPv4", 1, limit)
    assert spots
    for segments, mtu in spots:
        assert packing.pack(mtu, "IPv4", 1, limit).segments == segments
        if mtu < packing.MTU[1]:
            assert packing.pack(mtu + 1, "IPv4", 1, limit).segments < segments


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"mtu": 900}, "mtu is from 1,280 to 9,000, not 900"),
        ({"gro_max_size": 1 << 20}, "gro_max_size is from 16,384 to 524,280"),
        ({"max_skb_frags": 64}, "max_skb_frags is from 17 to 45"),
        ({"ip": "IPv5"}, "ip is one of IPv4, IPv6, not 'IPv5'"),
    ],
)
def test_errors_say_what_is_allowed(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        packing.pack(**setting)
