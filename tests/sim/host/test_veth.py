"""Predictions for experiments: fitted on one arm, refused with the reason where the lab has nothing like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from sim import cli, machine
from sim.host import veth
from sim.host.catalogue import EXPERIMENTS
from sim.host.load import Setup
from sim.host.reading import UNITS
from sim.host.veth import NotPredicted, Number


def document(name: str, **means: float) -> dict[str, Any]:
    answers = EXPERIMENTS[name].answers
    arms = {
        arm: {answers: {"mean": mean, "low": 0.9 * mean, "high": 1.1 * mean, "unit": UNITS[answers]}}
        for arm, mean in zip(EXPERIMENTS[name].arms, means.values(), strict=True)
    }
    first = next(iter(means.values()))
    change = {
        arm: {"mean": 100 * (mean / first - 1), "low": -99.0, "high": 999.0}
        for arm, mean in zip(EXPERIMENTS[name].arms, means.values(), strict=True)
    }
    return {"experiment": name, "answers": answers, "arms": arms, "change_pct": dict(list(change.items())[1:])}


@pytest.fixture(scope="module")
def beside() -> list[dict[str, Any]]:
    """Rows of two experiments, fitted once for the tests of this file."""
    documents = [document("gro", off=5.5, on=7.0), document("reader-cpu", same=5.0, other=6.0)]
    return veth.beside(documents, machine.load("ice-lake-sp"))


@pytest.mark.slow
def test_one_arm_is_fitted_and_the_others_follow(beside: list[dict[str, Any]]) -> None:
    off, merged = (row for row in beside if row["experiment"] == "gro")
    assert (off["role"], merged["role"]) == ("fitted", "predicted")
    assert off["simulated"] == pytest.approx(5.5, rel=0.1)
    assert merged["simulated"] > off["simulated"]
    assert merged["simulated_change_pct"] > 0
    assert off["change_pct"] is None


def counted(arm_bytes: dict[str, float]) -> dict[str, Any]:
    """The experiment gro as it was written when bytes stood as the device counted them: bytes of a packet by arm."""
    found = document("gro", off=6.0, on=9.0)
    for arm, size in arm_bytes.items():
        rate = found["arms"][arm]["rate_gbps"]["mean"]
        found["arms"][arm]["packets_per_s"] = {"mean": rate * 1e9 / 8 / size, "unit": "1/s"}
    return found


def test_bytes_of_the_device_become_bytes_of_ip_arm_by_arm() -> None:
    found = veth.of_ip(counted({"off": 1514, "on": 1500}))  # only without GRO is the Ethernet header counted
    off, on = (found["arms"][arm]["rate_gbps"] for arm in ("off", "on"))
    assert off["mean"] == pytest.approx(6.0 * 1500 / 1514)
    assert off["low"] == pytest.approx(0.9 * off["mean"])
    assert on["mean"] == 9.0
    assert found["change_pct"]["on"]["mean"] == pytest.approx(100 * (on["mean"] / off["mean"] - 1))
    assert veth.of_ip(found) == found, "a document that says IP stays"
    assert found["arms"]["off"]["packets_per_s"] == counted({"off": 1514})["arms"]["off"]["packets_per_s"]


def test_simulated_bytes_are_ip_s_too() -> None:
    class Counted:
        metrics: ClassVar = {"mpps": Number(1.0, 1.0, 1.0), "gro_segments": Number(10.0, 10.0, 10.0)}

    assert veth.number(Counted(), Setup(), "rate_gbps").mean == pytest.approx(1500 * 8e-3)  # type: ignore[arg-type]
    assert veth.number(Counted(), Setup(), "received_packet_bytes").mean == 15_000  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_prediction_does_not_look_at_what_it_predicts(beside: list[dict[str, Any]]) -> None:
    other = veth.beside([document("gro", off=5.5, on=70.0)], machine.load("ice-lake-sp"))[1]
    one = next(row for row in beside if row["experiment"] == "gro" and row["arm"] == other["arm"])
    assert one["measured"] != other["measured"]
    assert one["simulated"] == other["simulated"]


@pytest.mark.parametrize(
    ("off", "change", "why"),
    [
        ({"mean": -5.0, "low": 20.0, "high": 21.0}, {}, "arm off has a mean below 0"),
        ({"mean": 5.0, "low": 6.0, "high": 7.0}, {}, "arm off has a mean below 0 or outside"),
        ({}, {"mean": 52.0, "low": 47.0, "high": 58.0}, "states a change of 52 %, and its means differ by 150 %"),
    ],
)
def test_means_that_do_not_go_with_their_intervals_or_changes_are_refused(
    off: dict[str, float], change: dict[str, float], why: str
) -> None:
    found = document("gro", off=4.0, on=10.0)
    found["change_pct"]["on"] = {"mean": 150.0, "low": 140.0, "high": 160.0}
    veth.check(found)
    found["arms"]["off"]["rate_gbps"] |= off
    found["change_pct"]["on"] |= change
    with pytest.raises(ValueError, match=why):
        veth.check(found)


def test_a_udp_socket_keeps_its_route_as_kernels_do_since_4_13() -> None:
    assert veth.knobs(EXPERIMENTS["udp-early-demux"].arms["on"])["rx_dst_set"] == 1


@pytest.mark.slow
def test_a_change_is_against_the_first_arm_or_none_is_given(beside: list[dict[str, Any]]) -> None:
    rows = [row for row in beside if row["experiment"] == "reader-cpu"]
    assert rows[0]["simulated"] is None
    assert rows[1]["simulated"] is not None
    assert rows[1]["simulated_change_pct"] is None


@pytest.mark.parametrize(
    ("setup", "why"),
    [
        (Setup(reader_cpu=0), "as a thread"), (Setup(segmentation=True), "MTU ends"),
        (Setup(load="tcp_small"), "smaller than a packet"), (Setup(load="fanout"), "nobody reads"),
    ],
)
def test_what_the_lab_has_not_is_refused_with_the_reason(setup: Setup, why: str) -> None:
    with pytest.raises(NotPredicted, match=why):
        veth.knobs(setup)


def test_every_arm_of_every_experiment_is_a_setting_of_the_lab_or_refused() -> None:
    lab = veth.scenario(machine.load("ice-lake-sp"))
    taken = refused = 0
    for each in EXPERIMENTS.values():
        for setup in each.arms.values():
            try:
                lab.settings(**veth.knobs(setup), softirq_packet_ns=veth.packet_ns(setup, 1500, lab.machine))
                taken += 1
            except NotPredicted:
                refused += 1
    assert taken > 15
    assert refused >= 5


def test_an_arm_without_anything_to_fit_on_has_no_number_and_says_what_to_run() -> None:
    (off, on) = veth.beside([document("rps", off=6.0, on=6.5)], machine.load("ice-lake-sp"))
    assert off["simulated"] is on["simulated"] is None
    assert "run the experiment gro" in off["why"]


@pytest.mark.slow
def test_the_command_line_shows_both_and_refuses_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "gro.json", tmp_path / "bad.json"
    good.write_text(json.dumps(document("gro", off=5.5, on=7.0)))
    bad.write_text("[]")
    assert cli.main(["host", "beside", str(good), "--machine", "ice-lake-sp"]) == 0
    shown = capsys.readouterr().out
    assert "fitted" in shown
    assert "predicted" in shown
    assert cli.main(["host", "beside", str(bad), "--machine", "ice-lake-sp"]) == 1
    assert "not written by" in capsys.readouterr().err
