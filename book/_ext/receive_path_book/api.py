"""The API reference: a directive that lists every public module of the packages it is given.

Nothing has to be kept in step by hand, and a module cannot be forgotten.
"""

from __future__ import annotations

import importlib
import pkgutil

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def modules(package: str) -> list[str]:
    """Names of a package and of its public modules, in order."""
    root = importlib.import_module(package)
    found = [package]
    for module in pkgutil.walk_packages(root.__path__, prefix=f"{package}."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            found.append(module.name)
    return found


def shadowed(name: str) -> list[str]:
    """Names of a package's modules: a function of such a name is documented in its module."""
    path = getattr(importlib.import_module(name), "__path__", [])
    return [module.name for module in pkgutil.iter_modules(path)]


class ApiReference(SphinxDirective):
    """``{api-reference} sim``: one section a module, its public classes and functions in it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        sections: list[nodes.Node] = []
        for package in self.arguments[0].split():
            for name in modules(package):
                section = nodes.section(ids=[nodes.make_id(f"module-{name}-page")], names=[f"module {name}"])
                section += nodes.title(name, "", nodes.literal(name, name))
                lines = ["```{eval-rst}", f".. automodule:: {name}", "   :members:", "   :show-inheritance:"]
                if hidden := shadowed(name):
                    lines.append(f"   :exclude-members: {', '.join(hidden)}")
                self.state.nested_parse(StringList([*lines, "```"], source=name), 0, section)
                sections.append(section)
        return sections


def connect(app: Sphinx) -> None:
    """Make the directive known."""
    app.add_directive("api-reference", ApiReference)
