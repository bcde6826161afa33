"""The kernel structs against what kernel sources, messages and debuggers print of them."""

from __future__ import annotations

import pytest

from sim import structs
from sim.layout import Layout

DEMUX = ("sk_rx_dst", "sk_rx_dst_ifindex", "sk_rx_dst_cookie")


def offsets(layout: Layout, *names: str) -> tuple[int, ...]:
    return tuple(layout.field(name).offset for name in names)


def test_the_route_of_2014_keeps_its_tail_on_the_refcount_line() -> None:
    route = structs.RTABLE_3_17
    assert offsets(route, "__refcnt", "__use", "lastuse", "next") == (128, 132, 136, 144)
    names = (
        "rt_genid", "rt_flags", "rt_type", "rt_is_input", "rt_iif", "rt_gateway", "rt_pmtu", "rt_uncached",
    )
    assert offsets(route, *names) == (152, 156, 160, 162, 164, 168, 172, 176)
    assert route.size == 192
    assert route.shares("__refcnt", "rt_genid", "rt_type", "rt_uncached")
    assert not any(route.shares("__refcnt", name) for name in ("ops", "input", "output", "obsolete"))


def test_commit_d288a162dd1c_takes_the_read_fields_off_the_refcount_line() -> None:
    before, after = structs.RTABLE_6_0, structs.RTABLE_6_4
    read = ("lwtstate", "rt_genid", "rt_type", "rt_iif")
    assert offsets(before, "__refcnt", *read) == (64, 80, 112, 120, 124)
    assert offsets(after, "__refcnt", "lwtstate", "rt_genid") == (64, 128, 136)
    assert before.shares("__refcnt", *read)
    assert not any(after.shares("__refcnt", name) for name in read)
    assert {change.name for change in before.diff(after) if change.line_changed} >= set(read)


def test_the_refcount_of_a_socket_lies_at_128() -> None:
    assert offsets(structs.sock(), "sk_refcnt") == (128,)


def test_patch_20_gives_the_layout_that_its_message_prints() -> None:
    after = structs.sock(defer_free=True, demux_fields_close=True)
    names = (*DEMUX, "sk_lock.slock", "sk_drops", "sk_rcvlowat", "sk_error_queue")
    assert offsets(after, *names) == (0x88, 0x90, 0x94, 0x98, 0xB8, 0xBC, 0xC0)
    assert after.shares("sk_refcnt", *DEMUX)


def test_before_patch_20_early_demux_reads_two_lines_more() -> None:
    before = structs.sock(defer_free=True)
    assert before.lines_of(*DEMUX) == (4, 5)
    assert before.lines_of("sk_refcnt", *DEMUX) == (2, 4, 5)


def test_it_is_the_list_of_patch_17_that_pushes_a_field_over_the_boundary() -> None:
    assert structs.sock().lines_of(*DEMUX) == (4,)


@pytest.mark.parametrize("key", ["drop_forced_caps", "drop_nocaps", "fill_sock_hole"])
def test_patches_5_6_and_8_shrink_the_socket_by_8_bytes_each(key: str) -> None:
    assert structs.sock().size - structs.sock(**{key: True}).size == 8


def test_the_lock_shares_its_line_with_the_refcount_before_and_after() -> None:
    for layout in (structs.sock(), structs.sock(demux_fields_close=True)):
        assert layout.shares("sk_refcnt", "sk_lock.slock", "sk_lock.owned")


def test_patch_10_puts_the_two_counters_on_lines_of_their_own() -> None:
    names = ("tcp_memory_allocated", "tcp_sockets_allocated.counters")
    assert structs.TCP_COUNTERS_BEFORE.shares(*names)
    assert not structs.TCP_COUNTERS_AFTER.shares(*names)
    assert structs.TCP_COUNTERS_BEFORE.status == "assumed"


def test_the_pressure_mark_fills_a_hole_away_from_the_lock() -> None:
    before, after = structs.packet_sock(pressure=False), structs.packet_sock(pressure=True)
    assert before.size == after.size
    assert {change.name for change in before.diff(after)} == {"pressure", "ifindex", "num"}
    assert not after.shares("pressure", "sk_receive_queue.lock")


@pytest.mark.parametrize("name", list(structs.LAYOUTS))
def test_every_layout_names_its_source_and_can_be_found(name: str) -> None:
    layout = structs.load(name)
    assert layout.name == name
    assert len(layout.source) > 40
    assert layout.status in {"printed", "derived", "assumed"}


def test_an_unknown_layout_names_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"the nearest is 'rtable-3\.17'"):
        structs.load("rtable-3.16")
