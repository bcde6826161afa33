"""Interactive figures of the book: live with a kernel, and without one on a page read from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgets.contention_curve import ContentionCurve
    from widgets.gro_packer import GroPacker
    from widgets.line_cost import LineCost
    from widgets.line_watcher import LineWatcher
    from widgets.practice import Practice
    from widgets.profile import Profile
    from widgets.program_diff import ProgramDiff
    from widgets.receive_path_lab import ReceivePathLab
    from widgets.steering_map import SteeringMap
    from widgets.struct_layout import StructLayout
    from widgets.timeline import Timeline

__all__ = [
    "ContentionCurve",
    "GroPacker",
    "LineCost",
    "LineWatcher",
    "Practice",
    "Profile",
    "ProgramDiff",
    "ReceivePathLab",
    "SteeringMap",
    "StructLayout",
    "Timeline",
]

_HOME = {
    "ContentionCurve": "contention_curve",
    "GroPacker": "gro_packer",
    "LineCost": "line_cost",
    "LineWatcher": "line_watcher",
    "Practice": "practice",
    "Profile": "profile",
    "ProgramDiff": "program_diff",
    "ReceivePathLab": "receive_path_lab",
    "SteeringMap": "steering_map",
    "StructLayout": "struct_layout",
    "Timeline": "timeline",
}


def __getattr__(name: str) -> Any:
    # Late, so that the book's build can take the page's script without loading Jupyter or the engine.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
