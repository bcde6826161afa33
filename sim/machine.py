"""A machine: its CPUs, and what each primitive costs on it, as data with a source for every number.

A machine file is JSON (`sim/machines/*.json`, checked against `sim/machines/schema.json`). Every constant
carries its value, unit and source; one that is assumed carries its bounds, one that was fitted says on what.
A file may name another machine as its `base`: then it states what it knows itself, and each constant that it
takes over is marked as a stand-in from that machine.

>>> machine = load("cascade-lake")
>>> machine.topology.cpus, machine.cost("same_socket_ps")
(96, 47000)
>>> machine.with_(cores_per_socket=28).topology.cpus
112
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from sim import located, schema
from sim.topology import Topology

FOLDER: Final = Path(__file__).parent / "machines"


class MachineError(ValueError):
    """A machine file or a change that is refused; `problems` holds one line for each fault."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@cache
def file_schema() -> dict[str, Any]:
    """The schema of machine files, the one place where names, units, meanings and ranges are declared."""
    rules: dict[str, Any] = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    return rules


def _declared(section: str) -> dict[str, Any]:
    entries: dict[str, Any] = file_schema()["properties"][section]["properties"]
    return entries


TOPOLOGY: Final = tuple(_declared("topology"))
COSTS: Final = tuple(_declared("costs"))
MAX_CPUS: Final = 224
MAX_CORES: Final = 112  # a line's sharers are cores, kept in two words of 56 bits


@dataclass(frozen=True)
class Constant:
    """A number of a machine: picoseconds, a count, per mille, or femtoseconds a byte.

    Parameters
    ----------
    source
        Where the value comes from, in words fit for a page; begins with ``assumed`` if nothing public
        gives it, and then `low` and `high` bound it.
    stand_in
        Name of the machine the value was measured on or taken from, if it is not this one.
    fitted_on
        The measurement that the value was fitted on, if it was.
    """

    name: str
    value: int
    unit: str
    source: str
    low: int | None = None
    high: int | None = None
    stand_in: str | None = None
    fitted_on: str | None = None

    @property
    def status(self) -> str:
        """``sourced``, ``stand-in`` (another machine's), ``fitted`` or ``assumed``."""
        if self.fitted_on is not None:
            return "fitted"
        if self.source.startswith("assumed"):
            return "assumed"
        return "sourced" if self.stand_in is None else "stand-in"

    @property
    def meaning(self) -> str:
        """What the number is, as declared in the schema."""
        entry = _declared("topology").get(self.name) or _declared("costs")[self.name]
        return str(entry["description"])

    def to_dict(self) -> dict[str, Any]:
        """The constant as it stands in a machine file."""
        entry: dict[str, Any] = {"value": self.value, "unit": self.unit, "source": self.source}
        if self.low is not None:
            entry["bounds"] = {"low": self.low, "high": self.high}
        if self.stand_in is not None:
            entry["stand_in"] = self.stand_in
        if self.fitted_on is not None:
            entry["fitted_on"] = self.fitted_on
        return entry


@dataclass(frozen=True)
class Machine:
    """A named set of constants: the topology's first, then the costs, in the schema's order."""

    name: str
    title: str
    note: str
    constants: tuple[Constant, ...]

    @cached_property
    def _by_name(self) -> dict[str, Constant]:
        return {constant.name: constant for constant in self.constants}

    @property
    def topology(self) -> Topology:
        return Topology(*(self._by_name[name].value for name in TOPOLOGY))

    def constant(self, name: str) -> Constant:
        """The constant with its source. Raises MachineError with the nearest name if there is none."""
        try:
            return self._by_name[name]
        except KeyError:
            message = f"{name!r} is not a constant of a machine; {schema.nearest(name, [*TOPOLOGY, *COSTS])}"
            raise MachineError([message]) from None

    def cost(self, name: str) -> int:
        """The value of a constant, in the unit that its name ends with: `_ps`, `_lines`, `_permille`."""
        return self.constant(name).value

    def with_(self, **changes: int | Constant) -> Machine:
        """A machine with some constants changed: a number, or a whole `Constant` that brings its own source.

        Raises
        ------
        MachineError
            for an unknown name (with the nearest) or a value out of range; nothing is changed then.
        """
        new = dict(self._by_name)
        for name, change in changes.items():
            old = self.constant(name)
            if isinstance(change, Constant):
                new[name] = replace(change, name=name)
            else:
                source = f"set for this run; the machine's own is {old.value:,} ({old.source})"
                new[name] = Constant(name, change, old.unit, source)
        machine = replace(self, constants=tuple(new.values()))
        _raise_if(_faults(machine.to_dict()), self.name, {})
        return machine

    def to_dict(self) -> dict[str, Any]:
        """The machine as a complete file without a base."""
        entries = {name: constant.to_dict() for name, constant in self._by_name.items()}
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "topology": {name: entries[name] for name in TOPOLOGY},
            "costs": {name: entries[name] for name in COSTS},
        }

    def to_json(self) -> str:
        """The text of a machine file, one constant a line, that `load` reads back to an equal machine."""
        return render(self.to_dict())

    def table(self) -> list[dict[str, str | int]]:
        """Rows for a page: name, value, unit, meaning, status, source, stand_in, fitted_on, low, high."""
        return [
            {
                "name": c.name, "value": c.value, "unit": c.unit, "meaning": c.meaning, "status": c.status,
                "source": c.source, "stand_in": c.stand_in or "", "fitted_on": c.fitted_on or "",
                "low": c.value if c.low is None else c.low, "high": c.value if c.high is None else c.high,
            }
            for c in self.constants
        ]


