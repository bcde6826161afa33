"""Joins the project's own ES modules into one script, with no tool beyond Python.

Every module becomes a factory in a registry and runs once, when it is first wanted::

    $f["scales"] = () => { ...; return { linear, ticks }; };

Keeping factories has a second use. ``import source from "./worker.mjs?source";`` gives the text of a script
that holds `worker.mjs` and all it imports, taken from the same factories with `toString()`: a page that is
read from a file starts its worker from that text (a blob), since browsers load no worker file there, and
no line is in the page twice.

Understood: imports of names, of a default and of a source, and exports of declarations, lists and a default,
each beginning its line. Anything else is refused with the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

JS = Path(__file__).parent / "js"

_IMPORT = re.compile(
    r"^import\s+(?:\{(?P<names>[^}]*)\}|(?P<default>\w+))\s+from"
    r'\s+"\./(?P<file>[\w-]+)\.mjs(?P<source>\?source)?";?[ \t]*$',
    re.M,
)
_DECLARED = re.compile(r"^export\s+(?=(?:async\s+)?(?:function\*?|class|const|let)\s+(?P<name>\w+))", re.M)
_LISTED = re.compile(r"^export\s+\{(?P<names>[^}]*)\};?[ \t]*$", re.M)
_DEFAULT = re.compile(r"^export\s+default\s+", re.M)
_LEFT_OVER = re.compile(r"^(?:import|export)\b.*$", re.M)
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)\n", re.M | re.S)

_PRELUDE = """\
const $f = {}, $m = {}, $use = (n) => ($m[n] ??= $f[n]());
const $source = (...names) => "const $f={},$m={},$use=(n)=>($m[n]??=$f[n]());" +
  names.map((n) => `$f["${n}"]=${$f[n]};`).join("") + `$use("${names.at(-1)}");`;
"""


class BundleError(ValueError):
    """A module that is missing, imports in a circle, or uses syntax that the bundler does not know."""


def _pairs(names: str, between: str) -> str:
    """``a, b as c`` as the inside of an object literal or pattern; `between` orders the two names."""
    out = []
    for part in filter(None, (p.strip() for p in names.split(","))):
        old, _, new = part.partition(" as ")
        out.append(between.format(old=old.strip(), new=(new or old).strip()))
    return ", ".join(out)


class Bundle:
    """The registry of the modules that were asked for, in an order in which each follows what it imports.

    Parameters
    ----------
    folder
        Where the modules are.
    virtual
        Modules that are no files: name to text (the engine's bytes, the styles).
    """

    def __init__(self, folder: Path = JS, virtual: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._virtual = dict(virtual or {})
        self._factories: dict[str, str] = {}
        self._imports: dict[str, list[str]] = {}
        self._open: list[str] = []

    def add(self, name: str) -> None:
        """Add a module by its stem, and before it all that it imports. Raises `BundleError`."""
        if name in self._factories:
            return
        if name in self._open:
            raise BundleError("modules import in a circle: " + " -> ".join([*self._open, name]))
        self._open.append(name)
        text = _COMMENT.sub("", self._read(name))
        imports: list[str] = []

        def taken(found: re.Match[str]) -> str:
            file = found["file"]
            self.add(file)
            if found["source"]:
                wanted = ", ".join(f'"{n}"' for n in self.closure(file))
                return f"const {found['default']} = $source({wanted});"
            imports.append(file)
            if found["default"]:
                return f'const {found["default"]} = $use("{file}").default;'
            return f'const {{ {_pairs(found["names"], "{old}: {new}")} }} = $use("{file}");'

        text = _IMPORT.sub(taken, text)
        exports = [found["name"] for found in _DECLARED.finditer(text)]
        text = _DECLARED.sub("", text)
        exports += [_pairs(found["names"], "{new}: {old}") for found in _LISTED.finditer(text)]
        text = _LISTED.sub("", text)
        if _DEFAULT.search(text):
            text = _DEFAULT.sub("const $default = ", text)
            exports.append("default: $default")
        if left := _LEFT_OVER.search(text):
            raise BundleError(f"{name}.mjs: cannot bundle `{left.group(0).strip()}`")
        lines = "\n".join(line.strip() for line in text.splitlines() if line.strip())
        self._factories[name] = f'$f["{name}"] = () => {{\n{lines}\nreturn {{ {", ".join(exports)} }};\n}};\n'
        self._imports[name] = imports
        self._open.pop()

    def closure(self, name: str) -> list[str]:
        """A module and all it imports, imports first."""
        out: list[str] = []
        for other in self._imports[name]:
            out += [n for n in self.closure(other) if n not in out]
        return [*out, name]

    @property
    def text(self) -> str:
        """The registry as statements; a caller adds what to do with it (`$use("name")`)."""
        return _PRELUDE + "".join(self._factories.values())

    def _read(self, name: str) -> str:
        if name in self._virtual:
            return self._virtual[name]
        path = self._folder / f"{name}.mjs"
        if not path.is_file():
            by = f", imported by {self._open[-2]}.mjs" if len(self._open) > 1 else ""
            raise BundleError(f"there is no module {path.name}{by}")
        return path.read_text(encoding="utf-8")
