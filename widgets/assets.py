"""How the widgets' scripts leave Python: an ES module for anywidget, a classic script for a page."""

from __future__ import annotations

import base64
import functools
import json
from pathlib import Path

from widgets.bundle import Bundle

ROOT = Path(__file__).parent
ENGINE = ROOT.parent / "sim" / "wasm" / "engine.wasm"

#: Widgets by the name that Python and the page use, and the module that draws each.
MODULES = {
    "ReceivePathLab": "lab",
    "LineCost": "linecost",
    "LineWatcher": "linewatcher",
    "Timeline": "timeline",
    "GroPacker": "gropacker",
    "ContentionCurve": "contention",
    "SteeringMap": "steering",
    "StructLayout": "structlayout",
    "ProgramDiff": "programdiff",
    "Profile": "profile",
    "Practice": "practice",
}


#: JupyterLab takes arrow keys for its own cells, even from a control that has the focus, unless the control forbids it.
_KEYS_STAY = """\
export default {
  render(context) {
    context.el.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"));
    return $widget.render(context);
  },
};
"""


@functools.cache
def styles() -> str:
    """The styles of all widgets, as CSS."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "css").glob("*.css")))


def _virtual() -> dict[str, str]:
    wasm = base64.b64encode(ENGINE.read_bytes()).decode() if ENGINE.is_file() else ""
    return {
        "engine-bytes": f'export const base64 = "{wasm}";',
        "styles": f"export const css = {json.dumps(styles())};",
        "registry": "".join(f'import {m} from "./{m}.mjs";\n' for m in MODULES.values())
        + "export const widgets = { "
        + ", ".join(f"{name}: {module}" for name, module in MODULES.items())
        + " };",
    }


@functools.cache
def module(widget: str) -> str:
    """One widget with all it needs as an ES module in the anywidget front-end format."""
    bundle = Bundle(virtual=_virtual())
    bundle.add(MODULES[widget])
    return f'{bundle.text}const $widget = $use("{MODULES[widget]}").default;\n{_KEYS_STAY}'


@functools.cache
def page_script() -> str:
    """Every widget, the engine and the host as one classic script (see `widgets.static`)."""
    bundle = Bundle(virtual=_virtual())
    bundle.add("host")
    return f'(() => {{\n"use strict";\n{bundle.text}$use("host");\n}})();\n'
