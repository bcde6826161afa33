"""ProgramDiff on a page from a file: Python's rows and times, every key, folds, and every switch of every scenario."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from sim import scenarios
from sim.comparison import Row, compare
from sim.knob import numbers
from tests.widgets.panel_page import PanelPage
from widgets import ProgramDiff
from widgets.bundle import Bundle

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def widget() -> ProgramDiff:
    return ProgramDiff("tcp-5.17", "defer_free", mtu=4168, replications=2)


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str], widget: ProgramDiff) -> str:
    return write_page("program-diff", widget)


class DiffPage(PanelPage):
    """A comparison on a page."""

    def rows(self) -> list[str]:
        """What is said of each instruction in sight."""
        labels: list[str] = self.page.evaluate(
            "[...document.querySelectorAll('.rp-row[aria-label]')].map((row) => row.ariaLabel)"
        )
        return labels

    def row(self, words: str) -> Any:
        return self.page.locator(".rp-row", has_text=words).first

    def focused(self) -> int:
        place: int = self.page.evaluate("Number(document.activeElement.dataset.at ?? -1)")
        return place

    def last(self) -> int:
        return self.page.locator("[data-at]").count() - 1


def python_rows(scenario: str, key: str, **knobs: int) -> list[Row]:
    """The rows of a switch, without the runs that a widget makes when its key moves."""
    s = scenarios.load(scenario)
    return compare(s.spec, *(numbers(s.knobs, s.settings(**{**knobs, key: side})) for side in (0, 1)))


def test_the_page_has_the_times_and_the_rates_of_python(
    watch: Callable[..., Any], address: str, widget: ProgramDiff
) -> None:
    page = DiffPage(watch(address))
    drawn = page.after(lambda: page.control("seed").press("ArrowRight"))
    widget.seed = 2
    for found, expected in zip(drawn["timings"], widget.times, strict=True):
        made = expected.to_dict()
        assert found["packets"] == pytest.approx(made.pop("packets"), rel=1e-9)
        assert {name: found[name] for name in made} == made
    for arm, result in zip(drawn["arms"], widget.result, strict=True):
        assert arm["metrics"]["gbps"]["mean"] == pytest.approx(result.gbps, rel=1e-9)
    kinds = [row.kind for row in widget.rows]
    assert page.summary().startswith(
        f"defer_free: {kinds.count('removed')} instructions removed, {kinds.count('added')} added, "
        f"{kinds.count('changed')} changed, {kinds.count('same')} the same."
    )
    assert page.watched.errors == []
    assert page.watched.foreign == []


def test_every_key_moves_through_the_rows(watch: Callable[..., Any], address: str) -> None:
    page = DiffPage(watch(address))
    press = page.page.keyboard.press
    last = page.last()
    page.page.locator('[data-at="0"]').focus()
    for key, place in (("ArrowDown", 1), ("ArrowUp", 0), ("PageDown", 10), ("PageUp", 0), ("End", last), ("Home", 0)):
        press(key)
        assert page.focused() == place, key
    press("ArrowRight")
    first = page.page.locator(f'[data-at="{page.focused()}"]').get_attribute("aria-label")
    assert str(first).startswith("added: QLEN sk_receive_queue")
    press("ArrowRight")
    press("ArrowLeft")
    press("Enter")
    assert "tcp_eat_recv_skb" in page.page.locator(".rp-selected").inner_text()
    press("Escape")
    assert page.page.get_by_text("Choose an instruction").is_visible()
    press("Home")
    before = page.last()
    press("Space")
    assert page.last() > before + 20  # unfolded
    press("Enter")
    assert page.last() == before


def test_mouse_and_touch_choose_and_unfold(watch: Callable[..., Any], address: str) -> None:
    page = DiffPage(watch(address, has_touch=True, viewport={"width": 375, "height": 800}))
    before = page.last()
    page.page.locator(".rp-fold").first.tap()
    assert page.last() > before
    page.page.locator(".rp-fold").first.click()
    assert page.last() == before
    page.row("ACCESS atomic sock flow defer_list").tap()
    assert "executions" in page.page.locator(".rp-detail").inner_text()
    drawn = page.after(lambda: page.control("key").select_option("demux_fields_close"))
    assert drawn["arms"][1]["knobs"]["demux_fields_close"] == 1
    assert all(label.startswith("changed") for label in page.rows() if not label.startswith("same"))
    page.after(lambda: page.page.get_by_role("button", name="Reset").tap())
    assert page.control("key").input_value() == "defer_free"
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375


def test_python_reads_back_rows_times_and_results(widget: ProgramDiff) -> None:
    w = ProgramDiff("tcp-5.17", "demux_fields_close", replications=2)
    assert {row.kind for row in w.rows} == {"same", "changed"}
    costs = [one.packet_ns.sum() for one in w.times]
    assert min(costs) > 0
    assert "of the instructions 0 removed, 0 added" in w.finding()
    assert w.knobs[1]["demux_fields_close"] == 1
    with pytest.raises(ValueError, match=r"'defer_fre' is no switch of tcp-5\.17; the nearest is 'defer_free'"):
        ProgramDiff("tcp-5.17", "defer_fre")
    with pytest.raises(ValueError, match="defer_free is the key"):
        ProgramDiff("tcp-5.17", "defer_free", defer_free=1)
    with pytest.raises(ValueError, match="mtu goes from 1,280 to 9,000"):
        ProgramDiff("tcp-5.17", "defer_free", mtu=12)


def test_the_still_picture_states_the_finding(widget: ProgramDiff) -> None:
    bundle = widget._repr_mimebundle_()[0]
    assert 'aria-label="tcp-5.17 with defer_free off and on: of the instructions' in bundle["text/html"]


@pytest.mark.parametrize("key", [0, 1])
def test_times_and_the_rate_beside_them_are_of_one_window_and_fit_into_its_cpus(widget: ProgramDiff, key: int) -> None:
    one = widget.times[key]
    cpus = float(one.packet_ns.sum()) * one.mpps / 1000
    assert cpus == pytest.approx(one.time_ps.sum() / one.elapsed_ps)
    assert 1 < cpus < 2.001  # softirq and a full reader; 0.1 % for what a window cuts through
    assert f"{one.packet_ns.sum():,.0f} ns" in widget.finding()
    assert f"at {one.mpps:.4g} Mpps" in widget.finding()


@pytest.mark.slow
def test_the_times_of_the_rollover_fit_into_its_eight_cpus() -> None:
    w = ProgramDiff("packet-rollover", "pressure", replications=2)
    before, after = (float(one.packet_ns.sum()) * one.mpps / 1000 for one in w.times)
    assert 7.5 < before < 8.1
    assert after < 4
    assert "Mpps counts packets that readers took out of their rings" in w.finding()


@pytest.mark.slow
def test_the_file_holds_every_instruction(watch: Callable[..., Any], address: str, tmp_path: Path) -> None:
    page = DiffPage(watch(address))
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "diff.csv")
    with (tmp_path / "diff.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    w = ProgramDiff("tcp-5.17", "defer_free", mtu=4168, replications=2)
    costs = [one.packet_ns.sum(axis=0) for one in w.times]
    for found, row in itertools.zip_longest(rows, w.rows):
        assert [found["address"], found["operands before"]] == [str(row.address), row.before or ""]
        for name, text, side in (("ns before", row.before, costs[0]), ("ns after", row.after, costs[1])):
            if text is None:
                assert found[name] == ""
            else:
                assert float(found[name]) == pytest.approx(side[row.address], rel=1e-9)
    assert eval(page.copied("Copy as Python"), {"ProgramDiff": ProgramDiff}).rows == w.rows


@pytest.mark.parametrize(
    "name", [n if n == "tcp-5.17" else pytest.param(n, marks=pytest.mark.slow) for n in scenarios.names()]
)
def test_every_switch_gives_pythons_rows(browser: Browser, name: str) -> None:
    widget = ProgramDiff(name)
    made = Bundle()
    made.add("programrows")
    page = browser.new_page()
    page.evaluate(
        f"(text) => {{ {made.text} const sidecar = JSON.parse(text);"
        "globalThis.rowsOf = (key) => JSON.stringify($use('programrows').programRows(sidecar, key)) }",
        json.dumps(widget.sidecar),
    )
    for key in widget.sidecar["keys"]:
        found = json.loads(page.evaluate("(key) => rowsOf(key)", key))
        rows = python_rows(name, key)
        assert found == [{**asdict(row), "labels": list(row.labels), "kind": row.kind} for row in rows], key
    page.close()


@pytest.mark.slow
def test_every_switch_of_a_scenario_is_drawn(watch: Callable[..., Any], address: str) -> None:
    page = DiffPage(watch(address))
    w = ProgramDiff("tcp-5.17", "defer_free", mtu=4168)
    signs = {"removed": "− ", "added": "+ ", "changed": "~ ", "same": ""}
    for key in w.sidecar["keys"]:
        page.control("key").select_option(key)
        for fold in page.page.locator(".rp-fold[aria-expanded=false]").all()[::-1]:
            fold.click()
        shown = page.page.evaluate(
            "[...document.querySelectorAll('.rp-row[aria-label]')]"
            ".map((row) => [...row.querySelectorAll('.rp-code')].map((one) => one.textContent))"
        )
        assert shown == [
            ["" if text is None else f"{signs[row.kind]}{row.op} {text}" for text in (row.before, row.after)]
            for row in python_rows("tcp-5.17", key, mtu=4168)
        ], key
    assert page.watched.errors == []


def test_a_key_without_a_difference_says_where_it_shows(watch: Callable[..., Any], address: str) -> None:
    page = DiffPage(watch(address))
    page.page.locator('[data-knob="key"]').select_option("poll_urg_first")
    words = "No instruction differs at these settings; poll_urg_first shows with poll=1."
    assert words in page.page.locator(".rp-live").inner_text()
