"""The receive-path lab on a page from a file: Python's numbers, every control, what leaves it, cancelling."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.lab_page import LabPage
from widgets import ReceivePathLab

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def lab() -> ReceivePathLab:
    return ReceivePathLab("tcp-5.17")


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str], lab: ReceivePathLab) -> str:
    return write_page("lab", lab)


@pytest.fixture
def opened(watch: Callable[..., Any], address: str) -> Callable[..., LabPage]:
    def open_it(hash_: str = "", **options: Any) -> LabPage:
        watched = watch(address + hash_, **options)
        made = LabPage(watched.page)
        made.watched = watched  # type: ignore[attr-defined]
        return made

    return open_it


def assert_equal(page: Any, python: Any, where: str = "result") -> None:
    """Equal to 1e-9 of the value, all the way down; only the engine's name differs."""
    if isinstance(python, dict):
        assert set(page) == set(python), where
        for key in python:
            if key not in ("engine", "engine_hash"):
                assert_equal(page[key], python[key], f"{where}.{key}")
    elif isinstance(python, float):
        assert math.isclose(page, python, rel_tol=1e-9, abs_tol=1e-9), where
    else:
        assert page == python, where


def test_the_page_has_the_numbers_of_python(opened: Callable[..., LabPage], lab: ReceivePathLab) -> None:
    page = opened()
    arms = page.after(lambda: page.page.get_by_role("button", name="mtu 4168").click())
    expected = ReceivePathLab("tcp-5.17", mtu=4168).result
    for found, result in zip(arms, expected, strict=True):
        assert_equal(found, result.to_dict())
    assert page.watched.errors == []  # type: ignore[attr-defined]
    assert page.watched.foreign == []  # type: ignore[attr-defined]


@pytest.mark.slow
def test_every_control_moves_the_picture_by_keys(
    watch: Callable[..., Any], write_page: Callable[..., str], lab: ReceivePathLab
) -> None:
    page = LabPage(watch(write_page("two-replications", ReceivePathLab("tcp-5.17", replications=2))).page)
    for knob in lab.sidecar["knobs"]:
        if knob["name"] == lab.arm or knob["effect"] != "acts":
            continue
        before, control = page.picture(), page.control(knob["name"])
        control.focus()
        key = {"switch": "Space", "choice": "Home"}.get(knob["kind"], "Home")
        if knob["kind"] == "choice" and knob["default"] == knob["choices"][0]:
            key = "End"
        if knob["kind"] == "int" and knob["default"] == knob["low"]:
            key = "End"
        page.after(lambda key=key: page.page.keyboard.press(key))
        assert page.picture() != before, knob["name"]
        page.after(lambda: page.page.get_by_role("button", name="Reset").press("Enter"))
        assert page.picture() == before, knob["name"]


def test_a_slider_follows_all_of_its_keys(opened: Callable[..., LabPage]) -> None:
    page = opened()
    page.control("mtu").focus()
    seen = []
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "PageUp", "PageDown", "End", "Home"):
        page.after(lambda key=key: page.page.keyboard.press(key))
        seen.append(page.knob("mtu"))
    assert seen[:4] == [1504, 1508, 1504, 1500]
    assert seen[4] > 1800
    assert seen[5] < seen[4]
    assert seen[6:] == [9000, 1280]


def test_mouse_and_touch_move_the_picture(opened: Callable[..., LabPage]) -> None:
    page = opened(has_touch=True, viewport={"width": 375, "height": 800})
    before = page.picture()
    box = page.control("mtu").bounding_box()
    page.after(lambda: page.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2))
    assert 4000 < page.knob("mtu") < 6500
    page.after(lambda: page.page.touchscreen.tap(box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2))
    assert page.knob("mtu") < 3000
    page.after(lambda: page.control("page_recycling").tap())
    assert page.knob("page_recycling") == 1
    page.after(lambda: page.control("reader_cpu").select_option("other_socket"))
    assert page.knob("reader_cpu") == "other_socket"
    page.after(lambda: page.page.get_by_role("button", name="Reset").tap())
    assert page.picture() == before
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_later_move_cancels_the_run_before(opened: Callable[..., LabPage]) -> None:
    page = opened()

    moves = """async (input) => {
      for (const mtu of [2000, 3000, 4000]) {
        const once = { capture: true, once: true };
        const drawn = new Promise((resolve) => addEventListener("rp-drawn", resolve, once));
        input.value = mtu;
        input.dispatchEvent(new Event("input"));
        await drawn;
      }
    }"""
    page.after(lambda: page.control("mtu").evaluate(moves))
    drawn = page.page.evaluate("pictures.map(one => [one.arms[0].knobs.mtu, one.done])")
    assert [mtu for mtu, done in drawn if done] == [4000]
    assert {mtu for mtu, _ in drawn} >= {2000, 3000, 4000}


def test_the_address_keeps_the_knobs(opened: Callable[..., LabPage]) -> None:
    page = opened("#tcp-5.17?mtu=4169&rfs=7&reader_cpu=nowhere&seed=3")
    arms = page.after(lambda: page.control("page_recycling").press("Space"))
    assert [arms[0]["knobs"][k] for k in ("mtu", "rfs", "reader_cpu", "page_recycling")] == [
        4168,
        1,
        "same_socket",
        1,
    ]
    assert arms[0]["seed"] == 3
    assert page.page.evaluate("location.hash") == "#tcp-5.17?mtu=4168&rfs=1&page_recycling=1&seed=3"
    page.after(lambda: page.page.get_by_role("button", name="Reset").click())
    assert page.page.evaluate("location.hash") == ""


