"""StructLayout on a page from a file: C's rule and the runs of Python; fields moved by mouse, touch and keys."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser
from traitlets import TraitError

from sim.layout import LayoutError
from sim.placement import SAMPLES, arranged, natural
from tests.widgets.panel_page import PanelPage
from widgets import StructLayout
from widgets.bundle import Bundle

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def widget() -> StructLayout:
    return StructLayout("tcp_globals", replications=2)


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str], widget: StructLayout) -> str:
    return write_page("struct-layout", widget)


class StructPage(PanelPage):
    """A struct on a page."""

    def field(self, name: str) -> Any:
        return self.page.locator(f'[role="option"][data-field="{name}"]')

    def fields(self) -> dict[str, list[int]]:
        """Offset and line of every field, from the table."""
        self.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        cells = self.page.evaluate(
            "[...document.querySelectorAll('.rp-numbers table')[1].tBodies[0].rows]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
        return {name: [int(offset), int(line)] for name, offset, _, line, _ in cells}

    def lines(self) -> list[int]:
        """The lines that the chosen function touches."""
        found: list[int] = json.loads(self.page.locator("[data-lines]").get_attribute("data-lines") or "[]")
        return found

    def focused(self) -> str:
        name: str = self.page.evaluate("document.activeElement.dataset.field ?? ''")
        return name


def python(widget: StructLayout) -> dict[str, list[int]]:
    return {f.name: [f.offset, f.line] for f in widget.layout.fields}


def test_the_page_has_the_fields_and_the_runs_of_python(
    watch: Callable[..., Any], address: str, widget: StructLayout
) -> None:
    page = StructPage(watch(address))
    assert page.fields() == python(widget)
    after = StructLayout("tcp_globals", "after patch 10", replications=2)
    drawn = page.after(lambda: page.control("start").select_option("after patch 10"))
    assert page.fields() == python(after)
    for arm, result in zip(drawn["arms"], after.result, strict=True):
        assert arm["metrics"]["neighbour_reads_per_s"]["mean"] == pytest.approx(result.neighbour_reads_per_s, rel=1e-9)
        assert arm["metrics"]["gbps"]["low"] == pytest.approx(result.metrics["gbps"].low, rel=1e-9)
    assert page.lines() == list(after.lines_of()) == [1]
    summary = "touches line 0, the memory count's, in “before patch 10” and line 1, not the memory count's, now."
    assert summary in page.summary()
    assert page.watched.errors == []
    assert page.watched.foreign == []


def test_every_key_chooses_or_moves_a_field(watch: Callable[..., Any], address: str) -> None:
    page = StructPage(watch(address))
    names = list(page.fields())
    first, second, last = names[0], names[1], names[-1]
    page.field(first).focus()
    press = page.page.keyboard.press
    for key, there in (
        ("ArrowRight", second), ("ArrowLeft", first), ("ArrowDown", second), ("ArrowUp", first), ("End", last),
        ("Home", first),
    ):  # fmt: skip
        press(key)
        assert page.focused() == there, key
        assert page.field(there).get_attribute("aria-selected") == "true"
    press("Enter")
    for key, place in (("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("ArrowUp", 0), ("End", 4), ("Home", 0)):
        page.after(lambda key=key: press(key))
        assert list(page.fields()).index(first) == place, key
        assert page.focused() == first
    page.after(lambda: press("End"))
    press("Escape")
    assert list(page.fields()) == names
    press("Space")
    page.after(lambda: press("ArrowRight"))
    press("Space")
    press("ArrowRight")  # put down: the arrows choose again
    assert list(page.fields()).index(first) == 1
    assert page.focused() == names[2]


@pytest.mark.slow
def test_page_keys_go_from_line_to_line(watch: Callable[..., Any], write_page: Callable[..., str]) -> None:
    widget = StructLayout("tcp_globals", "after patch 10", replications=2)
    page = StructPage(watch(write_page("two-lines", widget)))
    first, second = "tcp_memory_allocated", "tcp_sockets_allocated.lock"
    page.field(first).focus()
    page.page.locator(".rp-check input").nth(1).check()  # all lines
    page.field(first).focus()
    page.page.keyboard.press("PageDown")
    assert page.focused() == second
    page.page.keyboard.press("PageUp")
    assert page.focused() == first
    page.page.keyboard.press("Enter")
    page.after(lambda: page.page.keyboard.press("PageDown"))
    assert page.fields()[first][1] == 1
    page.after(lambda: page.page.keyboard.press("PageUp"))
    assert page.fields()[first] == [0, 0]
    page.page.keyboard.press("Escape")
    assert page.fields() == python(widget)


def test_mouse_and_touch_drag_a_field(watch: Callable[..., Any], address: str) -> None:
    page = StructPage(watch(address, has_touch=True, viewport={"width": 375, "height": 900}))
    moved, target = "tcp_memory_allocated", "tcp_sockets_allocated.counters"
    page.field(target).scroll_into_view_if_needed()
    boxes = [page.field(name).bounding_box() for name in (moved, target)]
    (x, y), (u, v) = ((box["x"] + box["width"] - 4, box["y"] + box["height"] / 2) for box in boxes)

    def drag() -> None:
        page.page.mouse.move(x, y)
        page.page.mouse.down()
        page.page.mouse.move(x + 10, y)
        page.page.mouse.move(u, v)
        page.page.mouse.up()

    page.after(drag)
    assert list(page.fields())[-1] == moved
    page.page.locator(".rp-struct").scroll_into_view_if_needed()
    page.field("tcp_sockets_allocated.lock").tap()
    assert page.field("tcp_sockets_allocated.lock").get_attribute("aria-selected") == "true"
    page.after(lambda: page.page.get_by_role("button", name="Last").tap())
    assert list(page.fields())[-1] == "tcp_sockets_allocated.lock"
    page.after(lambda: page.page.get_by_role("button", name="Reset").tap())
    assert next(iter(page.fields())) == moved
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375


@pytest.mark.slow
def test_buttons_and_switches_do_what_they_say(watch: Callable[..., Any], address: str) -> None:
    page = StructPage(watch(address))
    assert page.lines() == [0]
    page.field("tcp_sockets_allocated.lock").click()
    page.after(lambda: page.page.get_by_label("begins a line").check())
    assert page.fields()["tcp_sockets_allocated.lock"] == [64, 1]
    assert page.lines() == [1]
    page.after(lambda: page.page.get_by_label("begins a line").uncheck())
    assert page.lines() == [0]
    page.page.get_by_label("Touched by").select_option("__sk_mem_raise_allocated")
    assert "__sk_mem_raise_allocated touches line 0" in page.summary()
    page.field("tcp_sockets_allocated.list").click()
    for name, place in (("First", 0), ("Later", 1), ("Earlier", 0), ("Last", 4)):
        page.after(lambda name=name: page.page.get_by_role("button", name=name).click())
        assert list(page.fields()).index("tcp_sockets_allocated.list") == place
    page.after(lambda: page.control("seed").press("ArrowRight"))
    assert "seed 2" in page.page.locator(".rp-mark", has_text="engine").inner_text()
    made = page.copied("Copy as Python")
    again = eval(made, {"StructLayout": StructLayout})
    assert python(again) == page.fields()


@pytest.mark.parametrize("name", SAMPLES)
def test_any_order_is_placed_on_a_page_as_in_python(browser: Browser, name: str) -> None:
    made = Bundle()
    made.add("placing")
    draw = random.Random(name)
    page = browser.new_page()
    for layout in SAMPLES[name].layouts.values():
        of = {f.name: {"size": f.size, "align": natural(layout, f.name)} for f in layout.fields}
        orders = [draw.sample(list(of), len(of)) for _ in range(8)]
        aligned = [draw.sample(list(of), k % 4) for k in range(8)]
        found = page.evaluate(
            f"([orders, of, aligned]) => {{ {made.text} const {{ place }} = $use('placing');"
            "return orders.map((order, at) => place(order, of, aligned[at], 64)) }",
            [orders, of, aligned],
        )
        for order, wide, one in zip(orders, aligned, found, strict=True):
            expected = arranged(layout, order, wide)
            assert [(f["name"], f["offset"], f["line"], f["last"]) for f in one["fields"]] == [
                (f.name, f.offset, f.line, f.last_line) for f in expected.fields
            ]
            assert one["lines"] == expected.lines
        again = page.evaluate(
            f"([base, orders]) => {{ {made.text} const {{ movesOf, orderOf }} = $use('placing');"
            "return orders.map((order) => orderOf(base, movesOf(base, order))) }",
            [list(of), orders],
        )
        assert again == orders
    page.close()


@pytest.mark.slow
def test_a_moved_field_runs_as_in_python(watch: Callable[..., Any], write_page: Callable[..., str]) -> None:
    widget = StructLayout("sock", replications=2)
    page = StructPage(watch(write_page("struct-sock", widget)))
    page.field("sk_rx_dst_ifindex").click()
    drawn = page.after(lambda: page.page.get_by_role("button", name="First").click())
    widget.place("sk_rx_dst_ifindex")
    assert page.fields() == python(widget)
    for arm, result in zip(drawn["arms"], widget.result, strict=True):
        assert arm["metrics"]["gbps"]["mean"] == pytest.approx(result.gbps, rel=1e-9)
        assert arm["knobs"] == result.knobs


def test_python_moves_fields_and_reads_back() -> None:
    w = StructLayout("sock", replications=2)
    assert w.lines_of() == (0, 1, 2, 4, 5)
    w.place("sk_rx_dst_ifindex", behind="skc_rxhash")
    assert w.layout.line("sk_rx_dst_ifindex") == 2
    w.start = "after patch 20"
    assert w.lines_of() == (0, 1, 2)
    assert w.knobs[1]["sock.sk_rx_dst"] == 2
    assert w.knobs[0]["sock.sk_rx_dst"] == 4


def test_a_still_picture_shows_the_patch_s_move_until_a_field_is_moved() -> None:
    w = StructLayout("sock", replications=2)
    unmoved = w.finding()
    assert "before patch 20 they lie on lines 0, 1, 2, 4, 5" in unmoved
    assert "after patch 20 they lie on lines 0, 1, 2 and" in unmoved
    assert "GRO stops at four segments" in unmoved
    rates = [float(words.split()[0]) for words in unmoved.split("the run gives ")[1:]]
    assert rates[1] > rates[0] + 0.1
    assert w.result.before is w.result.after or w.result.before.gbps == w.result.after.gbps
    w.place("sk_rx_dst_ifindex", behind="skc_rxhash")
    moved = w.finding()
    assert "before they lie on lines 0, 1, 2, 4, 5" in moved
    assert "now they lie on" in moved
    assert "after patch 20" not in moved
    other = StructLayout("sock", replications=2, gro_max_segs=8)
    assert other.finding().endswith(" The runs have defer_free=1, gro_max_segs=8.")


def test_a_still_picture_says_whether_the_readers_share_the_line_of_the_count() -> None:
    cured = StructLayout("dst_entry", "6.4 (2023)", replications=2).still()
    assert "before they lie on lines 1, 2, the count's among them, and the run" in cured.finding
    assert "now they lie on lines 0, 2, the count's not among them, and the run" in cured.finding
    for words in ("the count's not among them", "__refcnt", "rt_genid", "rt_type", "blue: by others"):
        assert words in cured.svg.partition(">")[2]
    globals_ = StructLayout("tcp_globals", replications=2).finding()
    assert "line 0, the memory count's, and" in globals_
    assert "line 1, not the memory count's, and" in globals_
    assert "among them" not in StructLayout("sock", replications=2).finding()


@pytest.mark.slow
def test_the_cure_of_2023_wins_back_the_rate_of_2014() -> None:
    w = StructLayout("dst_entry", "6.4 (2023)", replications=2)
    before, after = w.result
    assert after.mpps > 1.3 * before.mpps
    assert "Mpps" in w.finding()


def test_what_cannot_be_is_refused_with_what_is_near() -> None:
    with pytest.raises(ValueError, match="no struct 'socket'; the nearest is 'sock'"):
        StructLayout("socket")
    with pytest.raises(ValueError, match="no layout 'after patch 21'; the nearest is 'after patch 20'"):
        StructLayout("sock", "after patch 21")
    with pytest.raises(ValueError, match="gro_max_segs goes from 1 to 129"):
        StructLayout("sock", gro_max_segs=200)
    w = StructLayout("tcp_globals")
    with pytest.raises((TraitError, LayoutError), match="is missing from the order"):
        w.order = w.order[1:]
    with pytest.raises((TraitError, LayoutError), match="the nearest is 'tcp_memory_allocated'"):
        w.place("tcp_memory_alocated")


@pytest.mark.slow
def test_a_link_reproduces_the_moved_fields(watch: Callable[..., Any], address: str) -> None:
    page = StructPage(watch(address))
    page.field("tcp_memory_allocated").click()
    page.after(lambda: page.page.get_by_role("button", name="Last").click())
    page.after(lambda: page.page.get_by_label("begins a line").check())
    there = page.fields()
    link = page.page.evaluate("location.href")
    assert "struct-layout-tcp_globals?moves=" in link
    again = StructPage(watch(link))
    assert again.fields() == there
    assert again.page.get_by_label("begins a line").is_checked()
    again.after(lambda: again.page.get_by_role("button", name="Reset").click())
    assert next(iter(again.fields())) == "tcp_memory_allocated"
    assert "#" not in again.page.evaluate("location.href").rstrip("#")
