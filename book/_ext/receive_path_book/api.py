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
                text = "```{eval-rst}\n" f".. automodule:: {name}\n   :members:\n   :show-inheritance:\n" "```\n"
                self.state.nested_parse(StringList(text.splitlines(), source=name), 0, section)
                sections.append(section)
        return sections


def connect(app: Sphinx) -> None:
    """Make the directive known."""
    app.add_directive("api-reference", ApiReference)
