"""What a page needs beside the engine: names and places, which an arena of integers does not say.

A sidecar is a dict of JSON values. Everything that Python's reduction (`sim.result.measure`) looks up by name
is resolved to a place here, so that the page's reduction holds arithmetic only.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from sim import source_hash
from sim.engine import tables
from sim.result import STUDENT_T, Metric, Role
from sim.scenarios import Scenario
from sim.spec import Spec
from widgets.layers import layer, present

Term = dict[str, int]


def places() -> dict[str, Any]:
    """Where words stand in an arena: header words by name, and in rows of CPUs, queues and locks."""
    return {
        "header": {name: place for place, name in enumerate(tables.HEADER)},
        "cpu": {
            "words": tables.CPU_WORDS,
            "state": tables.C_STATE,
            "idle": tables.C_IDLE,
            "idle_since": tables.C_IDLE_SINCE,
            "idle_state": tables.IDLE,
        },
        "queue": {
            "words": tables.QUEUE_WORDS,
            "area": tables.Q_AREA,
            "length": tables.Q_LENGTH,
            "since": tables.Q_SINCE,
        },
        "lock": {"words": tables.LOCK_WORDS, "wait": tables.K_WAIT_PS},
        "statuses": list(tables.STATUS_NAMES),
    }


def terms(spec: Spec, name: str) -> list[Term]:
    """A term of a metric (see `sim.result.Metric`) as places: one for each set of queues or locks it names.

    Raises ValueError for a term that is none.
    """
    kind, _, which = name.partition(":")
    before_locks = len(spec.tables) + len(spec.lines)
    if kind == "time":
        return [{"time": 1}]
    if kind == "stat":
        return [{"stat": spec.stats.index(which)}]
    if kind == "header":
        return [{"header": tables.HEADER.index(which)}]
    if kind == "queue":
        first = before_locks + len(spec.locks)
        return [
            {"queue": first + queue.number, "count": queue.domain.count.row}
            for queue in spec.queues
            if queue.name == which
        ]
    if kind == "lock_wait":
        return [
            {"lock": before_locks + locks.number, "count": locks.domain.count.row}
            for locks in spec.locks
            if which in ("*", locks.name)
        ]
    raise ValueError(f"no term {name!r}")


def reduction(spec: Spec, metrics: Sequence[Metric], roles: Sequence[Role]) -> dict[str, Any]:
    """The part of a sidecar from which a page reduces an arena to a result."""
    symbols = spec.program.symbols

    def resolved(names: Sequence[str]) -> list[Term]:
        return [term for name in names for term in terms(spec, name)]

    return {
        "spec_b64": base64.b64encode(spec.image().astype("<i8").tobytes()).decode(),
        "seed_word": spec.knob_word("seed"),
        "engine_hash": source_hash(),
        "places": places(),
        "symbols": symbols,
        "layers": {symbol: layer(symbol) for symbol in symbols},
        "layer_order": present(symbols),
        "roles": [{"name": r.name, "value": r.value, "doc": r.doc} for r in roles],
        "metrics": [
            {
                "name": m.name,
                "unit": m.unit,
                "doc": m.doc,
                "scale": m.scale,
                "numerator": resolved(m.numerator),
                "denominator": resolved(m.denominator),
            }
            for m in metrics
        ],
        "student_t": list(STUDENT_T),
    }


def of_scenario(scenario: Scenario, reported: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The sidecar of a scenario, with the figures that its thread reported."""
    spec = scenario.spec
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "varies": scenario.varies,
        "patches": list(scenario.patches),
        "warm_ps": scenario.warm_ps,
        "quick_until_ps": scenario.quick_ps,
        "until_ps": scenario.until_ps,
        "knobs": [{**k.to_dict(), "word": spec.knob_word(k.name)} for k in scenario.knobs],
        "reported": [dict(row) for row in reported],
        **reduction(spec, scenario.metrics, scenario.roles),
    }
