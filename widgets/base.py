"""What every widget has: script and styles, the answer to a front end's greeting, a still picture."""

from __future__ import annotations

import base64
from abc import abstractmethod
from typing import Any

import anywidget

from widgets import assets, static
from widgets.still import Still

HTML = "text/html"
PNG = "image/png"


class PathWidget(anywidget.AnyWidget):
    """Base of the widgets. A subclass says which traits are its state and draws its still picture."""

    def __init__(self, **traits: Any) -> None:
        self._esm = assets.module(type(self).__name__)
        self._css = assets.styles()
        super().__init__(**traits)
        self.on_msg(self._greeted)

    def state(self) -> dict[str, Any]:
        """What a page without a kernel starts from: JSON values by trait name."""
        return {name: getattr(self, name) for name in self.page_traits()}

    @abstractmethod
    def page_traits(self) -> tuple[str, ...]:
        """Names of the traits that a page needs."""

    @abstractmethod
    def still(self) -> Still:
        """The widget as it stands, as a picture that needs no script."""

    def greet(self) -> None:
        """Called when a front end finds this kernel alive."""

    def _greeted(self, _widget: Any, content: dict[str, Any], _buffers: Any) -> None:
        # A synced "alive" trait would be saved into notebooks and pages, and lie there.
        if content.get("kind") == "hello":
            self.send({"kind": "live"})
            self.greet()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        still = self.still()
        return {
            **data,
            "text/plain": still.finding,
            HTML: static.element(type(self).__name__, self.state(), still.svg),
            PNG: base64.b64encode(still.png).decode(),
        }, metadata
