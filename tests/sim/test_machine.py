"""Machines: every constant has a source, a wrong file is refused with its lines, changes are checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import located, machine, schema
from sim.topology import Topology

ALL = machine.names()
RULES = machine.file_schema()


def write(folder: Path, document: Any, name: str = "mine.json") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else machine.render(document), encoding="utf-8")
    return path


def small(**costs: Any) -> dict[str, Any]:
    return {"name": "mine", "title": "My box", "base": "cascade-lake", "costs": costs}


def test_the_machines_of_the_threads_and_of_the_brief_are_there() -> None:
    assert set(ALL) == {
        "broadwell-ep", "cascade-lake", "ice-lake-sp", "zen3-milan", "neoverse-n1", "cortex-a72",
        "haswell-ep", "haswell-ep-8", "skylake-client", "arm64-phone",
    }


@pytest.mark.parametrize("name", ALL)
def test_every_constant_has_a_value_a_unit_a_meaning_and_a_source(name: str) -> None:
    loaded = machine.load(name)
    assert loaded.name == name
    assert tuple(c.name for c in loaded.constants) == (*machine.TOPOLOGY, *machine.COSTS)
    for row in loaded.table():
        assert all(row[column] for column in ("unit", "meaning", "source"))
        assert row["low"] <= row["value"] <= row["high"]
        assert (row["status"] == "assumed") == str(row["source"]).startswith("assumed")


@pytest.mark.parametrize("name", ALL)
def test_a_machine_file_can_be_written_and_read_back(name: str, tmp_path: Path) -> None:
    loaded = machine.load(name)
    assert machine.load(write(tmp_path, loaded.to_json())) == loaded


@pytest.mark.parametrize(
    ("name", "cpus"), [("haswell-ep", 48), ("haswell-ep-8", 8), ("cascade-lake", 96), ("neoverse-n1", 64)]
)
def test_hosts_have_the_cpus_that_the_threads_name(name: str, cpus: int) -> None:
    assert machine.load(name).topology.cpus == cpus


def test_published_line_costs_stand_unchanged() -> None:
    figures = {
        "broadwell-ep": (7600, 44000, 118000), "cascade-lake": (7600, 47000, 134000),
        "ice-lake-sp": (8100, 51000, 108000), "zen3-milan": (9800, 107000, 197000),
    }
    for name, expected in figures.items():
        loaded = machine.load(name)
        assert tuple(loaded.cost(c) for c in ("sibling_ps", "same_socket_ps", "other_socket_ps")) == expected


def test_what_a_machine_takes_over_names_the_machine_it_was_measured_on() -> None:
    inherited = machine.load("cascade-lake").constant("page_free_ps")
    assert (inherited.status, inherited.stand_in) == ("stand-in", "broadwell-ep")
    twice = machine.load("ice-lake-sp").constant("page_free_ps")
    assert twice.stand_in == "broadwell-ep"


def test_two_hosts_of_one_kind_share_their_costs() -> None:
    large, small_host = machine.load("haswell-ep"), machine.load("haswell-ep-8")
    assert all(large.cost(name) == small_host.cost(name) for name in machine.COSTS)


@given(
    st.integers(1, 8), st.integers(1, 12), st.integers(1, 2), st.integers(0, 10_000)
)
def test_every_cpu_lies_in_one_core_and_every_core_in_one_socket(s: int, c: int, t: int, seed: int) -> None:
    topology = Topology(s, c, t)
    cpu = seed % topology.cpus
    assert cpu in topology.siblings_of(cpu)
    assert len(topology.siblings_of(cpu)) == t
    assert {topology.core_of(x) for x in topology.siblings_of(cpu)} == {topology.core_of(cpu)}
    members = [x for x in range(topology.cpus) if topology.socket_of(x) == topology.socket_of(cpu)]
    assert len(members) == c * t


def test_a_cpu_that_does_not_exist_is_refused() -> None:
    with pytest.raises(IndexError, match="this machine has 0 to 95"):
        machine.load("cascade-lake").topology.core_of(96)


def test_changes_give_a_new_machine_and_say_where_the_number_comes_from() -> None:
    before = machine.load("cascade-lake")
    after = before.with_(cores_per_socket=28, atomic_ps=0)
    assert after.topology.cpus == 112
    assert after.constant("atomic_ps").source.startswith("set for this run; the machine's own is 5,000")
    assert before.topology.cpus == 96
    fitted = machine.Constant("", 62_840, "fs/byte", "fitted to a rate", fitted_on="82 Gbit/s before")
    assert before.with_(copy_fs_per_byte=fitted).constant("copy_fs_per_byte").status == "fitted"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"same_sockets_ps": 1}, "the nearest is 'same_socket_ps'"),
        ({"hit_ps": -1}, "is -1; allowed range: 0 to 1,000,000"),
        ({"hit_ps": 1.5}, "must be an integer, not 1.5"),
        ({"hit_ps": True}, "must be an integer, not true"),
        ({"cores_per_socket": 100}, "200 cores and 400 CPUs; at most 112 and 224"),
    ],
)
def test_changes_that_cannot_be_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(machine.MachineError, match=message):
        machine.load("cascade-lake").with_(**change)


def test_an_unknown_machine_names_the_nearest() -> None:
    with pytest.raises(machine.MachineError, match="the nearest is 'cascade-lake'"):
        machine.load("cascadelake")


def test_all_faults_of_a_file_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    text = """{
  "name": "mine", "title": "My box", "base": "cascade-lake",
  "costs": {
    "hit_pss": {"value": 1, "unit": "ps", "source": "my own stopwatch"},
    "atomic_ps": {"value": "5", "unit": "ns", "source": "assumed: a guess"},
    "memory_ps": {"value": 999999999, "unit": "ps", "source": "my own stopwatch"},
    "syscall_ps": {"value": 9, "unit": "ps"}
  }
}"""
    with pytest.raises(machine.MachineError) as refusal:
        machine.load(write(tmp_path, text))
    assert refusal.value.problems == [
        "mine.json:4: costs.hit_pss: 'hit_pss' is not a known key; the nearest is 'hit_ps'",
        'mine.json:5: costs.atomic_ps.unit: must be "ps", not "ns"',
        'mine.json:5: costs.atomic_ps.value: must be an integer, not "5"',
        "mine.json:5: costs.atomic_ps: lacks the key 'bounds' (between which values it may lie)",
        "mine.json:6: costs.memory_ps.value: is 999,999,999; allowed range: 0 to 10,000,000",
        "mine.json:7: costs.syscall_ps: lacks the key 'source' (where the number comes from; begins with "
        "'assumed' if nothing public gives it)",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "mine.json:1: not JSON: a key in double quotes is expected here"),
        ('{"name": "a",\n "name": "b"}', "mine.json:2: not JSON: the key 'name' stands twice"),
        ('{"name": "a"\n "title": "b"}', "mine.json:2: not JSON: ',' or '}' is expected here"),
        ("[" * 40, "nested more than 32 deep"),
        ("1" * 50, "a number of more than 40 characters"),
        ("NaN", "a value is expected here"),
        ("[]", "mine.json:1: the file: must be an object, not a list"),
        ('{"name": "a", "title": "abc"}', "lacks the key 'costs' (what each primitive costs)"),
        ('{"name": "mine", "title": "abc", "base": "mine"}', "'mine' leads back to itself"),
        ('{"name": "mine", "title": "abc", "base": "milan"}', "the nearest is 'zen3-milan'"),
        ('{"name": "My Box", "title": "abc", "base": "zen3-milan"}', "does not have the form"),
    ],
)
def test_broken_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(machine.MachineError) as refusal:
        machine.load(write(tmp_path, text))
    assert message in str(refusal.value)


def test_a_value_outside_its_own_bounds_is_refused(tmp_path: Path) -> None:
    entry = {"value": 5, "unit": "ps", "source": "assumed: a guess", "bounds": {"low": 6, "high": 7}}
    with pytest.raises(machine.MachineError, match="value 5 lies outside its bounds 6 to 7"):
        machine.load(write(tmp_path, small(hit_ps=entry)))


def test_a_missing_file_and_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(machine.MachineError, match=r"absent\.json: cannot be read"):
        machine.load(tmp_path / "absent.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(machine.MachineError, match=r"bytes\.json: cannot be read"):
        machine.load(tmp_path / "bytes.json")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(JSON_VALUES, st.sampled_from([None, 1]))
def test_the_reader_with_lines_agrees_with_the_standard_one(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    document = located.parse(text)
    assert document.value == json.loads(text)
    assert document.line_of(()) == 1


@given(st.data())
def test_the_checker_gives_the_verdicts_of_jsonschema(data: st.DataObject) -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    document = json.loads(json.dumps(machine.load("haswell-ep").to_dict()))
    place: Any = document
    for _ in range(data.draw(st.integers(0, 3))):
        children = [key for key in place if isinstance(place[key], dict)]
        if not children:
            break
        place = place[data.draw(st.sampled_from(sorted(children)))]
    key = data.draw(st.sampled_from(sorted(place)))
    match data.draw(st.sampled_from(["delete", "replace", "add", "keep"])):
        case "delete":
            del place[key]
        case "replace":
            place[key] = data.draw(JSON_VALUES)
        case "add":
            place[data.draw(st.text(max_size=5))] = data.draw(JSON_VALUES)
    assert (schema.check(document, RULES) == []) == validator(RULES).is_valid(document)


def test_the_schema_is_a_sound_one_and_says_what_every_key_means() -> None:
    pytest.importorskip("jsonschema").Draft202012Validator.check_schema(RULES)
    for section in ("topology", "costs"):
        assert all(rule["description"] for rule in RULES["properties"][section]["properties"].values())


def test_a_rule_that_the_checker_does_not_know_is_an_error() -> None:
    with pytest.raises(ValueError, match="schema keyword not supported: oneOf"):
        schema.check({}, {"oneOf": []})
