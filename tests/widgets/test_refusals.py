"""What stands on a page whose browser refuses scripts, WebAssembly or workers; and what axe finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.widgets import every
from widgets import LineCost, Practice, static
from widgets.base import PathWidget

pytestmark = pytest.mark.browser

SETTLED = "[data-settled=true]"
PICTURE = '.rp-still svg[role="img"], .rp-still .rp-worked'
POLICY = '<meta http-equiv="Content-Security-Policy" content="{}">'


QUICK = ["LineCost", "ReceivePathLab"]  # the others take the same ways through host and pool
SLOW = ["Practice", "Timeline"]  # what has no engine, and what draws a trace


@pytest.fixture(
    scope="module",
    params=[
        *QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
        *(pytest.param(name, marks=[pytest.mark.slow, pytest.mark.exhaustive])
          for name in every.NAMES if name not in QUICK + SLOW),
    ],
)
def widget(request: pytest.FixtureRequest) -> PathWidget:
    return every.make(request.param)


def test_without_scripts_the_still_picture_and_its_reason_stand(
    watch: Callable[..., Any], write_page: Callable[..., str], widget: PathWidget
) -> None:
    page = watch(write_page("no-scripts", widget), java_script_enabled=False).page
    picture = page.locator(PICTURE)
    assert picture.is_visible()
    if isinstance(widget, Practice):  # a worked problem is text, and no picture says it better
        assert widget.problem.kind.title in picture.inner_text()
    else:
        assert picture.get_attribute("aria-label") == widget.still().finding
    assert static.BLOCKED in page.locator("figcaption").inner_text()


def test_without_webassembly_the_still_picture_and_its_reason_stand(
    watch: Callable[..., Any], write_page: Callable[..., str], widget: PathWidget
) -> None:
    policy = POLICY.format("script-src file: 'unsafe-inline'")
    page = watch(write_page("no-wasm", widget, head=policy)).page
    page.get_by_text("blocks WebAssembly").wait_for()
    assert page.locator(PICTURE).is_visible()
    assert page.locator("input").count() == 0


def test_without_workers_the_figure_runs_and_the_page_does_not_freeze(
    watch: Callable[..., Any], write_page: Callable[..., str], widget: PathWidget
) -> None:
    if isinstance(widget, Practice):
        pytest.skip("nothing is computed before somebody answers")
    policy = POLICY.format("script-src file: 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'none'")
    page = watch(write_page("no-worker", widget, head=policy)).page
    page.evaluate(
        """() => {
          let last = performance.now();
          globalThis.began = last;
          globalThis.longest = 0;
          setInterval(() => {
            const now = performance.now();
            longest = Math.max(longest, now - last);
            last = now;
          }, 5);
        }"""
    )
    page.wait_for_selector(SETTLED, timeout=20_000)
    # long enough to notice, in a figure that computes for a while
    assert page.evaluate("longest < 100 || longest / (performance.now() - began) < 0.6")


@pytest.mark.parametrize(
    "options",
    [
        {"color_scheme": "light"},
        {"color_scheme": "dark"},
        {"color_scheme": "light", "viewport": {"width": 375, "height": 800}},
    ],
    ids=["light", "dark", "phone"],
)
def test_axe_finds_nothing(
    watch: Callable[..., Any], write_page: Callable[..., str], widget: PathWidget, options: dict[str, Any]
) -> None:
    page = watch(write_page("axe", widget), **options).page
    page.wait_for_selector(SETTLED)
    if options["color_scheme"] == "dark":  # a page of the theme has a dark background of its own
        page.add_style_tag(content="body { background: #121212; color: #eee }")
    for more in page.locator("details").all():
        more.evaluate("details => (details.open = true)")
    found = Axe().run(page).response["violations"]
    assert [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_widgets_share_a_page(
    watch: Callable[..., Any], write_page: Callable[..., str], widget: PathWidget
) -> None:
    watched = watch(write_page("two", widget, LineCost(machine="cortex-a72")))
    watched.page.locator(SETTLED).nth(1).wait_for()
    assert watched.errors == []
    identifiers = watched.page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(identifiers) == len(set(identifiers))
