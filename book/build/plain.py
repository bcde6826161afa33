"""MyST Markdown as plain Markdown, for notebook programs that show directives and roles as they stand.

JupyterLab 4 and Notebook 7 know neither.  What a page says with a directive, its notebook twin says with
quotes, folds, bold words and links: all of it readable before and after a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .places import ROOT

OPENING = re.compile(r"^(?P<indent>\s*)(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*)$")
OPTION = re.compile(r"^:(?P<key>[\w-]+):\s*(?P<value>.*)$")
ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}`(?P<text>[^`]+)`")
TITLED = re.compile(r"^(?P<title>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
LABEL = re.compile(r"^\([\w:.-]+\)=\s*$")
BOXES = {
    "note",
    "tip",
    "hint",
    "important",
    "warning",
    "caution",
    "danger",
    "attention",
    "seealso",
    "topic",
    "admonition",
    "card",
    "tab-item",
    "grid-item",
    "grid-item-card",
    "margin",
    "sidebar",
}
STATEMENTS = {"exercise", "prf:definition", "prf:theorem", "prf:example", "prf:algorithm", "prf:remark"}
BARE = {"tab-set", "grid", "figure-md", "table", "div", "container"}


@dataclass
class Page:
    """One page on its way to plain Markdown.

    ``cited`` maps a citation key to its Markdown, ``glued`` the name of a computed value to its text.
    ``labels`` collects numbered statements as they come, so that a solution can name its exercise.
    """

    cited: Mapping[str, str] = field(default_factory=dict)
    glued: Mapping[str, str] = field(default_factory=dict)
    depth: int = 1  # folders between the page and the root of the twins
    labels: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def text(self, source: str) -> str:
        """Plain Markdown of one Markdown cell."""
        return "\n".join(self.lines(source.splitlines())).strip()

    def lines(self, source: list[str]) -> list[str]:
        """Plain lines of MyST lines; a directive's inside is treated the same way."""
        out: list[str] = []
        at = 0
        while at < len(source):
            line = source[at]
            opening = OPENING.match(line)
            if opening:
                end = closing(source, at, opening["fence"])
                options, body = split_options(dedent(source[at + 1 : end], opening["indent"]))
                out += ["", *self.directive(opening["name"], opening["argument"].strip(), options, body), ""]
                at = end + 1
            elif line.lstrip().startswith("```"):  # a plain code block stays as it is
                end = closing(source, at, line.strip()[: len(line.strip()) - len(line.strip().lstrip("`"))])
                out += source[at : end + 1]
                at = end + 1
            else:
                if not LABEL.match(line) and not line.startswith("% "):
                    out.append(line)
                at += 1
        return self.roles("\n".join(out)).split("\n")

    def directive(self, name: str, argument: str, options: dict[str, str], body: list[str]) -> list[str]:
        """Plain lines for one directive."""
        kind = options.get("class", "")
        if name == "literalinclude":
            return [f"```{options.get('language', '')}", *included(argument, options), "```"]
        if name in {"code-block", "code", "sourcecode"}:
            return [f"```{argument}", *body, "```"]
        if name == "math":
            return ["$$", *body, "$$"]
        if name in {"figure", "image"}:
            caption = [f"*{' '.join(self.lines(body)).strip()}*"] if body else []
            return [f"![{options.get('alt', '')}]({self.address(argument)})", "", *caption]
        if name == "glossary":
            return self.definitions(body)
        if name in {"nb-exec-table", "bibliography", "api-reference", "tableofcontents", "symbol-index", "cite-this"}:
            if name == "bibliography":
                return [f"- {entry}" for entry in self.cited.values()]
            return ["*(The built book has this list.)*"]
        inside = self.lines(body)
        if name == "predict":
            unit = f" ({options['unit']})" if "unit" in options else ""
            return quoted([f"**Predict, and write it down.** {' '.join(inside).strip()}{unit}"])
        if name in BARE:
            return [f"**{argument}**", "", *inside] if argument else inside
        if name == "solution":
            return folded(f"Solution to {self.labels.get(argument, 'the exercise')}", inside)
        if name in STATEMENTS:
            inside = [f"**{self.number(name, argument, options)}**", "", *inside]
            return folded(inside[0].strip("*"), inside[2:]) if "dropdown" in kind else inside
        title = argument or name.capitalize()
        if name in {"dropdown", "toggle"} or "dropdown" in kind:
            return folded(self.roles(title), inside)
        lead = f"**{self.roles(title)}**" if name in BOXES or argument else ""
        return quoted([lead, "", *inside] if lead else inside)

    def number(self, name: str, title: str, options: dict[str, str]) -> str:
        """Number of an exercise or statement on its page, and its title."""
        word = name.removeprefix("prf:").capitalize()
        self.counts[word] = self.counts.get(word, 0) + 1
        numbered = f"{word} {self.counts[word]}"
        if "label" in options:
            self.labels[options["label"]] = numbered
        return f"{numbered}. {title}" if title else numbered

    def definitions(self, body: list[str]) -> list[str]:
        """A glossary: the words in bold, what they mean below."""
        out: list[str] = []
        words: list[str] = []
        for line in body:
            if line and not line[0].isspace():
                words.append(line.strip())
            else:
                if words:
                    out += ["", f"**{', '.join(words)}**", ""]
                    words = []
                out.append(line.strip())
        return self.lines(out)

    def roles(self, text: str) -> str:
        """Roles as words and links."""
        return ROLE.sub(lambda match: self.role(match["name"], match["text"]), text)

    def role(self, name: str, text: str) -> str:
        """Plain Markdown for one role."""
        titled = TITLED.match(text)
        title, target = (titled["title"], titled["target"]) if titled else ("", text)
        if name.startswith("cite"):
            return (
                "[" + "; ".join(self.cited.get(key.strip(), key.strip()) for key in target.split(",")) + "]"
            )
        if name.startswith("glue"):
            return self.glued.get(target.split(":")[0], f"`{target}`")
        if name == "doc":
            return (
                f"[{title or target.rsplit('/', 1)[-1].replace('-', ' ')}]({self.address(target + '.ipynb')})"
            )
        if name == "math":
            return f"${text}$"
        if name == "guess":
            return "(compare your prediction)"
        if name in {"ref", "numref", "eq", "prf:ref"}:
            return title or self.labels.get(target, target.replace("-", " "))
        if name in {"sub", "sup", "kbd"}:
            return f"<{name}>{text}</{name}>"
        if name == "abbr":
            return text.split(" (")[0]
        if name.startswith("py:") or name in {"code", "file", "command", "download"}:
            return f"`{(title or target).lstrip('~')}`"
        return title or target

    def address(self, target: str) -> str:
        """An address from the root of the sources as one relative to the page."""
        return "../" * self.depth + target[1:] if target.startswith("/") else target