def render(document: Mapping[str, Any]) -> str:
    """A machine document as JSON text with one constant a line, so that an error can name its line."""
    parts = []
    for key, value in document.items():
        if key in ("topology", "costs"):
            rows = [f"    {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
            parts.append(f"  {json.dumps(key)}: {{\n" + ",\n".join(rows) + "\n  }")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def names() -> list[str]:
    """The machines that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "schema")


def load(name_or_path: str | Path) -> Machine:
    """Read a machine by name, or a reader's own file (a path that ends with .json).

    Raises
    ------
    MachineError
        with a line for each fault: file, line, key, what is wrong, the nearest valid key or allowed range.
    """
    return _load(name_or_path, ())


def _load(name_or_path: str | Path, above: tuple[str, ...]) -> Machine:
    path = Path(name_or_path)
    if path.suffix != ".json":
        name = str(name_or_path)
        if name not in names():
            raise MachineError([f"no machine {name!r}; {schema.nearest(name, names())}"])
        path = FOLDER / f"{name}.json"
    try:
        document = located.parse(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        where = f"{path.name}:{error.lineno}"
        raise MachineError([f"{where}: not JSON: {error.msg} (column {error.colno})"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise MachineError([f"{path.name}: cannot be read: {error}"]) from None
    _raise_if(_faults(document.value), path.name, document.lines)
    data: dict[str, Any] = document.value
    base = data.get("base")
    inherited: dict[str, Constant] = {}
    if base is not None:
        if base in above or base == path.stem:
            where = f"{path.name}:{document.line_of(('base',))}"
            raise MachineError([f"{where}: base: {base!r} leads back to itself"])
        inherited = {
            constant.name: replace(constant, stand_in=constant.stand_in or base)
            for constant in _load(base, (*above, path.stem)).constants
        }
    own = {**data.get("topology", {}), **data.get("costs", {})}
    machine = Machine(
        data["name"],
        data["title"],
        data.get("note", ""),
        tuple(
            _constant(name, own[name]) if name in own else inherited[name] for name in (*TOPOLOGY, *COSTS)
        ),
    )
    _raise_if(_faults(machine.to_dict()), path.name, document.lines)
    return machine


def _constant(name: str, entry: Mapping[str, Any]) -> Constant:
    bounds = entry.get("bounds", {})
    return Constant(
        name, entry["value"], entry["unit"], entry["source"], bounds.get("low"), bounds.get("high"),
        entry.get("stand_in"), entry.get("fitted_on"),
    )


def _faults(data: Any) -> list[schema.Problem]:
    """What the schema and the rules that span several keys find wrong with a machine document."""
    problems = schema.check(data, file_schema())
    if problems:
        return problems
    for section in ("topology", "costs"):
        for name, entry in data.get(section, {}).items():
            bounds = entry.get("bounds")
            if bounds and not bounds["low"] <= entry["value"] <= bounds["high"]:
                span = f"{bounds['low']:,} to {bounds['high']:,}"
                message = f"value {entry['value']:,} lies outside its bounds {span}"
                problems.append(schema.Problem((section, name, "bounds"), message))
    sizes = {name: entry["value"] for name, entry in data.get("topology", {}).items()}
    if len(sizes) == len(TOPOLOGY):
        topology = Topology(**sizes)
        if topology.cores > MAX_CORES or topology.cpus > MAX_CPUS:
            message = f"{topology.cores} cores and {topology.cpus} CPUs; at most {MAX_CORES} and {MAX_CPUS}"
            problems.append(schema.Problem(("topology",), message))
    return problems


def _raise_if(problems: list[schema.Problem], where: str, lines: dict[located.Path, int]) -> None:
    if not problems:
        return
    document = located.Document(None, lines)
    rows = []
    for problem in problems:
        line = document.line_of(problem.path) if lines else 0
        key = ".".join(map(str, problem.path)) or "the file"
        rows.append((line, f"{where}{f':{line}' if line else ''}: {key}: {problem.message}"))
    raise MachineError([row for _, row in sorted(rows)])
