"""Counters of the kernel are read as it documents them, and what is damaged is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.host import counters, sample
from sim.host.counters import Difference, Snapshot
from sim.host.read import Unreadable

STAT = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 20 70 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 5\n"
SOFTNET = "0000001f 00000000 00000002\n00000001 00000000 00000000\n"
SOFTIRQS = "      CPU0       CPU1\n NET_TX:   1   2\n NET_RX:  30  12\n"
DEV = (
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls\n"
    "  rp0b: 1000 10 0 1 0 0 0 0 500 5 0 0 0 0 0 0\n"
)


def test_cpu_time_is_read_for_each_cpu() -> None:
    assert counters.stat(STAT)[0] == {
        "user": 10, "nice": 0, "system": 20, "idle": 70, "iowait": 0, "irq": 0, "softirq": 0, "steal": 0,
    }
    assert set(counters.stat(STAT)) == {0, 1}


def test_counters_of_a_protocol_are_named_for_it() -> None:
    assert counters.singles("Ip6InReceives 4\nUdp6InDatagrams 2\n", "snmp6") == {
        "Ip6InReceives": 4, "Udp6InDatagrams": 2,
    }


def test_softirqs_of_all_cpus_are_added() -> None:
    assert counters.softirqs(SOFTIRQS, "NET_RX") == 42
    assert counters.processed(SOFTNET) == {0: 31, 1: 1}


def test_a_device_has_packets_both_ways() -> None:
    device = counters.devices(DEV)["rp0b"]
    assert (device["rx_packets"], device["rx_bytes"], device["rx_dropped"]) == (10, 1000, 1)
    assert (device["tx_packets"], device["tx_bytes"]) == (5, 500)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (counters.stat, "cpu0 1 2 x 4\n"),
        (counters.stat, ""),
        (counters.processed, SOFTNET[:-9]),
        (lambda text: counters.singles(text, "snmp6"), "Ip6InReceives\n"),
        (lambda text: counters.softirqs(text, "NET_RX"), SOFTIRQS.replace("12", "?")),
        (lambda text: counters.softirqs(text, "NET_RX"), " NET_TX: 1\n"),
        (counters.devices, DEV.replace("1000 10", "1000")[:-25]),
    ],
)
def test_a_damaged_file_is_refused(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(Unreadable):
        read(text)


@pytest.mark.skipif(not Path("/proc/net/snmp").exists(), reason="this system has no /proc/net")
def test_this_kernel_s_own_files_are_read() -> None:
    def text(name: str) -> str:
        return Path("/proc", name).read_text(encoding="utf-8")

    assert counters.stat(text("stat"))
    assert set(counters.processed(text("net/softnet_stat"))) <= set(range(4096))
    assert "lo" in counters.devices(text("net/dev"))
    assert counters.softirqs(text("softirqs"), "NET_RX") >= 0


@given(st.lists(st.tuples(*[st.integers(0, 2**40)] * 8), min_size=1, max_size=8))
def test_any_cpu_times_are_read_back(rows: list[tuple[int, ...]]) -> None:
    text = "".join(f"cpu{n} {' '.join(map(str, row))}\n" for n, row in enumerate(rows))
    assert [tuple(cpu.values()) for cpu in counters.stat(text).values()] == rows


@given(st.text(max_size=200))
def test_no_text_is_read_as_something_else_than_counters_or_an_error(text: str) -> None:
    for read in (counters.stat, counters.devices, lambda t: counters.singles(t, "snmp6")):
        try:
            found = read(text)
        except Unreadable:
            continue
        assert isinstance(found, dict)


def test_a_difference_is_what_lies_between() -> None:
    sent, received = [{"TcpRetransSegs": n} for n in (1, 4)], [{"Ip6InReceives": n} for n in (5, 9)]
    first = Snapshot(counters.stat(STAT), 10, {0: 5, 1: 5}, sent[0], received[0], {"rx_packets": 1})
    later = STAT.replace("cpu0 10 0 20 70 0 0 0", "cpu0 20 0 30 140 0 0 10")
    last = Snapshot(counters.stat(later), 14, {0: 6, 1: 8}, sent[1], received[1], {"rx_packets": 21})
    between = Difference(first, last)
    assert between.share(0, "softirq") == 10
    assert between.share(0, "user", "system") == 20
    assert between.share(1, "softirq") == 0  # its counters stood still: the CPU was off
    assert (between.net_rx(), between.sent("TcpRetransSegs"), between.device("rx_packets")) == (4, 3, 20)
    assert (between.taken(0), between.taken(1)) == (25, 75)
    assert between.received("Ip6InReceives", "NotOfThisKernel") == 4


def test_look_ups_are_related_to_arrivals() -> None:
    said = "14360,,fib6:fib6_table_lookup,431793122,100.00,,\n14358,,net:netif_receive_skb,431790272,100.00,,\n"
    assert sample.ratio(said) == pytest.approx(14360 / 14358)
    assert sample.ratio(said.replace("14358", "0")) is None
    assert sample.ratio(said.replace("14360", "<not supported>")) is None
    assert sample.ratio("event syntax error: 'fib6:fib6_table_lookup'\n") is None
