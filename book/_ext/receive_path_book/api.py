"""The API reference: a directive that lists every public module of the packages it is given.

Nothing has to be kept in step by hand, and a module cannot be forgotten.
"""

from __future__ import annotations

import builtins
import importlib
import pkgutil
import re
from typing import ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

COLUMNS = re.compile(r"^\s+\S.*?\S\s{2,}\S")  # a line set in columns by hand


def modules(package: str) -> list[str]:
    """Names of a package and of its public modules, in order.

    A package within it is one entry, with what it offers: its own modules are its inside.
    """
    inside = pkgutil.iter_modules(importlib.import_module(package).__path__, prefix=f"{package}.")
    return [package, *(module.name for module in inside if not module.name.rpartition(".")[2].startswith("_"))]


def shadowed(name: str) -> list[str]:
    """Names of a package's modules: a function of such a name is documented in its module."""
    path = getattr(importlib.import_module(name), "__path__", [])
    return [module.name for module in pkgutil.iter_modules(path)]


class ApiReference(SphinxDirective):
    """``{api-reference} sim``: one section a module, its public classes and functions in it.

    ``:only:`` and ``:except:`` name modules of the package, so that two pages can share it between them.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {"only": str.split, "except": str.split}

    def run(self) -> list[nodes.Node]:
        sections: list[nodes.Node] = []
        for package in self.arguments[0].split():
            for name in self.chosen(package):
                section = nodes.section(ids=[nodes.make_id(f"module-{name}-page")], names=[f"module {name}"])
                section += nodes.title(name, "", nodes.literal(name, name))
                lines = ["```{eval-rst}", f".. automodule:: {name}", "   :members:", "   :show-inheritance:"]
                if hidden := shadowed(name):
                    lines.append(f"   :exclude-members: {', '.join(hidden)}")
                self.state.nested_parse(StringList([*lines, "```"], source=name), 0, section)
                sections.append(section)
        return sections

    def chosen(self, package: str) -> list[str]:
        """The package's modules that this page is to show; an option may not name one that is not there."""
        there = modules(package)
        for option in ("only", "except"):
            if option in self.options:
                named = [f"{package}.{name}" for name in self.options[option]]
                if unknown := set(named) - set(there):
                    raise self.error(f"no such module: {', '.join(sorted(unknown))}")
                there = [name for name in there if (name in named) == (option == "only")]
        return there


def keep_columns(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Show text that a docstring sets in columns as it is set; reStructuredText would take it for a list."""
    out: list[str] = []
    for paragraph in paragraphs(lines):
        body = paragraph[1:] if paragraph and not paragraph[0].startswith(" ") else paragraph
        if sum(bool(COLUMNS.match(line)) for line in body) >= 2:
            if len(body) < len(paragraph):
                out += [paragraph[0], ""]
            out += ["::", "", *(f"    {line.replace('``', '')}" for line in body)]
        else:
            out += paragraph
        out.append("")
    lines[:] = out


def paragraphs(lines: list[str]) -> list[list[str]]:
    """Lines as paragraphs, the blank lines between them left out."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [paragraph for paragraph in found if paragraph]


class PlainTypes(SphinxPostTransform):
    """Types in signatures link where the book documents exactly one thing of that name, else are words.

    A signature may well name a private class or a type variable, or a name that two modules use; that is
    no broken reference, so it must not fail the build.
    """

    default_priority = 5  # before references are resolved

    def run(self, **kwargs: object) -> None:
        domain = self.env.get_domain("py")
        assert isinstance(domain, PythonDomain)
        types = set(domain.objtypes_for_role("class") or ())  # an attribute of that name is no type
        documented = [name for name, entry in domain.objects.items() if entry.objtype in types]
        for reference in list(self.document.findall(addnodes.pending_xref)):
            if reference.get("refdomain") != "py" or not within_description(reference):
                continue
            target = str(reference["reftarget"])
            found = [name for name in documented if name == target or name.endswith(f".{target}")]
            if hasattr(builtins, target):
                found = []
            elif target in found:
                found = [target]
            if len(found) == 1:
                reference["reftarget"] = found[0]
                reference["refspecific"] = False
            else:
                reference.replace_self(reference.children)


def within_description(node: nodes.Element) -> bool:
    """Whether a node belongs to the entry of a class or function."""
    parent = node.parent
    while parent is not None and not isinstance(parent, addnodes.desc):
        parent = parent.parent
    return parent is not None


def connect(app: Sphinx) -> None:
    """Make the directive known."""
    app.add_directive("api-reference", ApiReference)
    app.add_post_transform(PlainTypes)
    app.connect("autodoc-process-docstring", keep_columns, priority=900)  # after napoleon
