"""Every widget looks as it was pinned: light and dark, on a desktop and on a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Browser

from tests.widgets import every, pictures

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def drawing(browser: Browser) -> Iterator[Browser]:
    """A browser of the same program, started so that it draws letters alike everywhere."""
    started = browser.browser_type.launch(executable_path=pictures.finder.find(), args=pictures.ARGUMENTS)
    yield started
    started.close()


@pytest.mark.parametrize("scheme", pictures.SCHEMES)
@pytest.mark.parametrize("name", every.NAMES)
def test_a_widget_looks_as_it_was_pinned(drawing: Browser, tmp_path: Path, name: str, scheme: str) -> None:
    address = pictures.write(tmp_path, name)[scheme]
    then = json.loads(pictures.ABOUT.read_text(encoding="utf-8"))[name]["chromium"]
    for view, found in pictures.shoot(drawing, address, scheme):
        with Image.open(pictures.reference(name, view)) as wanted:
            share, where = pictures.difference(found, wanted)
            if share <= pictures.MOST:
                continue
            kept = tmp_path / f"{name}-{view}-found.png"
            found.save(kept)
            if where is not None:
                where.save(kept.with_name(f"{name}-{view}-difference.png"))
            pytest.fail(
                f"{name}, {view}: {100 * share:.2f} % of the picture differs (sizes {found.size} and {wanted.size}); "
                f"see {kept}. References were made with Chromium {then}, this is {drawing.version}. If the widget "
                f"is meant to look so, or only the browser differs: {pictures.COMMAND} {name}"
            )


def test_a_picture_from_which_a_label_is_missing_is_noticed() -> None:
    name, view = "GroPacker", "desktop-light"
    with Image.open(pictures.reference(name, view)) as opened:
        wanted = opened.convert("RGB")
    assert pictures.difference(wanted, wanted)[0] == 0
    without = wanted.copy()
    ImageDraw.Draw(without).rectangle((5, 5, 110, 18), fill=wanted.getpixel((200, 12)))  # its title
    assert pictures.difference(without, wanted)[0] > pictures.MOST
    assert pictures.difference(wanted.crop((0, 0, wanted.width, wanted.height - 4)), wanted) == (1.0, None)


def test_every_view_of_every_widget_is_pinned_and_small() -> None:
    wanted = {pictures.reference(name, view) for name in every.NAMES for view in pictures.VIEWS}
    assert set(pictures.REFERENCES.glob("*.png")) == wanted
    assert sum(path.stat().st_size for path in wanted) < 1_500_000
