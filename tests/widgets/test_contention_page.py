"""The contention curve on a page from a file: Python's numbers, every control, what is said of each way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import traitlets

from sim import counting
from tests.widgets.panel_page import PanelPage
from widgets import ContentionCurve, contention_curve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def curve() -> ContentionCurve:
    return ContentionCurve(replications=2)


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str], curve: ContentionCurve) -> str:
    return write_page("contention", curve)


@pytest.fixture
def opened(watch: Callable[..., Any], address: str) -> Callable[..., PanelPage]:
    return lambda hash_="", **options: PanelPage(watch(address + hash_, **options))


def assert_python_has(drawn: dict[str, Any], widget: ContentionCurve) -> None:
    for page, python in zip(drawn["curves"], widget.result.values(), strict=True):
        assert [point["n"] for point in page] == list(python.rates)
        for point, estimate in zip(page, python.rates.values(), strict=True):
            found = (point["mean"], point["low"], point["high"])
            assert found == pytest.approx((estimate.mean, estimate.low, estimate.high), rel=1e-9)


def test_the_page_has_the_curves_of_python(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    drawn = page.after(lambda: page.control("outside_ns").press("ArrowRight"))
    assert_python_has(drawn, ContentionCurve(outside_ns=1050, replications=2))
    page.control("inside_ns").press("End")
    drawn = page.after(lambda: page.control("machine").select_option("cortex-a72"))
    assert drawn["knobs"]["transfer_ns"] == 87
    drawn = page.after(lambda: page.control("outside_ns").press("Home"))
    assert_python_has(drawn, ContentionCurve("cortex-a72", outside_ns=0, inside_ns=500, replications=2))
    assert page.watched.errors == []
    assert page.watched.foreign == []


def test_measured_points_stand_only_beside_what_was_measured(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    page.after(lambda: page.control("machine").select_option("skylake-client"))
    dots = page.page.locator(".rp-picture .rp-dot")
    assert dots.count() == 0
    page.after(lambda: page.control("outside_ns").press("Home"))
    # atomic add, ticket lock and private counters, with 1 to 4 threads
    assert dots.count() == 12
    assert "Skylake" in page.page.locator(".rp-mark").inner_text()
    page.after(lambda: page.control("inside_ns").press("ArrowRight"))
    assert dots.count() == 0


def test_the_finding_says_which_way_falls(opened: Callable[..., PanelPage], curve: ContentionCurve) -> None:
    page = opened()
    summary = page.summary()
    for way, made in curve.result.items():
        label = counting.WAYS[way][0]
        if made.falls_from:
            assert f"{label}: most with {made.peak} CPU" in summary
            assert f"falls from {made.falls_from}," in summary
        else:
            assert f"{label} {'still gains' if made.gains else 'levels off'}" in summary
    assert page.page.locator(".rp-picture title", has_text="most with").count() == sum(
        made.falls_from is not None for made in curve.result.values()
    )


def test_every_control_moves_the_picture(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    page.control("cpus").focus()
    for key, value in (
        ("ArrowRight", 9), ("ArrowUp", 10), ("ArrowLeft", 9), ("ArrowDown", 8), ("End", 24), ("PageDown", 22),
        ("PageUp", 24), ("Home", 1), ("Escape", 8),
    ):  # fmt: skip
        page.page.keyboard.press(key)
        assert page.control("cpus").input_value() == str(value)
        words = page.page.locator(".rp-panel .rp-picture svg").get_attribute("aria-label")
        assert f"With {value} CPUs" in (words or "")
    for knob in ("outside_ns", "inside_ns", "transfer_ns", "seed"):
        before = page.page.locator(".rp-picture").inner_html()
        page.after(lambda knob=knob: page.control(knob).press("ArrowRight"))
        assert page.page.locator(".rp-picture").inner_html() != before, knob
        page.after(lambda knob=knob: page.control(knob).press("Escape"))
        assert page.page.locator(".rp-picture").inner_html() == before, knob


def test_mouse_and_finger_mark_a_number_of_cpus(opened: Callable[..., PanelPage]) -> None:
    page = opened(has_touch=True, viewport={"width": 375, "height": 800})
    picture = page.page.locator(".rp-picture svg")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box
    page.page.mouse.click(box["x"] + box["width"] - 12, box["y"] + 60)
    assert page.control("cpus").input_value() == "24"
    page.page.touchscreen.tap(box["x"] + 54, box["y"] + 60)
    assert page.control("cpus").input_value() == "1"
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.copied("Copy as Python").startswith('ContentionCurve(machine="cascade-lake", cpus=1, outside_ns=1000')


def test_a_later_move_ends_what_runs(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    drawn = page.after(
        lambda: page.control("outside_ns").evaluate(
            """async (input) => {
              for (const ns of [2000, 3000, 4000]) {
                input.value = ns;
                input.dispatchEvent(new Event("input"));
                await new Promise((resolve) => setTimeout(resolve, 10));
              }
            }"""
        )
    )
    assert drawn["knobs"]["outside_ns"] == 4000
    assert [one["knobs"]["outside_ns"] for one in page.page.evaluate("pictures") if one["done"]] == [4000]


def test_python_refuses_and_says_why() -> None:
    assert ContentionCurve("neoverse-n1").transfer_ns == 47
    with pytest.raises(traitlets.TraitError, match="machine"):
        ContentionCurve("pentium")
    with pytest.raises(traitlets.TraitError, match="cpus"):
        ContentionCurve(cpus=25)
    assert set(contention_curve.MACHINES) == set(contention_curve.page_data()["machines"])


def test_the_still_picture_states_the_finding(curve: ContentionCurve) -> None:
    finding = curve._repr_mimebundle_()[0]["text/plain"]
    assert "plain lock peaks at" in finding
    assert "private counters still gains" in finding
