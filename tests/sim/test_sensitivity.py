"""Sensitivity: which constants a scenario reads, the study on a small thread, and marks that stay honest."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from book.figures import sensitivity as pictures
from sim import constants, scenarios, sensitivity, source_hash, study
from sim.path import costs
from sim.study import Design

SMALL = Design(noise_seeds=2, seeds=1, trajectories=2, constants=2)
RECORDS = sensitivity.load()


@pytest.fixture(scope="module")
def few() -> list[sensitivity.Record]:
    """A study of one thread with three constants: quick, and complete in kind."""
    with pytest.MonkeyPatch.context() as patch:
        wanted = {"lookup_ns", "softirq_packet_ns", "wakeup_ps"}
        every = constants.read
        patch.setattr(constants, "read", lambda scenario: [c for c in every(scenario) if c.name in wanted])
        return study.study("udpv6-early-demux", SMALL, quiet=True)


# -- constants ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sensitivity.threads())
def test_a_constant_that_a_scenario_reads_changes_its_image_or_a_knob(name: str) -> None:
    base = scenarios.load(name)
    image = base.image()
    found = constants.read(base)
    assert len({c.name for c in found}) == len(found)
    for constant in found:
        scenario, knobs, values = constants.changed(base, {constant.name: 1.25})
        assert values[constant.name] > constant.value, constant.name
        assert knobs or scenario.image().tobytes() != image.tobytes(), constant.name


def test_a_constant_that_a_scenario_does_not_read_is_not_among_them() -> None:
    names = {c.name for c in constants.read(scenarios.load("tcp-5.17"))}
    assert "tcp_established_ps" in names
    assert not names & {"packet_fanout_ps", "udp_rcv_ps", "epoll_ps"}


def test_a_fitted_constant_is_changed_from_what_was_fitted() -> None:
    base = scenarios.load("tcp-5.17")
    fitted = next(c for c in constants.read(base) if c.name == "copy_fs_per_byte")
    assert fitted.status == "fitted"
    assert fitted.value != base.machine.cost("copy_fs_per_byte")
    scenario, _, values = constants.changed(base, {"copy_fs_per_byte": 0.75})
    assert scenario.spec.constants["copy_fs_per_byte"] == values["copy_fs_per_byte"] == round(0.75 * fitted.value)


def test_a_slower_core_s_constants_are_changed_from_its_own() -> None:
    base = scenarios.load("udpv6-early-demux")
    scenario, _, values = constants.changed(base, {"ip_rcv_ps": 1.25})
    assert values["ip_rcv_ps"] == round(1.25 * costs.on_machine(base.machine)["ip_rcv_ps"])
    assert scenario.spec.constants["ip_rcv_ps"] == values["ip_rcv_ps"]


def test_a_value_stays_inside_its_range() -> None:
    """Work cannot take less time because the sibling executes."""
    _, _, values = constants.changed(scenarios.load("udpv6-early-demux"), {"smt_permille": 0.75})
    assert values == {"smt_permille": 1000}


# -- the study ----------------------------------------------------------------------------------------------


def test_a_study_measures_ends_mixtures_and_effects(few: list[sensitivity.Record]) -> None:
    gain = few[0]
    rows = {row["name"]: row for row in gain["constants"]}
    lookup = rows["lookup_ns"]
    assert lookup["low"]["gain"] < gain["gain"]["mean"] < lookup["high"]["gain"]
    assert (lookup["low"]["value"], lookup["high"]["value"]) == (188, 312)
    assert rows["softirq_packet_ns"]["low"]["gain"] > rows["softirq_packet_ns"]["high"]["gain"]
    assert gain["morris"][0]["name"] == "lookup_ns"
    assert gain["together"]["points"] == 2 * (2 + 1)
    assert gain["survives"]["sign"] is True
    assert gain["stated"]["id"] == "rate-after"
    assert few[1]["stated"] is None


def test_a_study_is_the_same_on_other_threads_and_twice(few: list[sensitivity.Record]) -> None:
    """What is confirmed was run again: a record in which one number differs is not."""
    with pytest.MonkeyPatch.context() as patch:
        names = {row["name"] for row in few[0]["constants"]}
        every = constants.read
        patch.setattr(constants, "read", lambda scenario: [c for c in every(scenario) if c.name in names])
        old = [{**r, "image": "of another spec"} for r in few]
        assert study.confirmed("udpv6-early-demux", old, quiet=True) == few
        wrong = copy.deepcopy(old)
        wrong[0]["gain"]["before"] += 0.01
        assert study.confirmed("udpv6-early-demux", wrong, quiet=True) is None
        wrong = copy.deepcopy(old)
        wrong[0]["constants"][0]["value"] += 1
        assert study.confirmed("udpv6-early-demux", wrong, quiet=True) is None


def test_a_constant_that_does_what_a_seed_does_moves_nothing() -> None:
    """Of two lasting states the seed chooses one; landing in the other is no constant's doing."""
    gain = {"mean": -80.0, "seeds": [-98.0, -8.0, -98.5, -98.2, -97.0]}
    flipped = {"low": {"gain": -8.5}, "high": {"gain": -98.1}}
    moved = {"low": {"gain": -5.0}, "high": {"gain": -98.1}}
    assert sensitivity.beyond(flipped, gain) == 0
    assert sensitivity.beyond(moved, gain) == 3
    assert sensitivity.beyond({"low": {"gain": None}, "high": {"gain": -98.0}}, gain) > 1000


