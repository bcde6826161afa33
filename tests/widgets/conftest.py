"""Pages with one widget each, as the book's build would write them, to be opened from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from widgets import static
from widgets.base import HTML, PathWidget

SHELL = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">{head}'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>A page</title></head>'
    "<body><main><h1>A page</h1><h2>A widget</h2>{body}</main>"
    '<script defer src="receive-path.js"></script></body></html>'
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script that all pages load."""
    made = tmp_path_factory.mktemp("pages")
    (made / "receive-path.js").write_text(static.bundle(), encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def write_page(folder: Path) -> Callable[..., str]:
    """A function that writes a page with widgets and returns its address."""

    shown: dict[int, tuple[PathWidget, str]] = {}

    def fragment(widget: PathWidget) -> str:
        if id(widget) not in shown:
            shown[id(widget)] = widget, widget._repr_mimebundle_()[0][HTML]
        return shown[id(widget)][1]

    def write(name: str, *widgets: PathWidget, head: str = "") -> str:
        body = "".join(map(fragment, widgets))
        path = folder / f"{name}.html"
        path.write_text(SHELL.format(head=head, body=body), encoding="utf-8")
        return path.as_uri()

    return write
