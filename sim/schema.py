"""Checks a document against a JSON Schema and says in people's words what is wrong with it.

The `jsonschema` package takes two seconds to import in an environment that also holds its optional format
checkers, more than a first run may take, so the few keywords that this project's schemas use are applied
here. A keyword that is not known is an error, so that a rule is never skipped in silence; a test holds the
verdicts equal to those of `jsonschema`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sim.located import Path

_TYPES: Final[dict[str, tuple[str, type | tuple[type, ...]]]] = {
    "object": ("an object", dict),
    "array": ("a list", list),
    "string": ("text", str),
    "integer": ("an integer", int),
    "number": ("a number", (int, float)),
}
_SILENT: Final = frozenset({"$schema", "$id", "$defs", "title", "description"})
_KNOWN: Final = _SILENT | {
    "$ref", "type", "const", "pattern", "minLength", "minimum", "maximum", "required", "properties",
    "additionalProperties", "if", "then", "else",
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where (a path into the document) and what."""

    path: Path
    message: str


def nearest(name: str, choices: Iterable[str]) -> str:
    """A clause that names the most similar valid key, or all valid keys if none is similar."""
    valid = list(choices)
    match = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
    if match:
        return f"the nearest is {match[0]!r}"
    return "valid are " + ", ".join(repr(choice) for choice in valid)


def check(document: Any, rules: Mapping[str, Any]) -> list[Problem]:
    """Every problem of a document, each once; an empty list if it is sound.

    Raises
    ------
    ValueError
        if the rules use a keyword that is not known here.
    """
    return list(dict.fromkeys(_check(document, rules, rules, ())))


def _check(value: Any, rules: Mapping[str, Any], root: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    unknown = set(rules) - _KNOWN
    if unknown:
        raise ValueError(f"schema keyword not supported: {', '.join(sorted(unknown))}")
    if "$ref" in rules:
        yield from _check(value, _target(rules, root), root, path)
    if "type" in rules:
        words, kind = _TYPES[rules["type"]]
        if not isinstance(value, kind) or isinstance(value, bool):  # Python counts True as an integer
            yield Problem(path, f"must be {words}, not {_shown(value)}")
            return
    if "const" in rules and value != rules["const"]:
        yield Problem(path, f"must be {_shown(rules['const'])}, not {_shown(value)}")
    if isinstance(value, str):
        if len(value) < rules.get("minLength", 0):
            yield Problem(path, f"must have at least {rules['minLength']} characters")
        if not re.search(rules.get("pattern", ""), value):
            yield Problem(path, f"{_shown(value)} does not have the form {rules['pattern']}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = rules.get("minimum", value), rules.get("maximum", value)
        if not low <= value <= high:
            yield Problem(path, f"is {value:,}; allowed range: {low:,} to {high:,}")
    elif isinstance(value, dict):
        yield from _members(value, rules, root, path)
    if "if" in rules:
        holds = next(_check(value, rules["if"], root, path), None) is None
        yield from _check(value, rules.get("then" if holds else "else", {}), root, path)


def _members(
    value: dict[str, Any], rules: Mapping[str, Any], root: Mapping[str, Any], path: Path
) -> Iterator[Problem]:
    known: Mapping[str, Any] = rules.get("properties", {})
    for name in rules.get("required", ()):
        if name not in value:
            meaning = _meaning((*path, name), root)
            yield Problem(path, f"lacks the key {name!r}" + (f" ({meaning})" if meaning else ""))
    for name, item in value.items():
        if name in known:
            yield from _check(item, known[name], root, (*path, name))
        elif rules.get("additionalProperties") is False:
            yield Problem((*path, name), f"{name!r} is not a known key; {nearest(name, known)}")


def _target(rules: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    target: Mapping[str, Any] = root["$defs"][str(rules["$ref"]).removeprefix("#/$defs/")]
    return target


def _meaning(path: Path, root: Mapping[str, Any]) -> str:
    """The description that the rules give to the value at `path`, or nothing."""
    place: Mapping[str, Any] = root
    for step in path:
        inside = place.get("properties", {})
        if step not in inside and "$ref" in place:
            inside = _target(place, root)["properties"]
        place = inside.get(step, {})
    return str(place.get("description", ""))


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
