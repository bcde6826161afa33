"""The built page's side: one script that makes every widget on a page live, with no server and no request.

A page holds, for each widget, a ``<div data-receive-path-widget="Name">`` with its state as JSON and a still
picture. `bundle` is the script that a page loads once; it mounts them all. It must be a classic script: a
browser that reads a page from a file loads neither module scripts nor fetched files.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

from widgets import assets

#: What the page shows until the script has run, and for ever if scripts are blocked.
WAITING = "A still picture: the live figure starts when this page's scripts run."
BLOCKED = "This is a still picture because scripts are blocked or off in this browser."


def bundle() -> str:
    """The script for ``_static/receive-path.js``: engine, host and every widget, as one classic script."""
    return assets.page_script()


def element(widget: str, state: Mapping[str, Any], picture: str) -> str:
    """The HTML of one widget: its still picture, the reason why it is still, and its state.

    Parameters
    ----------
    widget
        A name of `widgets.assets.MODULES`.
    state
        What the script's model holds at first; JSON values only.
    picture
        An HTML fragment, with a text alternative of its own.
    """
    if widget not in assets.MODULES:
        raise ValueError(f"no widget {widget!r}; there are {', '.join(assets.MODULES)}")
    data = json.dumps(state, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    return (
        f'<div class="rp" data-receive-path-widget="{html.escape(widget, quote=True)}">'
        f'<figure class="rp-still">{picture}'
        f'<figcaption><span class="rp-reason">{html.escape(WAITING)}</span>'
        f"<noscript> {html.escape(BLOCKED)}</noscript></figcaption></figure>"
        f'<script type="application/json">{data}</script></div>'
    )
