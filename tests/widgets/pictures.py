"""Screenshots of the widgets, and the pinned ones that they are compared with.

    python -m tests.widgets.pictures                 make all references anew
    python -m tests.widgets.pictures LineCost        those of one widget

Look at what you pin: the references are in ``tests/widgets/references``. They are made anew when a widget is meant to
look otherwise, or when a constant of the model moves what it shows.

Machines have different fonts, so pages are shown in those that matplotlib brings, without hinting. Chromium draws
sliders and boxes itself; with another Chromium the comparison may need references of that one, and says so.
"""

from __future__ import annotations

import base64
import functools
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from PIL import Image
from pixelmatch.contrib.PIL import pixelmatch
from playwright.sync_api import Browser, Page, sync_playwright

from book.build import browser as finder
from tests.conftest import CHROMIUM_ARGUMENTS
from tests.widgets import every
from tests.widgets.conftest import SHELL
from widgets import static
from widgets.base import HTML

REFERENCES = Path(__file__).parent / "references"
ABOUT = REFERENCES / "about.json"
COMMAND = "python -m tests.widgets.pictures"
#: Same shapes on every machine: no hinting, no sub-pixels, one colour space.
ARGUMENTS = [*CHROMIUM_ARGUMENTS, "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"]
SCHEMES = ("light", "dark")
WIDTHS = {"desktop": 900, "phone": 375}
VIEWS = tuple(f"{width}-{scheme}" for scheme in SCHEMES for width in WIDTHS)
COLOURS = 192  # of a pinned picture: with fewer it would differ from itself
THRESHOLD = 0.15  # how far two colours are apart that count as different
MOST = 0.001  # share of pixels that may differ: edges of letters, corners of sliders
STABLE_MS = 750
_FACES = {
    ("Pinned", "normal"): "DejaVuSans",
    ("Pinned", "bold"): "DejaVuSans-Bold",
    ("Pinned mono", "normal"): "DejaVuSansMono",
    ("Pinned mono", "bold"): "DejaVuSansMono-Bold",
}
#: When the height has been the same for so long, resolves to it.
REST = """(quiet) => document.fonts.ready.then(() => new Promise((resolve) => {
  let height = -1, since = performance.now();
  (function look() {
    const now = document.documentElement.scrollHeight;
    if (now !== height) [height, since] = [now, performance.now()];
    if (performance.now() - since >= quiet) resolve(height);
    else requestAnimationFrame(look);
  })();
}))"""


@functools.cache
def pinned_style() -> str:
    """Fonts that are the same everywhere, and nothing that changes by itself (the engine's hash, a caret)."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    faces = "".join(
        f"@font-face {{ font-family: '{family}'; font-weight: {weight}; src: url(data:font/ttf;base64,"
        f"{base64.b64encode((folder / f'{file}.ttf').read_bytes()).decode()}) }}"
        for (family, weight), file in _FACES.items()
    )
    return (
        f"{faces} body, body * {{ font-family: Pinned !important; caret-color: transparent !important }}"
        "body :is(code, pre, kbd), body :is(code, pre, kbd) * { font-family: 'Pinned mono' !important }"
        ".rp-mark { visibility: hidden }"
    )


def style(scheme: str) -> str:
    """The page around a widget, as the book's theme has it in light or dark."""
    dark = " background: #121212; color: #eee" if scheme == "dark" else ""
    return f"<style>{pinned_style()} body {{ margin: 8px;{dark} }}</style>"


def shoot(browser: Browser, address: str, scheme: str) -> Iterator[tuple[str, Image.Image]]:
    """A page's widget once it is at rest, desktop and phone: name of the view and the picture at half its size."""
    context = browser.new_context(offline=True, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    for width, pixels in WIDTHS.items():
        page.set_viewport_size({"width": pixels, "height": 1000})
        if width == "desktop":
            page.goto(address)
        yield f"{width}-{scheme}", picture(page)
    context.close()


def picture(page: Page) -> Image.Image:
    """The live widget of a page, at rest and at half its size."""
    page.wait_for_selector("[data-settled=true]", timeout=30_000)
    page.evaluate(REST, STABLE_MS)
    image = Image.open(io.BytesIO(page.locator(".rp-live").screenshot(animations="disabled"))).convert("RGB")
    return image.resize((image.width // 2, image.height // 2), Image.Resampling.BOX)


def write(folder: Path, name: str) -> dict[str, str]:
    """Write a page with a widget for each scheme; their addresses."""
    (folder / "receive-path.js").write_text(static.bundle(), encoding="utf-8")
    fragment = every.make(name)._repr_mimebundle_()[0][HTML]
    out = {}
    for scheme in SCHEMES:
        path = folder / f"{name}-{scheme}.html"
        path.write_text(SHELL.format(head=style(scheme), body=fragment), encoding="utf-8")
        out[scheme] = path.as_uri()
    return out


def difference(found: Image.Image, wanted: Image.Image) -> tuple[float, Image.Image | None]:
    """Share of pixels that differ, and where; 1 if the sizes do."""
    if found.size != wanted.size:
        return 1.0, None
    where = Image.new("RGBA", found.size)
    count = pixelmatch(found.convert("RGBA"), wanted.convert("RGBA"), where, threshold=THRESHOLD)
    return count / (found.width * found.height), where


def reference(name: str, view: str) -> Path:
    """Where a view of a widget is pinned."""
    return REFERENCES / f"{name}-{view}.png"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium that draws letters alike on every machine."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=finder.find(), args=ARGUMENTS)
        yield started
        started.close()


def main(names: Sequence[str]) -> None:
    """Make references anew."""
    unknown = sorted(set(names) - set(every.NAMES))
    if unknown:
        raise SystemExit(f"no widget {', '.join(unknown)}; there are {', '.join(every.NAMES)}")
    REFERENCES.mkdir(exist_ok=True)
    about = json.loads(ABOUT.read_text(encoding="utf-8")) if ABOUT.is_file() else {}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for name in names or every.NAMES:
            for scheme, address in write(Path(folder), name).items():
                for view, image in shoot(browser, address, scheme):
                    image.quantize(COLOURS).save(reference(name, view), optimize=True)
            about[name] = {"chromium": browser.version}
            print(name)
    ABOUT.write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
