"""Captures: Microsoft's vectors, packets read back as written, GRO's limits as the simulation has them, no memory."""

from __future__ import annotations

import io
import json
import socket
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import dpkt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import cli, packing
from sim.host import capture, toeplitz
from sim.host.capture import Damaged, Packet, Skipped
from sim.host.replay import ACK, FIN, PSH, replay

BULK = Path(__file__).parent / "data" / "bulk.pcap"
#: "Verifying the RSS Hash Calculation": source, destination, hash with ports, hash of the addresses alone.
VECTORS = [
    ("66.9.149.187", 2794, "161.142.100.80", 1766, 0x51CCC178, 0x323E8FC2),
    ("199.92.111.2", 14230, "65.69.140.83", 4739, 0xC626B0EA, 0xD718262A),
    ("24.19.198.95", 12898, "12.22.207.184", 38024, 0x5C2B394A, 0xD2D0A5DE),
    ("38.27.205.30", 48228, "209.142.163.6", 2217, 0xAFC7327F, 0x82989176),
    ("153.39.163.191", 44251, "202.188.127.2", 1303, 0x10E828A2, 0x5D1809C5),
    ("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x40207D3D, 0x2CC18CD5),
    ("3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0xDDE51BBF, 0x0F0C461C),
    ("3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024, 0x02D1FEEF, 0x4B61E985),
]


def segments(count: int, payload: int = 1428, gap_ns: int = 100, flows: int = 1, **changes: object) -> Iterator[Packet]:
    """A bulk transfer over IPv6 with time stamps, flows in turn."""
    for n in range(count):
        flow, k = n % flows, n // flows
        fields: dict[str, object] = {
            "time_ns": n * gap_ns, "source": bytes(16), "destination": bytes([*[0] * 15, 1]),
            "source_port": 40000 + flow, "destination_port": 5201, "protocol": socket.IPPROTO_TCP,
            "length_bytes": payload + 72, "payload_bytes": payload, "sequence": (7 + k * payload) & 0xFFFFFFFF,
            "acknowledged": 1, "flags": ACK, "options": bytes(12),
        }
        yield Packet(**{**fields, **changes})  # type: ignore[arg-type]


def written(frames: Iterable[tuple[float, bytes]], form: str = "pcap") -> bytes:
    file = io.BytesIO()
    writer = dpkt.pcap.Writer(file) if form == "pcap" else dpkt.pcapng.Writer(file)
    for time_s, frame in frames:
        writer.writepkt(frame, time_s)
    return file.getvalue()


@pytest.mark.parametrize(("source", "port", "destination", "to", "hashed", "alone"), VECTORS)
def test_the_hash_is_that_of_the_published_vectors(
    source: str, port: int, destination: str, to: int, hashed: int, alone: int
) -> None:
    key = toeplitz.MICROSOFT_KEY
    assert toeplitz.toeplitz(key, toeplitz.flow_input(source, destination, port, to)) == hashed
    # a port of 0 adds nothing, so a packet without ports is hashed as by its addresses alone
    assert toeplitz.toeplitz(key, toeplitz.flow_input(source, destination)) == alone


@given(a=st.binary(min_size=12, max_size=36), key=st.binary(min_size=40, max_size=52))
def test_the_hash_is_linear_in_its_input(a: bytes, key: bytes) -> None:
    b = bytes(reversed(a))
    both = bytes(x ^ y for x, y in zip(a, b, strict=True))
    assert toeplitz.toeplitz(key, both) == toeplitz.toeplitz(key, a) ^ toeplitz.toeplitz(key, b)


def test_a_key_is_read_as_ethtool_prints_it_and_refused_otherwise() -> None:
    text = ":".join(f"{byte:02x}" for byte in toeplitz.MICROSOFT_KEY)
    assert toeplitz.parse_key(text) == toeplitz.MICROSOFT_KEY
    with pytest.raises(ValueError, match="not hexadecimal"):
        toeplitz.parse_key("6d:5g")
    with pytest.raises(ValueError, match="has 2 bytes"):
        toeplitz.parse_key("6d:5a")


def test_a_real_capture_is_read_with_lengths_from_the_header_though_it_was_cut_at_96_bytes() -> None:
    skipped = Skipped()
    packets = list(capture.read(BULK, skipped))
    assert len(packets) == 400
    assert skipped.frames == 0
    data = [p for p in packets if p.payload_bytes]
    assert {p.payload_bytes for p in data} <= {*range(1, 1449)}
    assert max(p.length_bytes for p in packets) == 1500
    assert len({p.flow for p in packets}) == 4  # two streams, both ways


def test_pcap_and_pcapng_read_alike(tmp_path: Path) -> None:
    frames = list(dpkt.pcap.Reader(io.BytesIO(BULK.read_bytes())))[:50]
    (tmp_path / "a.pcapng").write_bytes(written(frames, "pcapng"))
    wanted = list(capture.read(BULK))[:50]
    found = list(capture.read(tmp_path / "a.pcapng"))
    assert [(p.flow, p.sequence, p.payload_bytes) for p in found] == [
        (p.flow, p.sequence, p.payload_bytes) for p in wanted
    ]
    assert [p.time_ns for p in found] == pytest.approx([p.time_ns for p in wanted], abs=2000)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a pcap"), (b"GIF89a" + bytes(40), "not a pcap"),
        (BULK.read_bytes()[:20], "not a pcap"), (BULK.read_bytes()[:1000], "inside packet 9"),
        (BULK.read_bytes()[:40], "inside packet 1"), (BULK.read_bytes()[:30], "inside packet 1"),
        (BULK.read_bytes()[:20] + (147).to_bytes(4, "little") + BULK.read_bytes()[24:], "link layer 147"),
    ],
)
def test_a_damaged_capture_is_refused_with_the_packet(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(data)
    with pytest.raises(Damaged, match=said):
        list(capture.read(path))


@settings(max_examples=80)
@given(data=st.data())
def test_a_capture_damaged_anywhere_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    good = BULK.read_bytes()[:6000]
    at = data.draw(st.integers(0, len(good) - 1))
    bad = good[:at] + data.draw(st.binary(min_size=1, max_size=8)) + good[at + 8 :]
    path = tmp_path_factory.getbasetemp() / "damaged.pcap"
    path.write_bytes(bad[: data.draw(st.integers(0, len(bad)))])
    try:
        packets = list(capture.read(path))
    except Damaged:
        return
    assert all(p.payload_bytes <= p.length_bytes for p in packets)


@settings(max_examples=40, deadline=None)
@given(mtu=st.integers(1280, 9000), limit=st.sampled_from([16384, 65536, 185000]))
def test_an_endless_burst_is_packed_as_the_simulation_packs_it(mtu: int, limit: int) -> None:
    wanted = packing.pack(mtu=mtu, gro_max_size=limit).segments
    found = replay(segments(4 * wanted, mtu - 72), gro_max_size=limit, poll_gap_us=1000)
    assert found.merged == {wanted: 4}


def test_what_gro_must_not_merge_goes_up_alone() -> None:
    def three(**change: object) -> dict[int, int]:
        first, second, third = segments(3)
        return dict(replay([first, Packet(**{**vars(second), **change}), third]).merged)  # type: ignore[arg-type]

    assert three() == {3: 1}
    assert three(flags=ACK | PSH) == {2: 1, 1: 1}  # PSH ends the packet that it is merged into
    assert three(flags=ACK | FIN) == {2: 1, 1: 1}
    assert three(sequence=99) == {1: 3}
    assert three(acknowledged=2) == {1: 3}
    assert three(options=bytes([1] * 12)) == {1: 3}
    assert three(payload_bytes=100, length_bytes=172) == {2: 1, 1: 1}  # a shorter one is the last
    assert three(payload_bytes=0, length_bytes=72) == {1: 3}  # a pure ACK


def test_a_sequence_number_goes_on_after_its_end() -> None:
    first, second = segments(2)
    late = (1 << 32) - 1428
    pair = [Packet(**{**vars(first), "sequence": late}), Packet(**{**vars(second), "sequence": 0})]
    assert replay(pair).merged == {2: 1}


def test_a_poll_ends_at_a_pause_or_at_its_budget() -> None:
    burst = list(segments(130))
    assert replay(burst).polls == {64: 2, 2: 1}
    apart = [Packet(**{**vars(p), "time_ns": p.time_ns + (1_000_000 if n >= 10 else 0)}) for n, p in enumerate(burst)]
    assert replay(apart).polls == {10: 1, 64: 1, 56: 1}
    assert max(replay(apart, gro_max_size=524_280).merged) == 120  # what was held before the pause went up at it


def test_a_poll_that_used_its_budget_keeps_what_is_young_and_only_with_a_fast_tick() -> None:
    busy = list(segments(4 * 45))
    assert replay(busy).merged == {45: 4}
    assert replay(busy, hz=250).merged == {45: 3, 19: 2, 7: 1}  # polls of 64, 64 and 52
    slow = list(segments(130, gap_ns=20_000))  # a poll of 64 takes more than a millisecond
    assert max(replay(slow, poll_gap_us=50, gro_max_size=524_280).merged) == 64


def test_flows_stay_on_their_queue_and_many_flows_use_all_of_them() -> None:
    found = replay(segments(6400, flows=64), queues=4, rps_cpus=4)
    assert sum(found.queues.values()) == sum(found.cpus.values()) == 6400
    assert found.queues.keys() == found.cpus.keys() == {0, 1, 2, 3}
    one = replay(segments(640), queues=8)
    assert list(one.queues.values()) == [640]


def test_a_real_capture_is_merged_less_the_lower_the_limit() -> None:
    by_limit = [replay(capture.read(BULK), gro_max_size=limit) for limit in (1500, 8192, 65536)]
    sizes = [s.segments_per_packet for s in by_limit]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] > 2
    for s in by_limit:
        assert sum(n * count for n, count in s.merged.items()) == s.packets == 400


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"queues": 0}, "1 to 128"), ({"queues": 129}, "1 to 128"), ({"rps_cpus": 0}, "1 to 1024"),
        ({"gro_max_size": 600_000}, "1 to 524,280"), ({"poll_gap_us": 0}, "more than 0"),
        ({"hz": 0}, "1 to 1,000"), ({"mtu": 60}, "68 to 65,536"),
    ],
)
def test_a_setting_that_no_card_has_is_refused(wrong: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replay([], **wrong)  # type: ignore[arg-type]


def test_packets_that_no_wire_carried_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sender's tap with TSO: lengths of the IP header above the MTU."""
    assert replay(segments(9)).warning == ""
    uncut = replay([*segments(9), *segments(2, 21_720)])
    assert (uncut.longer, uncut.longest_bytes) == (2, 21_792)
    assert "2 of 11 packets are longer than an MTU of 1,500" in uncut.warning
    assert replay(segments(9, 8928)).longer == 9
    assert replay(segments(9, 8928), mtu=9000).warning == ""
    ip = dpkt.ip.IP(p=6, src=bytes(4), dst=bytes(4), data=dpkt.tcp.TCP(flags=ACK))
    frame = bytearray(bytes(dpkt.ethernet.Ethernet(data=ip, type=0x0800)))
    frame[16:18] = (21_760).to_bytes(2, "big")  # the payload is cut off, as with tcpdump -s 96
    path = tmp_path / "tso.pcap"
    path.write_bytes(written([(1.0, bytes(frame))]))
    for more in ([], ["--json"]):  # on the error output, so that JSON stays JSON
        assert cli.main(["host", "capture", str(path), *more]) == 0
        said = capsys.readouterr()
        assert "warning: 1 of 1 packets" in said.err
        assert "TSO and GSO off" in said.err
    assert json.loads(said.out)[0]["longest_bytes"] == 21_760
    assert cli.main(["host", "capture", str(path), "--mtu", "65536"]) == 0
    assert capsys.readouterr().err == ""
    assert replay(capture.read(BULK)).warning == ""


def test_a_long_capture_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    data = BULK.read_bytes()

    def peak(times: int) -> int:
        path = tmp_path / f"{times}.pcap"
        path.write_bytes(data[:24] + data[24:] * times)
        tracemalloc.start()
        assert replay(capture.read(path)).packets == 400 * times
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # Fifteen thousand packets that were kept would be megabytes.
    assert peak(40) < peak(2) + 200_000


def test_the_command_line_shows_a_capture_and_writes_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["host", "capture", str(BULK), "--json", "--queues", "2"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["packets"] == 400
    assert sum(found["queues"].values()) == 400
    assert cli.main(["host", "capture", str(BULK), "--gro_max_size", "1500,65536"]) == 0
    shown = capsys.readouterr().out
    assert "65,536" in shown
    broken = tmp_path / "x.pcap"
    broken.write_bytes(b"no")
    assert cli.main(["host", "capture", str(broken)]) == 1
    assert "not a pcap" in capsys.readouterr().err
