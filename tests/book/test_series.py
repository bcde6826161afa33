"""The part on the 5.17 series: what it states of the twenty patches, what it measures, the faults of its exercises."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pybtex.database import parse_file

from book.figures import calls, deferral, doors, effects, faults, lost_update, series, series_faults, sock_lines
from sim import scenarios
from sim.scenarios.tcp_5_17 import SERIES
from sim.timing import timing
from sim.verifier import Unsound
from widgets import ProgramDiff

ROOT = Path(__file__).parents[2]
CHAPTERS = ROOT / "chapters" / "tcp-5.17"


def test_the_patches_are_numbered_and_add_up_to_the_cover_letter():
    assert [p.number for p in series.PATCHES] == list(range(1, 21))
    # Patches 15 and 17 rewrite a line each that 14 and 16 have written: the series as a whole does not show those.
    rewritten = 2
    assert sum(p.added for p in series.PATCHES) - rewritten == series.INSERTIONS
    assert sum(p.removed for p in series.PATCHES) - rewritten == series.DELETIONS


def test_every_patch_has_a_page_a_section_and_a_source():
    cited = {key for path in (ROOT / "book").glob("references*.bib") for key in parse_file(str(path)).entries}
    for patch in series.PATCHES:
        page = (CHAPTERS / f"{patch.idea}.md").read_text(encoding="utf-8")
        if patch.number != 17:
            assert f"(patch-{patch.number})=" in page
            assert {f"patch-5-17-{patch.number:02}", f"commit-5-17-{patch.number:02}"} <= cited
            assert f"{{cite}}`patch-5-17-{patch.number:02},commit-5-17-{patch.number:02}`" in page


def test_keys_are_those_of_the_scenario_and_five_patches_have_none():
    s = scenarios.load("tcp-5.17")
    assert set(series.KEYS.values()) == {knob.name for knob in SERIES} | {"defer_free"}
    for number, key in series.KEYS.items():
        assert s.knob(key).doc.startswith(f"Patch {number}:")
    assert [p.number for p in series.PATCHES if p.key is None] == [2, 4, 7, 9, 13]
    assert set(effects.TRIALS) == set(series.KEYS)


def test_all_keys_are_on_or_off_as_asked():
    assert set(series.keys().values()) == {1}
    some = series.keys([17, 20])
    assert {name for name, on in some.items() if on} == {"defer_free", "demux_fields_close"}
    assert set(some) == set(series.KEYS.values())


def test_a_trial_times_functions_that_its_program_has_on_a_cpu_with_a_role():
    s = scenarios.load("tcp-5.17")
    for number, trial in effects.TRIALS.items():
        assert set(trial.symbols) <= set(s.spec.program.symbols), number
        assert trial.role in {role.name for role in s.roles}
        assert trial.event in effects.EVENTS
        s.settings(**trial.knobs)


@pytest.mark.parametrize("picture", [
    series.portrait({17: "1,215", 20: "41"}),
    series.climb([series.Rung(0, 55, 54.9, 55.1), series.Rung(17, 66.6, 66.5, 66.7)], {0: 55, 17: 66}),
], ids=["portrait", "climb"])
def test_a_picture_of_the_series_stays_inside_its_frame_and_names_its_finding(picture):
    root = ElementTree.fromstring(picture.svg())
    assert len(root.get("aria-label", "").split()) > 12
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, 0)) <= 360, ElementTree.tostring(element)
        assert 0 <= float(element.get("y", 0)) <= picture.height


def test_a_change_is_the_mean_of_differences_and_never_surer_than_one_counted_event():
    same = effects.change([1.0, 2.0, 4.0], [2.0, 3.0, 5.0], "ns", 0.3)
    assert (same.moved.mean, same.moved.low, same.moved.high) == pytest.approx((1.0, 0.9, 1.1))
    assert same.clear
    assert not effects.change([1.0, 2.0], [2.0, 1.0], "ns", 0.0).clear


def test_a_call_by_name_saves_what_an_indirect_call_costs():
    s = scenarios.load("tcp-5.17")
    price_ns = s.spec.constants["indirect_call_ps"] / 1000
    moved = effects.measured(12, seeds=3)["ns"].moved
    assert moved.low < 0
    assert moved.mean == pytest.approx(-price_ns, rel=0.1)


def test_instructions_are_counted_as_the_diff_on_the_page_counts_them():
    assert effects.instructions(12) == effects.instructions(16) == (0, 1, 0)
    assert effects.instructions(20)[:2] == (0, 0)  # a layout: the same accesses, on other lines
    for number in (16, 18):
        kinds = [row.kind for row in ProgramDiff("tcp-5.17", series.KEYS[number], **effects.TRIALS[number].knobs).rows]
        assert effects.instructions(number) == tuple(kinds.count(kind) for kind in ("added", "removed", "changed"))


def test_what_a_run_adds_to_another_is_paired_by_seed_and_no_surer_than_one_packet():
    s = scenarios.load("tcp-5.17")
    off, on = (s.run(replications=2, until_ps=s.quick_ps, defer_free=side) for side in (0, 1))
    assert effects.gained(on, on).startswith("+0.00 (−0.")
    assert re.fullmatch(r"\+1\d\.\d\d \(\+\d+\.\d\d to \+1\d\.\d\d\)", effects.gained(off, on))


def test_the_parts_of_early_demux_add_up_to_what_it_takes_and_two_lines_grow_dear_with_patch_17():
    before, with_17, with_20 = ([float(row[side]) for row in sock_lines.demux(2).rows] for side in (1, 2, 3))
    took = effects.measured(20, seeds=2)["ns"]
    assert sum(with_17) == pytest.approx(took.before.mean, abs=2)
    assert sum(with_20) == pytest.approx(took.after.mean, abs=2)
    lock, route = (with_17[part] - before[part] for part in (2, 3))
    assert lock > 15
    assert route == pytest.approx(45, abs=3)
    assert with_17[:2] == before[:2] == with_20[:2]
    assert with_20[2] - before[2] > 15 > with_20[3] - before[3]


def test_the_gain_at_mtu_1500_rests_on_what_a_small_packet_costs():
    s = scenarios.load("tcp-5.17")
    fitted = int(s.knob("softirq_packet_ns").default)
    gains = [
        float(str(deferral.both(s, {"softirq_packet_ns": fitted + more, "replications": 2})[2]))
        for more in (0, 24, 36)
    ]
    assert gains[0] > 10 > 6 > gains[1] > 2 > gains[2]


def test_packets_without_gro_share_their_calls():
    received = calls.made(1)
    run = scenarios.load("tcp-5.17").run(replications=1, defer_free=0, gro_max_segs=1)
    freed = 1 - run.metrics["coalesced_per_s"].mean / (run.mpps * 1e6)
    assert 2 * freed < received < 0.6


@pytest.mark.parametrize("segments", [8, 45])
def test_without_patch_17_the_reader_spends_most_of_the_locks_time_on_pages_and_on_calls(segments):
    s = scenarios.load("tcp-5.17")
    program, timed = s.spec.program, timing(s, defer_free=0, gro_max_segs=segments)
    turn = range(program.address("__release_sock.next"), program.address("__release_sock.done"))
    here = {n for n, name in enumerate(program.symbols) if name in effects.TRIALS[11].symbols}
    took = [(at, one, timed.time_ps[1, at]) for at, one in enumerate(program.code) if one.symbol in here]
    other = sum(
        ps for at, one, ps in took if "zone->lock" in one.words or (at in turn and one.op in ("ACCESS", "WORK"))
    )
    assert 0.6 < other / sum(ps for _, _, ps in took) < 0.9


def test_huge_packets_are_freed_by_the_reader_at_the_end_of_its_calls_and_not_for_an_empty_queue():
    s = scenarios.load("tcp-5.17")
    program = s.spec.program
    visits = timing(s, mtu=4168, link_gbps=200, gro_max_size=184_500).visits[1]
    spot = program.address("eat_skb.free")
    flush = next(at for at in range(program.address("sk_defer_free_flush"), len(program.code))
                 if program.code[at].words[:1] == ("freed_by_reader",))
    packets = visits[program.address("eat_skb")]
    assert visits[spot] < 0.1 * packets < 0.3 * packets < visits[flush]


def test_a_patch_without_a_key_cannot_be_measured():
    with pytest.raises(KeyError):
        effects.measured(2)


@pytest.mark.parametrize("fault", [
    series_faults.never_owned, series_faults.end_of_file, series_faults.tail_kept, series_faults.silent,
    series_faults.counts_itself, series_faults.backwards,
], ids=lambda f: f.__name__)
def test_a_fault_changes_the_program_and_is_sound_to_run(fault):
    s = fault()
    changed = [a for a, b in zip(s.spec.program.code, series_faults.fresh().spec.program.code, strict=True)
               if (a.op, a.words) != (b.op, b.words)]
    assert len(changed) == 1
    assert series_faults.refusal(s) == "The verifier finds nothing wrong."


def test_without_references_nothing_else_is_missing_and_the_door_of_two_segments_still_pays():
    s, right = series_faults.uncounted(), series_faults.fresh()
    pairs = zip(s.spec.program.code, right.spec.program.code, strict=True)
    gone = [b for a, b in pairs if (a.op, a.words) != (b.op, b.words)]
    assert {one.words[-1] for one in gone} == {"sk_refcnt"}
    assert series_faults.refusal(s) == "The verifier finds nothing wrong."
    assert doors.uncounted(0, 2, 3).moved.low > 0


def test_a_way_out_with_the_lock_held_is_refused_by_name():
    said = series_faults.refusal(series_faults.no_unlock())
    assert "sk_lock.slock" in said
    with pytest.raises(Unsound):
        series_faults.no_unlock().run(replications=1)


def test_a_read_that_returns_nothing_keeps_a_cpu_busy_with_calls():
    s, knobs = series_faults.end_of_file(), {"nonblocking": 1, "timeo_first": 1, "link_gbps": 40}
    right = series_faults.fresh().run(replications=1, until_ps=s.quick_ps, **knobs)
    wrong = s.run(replications=1, until_ps=s.quick_ps, **knobs)
    assert wrong.reads_per_s > 20 * right.reads_per_s
    assert wrong.cpu["reader"] > 99 > right.cpu["reader"]


def test_a_fault_is_looked_for_behind_a_label_and_missed_in_words():
    with pytest.raises(ValueError, match="no POP nowhere behind lock_sock"):
        series_faults.behind(series_faults.fresh(), "lock_sock", "POP", "nowhere")


def test_a_table_sets_the_right_program_beside_the_wrong_one():
    table = series_faults.against(
        series_faults.backwards(), ("gbps", "freed_by_softirq"), {"bulk": {"mtu": 4168}}, ("5.17's", "the copy"), "t"
    )
    assert [row[0] for row in table.rows] == ["bulk: 5.17's", "bulk: the copy"]
    right, wrong = (float(str(row[1]).split()[0]) for row in table.rows)
    assert right > 1.1 * wrong
    assert "tcp_eat_recv_skb" in faults.listing(series_faults.fresh(), "eat_skb", "eat_skb.defer", defer_free=1)


def test_a_counter_raised_before_the_lock_loses_packets_and_one_under_it_none():
    for cpus in (2, 4):
        passed, says = lost_update.counted(cpus, 0)
        assert says < 0.97 * passed
        passed, says = lost_update.counted(cpus, 1)
        assert passed == says > 500
    assert lost_update.counted(1, 0)[0] == lost_update.counted(1, 0)[1]


def test_every_exercise_of_the_part_has_a_solution_and_every_page_a_fault_and_an_open_end():
    for name in ("index", *series.IDEAS, "discussion"):
        page = (CHAPTERS / f"{name}.md").read_text(encoding="utf-8")
        asked = re.findall(r"```\{exercise\}[^\n]*\n:label: (\S+)", page)
        solved = re.findall(r"```\{solution\} (\S+)\n:class: dropdown", page)
        assert asked == solved
        assert len(asked) >= 4, name
        assert "**Find the bug.**" in page, name
        assert "**Open, on the lab.**" in page, name
