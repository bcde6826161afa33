"""Every widget in its shortest use, for the tests that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable

import widgets
from widgets import assets
from widgets.base import PathWidget

#: What is written to get each widget, where its name alone does not do.
ARGUMENTS: dict[str, str] = {
    "ProgramDiff": '"tcp-5.17", "defer_free"',
    "Profile": '"tcp-5.17", {"defer_free": 0, "mtu": 4168}, {"defer_free": 1, "mtu": 4168}',
    "StructLayout": '"sock"',
    "Timeline": '"tcp-5.17"',
    "LineWatcher": '"dst-refcount"',
}
NAMES = sorted(assets.MODULES)
_MADE: dict[str, PathWidget] = {}


def call(name: str) -> str:
    """The shortest Python that gives the widget."""
    return f"{name}({ARGUMENTS.get(name, '')})"


def make(name: str) -> PathWidget:
    """The widget in its shortest use; one a test run, since its still picture may take runs."""
    if name not in _MADE:
        kind: Callable[..., PathWidget] = getattr(widgets, name)
        _MADE[name] = eval(call(name), {name: kind})  # from the table above only
    return _MADE[name]
