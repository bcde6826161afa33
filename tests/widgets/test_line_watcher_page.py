"""The line watcher on a page from a file: the steps that Python has, stepping by all hands, and faults to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
import traitlets
from playwright.sync_api import Locator, Page

from sim.line_samples import LOST, MISSING, SAMPLES, TWICE, UPDATE
from widgets import LineWatcher
from widgets.line_watcher import STILL_STEPS

pytestmark = pytest.mark.browser

SETTLED = "[data-settled=true]"
LISTEN = 'document.addEventListener("rp-drawn", ({ detail }) => (globalThis.drawn = detail), true);'
QUICK = {"dst-refcount", "wakeup"}
slowly = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SAMPLES]


@pytest.fixture(scope="module")
def plain() -> LineWatcher:
    return LineWatcher("socket-lock")


@pytest.fixture(scope="module")
def faulty() -> LineWatcher:
    return LineWatcher("spinlock", bug=TWICE)


def opened(watch: Callable[..., Any], address: str, **options: Any) -> Page:
    page = watch(address, **options).page
    page.wait_for_selector(SETTLED)
    return page


def picture(page: Page) -> Locator:
    return page.locator("[role=application]")


def step(page: Page) -> int:
    return int(page.locator(".rp-facts dt:text-is('step') + dd").inner_text().split()[0])


def compare(watch: Callable[..., Any], address: str, widget: LineWatcher) -> None:
    watched = watch("about:blank")
    watched.page.add_init_script(LISTEN)
    watched.page.goto(address)
    watched.page.wait_for_selector(SETTLED)
    drawn = watched.page.evaluate("({ begin: drawn.begin, steps: drawn.steps })")
    taken = widget.result
    assert drawn["begin"] == taken.begin
    wanted = [asdict(one) for one in taken.steps]
    assert [{name: one[name] for name in shown} for one, shown in zip(wanted, drawn["steps"], strict=True)] == [
        {**shown, **({"versions": tuple(shown["versions"])} if "versions" in shown else {})} for shown in drawn["steps"]
    ]
    assert watched.errors == []
    assert watched.foreign == []
    assert watched.page.locator(".rp-still").is_hidden()


@pytest.mark.parametrize("name", slowly)
def test_the_page_has_the_steps_that_python_has(
    watch: Callable[..., Any], write_page: Callable[..., str], name: str
) -> None:
    widget = LineWatcher(name)
    compare(watch, write_page(f"line-{name}", widget), widget)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bug"), [("wakeup", LOST), ("spinlock", TWICE), ("counter", UPDATE), ("readers", MISSING)]
)
def test_the_page_has_the_fault_that_python_has(
    watch: Callable[..., Any], write_page: Callable[..., str], name: str, bug: str
) -> None:
    widget = LineWatcher(name, bug=bug)
    compare(watch, write_page(f"line-{name}-{bug}", widget), widget)


def test_every_key_steps(watch: Callable[..., Any], write_page: Callable[..., str], plain: LineWatcher) -> None:
    page = opened(watch, write_page("line", plain))
    steps = plain.result.steps
    moves = [n + 1 for n, one in enumerate(steps) if one.source == 1 or one.to >= 0]
    picture(page).focus()
    assert step(page) == 8
    later = next(n for n in moves if n > 9)
    for key, number in (
        ("Home", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowLeft", 1), ("PageDown", 9), ("ArrowDown", later),
        ("PageUp", later - 8), ("End", len(steps)), ("ArrowRight", len(steps)), ("ArrowUp", max(moves)), ("Escape", 8),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert step(page) == number, key


def test_buttons_and_a_click_step(
    watch: Callable[..., Any], write_page: Callable[..., str], plain: LineWatcher
) -> None:
    page = opened(watch, write_page("line", plain))
    moves = [n + 1 for n, one in enumerate(plain.result.steps) if one.source == 1 or one.to >= 0]
    for name, number in (
        ("First step", 1), ("Next step", 2), ("Next step", 3), ("Previous step", 2),
        ("Next hand-over", next(n for n in moves if n > 2)), ("Last step", len(plain.result.steps)),
        ("Previous hand-over", max(moves)), ("First step", 1),
    ):  # fmt: skip
        page.get_by_role("button", name=name, exact=True).click()
        assert step(page) == number, name
    box = picture(page).bounding_box()
    assert box
    page.mouse.click(box["x"] + 78 + 26 * 4 + 10, box["y"] + 60)
    assert step(page) == 5


def test_the_reader_marks_the_wrong_step_and_is_told(
    watch: Callable[..., Any], write_page: Callable[..., str], faulty: LineWatcher
) -> None:
    (wrong,) = faulty.answer["steps"]
    page = opened(watch, write_page("line-faulty", faulty))
    verdict = page.locator(".rp-verdict")
    why = faulty.answer["why"]
    assert why not in page.locator(".rp-live").inner_text()  # not before it is asked for
    picture(page).focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert "as it should be" in verdict.inner_text()
    for _ in range(wrong):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert verdict.inner_text() == f"Step {wrong + 1}: that is it. {why}"
    page.keyboard.press("Escape")
    assert verdict.inner_text() == ""
    assert page.locator(".rp-marked").count() == 0
    page.get_by_role("button", name="This step is wrong").click()
    assert page.locator(".rp-marked").count() == 1
    page.get_by_role("button", name="Clear the mark").click()
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Show the answer").click()
    assert why in verdict.inner_text()
    assert step(page) == wrong + 1
    assert page.locator(".rp-wrong").count() == 1


def test_a_lost_invalidation_shows_two_truths_and_no_times(
    watch: Callable[..., Any], write_page: Callable[..., str]
) -> None:
    widget = LineWatcher("readers", bug=MISSING)
    (wrong,) = widget.answer["steps"]
    widget.selection = wrong
    page = opened(watch, write_page("line-missing", widget))
    assert step(page) == wrong + 1
    seen = page.locator(".rp-facts dt:text-is('writes seen') + dd").inner_text()
    assert len({one.split()[-1] for one in seen.split(", ")}) == 2
    assert page.locator(".rp-facts dt:text-is('takes')").count() == 0
    assert "without times" in page.locator(".rp-mark").inner_text()


@pytest.mark.slow
def test_a_switch_runs_the_sample_again(watch: Callable[..., Any], write_page: Callable[..., str]) -> None:
    page = opened(watch, write_page("line-switch", LineWatcher("dst-refcount")))
    assert " 0 hand-overs" not in page.locator(".rp-summary").inner_text()
    page.locator('[data-knob="drop_dst_early"]').press("Space")
    page.locator(".rp-summary", has_text=" 0 hand-overs").wait_for()
    page.get_by_role("button", name="Reset").click()
    page.locator(".rp-summary:not(:has-text(' 0 hand-overs'))").wait_for()


@pytest.mark.slow
def test_a_phone_taps_and_stays_inside_its_width(
    watch: Callable[..., Any], write_page: Callable[..., str], plain: LineWatcher
) -> None:
    page = opened(watch, write_page("line", plain), has_touch=True, viewport={"width": 375, "height": 800})
    page.get_by_role("button", name="First step", exact=True).tap()
    page.get_by_role("button", name="Next step", exact=True).tap()
    assert step(page) == 2
    picture(page).scroll_into_view_if_needed()
    box = picture(page).bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + 78 + 26 * 2 + 10, box["y"] + 60)
    assert step(page) == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_python_checks_what_it_is_given() -> None:
    with pytest.raises(ValueError, match="'spinlock'"):
        LineWatcher("spinlok")
    with pytest.raises(ValueError, match="'lost-wakeup'"):
        LineWatcher("wakeup", bug="lost-wakup")
    with pytest.raises(ValueError, match="samples that can: wakeup"):
        LineWatcher("spinlock", bug=LOST)
    with pytest.raises(ValueError, match="drop_dst_early"):
        LineWatcher("dst-refcount", drop_dst_erly=1)
    with pytest.raises(ValueError, match="without knobs"):
        LineWatcher("wakeup", mtu=1500)
    widget = LineWatcher("wakeup")
    with pytest.raises(traitlets.TraitError):
        widget.seed = 0
    with pytest.raises(ValueError, match="without knobs"):
        widget.settings = {"mtu": 1500}


def test_python_reads_what_the_reader_marked(faulty: LineWatcher) -> None:
    assert not faulty.found
    faulty.marked = faulty.answer["steps"][0]
    assert faulty.found
    faulty.marked = -1
    assert set(faulty.state()) == {*faulty.page_traits()}


def test_the_still_picture_gives_nothing_away(faulty: LineWatcher) -> None:
    still = faulty.still()
    assert still.finding.endswith("One step is wrong: find it.")
    assert faulty.answer["why"] not in still.svg
    assert "hand-overs from core to core" in LineWatcher("false-sharing").still().finding


def test_a_still_picture_has_a_row_for_every_core_that_acts() -> None:
    w = LineWatcher("dst-refcount")
    svg = w.still().svg
    for core in {step.core for step in w.result.steps[:STILL_STEPS]}:
        assert f">core {core}<" in svg
    assert any(step.rides for step in w.result.steps[:STILL_STEPS])
    assert "empty: together with the core" in svg
    assert "empty:" not in LineWatcher("false-sharing").still().svg


def test_the_address_keeps_the_step_and_reset_goes_back(
    watch: Callable[..., Any], write_page: Callable[..., str], plain: LineWatcher
) -> None:
    address = write_page("line", plain)
    page = opened(watch, address)
    picture(page).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == "#line-watcher-socket-lock?step=9"
    again = opened(watch, address + "#line-watcher-socket-lock?step=9")
    assert step(again) == 9
    picture(again).focus()
    again.keyboard.press("Escape")
    assert step(again) == 8
    assert again.evaluate("location.hash") == ""
