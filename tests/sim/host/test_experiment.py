"""What must hold of every experiment on any kernel: mechanisms that work or are off, never a rate."""

from __future__ import annotations

import json
import math

import pytest

from sim.host import catalogue, child, load, record
from sim.host.catalogue import BULK, EXPERIMENTS, FLOOD
from sim.host.experiment import Estimate, Outcome, bounded, order, perform
from sim.host.load import Setup
from sim.host.reading import MEANING, UNITS, Reading, by_powers

SHORT_S = 0.3


def run(setup: Setup, profile: bool = False) -> Reading:
    """One short run on the CPUs that we may use; skipped where the kernel has not the switch."""
    try:
        return load.run(setup.on(load.cpus()), SHORT_S, profile)
    except child.Failed as error:
        if "gro_max_size" in str(error) or "gso_max_size" in str(error):
            pytest.skip(f"this kernel or its ip has no such limit: {error}")
        raise


@pytest.mark.usefixtures("kernel")
def test_gro_merges_and_without_it_each_segment_is_a_packet() -> None:
    off, on = run(BULK.with_(gro=False)), run(BULK)
    assert off.numbers["segments_per_packet"] == pytest.approx(1, rel=0.01)  # counters are read one after the other
    assert on.numbers["segments_per_packet"] > 2
    assert max(off.sizes) == 2048  # the MTU's 1500 bytes
    assert max(on.sizes) > 2048
    assert on.numbers["received_packet_bytes"] > off.numbers["received_packet_bytes"]
    assert 0 < off.numbers["rate_gbps"] < math.inf
    for numbers in (off.numbers, on.numbers):  # both in bytes of IP: nearly all packets are full
        assert 1000 < numbers["rate_gbps"] * 1e9 / 8 / numbers["packets_per_s"] < 1501


@pytest.mark.usefixtures("kernel")
@pytest.mark.slow
@pytest.mark.parametrize("limit", [4096, 16384])
def test_no_merged_packet_is_longer_than_the_limit(limit: int) -> None:
    assert 2048 < max(run(BULK.with_(gro_max_size=limit)).sizes) <= limit


@pytest.mark.usefixtures("kernel")
@pytest.mark.slow
def test_big_tcp_makes_packets_beyond_64_kb() -> None:
    assert max(run(EXPERIMENTS["big-tcp"].arms["64 KB"]).sizes) <= 65536
    assert max(run(EXPERIMENTS["big-tcp"].arms["185,000 bytes"]).sizes) > 65536


@pytest.mark.usefixtures("kernel")
@pytest.mark.slow
@pytest.mark.parametrize("mtu", [1500, 4168])
def test_no_packet_on_the_wire_is_longer_than_the_mtu(mtu: int) -> None:
    numbers = run(BULK.with_(mtu=mtu)).numbers
    size = numbers["rate_gbps"] * 1e9 / 8 / numbers["packets_per_s"]
    assert 0.5 * mtu < size < mtu + 1


@pytest.mark.usefixtures("perf")
def test_early_demux_that_is_off_looks_up_a_route_for_each_packet_and_that_is_on_for_none() -> None:
    off = run(FLOOD.with_(udp_early_demux=False)).numbers
    if "lookups_per_packet" not in off:
        pytest.skip("perf counts no tracepoints here")
    assert off["lookups_per_packet"] > 0.9
    assert run(FLOOD).numbers["lookups_per_packet"] < 0.1


@pytest.mark.usefixtures("perf")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "off", "on"),
    [("tcp-early-demux", 1, 0), ("udp-early-demux", 1, 0), ("udp-early-demux-unconnected", 1, 1), ("forward", 1, 1)],
)
def test_early_demux_saves_a_look_up_where_there_is_a_connected_socket(name: str, off: float, on: float) -> None:
    outcome = perform(catalogue.find(name), SHORT_S, 1)
    if "lookups_per_packet" not in outcome.names():
        pytest.skip("perf counts no tracepoints here")
    assert outcome.estimate("off", "lookups_per_packet").mean == pytest.approx(off, abs=0.1)
    assert outcome.estimate("on", "lookups_per_packet").mean == pytest.approx(on, abs=0.1)


@pytest.mark.usefixtures("kernel")
def test_rps_moves_packets_to_the_cpu_of_its_mask() -> None:
    off, on = (run(FLOOD.with_(rps_cpus=cpus, count_look_ups=False)).numbers for cpus in ((), (1,)))
    assert on["reader_cpu_packets_pct"] > off["reader_cpu_packets_pct"]
    assert on["reader_cpu_packets_pct"] > 50  # all of ours, and the machine may do something else as well


@pytest.mark.usefixtures("kernel")
def test_rollover_saves_what_an_unread_packet_socket_would_lose() -> None:
    arms = EXPERIMENTS["fanout"].arms
    without, with_it = (run(arms[arm]).numbers for arm in ("without", "with"))
    assert without["packets_per_s"] > 0
    # a timer's packet can bring a poll to the other CPU, whose socket is read
    assert without["lost_pct"] > 90
    assert with_it["delivered_per_s"] > without["delivered_per_s"]


