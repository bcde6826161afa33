"""Driving a small figure (one made with panel.mjs) on an open page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.conftest import Watched

#: Keeps every picture that is drawn from then on; the clipboard of a page from a file is not to be read back.
LISTEN = """() => {
  globalThis.pictures = [];
  addEventListener("rp-drawn", (event) => pictures.push(event.detail), true);
  navigator.clipboard.writeText = async (text) => void (globalThis.copied = text);
}"""


class PanelPage:
    """A figure that has come to rest once; what it draws from then on is kept."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.page: Page = watched.page
        self.page.wait_for_selector("[data-settled=true]", timeout=20_000)
        self.page.evaluate(LISTEN)

    def control(self, knob: str) -> Any:
        """The control of a knob."""
        return self.page.locator(f'[data-knob="{knob}"]')

    def summary(self) -> str:
        """The finding in words."""
        return self.page.locator(".rp-summary").inner_text()

    def after(self, act: Callable[[], Any]) -> dict[str, Any]:
        """Act, wait for the last picture of what it led to, and return what that was drawn from."""
        self.page.evaluate("pictures.length = 0")
        act()
        self.page.wait_for_function("pictures.length && pictures.at(-1).done !== false", timeout=15_000)
        drawn: dict[str, Any] = self.page.evaluate("pictures.at(-1)")
        return drawn

    def copied(self, button: str) -> str:
        """What a button puts on the clipboard."""
        self.page.get_by_role("button", name=button).click()
        self.page.locator(".rp-said", has_text="Copied.").wait_for()
        text: str = self.page.evaluate("copied")
        return text
