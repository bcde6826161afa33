"""The playground's answers are what the lab says: each claim in a sentence is a comparison of intervals here."""

from __future__ import annotations

import re

import pytest

from book.build.places import ROOT
from book.figures import playground
from sim import scenarios
from sim.cli import main

LAB = scenarios.load("lab")
PAGE = (ROOT / "book/playground.md").read_text(encoding="utf-8")


def estimates(name: str) -> list:
    """The metric of each arm, in the order of the table."""
    metric = playground.EXPERIMENTS[name].metric
    return [result.metrics[metric] for result in playground.runs(LAB, name).values()]


@pytest.mark.parametrize(
    ("name", "higher", "lower"),
    [
        ("loses", 1, 2),
        ("wins", 2, 1),
        ("wins", 2, 3),
        ("queues", 2, 1),
        ("queues", 1, 3),
        ("place-one", 2, 1),
        ("place-one", 1, 3),
        ("place-eight", 1, 2),
        ("place-eight", 2, 3),
        ("gro", 1, 2),
        ("gro", 2, 3),
        ("gro", 4, 1),
        ("patch", 1, 2),
        ("reads", 4, 3),
        ("reads", 6, 5),
        ("rules", 2, 1),
        ("coalesce", 1, 3),
        ("wait", 2, 1),
        ("wait", 1, 3),
        ("big", 2, 1),
        ("big", 3, 1),
        ("big", 3, 4),
    ],
)
def test_an_answer_s_order_is_beyond_chance(name: str, higher: int, lower: int) -> None:
    found = estimates(name)
    assert found[higher - 1].low > found[lower - 1].high


def test_what_is_said_to_make_no_difference_makes_little() -> None:
    few, many = estimates("reads")[:2], estimates("coalesce")[3:]
    assert abs(few[1].mean / few[0].mean - 1) < 0.02
    assert abs(many[2].mean / many[0].mean - 1) < 0.02
    sixteen = estimates("rules")[2:]
    assert abs(sixteen[1].mean / sixteen[0].mean - 1) < 0.05
    big = estimates("big")
    assert abs(big[3].mean / big[1].mean - 1) < 0.01


def test_what_the_answers_say_about_cpus_and_frees_is_so() -> None:
    before, after = playground.runs(LAB, "loses").values()
    assert before.cpu["softirq"] > 80
    assert after.cpu["softirq"] < 30
    assert before.cpu["reader"] > 95
    single = playground.runs(LAB, "wins")["no RPS"]
    assert single.cpu["softirq"] > 99
    assert single.cpu["reader"] < 40
    patched = playground.runs(LAB, "patch")["after"]
    assert patched.metrics["freed_by_softirq"].mean < 1
    assert patched.cpu["softirq"] > 99
    found = playground.runs(LAB, "rules")["16 sockets, early demux"].metrics["demux_found_share"].mean
    assert found == pytest.approx(100 / 16, abs=1)
    *_, ordinary, large = playground.runs(LAB, "big").values()
    assert large.metrics["freed_by_softirq"].mean < ordinary.metrics["freed_by_softirq"].mean


def test_a_wait_saves_interrupts_and_a_long_one_leaves_the_cpu_idle() -> None:
    at_once, short, long = playground.runs(LAB, "wait").values()
    interrupts = [run.metrics["interrupts_per_s"].mean for run in (at_once, short, long)]
    assert interrupts[0] > 5 * interrupts[1] > 5 * interrupts[2]
    assert at_once.cpu["softirq"] > 99
    assert short.cpu["softirq"] > 99
    assert long.cpu["softirq"] < 95


def test_rfs_brings_the_waking_to_the_reader_s_cpu() -> None:
    rps, rfs = list(playground.runs(LAB, "wins").values())[1:]
    assert "sock_def_readable" not in rps.profile("reader")
    assert max(rfs.profile("reader"), key=rfs.profile("reader").__getitem__) == "sock_def_readable"


def test_the_lab_starts_where_no_experiment_asks_and_every_one_of_them_leads_away() -> None:
    start = dict(re.findall(r"(\w+)=(\d+)", re.search(r'ReceivePathLab\("lab",(.*?)first=', PAGE)[1]))
    assert start
    for name, experiment in playground.EXPERIMENTS.items():
        for arm, settings in experiment.arms.items():
            named = {**experiment.common, **settings}
            assert set(start) <= set(named), f"{name}, {arm}: a reader who has reset the lab runs something else"
            assert any(str(named[knob]) != value for knob, value in start.items()), f"{name}, {arm} is where it starts"


def test_every_answer_repeats_its_guess_once_behind_a_result() -> None:
    asked = re.findall(r"^```\{predict\} ([\w-]+)", PAGE, re.MULTILINE)
    for name in asked:
        answers = re.findall(r"\{glue:text\}`play-[\w-]+`[^.:,]{0,9} \{guess\}`" + name + "`", PAGE)
        assert len(answers) == 1, name


def test_every_experiment_is_on_the_page_with_its_command_its_runs_and_a_guess() -> None:
    for name in playground.EXPERIMENTS:
        assert f'playground.command("{name}")' in PAGE
        assert f'playground.table(lab, "{name}")' in PAGE
    titles, guesses = (len(re.findall(mark, PAGE, re.MULTILINE)) for mark in (r"^## \d+\. ", r"^```\{predict\}"))
    assert titles == guesses >= 8


def test_the_page_quotes_only_arms_that_there_are() -> None:
    quoted = set(re.findall(r"\{glue:text\}`(play-[\w-]+)`", PAGE))
    assert quoted <= set(playground.words(LAB))


def test_the_commands_are_ones_that_the_command_line_takes(capsys: pytest.CaptureFixture[str]) -> None:
    for name in playground.EXPERIMENTS:
        first = playground.command(name).splitlines()[0].split()[3:]
        assert main([*first, "--replications", "1", "--json"]) in (0, None)
        assert '"scenario": "lab"' in capsys.readouterr().out
