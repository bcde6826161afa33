"""``python -m sim host``: who lacks something is told so in one line, and what to do without it."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from book.build.places import ROOT
from sim.cli import main
from sim.host import experiment, load, report, tools
from sim.host.catalogue import EXPERIMENTS
from sim.host.experiment import Outcome
from sim.host.reading import Reading
from sim.host.tools import Need

#: What Linux has and macOS or Windows has not, for Python.
ELSEWHERE = """
import os, signal, socket, sys
import sim.cli  # others' modules are loaded while all is there
for name in [name for name in sys.modules if name.partition(".")[0] == "sim"]:
    del sys.modules[name]
for module, names in {
    os: ("sched_getaffinity", "sched_setaffinity", "killpg", "sysconf", "geteuid", "getloadavg"),
    signal: ("SIGKILL", "SIGUSR1"), socket: ("AF_PACKET",),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
import platform
platform.system = lambda: "Windows"
from sim.cli import main
sys.exit(main(["host", "list"]) or main(["host", "experiment", "gro"]))
"""


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Pretend that this system has all but one need."""
    needs = {n: Need(n, lambda n=n: n != name, need.remedy) for n, need in tools.NEEDS.items()}
    monkeypatch.setattr(tools, "NEEDS", needs)


@pytest.mark.parametrize("name", [*experiment.BASE, "iperf3"])
def test_what_is_missing_is_one_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, name)
    assert main(["host", "experiment", "gro"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"error: the experiment gro needs {name}: ")
    assert said[0].endswith("python -m sim run and the book's pages work without any of this")


def test_perf_is_asked_for_only_by_its_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "perf")
    assert main(["host", "experiment", "udp-flood", "--perf"]) == 1
    assert "needs perf: install linux-perf" in capsys.readouterr().err
    assert tools.missing(EXPERIMENTS["udp-flood"].needs) == []


def test_an_experiment_without_iperf3_s_load_does_not_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "iperf3")
    assert tools.missing(EXPERIMENTS["udp-flood"].needs) == []
    assert [need.name for need in tools.missing(EXPERIMENTS["gro"].needs)] == ["iperf3"]


def test_too_few_cpus_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    without(monkeypatch, "")
    monkeypatch.setattr(load, "cpus", lambda: [3])
    assert main(["host", "experiment", "gro"]) == 1
    assert "needs 2 CPUs, and this process may use 1" in capsys.readouterr().err


def test_the_list_says_what_can_run_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "iperf3")
    assert main(["host", "list", "--json"]) == 0
    here = {row["name"]: row["here"] for row in json.loads(capsys.readouterr().out)}
    assert list(here) == list(EXPERIMENTS)
    assert here["udp-flood"] == "yes"
    assert here["gro"] == "no: iperf3, install iperf3"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grow"], "did you mean gro"),
        (["gro", "--seconds", "31"], "0.1 to 30 s"),
        (["gro", "--rounds", "0"], "1 to 50"),
        (["gro", "--json", "/no/such/folder/x.json"], "there is no folder /no/such/folder"),
        (["gro", "--second", "1"], "unrecognized arguments"),
    ],
)
def test_a_mistake_on_the_command_line_has_status_2(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["host", "experiment", *words]) == 2
    assert said in capsys.readouterr().err


def test_help_names_every_experiment_and_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["host", "experiment", "--help"])
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in (*EXPERIMENTS, "rate_gbps", "lookups_per_packet"))


def test_where_python_has_nothing_of_linux_the_command_line_lists_and_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("no: Linux, this is Windows") == len(EXPERIMENTS)
    assert done.stderr.startswith("error: the experiment gro needs Linux: this is Windows; python -m sim run and")


@pytest.mark.usefixtures("kernel")
def test_an_experiment_is_shown_and_written_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "gro.json"
    words = ["host", "experiment", "gro", "--seconds", "0.1", "--rounds", "1", "--json", str(target)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(EXPERIMENTS["gro"].question)
    assert "Packets after GRO by size" in shown
    assert "rate_gbps: on against off: " in shown
    document = json.loads(target.read_text(encoding="utf-8"))
    assert document["machine"]["kernel"] == platform.release()
    assert document["arms"]["off"]["segments_per_packet"]["mean"] == pytest.approx(1, rel=0.01)
    assert list(tmp_path.iterdir()) == [target]


def test_a_first_arm_of_nothing_gives_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = EXPERIMENTS["fanout"]
    outcome = Outcome(
        chosen, {"without": [Reading({"delivered_per_s": 0.0})], "with": [Reading({"delivered_per_s": 5.0})]}
    )
    report.show(chosen, outcome)
    assert "with against without: no change can be stated, without showed 0" in capsys.readouterr().out


def test_a_recorded_profile_is_shown_by_layer_and_symbol(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = EXPERIMENTS["gro"]
    readings = {
        arm: [Reading({"rate_gbps": 1.0}, {}, {"sender": {"tcp_v6_rcv": 60.0, name: 40.0}})]
        for arm, name in (("off", "ip6_rcv_core"), ("on", "dev_gro_receive"))
    }
    report.show(chosen, Outcome(chosen, readings, clock="cpu-clock"))
    shown = capsys.readouterr().out
    layers, symbols = shown.index("The sender's CPU by layers"), shown.index("The sender's CPU by symbols")
    assert shown.index("GRO ", layers) < shown.index("TCP and socket", layers) < symbols
    assert symbols < shown.index("tcp_v6_rcv", symbols) < shown.index("dev_gro_receive", symbols)
    assert "The reader's CPU" not in shown
    assert "a sample by cpu-clock waits while interrupts are off" in shown
