"""Measurements: locks that exclude, loops for both architectures, and a machine file that every scenario takes.

What a machine costs is asserted by order of magnitude and by monotony only.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim import cli, machine, scenarios
from sim.host import files
from sim.machine import MachineError, render

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measuring needs Linux")

from sim.host.measure import crew, loops, machine_file, picture, readings  # noqa: E402
from sim.host.measure.cpus import Cpu, Cpus, here  # noqa: E402
from sim.host.measure.readings import Reading, Readings  # noqa: E402

BOTH = sorted(os.sched_getaffinity(0))[:2]
needs_two = pytest.mark.skipif(len(BOTH) < 2, reason="needs two CPUs")


def steady(value: float, unit: str = "ns") -> Reading:
    return Reading((value, value * 1.01, value * 0.99), unit)


def made(cpus: int = 4, hypervisor: bool = False, **plain: Reading) -> Readings:
    """Readings of a machine whose lines move in 50 ns, whose queued lock takes 2 hand-overs, whose ticket lock 3 and
    half of one for each further waiter."""
    each = tuple(Cpu(n, n, 0) for n in range(cpus))
    threads = [n for n in readings.THREADS if n <= cpus]
    by_threads = {("shared_add", n): steady(n * 50 if n > 1 else 6) for n in threads}
    by_threads |= {("queued_lock", n): steady(n * 50 * 2) for n in threads}
    by_threads |= {("ticket_lock", n): steady(n * 50 * (3 + 0.5 * (n - 2))) for n in threads}
    return Readings(
        Cpus("A processor", "x86_64", each, 1 << 20, 1 << 25, hypervisor),
        {
            "private_add": steady(1), "system_call": steady(100), "wakeup": steady(900), "switch": steady(1200),
            "page_touch": steady(500), **plain,
        },
        by_threads,
        {(a, b): steady(50) for a in range(cpus) for b in range(a + 1, cpus)},
        {("kernel", 65536): steady(0.08, "ns/byte"), ("own", 4096): steady(0.02, "ns/byte")},
        1.5, 3.0, "2026-01-02", "6.12.0",
    )


def test_readings_become_the_constants_that_they_are() -> None:
    value = {name: entry["value"] for name, entry in machine_file.costs(made()).items()}
    assert value["hit_ps"] == 1000
    assert value["atomic_ps"] == 5000
    assert value["same_socket_ps"] == 50_000
    assert value["queued_permille"] == 2000
    assert value["ticket_permille"] == 3000
    assert value["ticket_waiter_permille"] == pytest.approx(500, abs=2)
    assert (value["syscall_ps"], value["wakeup_ps"], value["switch_ps"]) == (100_000, 900_000, 1_200_000)
    assert value["copy_fs_per_byte"] == 80_000
    assert (value["l2_lines"], value["llc_lines"]) == (16384, 524288)


def test_what_was_not_measured_is_left_to_the_base() -> None:
    found = machine_file.costs(made(cpus=1))
    assert "same_socket_ps" not in found
    assert "ticket_permille" not in found
    assert "other_socket_ps" not in machine_file.costs(made())
    assert "ticket_waiter_permille" not in machine_file.costs(made(cpus=2))  # two threads have no further waiter


def test_a_reading_whose_rounds_differ_is_marked_wherever_it_is_used(tmp_path: Path) -> None:
    shaky = made(switch=Reading((700.0, 1200.0, 2500.0)))
    assert shaky.unstable() == ["switch"]
    document = machine_file.document(shaky)
    assert "unstable" in document["costs"]["switch_ps"]["source"]
    assert "unstable" not in document["costs"]["syscall_ps"]["source"]
    assert "Unstable: switch" in document["note"]
    (row,) = [r for r in machine_file.comparison(shaky) if r["constant"] == "switch_ps"]
    assert row["unstable"]
    assert Reading((5.0,)).unstable  # one round cannot tell


@pytest.mark.parametrize("cpus", [1, 2, 64])
def test_the_file_is_one_that_every_scenario_takes(cpus: int, tmp_path: Path) -> None:
    readings_ = made(cpus, hypervisor=cpus == 2)
    path = tmp_path / "own.json"
    path.write_text(render(machine_file.document(readings_)))
    loaded = machine.load(path)
    assert loaded.constant("irq_ps").stand_in  # from the base, and says so
    assert loaded.constant("syscall_ps").stand_in is None
    for name in scenarios.names():
        assert scenarios.load(name, loaded).spec.program.code


def test_a_small_machines_own_cpus_are_stated_if_asked_for(tmp_path: Path) -> None:
    small = machine_file.document(made(2), own_topology=True)
    path = tmp_path / "own.json"
    path.write_text(render(small))
    assert machine.load(path).topology.cpus == 2
    run = scenarios.load("lab", machine.load(path)).run(replications=1, until_ps=1_700_000_000, rx_queues=1, readers=1)
    assert run.gbps > 1


def test_the_nearest_machine_is_of_the_same_family() -> None:
    intel = made()
    arm = replace(intel, cpus=replace(intel.cpus, machine="aarch64"))
    assert machine_file.nearest(intel) not in machine_file.ARM
    assert machine_file.nearest(arm) in machine_file.ARM
    with pytest.raises(MachineError, match="cascade"):
        machine_file.document(intel, base="cascade-lakes")


def test_the_line_model_meets_readings_that_follow_it() -> None:
    found = made()
    own = machine.load("neoverse-n1").with_(
        **{name: entry["value"] for name, entry in machine_file.costs(found).items()}
    )
    for row in machine_file.against_model(found, own):
        if row["threads"] > 1 and row["loop"] != "shared_add":
            assert row["model_ns"] == pytest.approx(row["measured_ns"], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("cpus", "ending"), [(4, "svg"), (2, "png"), (1, "svg")])
def test_pairs_and_constants_are_drawn(cpus: int, ending: str, tmp_path: Path) -> None:
    picture.save(made(cpus), tmp_path / f"p.{ending}")
    assert (tmp_path / f"p.{ending}").stat().st_size > 5_000


def test_few_pairs_take_no_map_of_their_own_and_numbers_are_no_powers() -> None:
    assert len(picture.draw(made(2)).axes) == 1
    assert len(picture.draw(made(4)).axes) == 2
    assert [picture.multiple(x) for x in (0.136, 7.91, 43.2, 260.4)] == ["0.14", "7.9", "43", "260"]


def test_a_picture_of_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.svg, \.png"):
        picture.save(made(), tmp_path / "p.gif")


def test_a_wrong_name_is_found_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["host", "measure", "--json", "/no/such/folder/x.json"]) == 1
    assert "there is no folder" in capsys.readouterr().err
    assert cli.main(["host", "measure", "--base", "cascade-lakes"]) == 2
    assert "cascade-lake" in capsys.readouterr().err
    with pytest.raises(ValueError, match="1 to 50"):
        readings.take(0)


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.json"
    path.write_text("old")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@needs_two
def test_two_threads_add_at_the_same_time_and_it_costs_more_than_one_alone() -> None:
    one = crew.together(BOTH[:1], loops.shared_add, 100)[0]
    two = crew.together(BOTH, loops.shared_add, 100)
    assert 0.3 < one < 200  # ns: a cycle or some more
    assert min(two) > one
    with pytest.raises(crew.Lost, match="CPU 4095"):
        crew.together([BOTH[0], 4095], loops.shared_add, 10)


@needs_two
@pytest.mark.slow
@pytest.mark.parametrize("lock", [loops.ticket_lock, loops.queued_lock])
def test_a_lock_lets_one_thread_in_at_a_time(lock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[crew.Words] = []
    plain = crew.Words

    def keep(size: int) -> crew.Words:
        kept.append(plain(size))
        return kept[-1]

    monkeypatch.setattr(crew, "Words", keep)
    crew.together(BOTH, lock, 500, blocks=40)
    counter = (kept[0].address + 256 - kept[0]._buffer.ctypes.data) // 8
    words = kept[0]._buffer[: len(kept[0]._buffer) // 8 * 8].view("int64") if kept[0].address % 8 == 0 else None
    assert words is not None
    assert words[counter] == 2 * 500 * 40  # a lost update would be missing


def test_the_loops_become_atomic_instructions_of_arm64_as_well() -> None:
    import llvmlite.binding as llvm
    from numba import int64

    loops.ticket_lock.compile((int64, int64, int64))
    text = next(iter(loops.ticket_lock.inspect_llvm().values()))
    text = re.sub(r'^target (datalayout|triple) = .*$', "", text, flags=re.MULTILINE)
    text = re.sub(r'"target-(cpu|features)"="[^"]*"', "", text)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
    arm = target.create_target_machine(features="+lse")
    assembly = arm.emit_assembly(llvm.parse_assembly(text))
    assert re.search(r"\bldaddal\b", assembly)
    assert re.search(r"\bldap?r\b", assembly)  # load with acquire
    assert re.search(r"\bstlr\b", assembly)  # store with release


@pytest.mark.slow
def test_this_machine_is_measured_and_its_file_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, raw = tmp_path / "own.json", tmp_path / "readings.json"
    assert cli.main(["host", "measure", "--rounds", "2", "--json", str(own), "--readings", str(raw)]) == 0
    shown = capsys.readouterr().out
    assert "hit_ps" in shown
    assert "hides" in shown or not here().hypervisor
    found = json.loads(raw.read_text())
    plain = {name: entry["median"] for name, entry in found["plain"].items()}
    assert 0.05 < plain["private_add"] < 100
    assert 10 < plain["system_call"] < 50_000
    assert plain["system_call"] < plain["page_touch"] < 10_000_000
    assert len(found["pairs"]) == len(here().each) * (len(here().each) - 1) / 2
    for pair in found["pairs"]:
        assert 1 < pair["median"] < 50_000
    copies = {(c["place"], c["bytes"]): c["median"] for c in found["copies"]}
    assert 0.001 < copies["own", 4096] < 10
    result = scenarios.load("tcp-5.17", machine.load(own)).run(replications=1, until_ps=1_800_000_000)
    assert result.gbps > 1
