"""The page on a scenario of one's own: what it shows is the tested file, and what it says comes out of its runs."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import pytest

from book._ext.receive_path_book.freshness import reachable
from book.build.places import ROOT
from book.build.plain import Page
from book.figures import own
from sim.knob import numbers
from sim.scenarios import RunError, Scenario
from sim.verifier import verify
from tests.sim.scenarios import example_udp_flood
from tests.sim.scenarios.example_udp_flood import UdpFlood

PAGE = ROOT / "book/own-scenario.md"
EXAMPLE = "/tests/sim/scenarios/example_udp_flood.py"
ANCHORS = re.compile(r"^:(?:start-at|end-before): \"(.*)\"$", re.M)


@cache
def names() -> dict[str, Any]:
    """What the page's cells leave behind when they run from top to bottom."""
    space: dict[str, Any] = {}
    for cell in jupytext.read(PAGE, fmt="md:myst").cells:
        if cell.cell_type == "code":
            exec(cell.source, space)  # the project's own page
    return space


def read(scenario: type[Scenario], cpus: int, **knobs: int) -> float:
    """Datagrams read, Mpps, in a short run on one seed."""
    made = scenario()
    return made.run(cpus=cpus, replications=1, until_ps=made.quick_ps, **knobs).metrics["read"].mean


def test_every_excerpt_is_found_once_and_together_they_are_the_file() -> None:
    page = PAGE.read_text(encoding="utf-8")
    text = (ROOT / EXAMPLE.lstrip("/")).read_text(encoding="utf-8")
    assert set(re.findall(r"\{literalinclude\} (\S+)", page)) == {EXAMPLE}
    for anchor in ANCHORS.findall(page):
        assert text.count(anchor) == 1, anchor
    shown = Page().text(page)
    assert [line for line in text.splitlines() if line.strip() and line.strip() not in shown] == []


def test_a_twin_shows_the_code_and_not_the_directive() -> None:
    text = Page().text(
        f'```{{literalinclude}} {EXAMPLE}\n:language: python\n:dedent: 4\n:start-at: "def default_machine"\n'
        ':end-before: "def compose"\n```'
    )
    assert text.startswith("```python\ndef default_machine(self) -> Machine:\n    return machine.load")
    assert "compose" not in text


def test_a_changed_example_makes_the_page_run_again(tmp_path: Path) -> None:
    path = tmp_path / EXAMPLE.lstrip("/")
    path.parent.mkdir(parents=True)
    path.write_text("")
    assert path in reachable(tmp_path)


def test_the_page_s_cells_run_and_its_findings_hold() -> None:
    runs = names()["runs"]
    rates = [run.metrics["read"].mean for run in runs.values()]
    assert rates == sorted(rates, reverse=True)
    assert all(run.cpu["reader"] > 99 for run in runs.values())
    assert runs["2 CPUs"].metrics["dropped"].mean == 0  # the rings overflow there, not the socket
    last = runs["15 CPUs"]
    for role in last.cpu:
        assert max(last.profile(role), key=lambda s: last.profile(role)[s]) == "_raw_spin_lock"


def test_a_queued_lock_helps() -> None:
    assert names()["queued"] is not UdpFlood
    assert read(names()["queued"], 15) > 1.2 * read(UdpFlood, 15)


def test_with_queued_locks_more_cpus_harm_on_each_machine_but_less() -> None:
    elsewhere = {name: run.metrics["read"] for name, run in names()["elsewhere"].items()}
    for machine in ("neoverse-n1", "cascade-lake", "zen3-milan"):
        assert elsewhere[f"{machine}, 15 CPUs"].high < elsewhere[f"{machine}, 2 CPUs"].mean
    lost = elsewhere["neoverse-n1, 15 CPUs"].mean / elsewhere["neoverse-n1, 2 CPUs"].mean
    runs = {cpus: names()["runs"][f"{cpus} CPUs"].metrics["read"].mean for cpus in (2, 15)}
    assert lost > runs[15] / runs[2]


def test_a_socket_for_each_flow_helps_and_fills_later() -> None:
    alone = names()["alone"]
    assert alone["15 CPUs"].metrics["read"].mean > 1.5 * read(UdpFlood, 15)
    assert alone["15 CPUs"].metrics["dropped"].mean == 0
    assert alone["15 CPUs, 15 ms"].metrics["dropped"].mean > 0.1


def test_a_larger_buffer_is_no_cure_and_the_spinning_says_why() -> None:
    buffers = list(names()["buffers"].values())
    rates = [run.metrics["read"].mean for run in buffers]
    spinning = [run.metrics["spinning"].mean for run in buffers]
    assert rates == sorted(rates, reverse=True)
    assert spinning == sorted(spinning)
    assert 1 < spinning[1] < 16


@pytest.mark.parametrize("name", ["queued", "apart", "deeper"])
def test_each_change_is_sound_at_both_ends_of_each_knob(name: str) -> None:
    scenario = names()[name]()
    for knob in scenario.knobs:
        for value in (knob.low, knob.high):
            verify(scenario.spec, numbers(scenario.knobs, scenario.settings(**{knob.name: value})))


def test_what_is_neither_read_nor_dropped_at_the_socket_was_dropped_in_the_rings() -> None:
    counted = own.patched(UdpFlood, """\
         Metric("offered", "Mpps", ("stat:offered",), scale=1e6),
+        Metric("ring_drops", "Mpps", ("stat:nic_drops",), scale=1e6),
""")()
    found = counted.run(cpus=2, replications=1, until_ps=counted.quick_ps).metrics
    assert found["ring_drops"].mean + found["read"].mean == pytest.approx(found["offered"].mean, rel=0.05)


def test_a_socket_for_each_flow_needs_more_packets() -> None:
    few = own.patched(names()["apart"], "-        skbs = LinearSkbs(host, flows, 20_480)\n"
                                        "+        skbs = LinearSkbs(host, flows, 4096)\n")()
    with pytest.raises(RunError, match="exhausted"):
        few.run(cpus=15, replications=1, until_ps=15_000_000_000)


def test_a_patch_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="stand 0 times"):
        own.patched(UdpFlood, "-no such line\n+another\n")
    with pytest.raises(ValueError, match="neither context nor a change: 'loose'"):
        own.patched(UdpFlood, "@@\nloose\n")


def test_a_patched_scenario_can_be_patched_again_and_the_example_stays_as_it_is() -> None:
    before = own.source(UdpFlood)
    once = own.patched(UdpFlood, "-from sim import machine\n+from sim import machine  # once\n")
    twice = own.patched(once, "-from sim import machine  # once\n+from sim import machine  # twice\n")
    assert "# twice" in own.source(twice)
    assert own.source(UdpFlood) == before == Path(str(example_udp_flood.__file__)).read_text(encoding="utf-8")
    assert sys.modules[UdpFlood.__module__] is example_udp_flood
