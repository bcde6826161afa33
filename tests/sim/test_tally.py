"""The tally: it changes no figure of the lab, keeps every packet, and shows the ways that the switches say."""

from __future__ import annotations

from typing import Any

import pytest

from sim import scenarios, tally
from sim.knob import numbers
from sim.program import Register
from sim.spec import Spec
from sim.verifier import verify

SHORT_PS = 1_900_000_000
SETTINGS: list[dict[str, Any]] = [
    {},
    {"rps_cpus": 4, "rss": "hashed"},
    {"rfs": 1, "rx_queues": 4},
    {"socket": "udp_connected", "rps_cpus": 2, "rps_place": "first"},
    {"socket": "udp", "rx_cpus": "spread"},
    {"socket": "tcp_rr", "flows": 24, "reader_cpus": "same"},
]


@pytest.fixture(scope="module")
def lab() -> tally.TalliedLab:
    return tally.TalliedLab()


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_no_figure_of_the_lab_changes(lab: tally.TalliedLab, knobs: dict[str, Any]) -> None:
    plain = scenarios.load("lab").run(replications=1, until_ps=SHORT_PS, **knobs)
    counted = lab.run(replications=1, until_ps=SHORT_PS, **knobs)
    assert counted.metrics == plain.metrics
    assert counted.cpu["CPU 0"] == plain.cpu["softirq"]


@pytest.mark.parametrize("knobs", [SETTINGS[1], SETTINGS[3]], ids=str)
def test_the_tallied_program_is_sound(lab: tally.TalliedLab, knobs: dict[str, Any]) -> None:
    verify(lab.spec, {**numbers(lab.knobs, lab.settings(**knobs)), "seed": 1, "trace_rows": 0})


@pytest.mark.parametrize("knobs", SETTINGS[:4], ids=str)
def test_every_packet_is_counted_where_it_is_handled(lab: tally.TalliedLab, knobs: dict[str, Any]) -> None:
    found = tally.run(lab, replications=2, **knobs)
    mpps = found.result.replications[0].metrics["mpps"]
    assert sum(w.polled_mpps for w in found.work) == pytest.approx(sum(way.mpps for way in found.ways))
    assert sum(w.polled_mpps for w in found.work) == pytest.approx(mpps)
    for name, read in (("polled_mpps", "polled"), ("carried_mpps", "carried"), ("read_gbps", "read")):
        working = {i for i, w in enumerate(found.work) if getattr(w, name) > 0}
        assert working == {getattr(way, read) for way in found.ways}, name


def test_rfs_carries_each_flow_where_it_is_read_and_rps_inside_its_mask(lab: tally.TalliedLab) -> None:
    steered = tally.run(lab, replications=1, rfs=1, rps_cpus=3)
    assert all(way.carried == way.read for way in steered.ways)
    for place in ("last", "first", "other_socket"):
        mask = tally.rps_mask(3, place)
        assert mask.bit_count() == 3
        spread = tally.run(lab, replications=1, rps_cpus=3, rps_place=place, flows=16)
        assert all(mask >> way.carried & 1 for way in spread.ways)


@pytest.mark.parametrize(("jumpers", "after"), [(False, ["COUNT", "JUMP"]), (True, ["SET", "COUNT", "JUMP"])])
def test_who_jumps_passes_what_is_inserted_only_if_asked(jumpers: bool, after: list[str]) -> None:
    p, one = Spec().program, Register(0, "one")
    p.set(one, 1)
    p.label("place")
    p.count("steps")
    p.label("end")
    p.jump("place")
    tally.insert(p, 1, lambda: p.set(one, 2), jumpers)
    assert [each.op for each in p.code] == ["SET", "SET", "COUNT", "JUMP"]
    assert [each.op for each in p.code[p.address("place") :]] == after
    assert p.code[p.address("end")].op == "JUMP"


def test_errors_name_what_is_missing() -> None:
    with pytest.raises(ValueError, match="nothing in the program counts 'weather'"):
        tally.counts(Spec().program, "weather")
    with pytest.raises(ValueError, match="no table 'weather'"):
        tally.table(Spec(), "weather")