def test_a_constant_whose_ends_are_as_close_as_chance_puts_them_moves_nothing() -> None:
    gain = {"mean": 18.5, "noise": 0.9, "seeds": [18.3, 21.9, 16.7, 17.6, 17.7]}
    assert not sensitivity.moves({"low": {"gain": 16.7}, "high": {"gain": 16.4}}, gain)  # both ways lower it
    assert not sensitivity.moves({"low": {"gain": 17.0}, "high": {"gain": 21.0}}, gain)  # as seeds do
    assert sensitivity.moves({"low": {"gain": 12.0}, "high": {"gain": 22.7}}, gain)
    assert sensitivity.moves({"low": {"gain": None}, "high": {"gain": 18.0}}, gain)


def test_of_two_states_those_constants_are_shown_that_change_the_state() -> None:
    gain = {"mean": -80.0, "noise": 0.02, "seeds": [-98.0, -8.0, -98.5, -98.2, -97.0]}
    assert sensitivity.border(gain) == pytest.approx(-52.5)
    assert sensitivity.moves({"low": {"gain": -10.0}, "high": {"gain": -73.0}}, gain)
    assert not sensitivity.moves({"low": {"gain": -98.7}, "high": {"gain": -98.2}}, gain)
    two = [r for r in RECORDS if sensitivity.border(r["gain"]) is not None]
    assert [r["thread"] for r in two] == ["packet-rollover"]
    assert pictures.TWO_STATES in pictures.tornado(two).svg()
    shown = pictures.heaviest(two[0])[: pictures.SHOWN]
    widths = [abs(row["low"]["gain"] - row["high"]["gain"]) for row in shown]
    assert widths == sorted(widths, reverse=True)
    assert min(widths) > 50


def test_roles_and_the_noise_are_as_the_page_has_them() -> None:
    foretold = [r for r in RECORDS if pictures.role(r) == "predicted"]
    assert [r["survives"]["sign"] for r in foretold].count(True) == 1 < len(foretold)
    two = next(r for r in RECORDS if sensitivity.border(r["gain"]) is not None)
    assert (two["design"]["seeds"], pictures.role(two)) == (1, "dependent")
    assert two["gain"]["noise"] < 1 < -max(two["gain"]["seeds"])  # a seed in another state does not widen it
    assert two["survives"]["sign"]


def test_a_lost_sign_names_the_constant() -> None:
    record: dict[str, Any] = {
        "reported": -10.0, "gain": {"mean": -9.0, "noise": 1.0}, "stated": None,
        "constants": [
            {"name": "a", "low": {"gain": -8.0, "rate": None}, "high": {"gain": -0.5, "rate": None}},
            {"name": "b", "low": {"gain": -8.0, "rate": None}, "high": {"gain": -9.0, "rate": None}},
            {"name": "c", "low": {"gain": None, "rate": None}, "high": {"gain": -9.0, "rate": None}},
        ],
    }
    survives = study._survives(record)
    assert (survives["sign"], survives["sign_lost_with"]) == (False, ["a", "c"])
    assert sensitivity.span(record) == (-9.0, -0.5)


# -- the file and its marks ---------------------------------------------------------------------------------