def included(address: str, options: dict[str, str], root: Path = ROOT) -> list[str]:
    """Lines of a file from the root of the sources: from the one that holds ``start-at`` up to ``end-before``."""
    lines = (root / address.lstrip("/")).read_text(encoding="utf-8").splitlines()
    start, end = (options.get(key, "").strip("\"'") for key in ("start-at", "end-before"))
    first = next(at for at, line in enumerate(lines) if start in line)
    last = next((at for at, line in enumerate(lines) if end and at > first and end in line), len(lines))
    return [line[int(options.get("dedent", 0)) :] for line in lines[first:last]]


def closing(source: list[str], start: int, fence: str) -> int:
    """Index of the line that closes the fence opened at ``start``; the end if nothing does."""
    for at in range(start + 1, len(source)):
        line = source[at].strip()
        if len(line) >= len(fence) and set(line) == {fence[0]}:
            return at
    return len(source)


def dedent(lines: list[str], indent: str) -> list[str]:
    """Lines without the indent of the fence around them."""
    return [line.removeprefix(indent) for line in lines]


def split_options(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """A directive's options and its body."""
    options: dict[str, str] = {}
    at = 0
    while at < len(lines) and (found := OPTION.match(lines[at])):
        options[found["key"]] = found["value"].strip()
        at += 1
    return options, lines[at:]


def folded(summary: str, lines: list[str]) -> list[str]:
    """A fold, as Markdown cells know it."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def quoted(lines: list[str]) -> list[str]:
    """A box, as a quotation."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return [f"> {line}".rstrip() for line in lines]
