"""What tests of several rooms share: a browser, and pages that are watched while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Page, sync_playwright

from book.build import browser as finder
from book.build.places import HTML

# How long an example takes depends on what else the machine does; times are the bench's business.
settings.register_profile("book", deadline=None)
settings.load_profile("book")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` leaves out what is slow: a test that is exhaustive must be that, too."""
    for item in items:
        if item.get_closest_marker("exhaustive") and not item.get_closest_marker("slow"):
            raise pytest.UsageError(f"{item.nodeid} is exhaustive and not slow")


CHROMIUM_ARGUMENTS = [
    "--no-sandbox",  # CI runs as root, where Chromium has no sandbox
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Watched:
    """A page and what went wrong on it so far: console errors, exceptions, addresses asked for."""

    page: Page
    errors: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    @property
    def foreign(self) -> list[str]:
        """Addresses asked for that are neither files nor the page's own data."""
        return [
            address
            for address in self.addresses
            if not address.startswith(("file:", "data:", "blob:", "about:"))
        ]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, as ``make browser`` found it."""
    path = finder.find()
    assert path, "no browser: make browser"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def watch(browser: Browser) -> Iterator[Callable[..., Watched]]:
    """A function that opens an address with the network cut and watches the page.

    Keyword arguments are those of a browser context: ``viewport``, ``color_scheme``, and so on.
    """
    contexts = []

    def opened(address: str, **options: Any) -> Watched:
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        watched = Watched(context.new_page())
        watched.page.on(
            "console",
            lambda message: watched.errors.append(message.text) if message.type == "error" else None,
        )
        watched.page.on("pageerror", lambda error: watched.errors.append(str(error)))
        watched.page.on("request", lambda request: watched.addresses.append(request.url))
        watched.page.on("requestfailed", lambda request: watched.errors.append(f"not loaded: {request.url}"))
        watched.page.goto(address)
        return watched

    yield opened
    for context in contexts:
        context.close()


def built_pages() -> list[str]:
    """Built pages, relative to the folder of the built book; search and index pages included."""
    return sorted(
        path.relative_to(HTML).as_posix()
        for path in HTML.rglob("*.html")
        if "_static" not in path.parts and path != HTML / "index.html"  # that one only leads to the cover
    )
