"""What a page needs beside the engine: names and places, which an arena of integers does not say.

A sidecar is a dict of JSON values. Everything that Python's reduction (`sim.result.measure`) looks up by name
is resolved to a place here, so that the page's reduction holds arithmetic only.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sim import reported, source_hash
from sim.engine import tables
from sim.layers import layer, present
from sim.result import STUDENT_T, Metric, Role
from sim.scenarios import Scenario
from sim.spec import Spec

Term = dict[str, int]

#: Where a knob decides what packets are for: that knob, and for each of its values the metric that is drawn as the rate
#: and the unit in which it is told.
HEADLINES: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "lab": (
        "socket",
        {
            "tcp_bulk": ("gbps", "Gbit/s"),
            "tcp_rr": ("transactions_per_s", "requests a second"),
            "udp": ("read_mpps", "Mpps delivered"),
            "udp_connected": ("read_mpps", "Mpps delivered"),
            "forward": ("forwarded_mpps", "Mpps forwarded"),
            "packet_fanout": ("read_mpps", "Mpps read"),
        },
    ),
}


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
        "line": {"words": tables.LINE_WORDS, "transfers": tables.L_TRANSFERS},
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
    if kind == "transfers":
        return [
            {"line": len(spec.tables) + lines.number, "count": lines.domain.count.row, "per_row": lines.per_row.row}
            for lines in spec.lines
            if lines.name == which
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
                "events": resolved(m.events),
            }
            for m in metrics
        ],
        "student_t": list(STUDENT_T),
    }


def figures(thread: str) -> list[dict[str, Any]]:
    """The figures of a thread that are read from runs, each with its reading (see `sim.reported`)."""
    rows = reported.load(thread) if thread in reported.threads() else ()
    return [
        {
            **row.to_dict(),
            "reading": asdict(row.reading),
            "before": None if row.before is None else dict(row.before),
        }
        for row in rows
        if row.reading is not None
    ]


def settings(rows: Sequence[dict[str, Any]], metric: str, patches: Sequence[str]) -> list[dict[str, Any]]:
    """The settings for which a thread states a metric, patches aside: a label and the knobs."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        knobs = {name: value for name, value in row["knobs"].items() if name not in patches}
        if row["metric"] == metric and knobs:
            found[", ".join(f"{name} {value}" for name, value in knobs.items())] = knobs
    return [{"label": label, "knobs": knobs} for label, knobs in found.items()]


def headlines(scenario: str) -> dict[str, Any] | None:
    """Which metric a scenario's lab draws as the rate, by the value of a knob; None if it is the first in any case."""
    if scenario not in HEADLINES:
        return None
    knob, metrics = HEADLINES[scenario]
    return {"knob": knob, "metrics": {value: {"name": name, "unit": unit} for value, (name, unit) in metrics.items()}}


def of_scenario(scenario: Scenario) -> dict[str, Any]:
    """The sidecar of a scenario, with the figures that its thread reported."""
    rows = figures(scenario.name)
    spec = scenario.spec
    quick_warm_ps = scenario.warm_ps // 5  # rates are near their place; queues go on settling, so no interval
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "varies": scenario.varies,
        "patches": list(scenario.patches),
        "warm_ps": scenario.warm_ps,
        "quick_warm_ps": quick_warm_ps,
        "quick_until_ps": quick_warm_ps + (scenario.quick_ps - scenario.warm_ps) // 2,
        "until_ps": scenario.until_ps,
        "knobs": [{**k.to_dict(), "word": spec.knob_word(k.name)} for k in scenario.knobs],
        "headlines": headlines(scenario.name),
        "reported": rows,
        "thread_settings": settings(rows, scenario.metrics[0].name, scenario.patches),
        **reduction(spec, scenario.metrics, scenario.roles),
    }
