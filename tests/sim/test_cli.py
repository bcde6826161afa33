"""The command line: the contract's JSON, tables for people, and mistakes told in one line."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sim import cli, compiled, display, machine, reported, scenarios
from sim.result import Estimate

Capture = pytest.CaptureFixture[str]
SHORT = ("--replications", "2")


def said(capsys: Capture, *words: str, status: int = 0) -> tuple[str, str]:
    """Standard output and standard error of a command that ends with `status`."""
    assert cli.main(words) == status
    out = capsys.readouterr()
    return out.out, out.err


def document(capsys: Capture, *words: str) -> Any:
    return json.loads(said(capsys, *words, "--json")[0])


def test_list_names_the_scenarios(capsys: Capture) -> None:
    assert "tcp-5.17" in said(capsys, "list")[0]
    assert [s["name"] for s in document(capsys, "list")] == scenarios.names()


def test_list_with_a_name_shows_its_knobs_with_their_ranges(capsys: Capture) -> None:
    out = said(capsys, "list", "tcp-5.17")[0]
    assert "1,280 to 9,000 bytes" in out
    assert "The seed varies" in out
    knobs = document(capsys, "list", "tcp-5.17")["knobs"]
    assert {k["effect"] for k in knobs} <= {"acts", "inert", "refused"}


def test_run_prints_the_contracts_json(capsys: Capture) -> None:
    found = document(capsys, "run", "tcp-5.17", "--mtu", "4168", "--defer_free=0", "--seed", "7", *SHORT)
    assert (found["scenario"], found["seed"], found["replications"]) == ("tcp-5.17", 7, 2)
    assert (found["knobs"]["mtu"], found["knobs"]["defer_free"], found["engine"]) == (4168, 0, "native")
    assert set(found["metrics"]["gbps"]) == {"mean", "low", "high", "unit"}
    assert set(found["cpu"]) == set(found["profile"]) == {"softirq", "reader"}


def test_run_gives_the_numbers_of_the_same_run_in_python(capsys: Capture) -> None:
    run = scenarios.load("tcp-5.17").run(mtu=4168, replications=2)
    found = document(capsys, "run", "tcp-5.17", "--mtu", "4168", *SHORT)
    assert found == json.loads(json.dumps(run.to_dict()))


@pytest.mark.parametrize(
    "words",
    [["--mtu", "4168", "tcp-5.17"], ["tcp-5.17", "--mtu=4168"], ["--threads", "1", "tcp-5.17", "--mtu", "4168"]],
)
def test_knobs_stand_before_or_after_the_scenario(capsys: Capture, words: list[str]) -> None:
    assert document(capsys, "run", *words, *SHORT)["knobs"]["mtu"] == 4168


def test_a_dash_may_stand_for_an_underscore(capsys: Capture) -> None:
    assert document(capsys, "run", "tcp-5.17", "--defer-free", "0", *SHORT)["knobs"]["defer_free"] == 0


def test_run_prints_tables_for_people(capsys: Capture) -> None:
    out = said(capsys, "run", "tcp-5.17", "--reader_cpu", "other_socket", *SHORT)[0]
    assert "reader_cpu=other_socket; 2 replications from seed 1" in out
    assert "Where reader's time goes" in out
    assert "copy_user_enhanced_fast_string" in out
    assert "\x1b" not in out  # no colours in a file


def test_run_on_a_machine_of_ones_own(capsys: Capture, tmp_path: Path) -> None:
    slow = scenarios.load("tcp-5.17").machine.with_(same_socket_ps=200_000)
    file = tmp_path / "slow.json"
    file.write_text(slow.to_json(), encoding="utf-8")
    own = document(capsys, "run", "tcp-5.17", "--machine", str(file), *SHORT)
    assert own["metrics"]["gbps"]["mean"] < document(capsys, "run", "tcp-5.17", *SHORT)["metrics"]["gbps"]["mean"]


def test_diff_and_listing(capsys: Capture) -> None:
    out = said(capsys, "diff", "tcp-5.17", "--mtu", "1500", "defer_free")[0]
    assert out.startswith("--- defer_free=0\n+++ defer_free=1\n")
    assert document(capsys, "diff", "tcp-5.17", "defer_free")["diff"] == scenarios.load("tcp-5.17").diff("defer_free")
    assert "recvmsg:" in said(capsys, "listing", "tcp-5.17")[0]
    assert document(capsys, "listing", "tcp-5.17", "--mtu", "4168")["knobs"]["mtu"] == 4168


def test_validate_counts_misses_before_it_lists_figures(capsys: Capture) -> None:
    out = said(capsys, "validate", "--thread", "udpv6-early-demux", "--replications", "2", "--notes")[0]
    assert out.index("Verdicts") < out.index("Figures")
    assert "https://lore.kernel.org/" in out
    rows = document(capsys, "validate", "--thread", "tcp-5.17", *SHORT)
    assert len(rows) == len(reported.figures("tcp-5.17"))


def test_sweep_prints_rows(capsys: Capture) -> None:
    words = ("sweep", "tcp-5.17", "--over", "mtu=1500,4168", "--over", "defer_free=0,1", "--rfs", "0", *SHORT)
    assert len(document(capsys, *words)) == 4
    assert "4168" in said(capsys, *words)[0]
    assert len(list(csv.DictReader(io.StringIO(said(capsys, *words, "--csv")[0])))) == 4


def test_machines(capsys: Capture) -> None:
    assert [m["name"] for m in document(capsys, "machines")] == machine.names()
    assert "same_socket_ps" in said(capsys, "machines", "cascade-lake")[0]
    assert "cascade-lake" in said(capsys, "machines")[0]
    assert document(capsys, "machines", "zen3-milan")["name"] == "zen3-milan"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rnu"], "no command 'rnu'; the nearest is 'run'"),
        (["run"], "required: name"),
        (["run", "tcp5"], "no scenario 'tcp5'; the nearest is 'tcp-5.17'"),
        (["run", "tcp-5.17", "--mtuu", "1"], "did you mean mtu?"),
        (["run", "tcp-5.17", "--mtuu"], "did you mean mtu?"),
        (["run", "tcp-5.17", "--mtu"], "--mtu needs a value: 1,280 to 9,000 bytes"),
        (["run", "tcp-5.17", "--mtu", "--json"], "--mtu needs a value"),
        (["run", "tcp-5.17", "--mtu", "-4"], "mtu goes from 1,280 to 9,000 bytes, not -4"),
        (["run", "tcp-5.17", "--mtu", "1500", "--mtu=1500"], "--mtu is set twice"),
        (["run", "tcp-5.17", "--reader_cpu=moon"], "same_cpu, same_socket, other_socket"),
        (["run", "tcp-5.17", "--replications", "0"], "number above 0"),
        (["run", "tcp-5.17", "--machine", "cascade"], "no machine 'cascade'"),
        (["run", "tcp-5.17", "1500"], "1500"),
        (["diff", "tcp-5.17", "mtu"], "mtu is not a switch; there are defer_free"),
        (["diff", "tcp-5.17", "defer_fre"], "did you mean defer_free"),
        (["validate", "--thread", "tcp-5.1"], "no figures of a thread 'tcp-5.1'; the nearest is 'tcp-5.17'"),
        (["sweep", "tcp-5.17"], "--over"),
        (["sweep", "tcp-5.17", "--over", "mtu"], "does not have the form KNOB=A,B,C"),
        (["sweep", "tcp-5.17", "--over", "mtu=1500,12"], "1,280 to 9,000"),
        (["sweep", "tcp-5.17", "--over", "mtu=1500", "--over", "mtu=1600"], "mtu is swept twice"),
        (["machines", "cray"], "no machine 'cray'"),
        (["list", "tcp-5.17", "--mtu", "3"], "--mtu"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error(capsys: Capture, words: list[str], told: str) -> None:
    out, err = said(capsys, *words, status=2)
    assert out == ""
    assert told in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_nothing_asked_is_answered_with_the_commands(capsys: Capture) -> None:
    assert "validate" in said(capsys, status=2)[0]


def test_an_interrupt_ends_with_its_own_status(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.scenarios.scenario.Scenario.run", interrupted)
    assert said(capsys, "run", "tcp-5.17", status=130)[1] == "interrupted\n"


def test_compile_says_what_it_does(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "ready", lambda: False)
    out = said(capsys, "compile")[0]
    assert compiled.NOTICE in out
    assert "done in" in out
    monkeypatch.setattr(compiled, "ready", lambda: True)
    assert "compiled already" in said(capsys, "compile")[0]


def test_the_first_run_on_a_machine_says_that_it_compiles(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "ready", lambda: False)
    assert compiled.NOTICE in said(capsys, "run", "tcp-5.17", *SHORT)[1]


def test_the_engine_of_this_process_is_ready_once_it_ran(capsys: Capture) -> None:
    compiled.compile_ahead()
    assert compiled.ready()
    assert not compiled.announce()


def test_python_minus_m_sim_ends_with_the_status_and_a_closed_pipe_is_no_error() -> None:
    root = Path(cli.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "sim", "run", "tcp5"], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    piped = subprocess.run(
        f"{sys.executable} -m sim listing tcp-5.17 | head -n 1", shell=True, cwd=root, capture_output=True, text=True,
        check=True,
    )
    assert piped.stderr == ""


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "-"), (0, "0"), (25_000.4, "25,000"), (123.45, "123.5"), (1.456, "1.46"), (7, "7")]
)
def test_numbers_are_shown_with_the_digits_a_reader_can_use(value: float | None, shown: str) -> None:
    assert display.number(value) == shown


def test_bounds_are_shown_with_digits_that_tell_them_apart() -> None:
    assert display.span(1.0, 2.0) == "1.00 to 2.00"
    assert display.span(52.1401, 52.1404) == "52.1401 to 52.1404"
    assert display.span(52.0, 52.0 + 2e-9) == "52.00 ± 1e-09"
    assert display.span(None, 1.0) == "-"
    assert display.interval(Estimate(2.0, 1.0, 3.0, "")) == "1.00 to 3.00"


def test_a_plain_table_is_aligned() -> None:
    lines = display.plain("T", ["name", "n"], [["a", "1"], ["bcdef", "22"]], ["n"])
    assert lines == ["T", "name    n", "a       1", "bcdef  22"]