@pytest.mark.usefixtures("kernel")
@pytest.mark.slow
def test_a_router_sends_on_what_arrives() -> None:
    numbers = run(Setup(load="forward")).numbers
    assert numbers["delivered_per_s"] > 0
    assert numbers["lost_pct"] < 50


@pytest.mark.usefixtures("kernel")
@pytest.mark.slow
@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_experiment_runs_and_answers_its_question(name: str) -> None:
    outcome = perform(catalogue.find(name), SHORT_S, 1)
    document = json.loads(json.dumps(outcome.to_dict()))
    assert list(document["arms"]) == list(EXPERIMENTS[name].arms)
    for arm in document["arms"].values():
        assert arm["packets_per_s"]["mean"] > 0
        assert 0 <= arm["reader_pct"]["mean"] < 200
        assert EXPERIMENTS[name].answers in arm
        assert all(number["unit"] == UNITS[key] for key, number in arm.items())


@pytest.mark.usefixtures("perf")
@pytest.mark.slow
def test_a_profile_is_of_the_two_cpus_by_symbol_and_layer() -> None:
    outcome = Outcome(EXPERIMENTS["udp-flood"], {"1 flow": [run(FLOOD, profile=True)]})
    shares = outcome.profile("1 flow", "sender")
    assert sum(e.mean for e in shares.values()) == pytest.approx(100)
    assert sum(e.mean for e in outcome.layers("1 flow", "sender").values()) == pytest.approx(100)
    assert set(outcome.to_dict()["profiles"]["1 flow"]) == {"sender", "reader"}


@pytest.mark.usefixtures("kernel")
def test_a_load_that_ends_early_is_an_error_with_what_it_said() -> None:
    with pytest.raises(child.Failed, match=r"the sender ended early: iperf3: parameter error"):
        run(BULK.with_(flows=1000))  # iperf3 takes 128


def test_arms_run_forwards_and_then_backwards() -> None:
    assert order(["off", "on"], 3) == [["off", "on"], ["on", "off"], ["off", "on"]]


@pytest.mark.parametrize(("seconds", "rounds"), [(0.05, 5), (31, 5), (1, 0), (1, 51), (math.nan, 1)])
def test_times_and_rounds_are_bounded(seconds: float, rounds: int) -> None:
    with pytest.raises(ValueError, match=r"0\.1 to 30 s|1 to 50"):
        bounded(seconds, rounds)


def made_up() -> Outcome:
    """Two rounds of two arms, with sizes and profiles."""
    def reading(rate: float, bound: int, copy: float) -> Reading:
        profile = {"tcp_v6_rcv": 100 - copy, "user code": copy}
        return Reading({"rate_gbps": rate, "lost_pct": 0.0}, {bound: 3}, {"sender": profile, "reader": {}})

    return Outcome(
        EXPERIMENTS["gro"],
        {"off": [reading(4, 2048, 10), reading(6, 2048, 20)], "on": [reading(8, 2048, 0), reading(12, 65536, 0)]},
    )


def test_a_change_is_taken_round_by_round() -> None:
    outcome = made_up()
    assert outcome.estimate("off", "rate_gbps").mean == 5
    assert outcome.change("on", "rate_gbps") == Estimate(100, 100, 100)
    assert outcome.change("on", "lost_pct") is None
    assert outcome.sizes("on") == {2048: 50, 65536: 50}


def test_what_is_written_says_whose_bytes_it_counts() -> None:
    assert made_up().to_dict()["bytes_of"] == "IP"


def test_a_profile_has_shares_by_layer_with_intervals() -> None:
    layers = made_up().layers("off", "sender")
    assert list(layers) == ["TCP and socket", "user code"]
    assert layers["TCP and socket"].mean == pytest.approx(85)
    assert layers["TCP and socket"].low < 80 < 90 < layers["TCP and socket"].high
    assert made_up().layers("off", "reader") == {}


def test_numbers_come_in_one_order_and_each_has_a_meaning() -> None:
    assert made_up().names() == ["rate_gbps", "lost_pct"]
    assert list(MEANING) == list(UNITS)
    assert {e.answers for e in EXPERIMENTS.values()} <= set(UNITS)


def test_sizes_are_counted_by_powers_of_two() -> None:
    assert by_powers({40: 1, 128: 2, 129: 3, 1500: 4, 65536: 5, 65537: 6}) == {
        128: 3, 256: 3, 2048: 4, 65536: 5, 131072: 6,
    }


def test_layers_hold_all_shares() -> None:
    found = record.by_layer({"tcp_v6_rcv": 50, "dev_gro_receive": 20, "weather": 10, "user code": 20})
    assert found == {"GRO": 20, "TCP and socket": 50, "other": 10, "user code": 20}


def test_a_misspelt_experiment_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean udp-flood"):
        catalogue.find("udp-fload")


def test_a_machine_s_cpus_take_the_places_of_the_first_ones() -> None:
    assert Setup(sender_cpu=0, reader_cpu=1, rps_cpus=(0, 1)).on([4, 6, 8]) == Setup(
        sender_cpu=4, reader_cpu=6, rps_cpus=(4, 6)
    )
