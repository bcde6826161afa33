"""What a page needs to record and name a trace: a sidecar as `widgets.sidecar` makes it, with the program in words."""

from __future__ import annotations

import base64
from typing import Any

from sim import journey
from sim.engine import opcodes, tables
from sim.expression import Number, Value
from sim.listing import operands
from sim.spec import Spec
from widgets import sidecar


def of_spec(spec: Spec) -> dict[str, Any]:
    """The sidecar of a spec whose image has a trace ring of one row (see `sim.trace`)."""
    made = sidecar.reduction(spec, [], [])
    program = spec.program
    symbols = made["symbols"]
    return {
        **made,
        "spec_b64": base64.b64encode(spec.image({"trace_rows": 1}).astype("<i8").tobytes()).decode(),
        "places": _places(made["places"]),
        "ops": {**{name: op.number for name, op in opcodes.OPCODES.items()}, "atomic": opcodes.ATOMIC},
        "symbols": symbols,
        "listing": [[one.op, operands(one), one.symbol] for one in program.code],
        "access": {str(at): one.operands[0] for at, one in enumerate(program.code) if one.op == "ACCESS"},
        "sets": _sets(spec),
        "marks": {name: sorted(places) for name, places in vars(journey.marks(spec)).items()},
    }


def _places(known: dict[str, Any]) -> dict[str, Any]:
    return {
        **known,
        "line": {
            "words": tables.LINE_WORDS, "owner": tables.L_OWNER, "free": tables.L_FREE,
            "sharers0": tables.L_SHARERS0, "sharers1": tables.L_SHARERS1, "sharer_bits": tables.SHARER_BITS,
        },
        "context": {
            "words": tables.CONTEXT_WORDS, "pc": tables.X_PC, "reg": tables.X_REG, "home": tables.X_HOME,
        },
        "code": {"words": opcodes.INSTRUCTION_WORDS},
        "lock": {"words": tables.LOCK_WORDS},
        "trace": {"words": tables.TRACE_WORDS},
    }


def _number(number: Number) -> int | dict[str, int]:
    return {"row": number.row} if isinstance(number, Value) else int(number)


def _sets(spec: Spec) -> dict[str, Any]:
    """The sets that rows of a trace name, each with its place among all sets."""
    lines, locks = len(spec.tables), len(spec.tables) + len(spec.lines)
    queues = locks + len(spec.locks)
    return {
        "lines": [
            {
                "name": x.name, "at": lines + x.number, "count": _number(x.domain.count),
                "per_row": _number(x.per_row), "fields": {name: _number(at) for name, at in x.fields.items()},
            }
            for x in spec.lines
        ],
        "locks": [{"name": x.name, "at": locks + x.number, "count": _number(x.domain.count)} for x in spec.locks],
        "queues": [
            {"name": x.name, "at": queues + x.number, "count": _number(x.domain.count), "items": x.items.name}
            for x in spec.queues
        ],
        "total": queues + len(spec.queues),
    }
