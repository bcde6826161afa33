"""The timeline on a page from a file: the rows that Python has, every control by mouse, touch and keys."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import traitlets
from playwright.sync_api import Locator, Page

from widgets import Timeline, timeline

pytestmark = pytest.mark.browser

SETTLED = "[data-settled=true]"
#: Keeps what the widget draws, as plain arrays.
LISTEN = """
document.addEventListener("rp-drawn", ({ detail }) => {
  const { trace, journeys } = detail;
  globalThis.drawn = {
    columns: Object.fromEntries(Object.entries(trace.columns).map(([name, list]) => [name, [...list]])),
    lost: trace.lost, end: trace.end, births: journeys.births,
    ways: journeys.births.map((birth) => journeys.way(birth)),
    arrivals: journeys.births.map((birth) => journeys.arrival(birth)),
  };
  globalThis.count = (globalThis.count ?? 0) + 1;
}, true);
"""
FIELDS = {"time": "time_ps", "took": "took_ps", "wait": "wait_ps"}
#: Scenarios whose rows are compared: small windows, for the page's speed.
CASES = {
    "tcp-5.17": {"window_us": 40, "defer_free": 1, "mtu": 1500},
    "tcp-prequeue": {"start_us": 100, "window_us": 4, "drop_dst_early": 0},
    "tcp-rx-skb-cache": {"start_us": 60, "window_us": 3},
    "packet-rollover": {"start_us": 2000, "window_us": 10, "pressure": 0, "start": "full"},
    "udpv6-early-demux": {"window_us": 100},
    "lab": {"window_us": 20},
}
slowly = [name if name == "packet-rollover" else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


@pytest.fixture(scope="module")
def widget() -> Timeline:
    return Timeline("tcp-5.17", defer_free=1, mtu=1500, window_us=60)


@pytest.fixture
def page(watch: Callable[..., Any], write_page: Callable[..., str], widget: Timeline) -> Page:
    opened = watch(write_page("timeline", widget)).page
    opened.wait_for_selector(SETTLED)
    return opened


def picture(page: Page) -> Locator:
    return page.locator("[role=application]")


def chosen(page: Page, term: str) -> str:
    return page.locator(f".rp-facts dt:text-is('{term}') + dd").inner_text()


def time(page: Page) -> float:
    return float(chosen(page, "where").split(" at ")[1].split()[0])


def sight(page: Page) -> tuple[float, float]:
    words = page.locator("[role=application] svg").get_attribute("aria-label") or ""
    low, _, high = words.split(" from ")[1].split(" µs")[0].partition(" to ")
    return float(low), float(high)


@pytest.mark.parametrize("name", slowly)
def test_the_page_records_the_rows_that_python_has(
    watch: Callable[..., Any], write_page: Callable[..., str], name: str
) -> None:
    widget = Timeline(name, **CASES[name])
    watched = watch("about:blank")
    watched.page.add_init_script(LISTEN)
    watched.page.goto(write_page(f"timeline-{name}", widget))
    watched.page.wait_for_selector(SETTLED)
    drawn = watched.page.evaluate("drawn")
    trace = widget.result
    for column, numbers in drawn["columns"].items():
        field = FIELDS.get(column, column)
        assert numbers == [getattr(row, field) for row in trace.rows], column
    assert (drawn["lost"], drawn["end"]) == (trace.lost, trace.end_ps)
    assert drawn["births"] == widget.packets()
    for birth, way, wire in zip(drawn["births"], drawn["ways"], drawn["arrivals"], strict=True):
        holds, ended = widget.way(birth)
        assert way["holds"] == [hold._asdict() for hold in holds]
        assert way["ended"] == ended
        assert wire == widget.arrival(birth)
    assert watched.errors == []
    assert watched.foreign == []
    assert watched.page.locator(".rp-still").is_hidden()


def test_keys_step_instructions_and_packets_and_escape_lets_go(page: Page, widget: Timeline) -> None:
    rows, births = widget.result.rows, widget.packets()
    start = widget.result.start_ps
    picture(page).focus()

    def press(*keys: str) -> float:
        for key in keys:
            page.keyboard.press(key)
        return time(page)

    assert press("Home") == round((rows[0].time_ps - start) / 1e6, 3)
    assert press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft") == round((rows[2].time_ps - start) / 1e6, 3)
    assert press("End") == round((rows[-1].time_ps - start) / 1e6, 3)
    press("Home")
    assert press("Shift+ArrowRight") == round((rows[births[0]].time_ps - start) / 1e6, 3)
    assert press("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowLeft") == round(
        (rows[births[1]].time_ps - start) / 1e6, 3
    )
    holds, _ = widget.way(births[1])
    assert f"The way of packet {rows[births[1]].item}" in page.locator("caption").first.inner_text()
    last = max(n for h in holds for n in range(h.first, h.last + 1) if rows[n].context == h.context)
    assert press("End") == round((rows[last].time_ps - start) / 1e6, 3)  # the last of this packet's
    page.keyboard.press("Escape")
    assert page.locator("caption", has_text="The way of packet").count() == 0
    before = chosen(page, "where")
    page.keyboard.press("ArrowUp")
    upper = chosen(page, "where")
    page.keyboard.press("ArrowDown")
    assert {before.split(", at")[0], upper.split(", at")[0]} == {"softirq on CPU 0", "thread on CPU 1"}
    page.keyboard.press("f")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator(".rp-facts dt").first.inner_text() == "nothing selected"


def test_keys_zoom_and_move_the_view(page: Page) -> None:
    picture(page).focus()
    low, high = sight(page)
    page.keyboard.press("+")
    page.keyboard.press("+")
    a, b = sight(page)
    assert b - a == pytest.approx((high - low) / 4, abs=0.002)
    page.keyboard.press("PageDown")
    c, d = sight(page)
    assert c > a
    assert d - c == pytest.approx(b - a, abs=0.002)
    page.keyboard.press("PageUp")
    assert sight(page) == (a, b)
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert sight(page)[1] - sight(page)[0] == pytest.approx(high - low, abs=0.002)
    for _ in range(30):
        page.keyboard.press("+")
    e, f = sight(page)
    assert f - e == pytest.approx(0.02, abs=0.001)


def test_every_button_does_what_its_key_does(page: Page) -> None:
    def press(name: str) -> None:
        page.get_by_role("button", name=name, exact=True).click()

    press("Next packet")
    first = time(page)
    press("Next packet")
    assert time(page) > first
    press("Previous packet")
    assert time(page) == first
    press("Next instruction")
    press("Previous instruction")
    assert time(page) == first
    press("Let go of the packet or the instruction")
    assert page.locator("caption", has_text="The way of packet").count() == 0
    press("Follow the packet of the selected instruction")
    assert page.locator("caption", has_text="The way of packet").count() == 1
    whole = sight(page)
    press("Zoom in")
    near = sight(page)
    assert near[1] - near[0] < whole[1] - whole[0]
    press("Move the view on")
    assert sight(page)[0] > near[0]
    press("Move the view back")
    assert sight(page) == near
    press("Zoom out")
    press("The whole window")
    assert sight(page) == (0.0, 60.0)


def test_a_click_selects_a_span_and_a_drag_moves_the_view(page: Page) -> None:
    page.get_by_role("button", name="Zoom in", exact=True).click()
    box = picture(page).bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + 36  # the first lane
    low, high = sight(page)
    page.mouse.click(x, y)
    assert chosen(page, "where").startswith("softirq on CPU 0")
    assert low <= time(page) <= high
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    page.mouse.up()
    assert sight(page)[0] > low
    page.mouse.dblclick(x, y)
    assert sight(page)[1] - sight(page)[0] < high - low


def test_an_access_names_the_line_its_owner_and_who_waits(
    watch: Callable[..., Any], write_page: Callable[..., str]
) -> None:
    widget = Timeline("packet-rollover", pressure=0, start="full", start_us=2000, window_us=10)
    trace = widget.result
    spin = [n for n, row in enumerate(trace.rows) if row.spin][20]
    widget.selection = {"row": spin}
    page = watch(write_page("timeline-spin", widget)).page
    page.wait_for_selector(SETTLED)
    assert "all of it spinning" in chosen(page, "takes")
    assert chosen(page, "lock").startswith("sk_receive_queue.lock[")
    assert "sk_receive_queue.lock" in chosen(page, "line")
    row = trace.rows[spin]
    assert f"before: CPU {row.before}; after: CPU {row.after}" in chosen(page, "owner")
    assert "CPU" in chosen(page, "held by")


@pytest.mark.slow
def test_a_phone_taps_and_stays_inside_its_width(
    watch: Callable[..., Any], write_page: Callable[..., str], widget: Timeline
) -> None:
    page = watch(write_page("timeline", widget), has_touch=True, viewport={"width": 375, "height": 800}).page
    page.wait_for_selector(SETTLED)
    picture(page).scroll_into_view_if_needed()
    box = picture(page).bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] * 0.6, box["y"] + 36)
    assert chosen(page, "where").startswith("softirq on CPU 0")
    page.get_by_role("button", name="Next packet", exact=True).tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_switch_runs_again_and_reset_takes_it_back(page: Page, widget: Timeline) -> None:
    first = page.locator(".rp-summary").inner_text()
    switch = page.locator('[data-knob="defer_free"]')
    switch.press("Space")
    page.wait_for_function("text => document.querySelector('.rp-summary').textContent !== text", arg=first)
    other = Timeline("tcp-5.17", defer_free=0, mtu=1500, window_us=60)
    page.wait_for_selector(SETTLED)
    assert f"{len(other.result.rows):,} instructions" in page.locator(".rp-summary").inner_text()
    assert "#timeline-tcp-5.17?defer_free=0" in page.url
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("text => document.querySelector('.rp-summary').textContent === text", arg=first)
    assert "#" not in page.url


@pytest.mark.slow
def test_the_file_holds_every_row(page: Page, widget: Timeline) -> None:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    with Path(waiting.value.path()).open(newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == len(widget.result.rows)
    assert float(rows[5]["took_ns"]) == widget.result.rows[5].took_ps / 1000


@pytest.mark.slow
def test_a_window_that_is_too_long_says_what_is_lost(
    watch: Callable[..., Any], write_page: Callable[..., str]
) -> None:
    widget = Timeline("tcp-rx-skb-cache", start_us=600, window_us=60)
    page = watch(write_page("timeline-lost", widget)).page
    page.wait_for_selector(SETTLED, timeout=30_000)
    assert widget.result.lost > 0
    assert f"the first {widget.result.lost:,} of the window are lost" in page.locator(".rp-summary").inner_text()


def test_python_checks_what_it_is_given() -> None:
    with pytest.raises(ValueError, match=r"tcp-5\.17"):
        Timeline("tcp-5.71")
    with pytest.raises(ValueError, match="defer_free"):
        Timeline("tcp-5.17", defer_fre=1)
    with pytest.raises(ValueError, match="9,000"):
        Timeline("tcp-5.17", mtu=10_000)
    with pytest.raises(traitlets.TraitError, match="end of the warm-up"):
        Timeline("tcp-5.17", start_us=10_000_000)
    with pytest.raises(traitlets.TraitError, match="window_us"):
        Timeline("tcp-5.17", window_us=401)
    with pytest.raises(ValueError, match="mtu"):
        Timeline("tcp-5.17", first=["mtux"])


def test_python_reads_knobs_and_result_of_the_moment() -> None:
    widget = Timeline("udpv6-early-demux", window_us=50)
    before = widget.result
    widget.seed = 2
    assert widget.result is not before
    assert widget.result is widget.result
    assert widget.knobs["mtu"] == widget.mtu
    assert set(widget.state()) == {*widget.page_traits()}


def test_the_still_picture_states_what_the_window_holds(widget: Timeline) -> None:
    still = widget.still()
    count = f"{len(widget.result.rows):,} instructions, {len(widget.packets())} packets begin"
    assert count in still.finding
    assert ("The picture shows the first 60 µs." in still.finding) == (widget.window_us > 60)
    assert "CPU 0 busy" in still.finding
    assert still.svg.count("<svg") == 1
    assert len(still.svg) < 400_000


def test_the_still_picture_marks_where_packets_begin_while_they_can_be_told_apart(
    widget: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = Timeline("packet-rollover", pressure=0, start="full")
    assert len(trap.packets()) > 5
    for one in (trap, widget):
        assert "a packet begins" in one.still().svg
    monkeypatch.setattr(timeline, "STILL_BIRTHS", 2)
    assert "a packet begins" not in widget.still().svg


@pytest.mark.parametrize("scenario", timeline.WINDOWS)
def test_marks_stay_in_the_picture_and_leave_room_for_it(scenario: str) -> None:
    """A mark outside would take the whole width; the picture's library warns then, and a warning fails a test."""
    svg = Timeline(scenario).still().svg
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', svg)[0])
    marks = [float(x) for x in re.findall(r'<use [^>]*?x="([\d.-]+)"', svg)]
    assert marks
    assert all(0 < x < width for x in marks)


def test_a_step_that_goes_nowhere_and_a_move_that_changes_nothing_are_told(page: Page, widget: Timeline) -> None:
    picture(page).focus()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Next packet").click()
    assert "its packet is followed" in page.locator(".rp-said").inner_text()
    page.get_by_role("button", name="Previous instruction").click()
    words = "That is the first instruction of the packet that is followed: let go to step beyond it."
    assert page.locator(".rp-said").inner_text() == words
    page.locator("details.rp-more").first.evaluate("details => (details.open = true)")
    page.locator('[data-knob="poll_urg_first"]').press("Space")
    told = "The last move changed nothing in this window; poll_urg_first shows with poll=1."
    page.wait_for_function("words => document.body.innerText.includes(words)", arg=told)
    page.locator('[data-knob="defer_free"]').press("Space")
    page.wait_for_function("words => !document.body.innerText.includes(words)", arg="The last move changed nothing")
