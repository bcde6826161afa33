"""How fast the lab of a built page answers a move, in a warm headless Chromium: for ``make bench``.

``python -m tests.widgets.page_speed`` prints one JSON object.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from book.build import browser as finder
from widgets import ReceivePathLab, static
from widgets.base import HTML

MOVES = 40
#: Moves the MTU to a new place after each rest; ms to the first picture of that place and to the last.
SCRIPT = """async (moves) => {
  const input = document.querySelector("[data-knob=mtu]");
  const pictures = (test) => new Promise((resolve) => {
    const heard = ({ detail }) => {
      if (!test(detail)) return;
      removeEventListener("rp-drawn", heard, true);
      requestAnimationFrame(() => resolve(performance.now()));
    };
    addEventListener("rp-drawn", heard, true);
  });
  const out = [];
  for (let i = 0; i < moves; i++) {
    const mtu = 1280 + 4 * ((i * 97) % 1900);
    const of = (detail) => detail.arms[0].knobs.mtu === mtu;
    const first = pictures(of);
    const last = pictures((detail) => of(detail) && detail.done);
    const began = performance.now();
    input.value = mtu;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    out.push([(await first) - began, (await last) - began]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return out;
}"""


def summary(milliseconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, ms."""
    return {
        "median_ms": round(statistics.median(milliseconds), 1),
        "p95_ms": round(statistics.quantiles(milliseconds, n=20)[-1], 1),
    }


def measure(browser: Browser) -> dict[str, Any]:
    """First picture and all replications of both arms, in ms after a move of the MTU."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "receive-path.js").write_text(static.bundle(), encoding="utf-8")
        fragment = ReceivePathLab("tcp-5.17")._repr_mimebundle_()[0][HTML]
        path = Path(folder) / "lab.html"
        path.write_text(
            f'<!doctype html><meta charset="utf-8">{fragment}<script src="receive-path.js"></script>', encoding="utf-8"
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector("[data-settled=true]", timeout=30_000)
        page.evaluate(SCRIPT, 5)  # warm
        times = page.evaluate(SCRIPT, MOVES)
        page.close()
    return {
        "first_picture": summary([first for first, _ in times]),
        "five_replications": summary([last for _, last in times]),
    }


def main() -> None:
    """Print the measurement."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=finder.find(), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        print(json.dumps(measure(started)))
        started.close()


if __name__ == "__main__":
    main()
