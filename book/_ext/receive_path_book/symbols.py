"""The index of kernel symbols: where the pages speak of each, and which programs execute it.

Nothing is marked on the pages.  The directive reads their sources, so that a symbol in backticks is found wherever it
stands, and its own page is written anew whenever one of them changes.  A name that is not the kernel's is marked, from
the list in `sim.kernel_names`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from book.build import prose
from book.build.plain import ROLE
from book.build.twins import pages as listed
from sim import kernel_names

HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")
CALLED = re.compile(r"(?<!`)`([a-z_][a-z0-9_]*)\(\)`(?!`)")
QUOTED = re.compile(r"(?<!`)`([A-Za-z_][A-Za-z0-9_]*)(?:\(\))?`(?!`)")
TERM = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*)$", re.MULTILINE)  # an entry of a glossary
#: What is called on the pages or charged in a program and is no function of the kernel: `reader` is the capture program
#: itself, `right` a word of the teachers' checks.
OTHERS = {"function", "reader", "right"}
#: Functions of the kernel that pages name without parentheses and no program executes, besides those with an underscore
#: at their front.
NAMED = {"kfree_skb", "native_queued_spin_lock_slowpath", "pv_native_safe_halt"}


class Place(NamedTuple):
    """A section of a page: where it is, and what the page and the section are called."""

    page: str
    anchor: str
    title: str
    section: str


def sections(page: str, source: str) -> list[tuple[Place, str]]:
    """The sections of a page in order, each with its prose; the text before the first heading is left out."""
    found: list[tuple[Place, list[str]]] = []
    title, taken = "", set()
    for line in prose.marked(source).split("\n"):
        heading = HEADING.match(line)
        if heading:
            words = " ".join(re.sub(r"[*`]", "", prose.plain(heading[2].replace("`", ""))).split())
            title = title or words
            anchor = nodes.make_id(words)
            if anchor in taken:
                anchor = ""  # Sphinx numbers it by the page's other names: the page is near enough
            taken.add(anchor)
            found.append((Place(page, anchor, title, words), []))
        elif found:
            found[-1][1].append(line)
    return [(place, ROLE.sub(named, "\n".join(lines))) for place, lines in found]


def named(role: re.Match[str]) -> str:
    """Of a page's roles a term names a symbol, if it is one; the others name something else."""
    return f"`{role['text']}`" if role["name"] == "term" else ""


def programs() -> dict[str, list[str]]:
    """The scenarios in whose programs a symbol is charged with time."""
    from sim import scenarios

    found: dict[str, set[str]] = defaultdict(set)
    for name in scenarios.names():
        for symbol in scenarios.load(name).spec.program.symbols:
            found[symbol.partition(" (")[0]].add(name)
    return {symbol: sorted(names) for symbol, names in found.items() if symbol not in OTHERS}


def own(root: Path) -> set[str]:
    """Names of the project's own functions, which pages call as well."""
    names: set[str] = set()
    for room in ("sim", "widgets", "book/figures"):
        for path in (root / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return names


def index(pages: dict[str, str], executed: dict[str, list[str]], foreign: set[str]) -> dict[str, list[Place]]:
    """Each symbol with the sections that name it: all that programs execute, and all that pages call or name."""
    known = set(executed)
    parts = [part for page, source in pages.items() for part in sections(page, source)]
    for _, text in parts:
        named_ = {name for name in QUOTED.findall(text) if name in NAMED or re.match("_+[a-z]", name)}
        known |= {*CALLED.findall(text), *named_} - foreign - OTHERS
    found: dict[str, list[Place]] = {symbol: [] for symbol in known}
    for place, text in parts:
        for symbol in {*QUOTED.findall(text), *TERM.findall(text)} & known:
            found[symbol].append(place)
    return found


def letter(symbol: str) -> str:
    """What a symbol is sorted under: leading underscores say nothing about what it does."""
    return symbol.lstrip("_")[:1].upper()


class SymbolIndex(SphinxDirective):
    """``{symbol-index}``: a section a letter, in it each symbol with its sections and programs."""

    def run(self) -> list[nodes.Node]:
        pages = {}
        for name in sorted(self.env.found_docs - {self.env.docname}):
            path = Path(self.env.doc2path(name))
            self.env.note_dependency(str(path))
            pages[name] = path.read_text(encoding="utf-8")
        executed = programs()
        found = index(pages, executed, own(Path(self.env.srcdir)))
        root = Path(self.env.srcdir)
        rank = {page.relative_to(root).with_suffix("").as_posix(): at for at, page in enumerate(listed(root))}
        letters: dict[str, list[str]] = defaultdict(list)
        for symbol in sorted(found, key=lambda name: (name.lstrip("_").lower(), name)):
            letters[letter(symbol)].append(symbol)
        out: list[nodes.Node] = []
        for initial, symbols in sorted(letters.items()):
            section = nodes.section(ids=[f"symbols-{initial.lower()}"], names=[f"symbols {initial.lower()}"])
            section += nodes.title(initial, initial)
            entries = nodes.definition_list(classes=["symbol-index"])
            for symbol in symbols:
                places = sorted(found[symbol], key=lambda place: rank.get(place.page, len(rank)))
                entries += entry(symbol, places, executed.get(symbol, []), self.env.docname)
            section += entries
            out.append(section)
        return out


def entry(symbol: str, places: list[Place], executed: list[str], page: str) -> nodes.definition_list_item:
    """A symbol, links to where the pages speak of it, and the programs that have it."""
    words = nodes.paragraph()
    for at, place in enumerate(places):
        if at:
            words += nodes.Text("; ")
        text = place.title if place.section == place.title else f"{place.title}: {place.section}"
        words += addnodes.pending_xref(
            "", nodes.inline("", text), refdomain="", reftype="symbol-place", refdoc=page, reftarget=place.page,
            anchor=place.anchor if place.section != place.title else "", refwarn=False,
        )
    if executed:
        words += nodes.Text(f"{' · ' if places else ''}in the programs of ")
        for at, name in enumerate(executed):
            if at:
                words += nodes.Text(", ")
            words += nodes.literal(name, name)
    body = [words]
    if marked := kernel_names.note(symbol, executed):
        body.append(nodes.paragraph("", f"{marked[0].upper()}{marked[1:]}."))
    term = nodes.term("", "", nodes.literal(symbol, symbol))
    return nodes.definition_list_item("", term, nodes.definition("", *body))


def resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Node
) -> nodes.reference | None:
    """A link to a page and a place on it."""
    if node["reftype"] != "symbol-place":
        return None
    address = app.builder.get_relative_uri(node["refdoc"], node["reftarget"])
    place = f"#{node['anchor']}" if node["anchor"] else ""
    return nodes.reference("", "", content, internal=True, refuri=address + place)


def connect(app: Sphinx) -> None:
    """The directive and its links."""
    app.add_directive("symbol-index", SymbolIndex)
    app.connect("missing-reference", resolve)
