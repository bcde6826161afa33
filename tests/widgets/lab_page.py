"""Driving a receive-path lab on an open page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

#: Keeps every picture that the lab draws: both arms' results, whether it is the last one, and the time.
LISTEN = """() => {
  globalThis.pictures = [];
  addEventListener("rp-drawn", (event) => pictures.push({ ...event.detail, at: performance.now() }), true);
}"""


class LabPage:
    """A lab that has come to rest once; what it draws from then on is kept."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.wait_for_selector("[data-settled=true]", timeout=20_000)
        page.evaluate(LISTEN)
        for more in page.locator("details.rp-more").all():
            more.evaluate("details => (details.open = true)")

    def control(self, knob: str) -> Any:
        return self.page.locator(f'[data-knob="{knob}"]')

    def picture(self) -> str:
        return "".join(one.inner_html() for one in self.page.locator(".rp-picture").all())

    def after(self, act: Callable[[], Any]) -> list[dict[str, Any]]:
        """Act, wait for the last picture of what it led to, and return both arms' results."""
        self.page.evaluate("pictures.length = 0")
        act()
        self.page.wait_for_function("pictures.at(-1)?.done", timeout=10_000)
        arms: list[dict[str, Any]] = self.page.evaluate("pictures.at(-1).arms")
        return arms

    def knob(self, name: str) -> Any:
        """A knob's value in the last picture."""
        return self.page.evaluate("name => pictures.at(-1).arms[0].knobs[name]", name)
