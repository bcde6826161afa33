"""Profile on a page from a file: Python's shares and intervals, marks of the thread, every control and key."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from sim import scenarios
from sim.result import Replication, Result
from tests.widgets.panel_page import PanelPage
from widgets import Profile

pytestmark = pytest.mark.browser

SIDES = ({"defer_free": 0, "mtu": 4168}, {"defer_free": 1, "mtu": 4168})
COPY = "copy_user_enhanced_fast_string"


@pytest.fixture(scope="module")
def widget() -> Profile:
    return Profile("tcp-5.17", *SIDES, replications=2)


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str], widget: Profile) -> str:
    return write_page("profile", widget)


@pytest.fixture(scope="module")
def results() -> tuple[Result, Result]:
    s = scenarios.load("tcp-5.17")
    before, after = (s.run(replications=2, until_ps=s.quick_ps, **side) for side in SIDES)
    return before, after


class ProfilePage(PanelPage):
    """Two profiles on a page."""

    def names(self) -> list[str]:
        """Entries in sight."""
        found: list[str] = self.page.evaluate(
            "[...document.querySelectorAll('[data-name]')].map((one) => one.dataset.name)"
        )
        return found

    def entry(self, name: str) -> Any:
        return self.page.locator(f'[data-name="{name}"]')

    def said(self, name: str) -> str:
        """What is said of an entry."""
        return str(self.entry(name).get_attribute("aria-label"))

    def focused(self) -> str:
        name: str = self.page.evaluate("document.activeElement.dataset.name ?? ''")
        return name

    def choose(self, knob: str, value: str) -> None:
        self.control(knob).select_option(value)


def assert_shares(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert set(found) == set(expected)
    for name, estimate in expected.items():
        assert found[name]["mean"] == pytest.approx(estimate.mean, rel=1e-9, abs=1e-9), name
        assert found[name]["low"] == pytest.approx(estimate.low, rel=1e-9, abs=1e-9), name
        assert found[name]["high"] == pytest.approx(estimate.high, rel=1e-9, abs=1e-9), name


def test_the_page_has_the_shares_of_python(watch: Callable[..., Any], address: str) -> None:
    page = ProfilePage(watch(address))
    drawn = page.after(lambda: page.control("seed").press("ArrowRight"))
    expected = Profile("tcp-5.17", *SIDES, seed=2, replications=2)
    for role in ("softirq", "reader", "*"):
        for side, table in enumerate(expected.shares(role)):
            assert_shares(drawn["shares"][side][role], table)
    changes = expected.extra()[1]["differences"]["reader"]
    for name, change in changes.items():
        assert drawn["differences"]["reader"][name]["low"] == pytest.approx(change["low"], rel=1e-9, abs=1e-9)
    assert page.watched.errors == []
    assert page.watched.foreign == []


def test_what_the_thread_reports_is_marked_where_it_was_stated(
    watch: Callable[..., Any], address: str, widget: Profile
) -> None:
    page = ProfilePage(watch(address))
    marks = widget.reported(1)
    assert widget.reported(0) == []
    assert {row["reported"] for row in marks} >= {81.06, 4.75, 0.93}
    for row in marks:
        name = "+".join(row["symbols"])
        assert page.said(name).endswith(f", after reported {row['reported']:g}, predicted")
    assert page.page.locator(".rp-share .rp-diamond").count() == len(marks)
    page.entry(COPY).click()
    assert "Eric Dumazet" in page.page.locator(".rp-detail a").inner_text()
    page.choose("role", "softirq")
    assert page.page.locator(".rp-share .rp-diamond").count() == 0


@pytest.mark.parametrize(
    "view", ["flame", *(pytest.param(v, marks=pytest.mark.slow) for v in ("bars", "difference"))]
)
def test_every_key_chooses_in_every_view(watch: Callable[..., Any], address: str, view: str) -> None:
    page = ProfilePage(watch(address))
    page.choose("view", view)
    names = page.names()
    page.page.locator("[data-name]").first.focus()
    press = page.page.keyboard.press
    for key, place in (
        ("ArrowDown", 1), ("ArrowRight", 2), ("ArrowUp", 1), ("ArrowLeft", 0), ("PageDown", 5), ("PageUp", 0),
        ("End", len(names) - 1), ("Home", 0),
    ):  # fmt: skip
        press(key)
        assert page.focused() == names[place], key
        assert page.entry(names[place]).get_attribute("aria-selected") == "true"
    press("Escape")
    assert page.page.locator("[aria-selected=true]").count() == 0
    if view != "flame":
        return
    press("Enter")
    inside = page.names()
    assert 0 < len(inside) < len(names)
    press("Escape")
    assert page.names() == names


def test_mouse_and_touch_choose_and_the_order_follows(watch: Callable[..., Any], address: str) -> None:
    page = ProfilePage(watch(address, has_touch=True, viewport={"width": 375, "height": 800}))
    assert page.names()[0] == COPY
    page.entry("put_page").tap()
    assert page.page.locator(".rp-selected").inner_text().startswith("put_page, memory:")
    page.choose("sort", "name")
    assert page.names() == sorted(page.names())
    page.choose("sort", "difference")
    assert "put_page" in page.names()[:3]
    page.choose("view", "flame")
    before = page.names()
    page.entry("1:memory").tap()
    page.entry("1:memory").tap()
    assert {name[2:] for name in page.names()} < {name[2:] for name in before}
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375
    page.page.get_by_role("button", name="Reset").tap()
    assert page.names()[0] == COPY


def test_two_results_are_shown_as_they_are(
    watch: Callable[..., Any], write_page: Callable[..., str], results: tuple[Result, Result]
) -> None:
    widget = Profile(*results, role="*", view="difference")
    page = ProfilePage(watch(write_page("given", widget)))
    assert page.page.locator('[data-knob="seed"]').count() == 0
    before, after = widget.shares()
    change = after[COPY].mean - before[COPY].mean
    said = re.search(r"([+−])([\d.]+) points", page.said(COPY))
    assert said
    assert float(said[2]) * (1 if said[1] == "+" else -1) == pytest.approx(change, rel=0.006)
    assert "as given" in page.page.locator(".rp-mark", has_text="engine").inner_text()
    assert widget.result == results
    page.choose("role", "reader")
    assert page.page.locator(".rp-diamond").count() > 0
    assert page.watched.errors == []


def test_a_recording_beside_a_run_is_called_so_and_is_of_one_role(
    watch: Callable[..., Any], write_page: Callable[..., str], results: tuple[Result, Result]
) -> None:
    run = results[0]
    parts = [{"copy_to": 90.0, "odd_symbol": 10.0}, {"copy_to": 40.0, "odd_symbol": 60.0}]
    idle = dict.fromkeys(run.cpu, 0.0)
    each = tuple(
        Replication(n, {}, {}, idle, {r: p if r == "reader" else {} for r in run.cpu}, 0, "measured")
        for n, p in enumerate(parts, 1)
    )
    recording = Result(run.scenario, run.knobs, 1, "perf script: mine.txt", each, {})
    page = ProfilePage(watch(write_page("recorded", Profile(run, recording))))
    assert page.page.locator('[data-knob="role"] option').all_inner_texts() == ["reader"]
    said = page.said("odd_symbol")
    assert "% simulated" in said
    assert "(0 to 100) % recorded" in said  # an interval ends where a share does
    assert "recorded: perf script: mine.txt" in page.page.locator(".rp-mark", has_text="simulated:").inner_text()
    page.choose("view", "flame")
    assert page.watched.errors == []
    with pytest.raises(ValueError, match="no role"):
        Profile(run, recording, role="softirq")


def test_what_cannot_be_is_refused_with_what_is_near(results: tuple[Result, Result]) -> None:
    with pytest.raises(ValueError, match="no role 'reeder'; the nearest is 'reader'"):
        Profile("tcp-5.17", *SIDES, role="reeder")
    with pytest.raises(ValueError, match="has no knob 'mtus'"):
        Profile("tcp-5.17", {"mtus": 1}, {})
    with pytest.raises(ValueError, match="two settings, or two results"):
        Profile(results[0], {"mtu": 1500})
    lab = scenarios.load("lab")
    other = lab.run(replications=2, until_ps=lab.quick_ps)
    with pytest.raises(ValueError, match=r"results of two scenarios, tcp-5\.17 and lab"):
        Profile(results[0], other)


def test_the_still_picture_states_the_finding(results: tuple[Result, Result]) -> None:
    page = Profile(*results)._repr_mimebundle_()[0]["text/html"]
    assert f'aria-label="Profile of the reader CPU in tcp-5.17: before {COPY}' in page


@pytest.mark.slow
@pytest.mark.parametrize("name", scenarios.names())
def test_every_scenario_has_profiles(watch: Callable[..., Any], write_page: Callable[..., str], name: str) -> None:
    s = scenarios.load(name)
    key = s.patches[0]
    given = [s.run(replications=2, until_ps=s.quick_ps, **{key: side}) for side in (0, 1)]
    widget = Profile(*given)
    page = ProfilePage(watch(write_page(f"profile-{name}", widget)))
    for role in [*[r.name for r in s.roles][:3], "*"]:
        page.choose("role", role)
        for view in ("bars", "difference", "flame"):
            page.choose("view", view)
            assert len(page.names()) > 3
    assert page.watched.errors == []
