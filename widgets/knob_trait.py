"""A knob of a scenario as a synced trait, so that it can be read, set, observed and linked."""

from __future__ import annotations

from typing import Any

import traitlets as t


def knob_trait(knob: dict[str, Any]) -> t.TraitType[Any, Any]:
    """The trait of a knob in the form of `sim.knob.Knob.to_dict`."""
    trait: t.TraitType[Any, Any]
    if knob["kind"] == "choice":
        trait = t.Enum(knob["choices"], default_value=knob["default"])
    elif knob["kind"] == "switch":
        trait = t.Int(knob["default"], min=0, max=1)
    else:
        trait = t.Int(knob["default"], min=knob["low"], max=knob["high"])
    trait.help = knob["doc"]
    return trait.tag(sync=True)
