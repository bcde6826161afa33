"""The page on steering: its findings come out of runs, and its pencil agrees with them."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import pytest

from book.figures import faults, steering, way
from sim import machine, scenarios
from sim.result import Result

EIGHT: dict[str, int | str] = {"socket": "tcp_rr", "flows": 256, "readers": 8, "reader_cpus": "same"}
ONE = {**EIGHT, "rx_queues": 1}
MANY = {**EIGHT, "rx_queues": 8, "rss": "hashed"}
APART: dict[str, int | str] = {
    "socket": "tcp_rr", "flows": 256, "readers": 4, "reader_cpus": "behind", "rx_queues": 4,
}


@cache
def _run(settings: tuple[tuple[str, int | str], ...]) -> Result:
    return steering.run(scenarios.load("lab"), dict(settings), seeds=2)


def run(settings: dict[str, int | str], **knobs: int | str) -> Result:
    return _run(tuple(sorted({**settings, **knobs}.items())))


def rate(settings: dict[str, int | str], **knobs: int | str) -> float:
    return run(settings, **knobs).metrics["transactions_per_s"].mean


def test_with_one_queue_steering_by_software_helps_and_the_readers_cpu_is_the_better_target() -> None:
    assert rate(ONE, rps_cpus=8) > 2.5 * rate(ONE)
    assert rate(ONE, rfs=1) > 1.15 * rate(ONE, rps_cpus=8)
    moved = [run(ONE, **knobs).metrics["transfers_per_packet"].mean for knobs in ({"rfs": 1}, {"rps_cpus": 8})]
    assert moved[0] < 0.6 * moved[1]


def test_with_a_queue_for_each_cpu_rps_costs_and_rfs_hardly_matters() -> None:
    assert rate(MANY, rps_cpus=8) < 0.95 * rate(MANY)
    assert rate(MANY, rfs=1) == pytest.approx(rate(MANY), rel=0.05)


def test_what_the_hash_costs_is_the_lines_that_it_moves() -> None:
    ideal = rate(MANY, rss="even")
    lines = run(MANY).metrics["transfers_per_packet"].mean
    pencil_s = 8 / ideal + lines * steering.mean_distance_ns(machine.load("cascade-lake"), 8) * 1e-9
    assert 8 / pencil_s == pytest.approx(rate(MANY), rel=0.03)
    assert run(MANY, rss="even").metrics["transfers_per_packet"].mean == 0


def test_steering_towards_full_readers_costs() -> None:
    assert max(rate(APART, rps_cpus=4), rate(APART, rfs=1)) < 0.75 * rate(APART)
    shares = steering.busy(scenarios.load("lab"), {**APART, "rfs": 1})
    assert max(shares[:4]) < 40
    assert min(shares[4:]) > 95


def test_more_queues_interrupt_more_for_the_same_load() -> None:
    calm: dict[str, int | str] = {"socket": "udp_connected", "flows": 64, "offered_kpps": 400, "readers": 4}
    interrupts = [run(calm, rx_queues=q).metrics["interrupts_per_s"].mean for q in (2, 4, 8)]
    assert interrupts == sorted(interrupts)
    assert interrupts[-1] > 3 * interrupts[0]


def test_the_wrong_lock_is_no_slower_and_the_listing_shows_it() -> None:
    wrong = steering.wrong_lock(scenarios.load("lab"))
    assert steering.run(wrong, {**MANY, "rfs": 1}).metrics["transactions_per_s"].mean > 0.99 * rate(MANY, rfs=1)
    shown = faults.listing(wrong, "netif_receive_skb", "enqueue_to_backlog.drop", **ONE, rps_cpus=8)
    locks = [line.split()[:3] for line in shown.splitlines() if "input_pkt_queue.lock" in line]
    assert locks == [["LOCK", "input_pkt_queue.lock", "cpu"], ["UNLOCK", "input_pkt_queue.lock", "cpu"]]


def test_pictures_stay_inside_their_frames_and_name_their_findings() -> None:
    for picture in (steering.ways(), steering.loads({"one": [100.0, 0.0], "two": [50.0, 50.0]})):
        root = ElementTree.fromstring(picture.svg())
        assert len(root.get("aria-label", "").split()) > 12
        for element in root.iter():
            assert 0 <= float(element.get("x", 0)) <= 360
            assert 0 <= float(element.get("y", 0)) <= picture.height


def test_a_packet_changes_its_cpu_never_with_arfs_and_twice_with_rps() -> None:
    assert "never with aRFS" in steering.ways().alt
    assert "twice with RPS" in steering.ways().alt


def test_what_is_told_before_the_predictions_gives_their_answers() -> None:
    leaves, comes = steering.hop_us(way.follow(scenarios.load("lab"), rfs=1, message_bytes=512))
    parts = steering.parts_us(run(ONE))
    assert parts["poll"] + parts["rest"] == pytest.approx(parts["whole"]) == pytest.approx(1e6 / rate(ONE))
    pencil = float(steering.pencil_rps(parts, leaves, 8)["rps-pencil"])
    assert pencil == pytest.approx(rate(ONE, rps_cpus=8) / 1e6, rel=0.05)
    hashed_us = 8e6 / rate(MANY)
    assert 8e6 / (hashed_us + (leaves + comes) * 7 / 8) == pytest.approx(rate(MANY, rps_cpus=8), rel=0.07)


def test_the_pencils_line_can_be_followed_with_the_numbers_in_it() -> None:
    told = steering.pencil_rps({"poll": 0.364, "rest": 2.209}, 0.234, 8)
    assert told["rps-sum"] == "0.36 + 7/8 × 0.23 + 2.21 / 8 = 0.84 µs"
    assert told["rps-pencil"] == f"{1 / 0.84:.2f}"


def test_the_sign_of_rfs_with_eight_queues_hangs_on_what_an_interrupt_costs() -> None:
    cheap, dear = (
        steering.run(steering.with_ipi(factor), {**MANY, "rfs": 1}, seeds=2) for factor in (0.5, 2.0)
    )
    assert float(steering.change(run(MANY), cheap).split()[0]) > 1
    assert float(steering.change(run(MANY), dear).split()[0]) < -2
    same = steering.change(run(MANY), run(MANY))
    assert same == "+0.0 % (-0.0 to +0.0)"


def test_a_rate_of_a_full_cpu_is_counted_over_several_of_its_turns_and_the_table_says_how_long() -> None:
    lab = scenarios.load("lab")
    short, longer = (
        lab.run(replications=2, until_ps=end, **ONE).metrics["transactions_per_s"].mean
        for end in (lab.quick_ps, 2 * steering.LONG_PS)
    )
    assert rate(ONE) == pytest.approx(longer, rel=0.01)
    assert abs(short / longer - 1) > 0.03
    assert steering.requests("Rates", {"one queue": run(ONE)}, 8).caption.endswith("request: 2 runs of 6.4 ms each")


def test_on_the_other_package_rfs_saves_hand_overs_inside_it_and_a_little_more() -> None:
    numa: dict[str, int | str] = {
        "socket": "tcp_rr", "flows": 256, "readers": 4, "reader_cpus": "other_socket", "rx_queues": 1,
    }
    rps, rfs = (run(numa, **knobs).metrics["transfers_per_packet"].mean for knobs in ({"rps_cpus": 4}, {"rfs": 1}))
    lines_us = (rps - rfs) * 0.047
    assert lines_us / (4e6 / rate(numa, rps_cpus=4)) < rate(numa, rfs=1) / rate(numa, rps_cpus=4) - 1 < 0.2