def test_the_file_is_written_thread_by_thread_and_read_back(few: list[sensitivity.Record], tmp_path: Path) -> None:
    path = tmp_path / "sensitivity.json"
    other = [{**few[0], "thread": "tcp-5.17"}]
    sensitivity.write(few, path)
    sensitivity.write(other, path)
    assert sensitivity.load(path) == other + few
    sensitivity.write(few[:1], path)
    assert sensitivity.load(path) == other + few[:1]
    assert max(map(len, path.read_text().splitlines())) < 800


def test_a_fresh_record_fits(few: list[sensitivity.Record]) -> None:
    assert [pictures.mark(r) for r in few] == ["fits", "fits"]


def test_a_record_of_another_engine_is_marked(few: list[sensitivity.Record]) -> None:
    old = {**few[0], "engine": "0" * 16}
    assert pictures.mark(old) == "outdated: the engine changed"
    assert pictures.conclusion_table([old]).rows[0][1:3] == ["dependent", "outdated"]
    assert "outdated: the engine changed" in pictures.tornado([old]).svg()


def test_a_changed_engine_marks_every_record(few: list[sensitivity.Record], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitivity, "source_hash", lambda: "1" * 16)
    assert {pictures.mark(r) for r in few} == {"outdated: the engine changed"}


def test_a_changed_constant_marks_the_record(
    few: list[sensitivity.Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = costs.COSTS["ip_rcv_ps"]
    monkeypatch.setitem(costs.COSTS, "ip_rcv_ps", replace(old, value=old.value + 1))
    assert pictures.mark(few[0]) == "outdated: the scenario or its constants changed"


def test_a_changed_setting_of_the_thread_marks_the_record(few: list[sensitivity.Record]) -> None:
    old = {**few[0], "setting": {**few[0]["setting"], "match_any": 0}}
    assert pictures.mark(old) == "outdated: the thread's figures changed"


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: f"{r['thread']} {r['id']}")
def test_what_is_committed_is_marked_as_it_is(record: sensitivity.Record) -> None:
    """The mark is neither forgotten nor given for nothing: engine and images are compared here once more."""
    figure = next(c.figure for c in sensitivity.conclusions(record["thread"]) if c.figure.id == record["id"])
    scenario = scenarios.load(record["thread"])
    same = record["engine"] == source_hash() and record["image"] == sensitivity.image_hash(scenario, figure)
    assert (pictures.mark(record) == "fits") == (same and record["setting"] == dict(figure.knobs))


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: f"{r['thread']} {r['id']}")
def test_a_committed_record_agrees_with_itself(record: sensitivity.Record) -> None:
    assert study._survives(record) == record["survives"]
    assert len(record["constants"]) > 20
    design = record["design"]
    assert record["together"]["points"] == design["trajectories"] * (design["constants"] + 1)
    for row in record["constants"]:
        assert row["low"]["value"] <= row["value"] <= row["high"]["value"], row["name"]
    json.dumps(record, allow_nan=False)


def test_what_the_page_asks_about_is_so() -> None:
    """Its first question: with a copy a quarter faster, the link is full without the patch as well."""
    record = next(r for r in RECORDS if r["id"] == "gain-4096")
    faster = next(row for row in record["constants"] if row["name"] == "copy_fs_per_byte")["low"]
    assert not sensitivity.kept(faster["gain"], record)
    assert faster["before"] > 96


# -- pictures -----------------------------------------------------------------------------------------------


def test_the_picture_states_its_finding_and_stays_inside_its_frame(few: list[sensitivity.Record]) -> None:
    for records in (few, RECORDS):
        picture = pictures.tornado(records)
        assert "conclusions keep their sign" in picture.alt
        root = ElementTree.fromstring(picture.svg())
        for element in root.iter():
            for name in ("x", "cx"):
                assert 0 <= float(element.get(name, 0)) <= 360, ElementTree.tostring(element)
            for name in ("y", "cy"):
                assert 0 <= float(element.get(name, 0)) <= picture.height, ElementTree.tostring(element)


def test_a_thread_that_was_not_studied_is_listed(few: list[sensitivity.Record]) -> None:
    rows = pictures.conclusion_table(few).rows
    assert rows[0][1:3] == ["dependent", "fits"]
    assert ["tcp-5.17", "–", "not run", *["–"] * 7] in rows


def test_the_constants_that_move_nothing_are_counted_not_listed(few: list[sensitivity.Record]) -> None:
    listed = pictures.constant_table(few).rows
    assert len(listed) + pictures.silent(few) == sum(len(r["constants"]) for r in few)
    assert listed[0][0] == "lookup_ns"
