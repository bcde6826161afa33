"""What holds for every widget: exported, light, quiet on the console, and no memory kept after many moves."""

from __future__ import annotations

import gzip
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import widgets
from tests.chosen import chosen
from tests.widgets import every, pictures, widget_speed
from tests.widgets.test_jupyter import READ_BACK
from widgets import assets
from widgets.bundle import Bundle

LIGHT = 30_000  # bytes of script, gzipped, besides the engine
MOVES = 500
#: Moves a control there and back, a frame each.
SHAKE = """async ([name, moves]) => {
  const input = document.querySelector(`.rp-live [data-knob="${name}"]`);
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let i = 0; i < moves; i++) {
    if (input.type === "checkbox") input.click();
    else {
      input.value = Number(input.min) + Number(input.step || 1) * (1 + (i % 2));
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await frame();
  }
}"""


def test_every_widget_is_exported_and_in_all_tables() -> None:
    names = set(every.NAMES)
    assert names == set(widgets.__all__)
    assert names == set(READ_BACK) == set(widget_speed.CONTROL)
    shown = (Path(__file__).parents[2] / "book" / "gallery.md").read_text(encoding="utf-8")
    assert [name for name in names if f"widgets.{name}(" not in shown] == []


@pytest.mark.parametrize("name", every.NAMES)
def test_a_widget_is_light_and_documented(name: str) -> None:
    bundle = Bundle(virtual={"engine-bytes": 'export const base64 = "";', "styles": "", "registry": ""})
    bundle.add(assets.MODULES[name])
    assert len(gzip.compress(bundle.text.encode())) <= LIGHT
    assert "Raises" in (inspect.getdoc(getattr(widgets, name)) or "")


@pytest.mark.browser
@pytest.mark.slow
# One that runs an engine in its page, one that draws a trace of it, one that is stepped: all others share their code.
@pytest.mark.parametrize("name", chosen(every.NAMES, ["ReceivePathLab", "Timeline", "LineWatcher"]))
def test_five_hundred_moves_leave_the_memory_as_it_was(
    watch: Callable[..., Any], write_page: Callable[..., str], name: str
) -> None:
    watched = watch(write_page(f"shaken-{name}", every.make(name)))
    page = watched.page
    session = page.context.new_cdp_session(page)

    def kept() -> tuple[int, int, int]:
        """Bytes of the heap, nodes and listeners, once garbage is gone."""
        page.wait_for_selector("[data-settled=true]", timeout=30_000)
        page.wait_for_timeout(1500)  # replications come to their end
        session.send("HeapProfiler.collectGarbage")
        counters = session.send("Memory.getDOMCounters")
        heap = session.send("Runtime.getHeapUsage")["usedSize"]
        return int(heap), counters["nodes"], counters["jsEventListeners"]

    page.wait_for_selector("[data-settled=true]", timeout=30_000)
    page.evaluate(SHAKE, [widget_speed.CONTROL[name], 50])
    before = kept()
    page.evaluate(SHAKE, [widget_speed.CONTROL[name], MOVES])
    after = kept()
    grown = [b - a for a, b in zip(before, after, strict=True)]
    # A leak of one picture's nodes a move would be many thousands of nodes.
    assert grown[0] < 1_500_000, grown
    assert grown[1] < 200 + before[1] // 10, grown
    assert grown[2] < 50, grown
    assert watched.errors == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.exhaustive  # what make bench does, tried with few moves
def test_how_fast_widgets_are_can_be_measured(browser: Browser) -> None:
    assert widget_speed.ready(browser) > 0
    for name in every.NAMES:
        assert widget_speed.answers(browser, name, moves=3)["p95_ms"] > 0, name


def test_the_command_for_references_refuses_what_is_no_widget() -> None:
    with pytest.raises(SystemExit, match="no widget LineCosts; there are ContentionCurve"):
        pictures.main(["LineCosts"])
