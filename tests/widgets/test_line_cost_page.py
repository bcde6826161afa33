"""The line cost figure on a page from a file: Python's numbers, every control by mouse, touch and keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from widgets import GroPacker, LineCost, line_program

pytestmark = pytest.mark.browser

SETTLED = "[data-settled=true]"


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str]) -> str:
    return write_page("line-cost", LineCost(threads=4))


def shown(page: Page) -> list[str]:
    return [cell.inner_text() for cell in page.locator(".rp-cost tbody td:nth-child(2)").all()]


def picture(page: Page) -> str:
    return page.locator(".rp-cost .rp-picture").inner_html()


def moved(page: Page, act: Callable[[], Any]) -> str:
    """Do something and wait until the picture is another one; returns the summary."""
    before = picture(page)
    act()
    page.wait_for_function(
        "before => document.querySelector('.rp-cost .rp-picture').innerHTML !== before",
        arg=before,
        timeout=5000,
    )
    return page.locator(".rp-summary").inner_text()


def test_the_page_shows_the_numbers_that_python_has(watch: Callable[..., Any], address: str) -> None:
    watched = watch(address)
    watched.page.wait_for_selector(SETTLED)
    numbers = [float(text.replace(",", "")) for text in shown(watched.page)]
    assert numbers == pytest.approx(list(LineCost(threads=4).result.values()), rel=0.006)  # three digits are shown
    assert watched.errors == []
    assert watched.foreign == []
    assert watched.page.locator(".rp-still").is_hidden()


def test_every_key_moves_the_sliders(watch: Callable[..., Any], address: str) -> None:
    page = watch(address).page
    page.wait_for_selector(SETTLED)
    threads = page.locator('[data-knob="threads"]')
    threads.focus()
    for key, value in (
        ("ArrowRight", "5"), ("ArrowUp", "6"), ("ArrowLeft", "5"), ("ArrowDown", "4"),
        ("End", "16"), ("PageDown", "15"), ("PageUp", "16"), ("Home", "1"),
    ):  # fmt: skip
        summary = moved(page, lambda key=key: page.keyboard.press(key))
        assert threads.input_value() == value
        assert summary.startswith(f"With {value} CPUs:")
    page.locator('[data-knob="transfer_ns"]').focus()
    for key in ("ArrowRight", "ArrowLeft", "End", "Home", "PageUp", "PageDown"):
        moved(page, lambda key=key: page.keyboard.press(key))


def test_mouse_touch_typing_and_reset_move_the_picture(watch: Callable[..., Any], address: str) -> None:
    page = watch(address, has_touch=True, viewport={"width": 375, "height": 800}).page
    page.wait_for_selector(SETTLED)
    first = picture(page)
    box = page.locator('[data-knob="threads"]').bounding_box()
    assert box
    moved(page, lambda: page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2))
    moved(page, lambda: page.touchscreen.tap(box["x"] + 0.2 * box["width"], box["y"] + box["height"] / 2))
    exact = page.get_by_label("threads, exact value")
    exact.fill("99")
    moved(page, lambda: exact.press("Enter"))
    assert exact.input_value() == "16"
    moved(page, lambda: page.locator('[data-knob="machine"]').select_option("neoverse-n1"))
    assert page.get_by_label("transfer_ns, exact value").input_value() == "47"
    moved(page, lambda: page.get_by_role("button", name="Reset").tap())
    page.wait_for_function(
        "first => document.querySelector('.rp-cost .rp-picture').innerHTML === first", arg=first, timeout=5000
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_contended_line_is_handed_round_in_python_too() -> None:
    few, many = LineCost(threads=2).result, LineCost(threads=16).result
    assert many["atomic"] == pytest.approx(8 * few["atomic"], rel=0.01)
    assert many["private"] == few["private"]
    assert many["ticket"] > many["queued"] > many["atomic"]


def test_the_still_picture_states_the_finding() -> None:
    bundle = LineCost(threads=4)._repr_mimebundle_()[0]
    assert re.search(
        r'<svg role="img" aria-label="Cost of one count with 4 CPUs on \S+: atomic add \d+ ns;',
        bundle["text/html"],
    )
    assert "<style" not in bundle["text/html"]  # it would reach the whole page
    assert bundle["image/png"]
    assert bundle["application/vnd.jupyter.widget-view+json"]


def test_machines_have_the_measured_operations() -> None:
    for name in line_program.MACHINES:
        assert line_program.machine_data(name)["measured"]["atomic"]


def test_escape_and_the_address_know_where_the_figure_began(watch: Callable[..., Any], address: str) -> None:
    page = watch(address).page
    page.wait_for_selector(SETTLED)
    moved(page, lambda: page.locator('[data-knob="threads"]').press("ArrowRight"))
    assert page.evaluate("location.hash") == "#line-cost?threads=5"
    again = watch(address + "#line-cost?threads=5").page
    again.wait_for_selector(SETTLED)
    assert again.locator('[data-knob="threads"]').input_value() == "5"
    moved(page, lambda: page.locator('[data-knob="threads"]').press("Escape"))
    assert page.locator('[data-knob="threads"]').input_value() == "4"
    assert page.evaluate("location.hash") == ""


def test_marks_far_below_a_line_are_explained(watch: Callable[..., Any], address: str) -> None:
    page = watch(address).page
    page.wait_for_selector(SETTLED)
    words = page.locator(".rp-mark")
    assert "far below" not in words.inner_text()
    moved(page, lambda: page.locator('[data-knob="machine"]').select_option("neoverse-n1"))
    assert "Marks far below a line: a core may add more than once" in words.inner_text()


def test_the_address_keeps_every_figure_of_a_page(watch: Callable[..., Any], write_page: Callable[..., str]) -> None:
    address = write_page("two", LineCost(), GroPacker())
    watched = watch(address)
    page = watched.page

    def at_rest() -> None:
        page.wait_for_function("document.querySelectorAll('[data-settled=true]').length === 2")

    at_rest()
    page.locator('[data-knob="threads"]').press("ArrowRight")
    page.locator('[data-knob="mtu"]').press("ArrowRight")
    wanted = "#line-cost?threads=5;gro-packer?mtu=1501"
    assert page.evaluate("location.hash") == wanted
    page.reload()
    at_rest()
    assert page.locator('[data-knob="threads"]').input_value() == "5"
    assert page.locator('[data-knob="mtu"]').input_value() == "1501"
    page.locator('[data-knob="mtu"]').press("Escape")
    assert page.evaluate("location.hash") == "#line-cost?threads=5"
    assert watched.errors == []