def test_evidence_is_one_click_away(opened: Callable[..., LabPage]) -> None:
    page = opened()
    page.after(lambda: page.page.get_by_role("button", name="mtu 4168").click())
    row = page.page.locator(".rp-proof", has_text="4,096 bytes a packet, after the patch: reported 95")
    assert row.locator(".rp-role").inner_text() == "predicted"
    assert row.locator("a").is_hidden()
    row.locator("summary").press("Enter")
    assert "Eric Dumazet" in row.locator("a").inner_text()
    page.after(lambda: page.control("link_gbps").press("ArrowRight"))  # no longer the thread's setting
    assert page.page.locator(".rp-proof").count() == 0


def test_the_command_and_the_file_say_what_is_shown(opened: Callable[..., LabPage], tmp_path: Path) -> None:
    page = opened()
    arms = page.after(lambda: page.page.get_by_role("button", name="mtu 4168").click())
    page.page.get_by_role("button", name="Copy as a command").click()
    assert page.page.locator(".rp-command").inner_text().splitlines() == [
        "python -m sim run tcp-5.17 --defer_free 0 --mtu 4168 --seed 1 --replications 5",
        "python -m sim run tcp-5.17 --mtu 4168 --seed 1 --replications 5",
    ]
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "lab.csv")
    with (tmp_path / "lab.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    rates = [float(r["mean"]) for r in rows if r["name"] == "gbps"]
    assert rates == [arm["metrics"]["gbps"]["mean"] for arm in arms]
    assert next(r["name"] for r in rows if r["kind"] == "engine")


def test_a_still_picture_names_every_reported_rate_of_a_bar() -> None:
    """At 4,096 bytes a packet the thread has two rates after the patch, of two days."""
    lab = ReceivePathLab("tcp-5.17", mtu=4168, replications=2)
    stated = [row for row in lab.reported(1) if row["metric"] == "gbps"]
    assert len(stated) == 2
    words = "; ".join(f"{row['reported']:g}, {row['role']}" for row in stated)
    assert f"dashed: reported {words}" in lab.still().svg


def test_a_still_picture_states_the_finding(lab: ReceivePathLab) -> None:
    bundle = lab._repr_mimebundle_()[0]
    before, after = lab.result
    assert f"Before the patch {before.gbps:.1f} Gbit/s" in bundle["text/html"]
    assert f"after the patch {after.gbps:.1f} Gbit/s" in bundle["text/plain"]


def test_the_rate_follows_the_kind_of_socket(
    write_page: Callable[..., str], watch: Callable[..., Any]
) -> None:
    """Python and the page name the same metric in the same unit, and an arm that is as commands have it says so."""
    lab = ReceivePathLab("lab", flows=16, replications=2, first=("socket",))
    page = LabPage(watch(write_page("kinds", lab)).page)
    arms = page.page.locator(".rp-arm-title")
    assert "the default" in arms.nth(0).inner_text()
    assert "the default" not in arms.nth(1).inner_text()
    for kind in ("tcp_rr", "udp", "forward", "packet_fanout", "tcp_bulk"):
        lab.socket = kind
        if page.control("socket").input_value() != kind:
            page.after(lambda kind=kind: page.control("socket").select_option(kind))
        name, unit = lab.rate
        mean = lab.result.before.metrics[name].mean
        shown = page.page.locator(".rp-picture .rp-big").nth(0).text_content() or ""
        value, _, words = shown.partition(" ")
        assert words == unit
        assert math.isclose(float(value.replace(",", "")), mean, rel_tol=5e-3)
    page.after(lambda: page.control("socket").select_option("udp"))
    summary = page.page.locator(".rp-summary").inner_text()
    assert "Change: none: defer_free makes no difference to these settings." in summary
    assert "0, below" in page.page.locator(".rp-numbers").inner_text()
    assert "(-" not in page.page.locator(".rp-numbers").inner_text()


def test_words_of_the_run_before_are_not_shown_under_the_pictures_of_the_next(
    write_page: Callable[..., str], watch: Callable[..., Any]
) -> None:
    page = LabPage(watch(write_page("stale", ReceivePathLab("tcp-5.17", replications=3))).page)
    page.page.evaluate("""() => {
        const lab = document.querySelector("[data-settled]"), hidden = (c) =>
            getComputedStyle(lab.querySelector(c)).visibility === "hidden";
        window.seen = [];
        lab.addEventListener("rp-drawn", (e) =>
            seen.push([e.detail.done, hidden(".rp-summary"), hidden(".rp-numbers")]), true);
    }""")
    page.after(lambda: page.control("mtu").fill("4168"))
    seen = page.page.evaluate("window.seen")
    assert [False, True, True] in seen
    assert seen[-1] == [True, False, False]
    assert all(done != summary and done != numbers for done, summary, numbers in seen)


def test_a_lab_goes_back_to_where_it_began_and_not_to_the_scenarios_defaults(
    write_page: Callable[..., str], watch: Callable[..., Any]
) -> None:
    page = LabPage(watch(write_page("begun", ReceivePathLab("tcp-5.17", mtu=4168, replications=2))).page)
    for back in (
        lambda: page.control("mtu").press("Escape"),
        lambda: page.page.get_by_role("button", name="Reset").click(),
    ):
        arms = page.after(lambda: page.page.get_by_role("button", name="mtu 1500").click())
        assert arms[0]["knobs"]["mtu"] == 1500
        assert page.page.evaluate("location.hash") == "#tcp-5.17?mtu=1500"
        arms = page.after(back)
        assert arms[0]["knobs"]["mtu"] == 4168
        assert page.page.evaluate("location.hash") == ""
