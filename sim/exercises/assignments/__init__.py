"""The course's assignments: what is asked, without answers. One module each, which declares ``ASSIGNMENT``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..instance import Assignment


def names() -> tuple[str, ...]:
    """Names of the assignments, as in the course's folders, sorted."""
    return tuple(sorted(_module(found.name).name for found in iter_modules(__path__)))


def load(name: str) -> Assignment:
    """An assignment by name; KeyError with the names there are."""
    stem = name.replace("-", "_").replace(".", "_")
    if not stem.isidentifier() or stem not in {found.name for found in iter_modules(__path__)}:
        raise KeyError(f"there is no assignment {name!r}; there are {', '.join(names())}")
    return _module(stem)


def holder(question: str) -> Assignment:
    """The assignment that asks a question; KeyError if none does."""
    for name in names():
        if question in load(name).names:
            return load(name)
    raise KeyError(question)


def _module(stem: str) -> Assignment:
    found = import_module(f"{__name__}.{stem}").ASSIGNMENT
    if not isinstance(found, Assignment):
        raise TypeError(f"{stem}.ASSIGNMENT is no Assignment")
    return found
