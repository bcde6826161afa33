"""How soon a page with several widgets is ready, and how fast each kind answers a move: for ``make bench``.

``python -m tests.widgets.widget_speed`` prints one JSON object.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, sync_playwright

from book.build import browser as finder
from tests.conftest import CHROMIUM_ARGUMENTS
from tests.widgets import every
from tests.widgets.page_speed import summary
from widgets import static
from widgets.base import HTML

#: A page as a chapter has it: a lab, the patch as a difference, two profiles, arithmetic.
PAGE: Final = ("ReceivePathLab", "ProgramDiff", "Profile", "GroPacker")
VISITS: Final = 5
MOVES: Final = 30
#: The control that is moved. A move that runs nothing is answered by drawing alone.
CONTROL: Final = {
    "ContentionCurve": "outside_ns",
    "GroPacker": "mtu",
    "LineCost": "transfer_ns",
    "LineWatcher": "drop_dst_early",
    "Practice": "seed",
    "Profile": "seed",
    "ProgramDiff": "seed",
    "ReceivePathLab": "mtu",
    "SteeringMap": "rps_cpus",
    "StructLayout": "seed",
    "Timeline": "start_us",
}
#: Until every still picture of the page has given way to a live one, ms since the page began to load.
READY = """() => new Promise((resolve) => {
  (function look() {
    const stills = [...document.querySelectorAll(".rp-still")];
    if (stills.every((one) => one.hidden)) requestAnimationFrame(() => resolve(performance.now()));
    else requestAnimationFrame(look);
  })();
})"""
#: Moves a control to a new place after each rest; ms from the event to the frame after the first picture that was drawn
#: from runs of the new setting. A widget says when it has drawn such a one; at rest there are no runs of another.
MOVE = """async ([name, moves]) => {
  const input = document.querySelector(`.rp-live [data-knob="${name}"]`);
  const live = input.closest(".rp-live");
  const rest = async () => {
    while (live.dataset.settled !== "true") await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 60));
  };
  const out = [];
  for (let i = 0; i < moves; i++) {
    await rest();
    const drawn = new Promise((resolve) => {
      const heard = () => requestAnimationFrame(() => resolve(performance.now()));
      live.addEventListener("rp-drawn", heard, { once: true });
    });
    const began = performance.now();
    if (input.type === "checkbox") input.click();
    else {
      const [low, high, step] = [input.min, input.max, input.step || 1].map(Number);
      const room = Math.floor((high - low) / step);
      const stride = Math.max(1, Math.floor(room / 98));
      input.value = low + step * stride * (1 + ((i * 37) % Math.min(97, room)));
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    const late = new Promise((resolve) => setTimeout(resolve, 20_000));
    const at = await Promise.race([drawn, late]);
    if (at === undefined) throw new Error(`${name} was moved and nothing was drawn`);
    out.push(at - began);
  }
  return out;
}"""


def write(folder: Path, name: str, widgets: Sequence[str]) -> str:
    """Write a page with widgets; its address."""
    (folder / "receive-path.js").write_text(static.bundle(), encoding="utf-8")
    body = "".join(every.make(one)._repr_mimebundle_()[0][HTML] for one in widgets)
    path = folder / f"{name}.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><body>{body}<script src="receive-path.js"></script>', encoding="utf-8"
    )
    return path.as_uri()


def ready(browser: Browser) -> float:
    """Median ms until the four widgets of `PAGE` show pictures from runs, over some visits."""
    with tempfile.TemporaryDirectory() as folder:
        address = write(Path(folder), "four", PAGE)
        times = []
        for _ in range(VISITS):
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.goto(address)
            times.append(page.evaluate(READY))
            page.close()
    return statistics.median(times)


def answers(browser: Browser, name: str, moves: int = MOVES) -> dict[str, float]:
    """Median and 95th percentile of a move to the first picture of the new setting, ms."""
    with tempfile.TemporaryDirectory() as folder:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(write(Path(folder), name, [name]))
        page.wait_for_selector("[data-settled=true]", timeout=30_000)
        page.evaluate(MOVE, [CONTROL[name], 5])  # warm
        times = page.evaluate(MOVE, [CONTROL[name], moves])
        page.close()
    return summary(times)


def main() -> None:
    """Print the measurement."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=finder.find(), args=CHROMIUM_ARGUMENTS)
        out: dict[str, Any] = {"ready_ms": ready(browser), **{name: answers(browser, name) for name in every.NAMES}}
        print(json.dumps(out, indent=1))
        browser.close()


if __name__ == "__main__":
    main()
