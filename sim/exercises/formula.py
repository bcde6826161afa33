"""Arithmetic as data: written like Python's, evaluated alike in Python and in a page's JavaScript.

A formula is a tree of lists: ``["/", ["*", "bytes", 8], "gbps"]``. A word is a name, a number is a number. Everything
is a double, so `+ - * /`, `floor`, `ceil`, `min` and `max` give the same bits in both languages; nothing else is there.

>>> tree = parse("bytes * 8 / gbps")
>>> tree
['/', ['*', 'bytes', 8], 'gbps']
>>> evaluate(tree, {"bytes": 64260, "gbps": 55})
9346.90909090909
>>> text(tree, {"bytes": 64260, "gbps": 55})
'64,260 × 8 / 55'
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

Tree = Any  # a number, a name, or [operator, operand, ...]; recursive types are beyond what pages of JSON need

_OPERATORS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_FUNCTIONS: Final = {"floor": 1, "ceil": 1, "min": 2, "max": 2}
_SIGNS: Final = {"+": " + ", "-": " − ", "*": " × ", "/": " / "}
_BINDS: Final = {"+": 1, "-": 1, "*": 2, "/": 2}
_BRACKETS: Final = {"floor": "⌊⌋", "ceil": "⌈⌉"}


class FormulaError(ValueError):
    """A formula that is none, or that cannot be evaluated."""


def parse(source: str) -> Tree:
    """The tree of a formula; FormulaError says what is not understood."""
    try:
        return _tree(ast.parse(source, mode="eval").body, source)
    except SyntaxError as error:
        raise FormulaError(f"{source!r}: {error.msg}") from None


def _tree(node: ast.expr, source: str) -> Tree:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return [_OPERATORS[type(node.op)], _tree(node.left, source), _tree(node.right, source)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if _FUNCTIONS.get(name) == len(node.args):
            return [name, *(_tree(operand, source) for operand in node.args)]
    raise FormulaError(f"{source!r}: only names, numbers, + - * /, {', '.join(_FUNCTIONS)} are understood")


def names(tree: Tree) -> Iterator[str]:
    """The names in a formula, each as often as it stands there."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for operand in tree[1:]:
            yield from names(operand)


def evaluate(tree: Tree, known: Mapping[str, Any]) -> float:
    """The formula's value. FormulaError for an unknown name, a division by zero, and what is no finite number."""
    if isinstance(tree, str):
        if tree not in known:
            raise FormulaError(f"no value for {tree!r}; there are {', '.join(known)}")
        return float(known[tree])
    if not isinstance(tree, list):
        return float(tree)
    operator, *operands = tree
    a, b = (*(evaluate(operand, known) for operand in operands), 0.0)[:2]
    if operator == "/" and b == 0:
        raise FormulaError(f"{text(tree, known)} divides by zero")
    value = _apply(operator, a, b)
    if not math.isfinite(value):
        raise FormulaError(f"{text(tree, known)} is no finite number")
    return value


def _apply(operator: str, a: float, b: float) -> float:
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    if operator == "*":
        return a * b
    if operator == "/":
        return a / b
    if operator == "floor":
        return float(math.floor(a))
    if operator == "ceil":
        return float(math.ceil(a))
    return min(a, b) if operator == "min" else max(a, b)


def text(tree: Tree, known: Mapping[str, Any], outside: int = 0) -> str:
    """The formula with the numbers filled in, as one would write it on paper."""
    if isinstance(tree, str):
        return shown(float(known[tree])) if tree in known else tree
    if not isinstance(tree, list):
        return shown(float(tree))
    operator, *operands = tree
    if operator in _BRACKETS:
        return _BRACKETS[operator][0] + text(operands[0], known) + _BRACKETS[operator][1]
    if operator in _FUNCTIONS:
        return f"{operator}({', '.join(text(operand, known) for operand in operands)})"
    binds = _BINDS[operator]
    # a - (b - c) and a / (b * c) need their brackets, a + b - c does not
    written = text(operands[0], known, binds) + _SIGNS[operator] + text(operands[1], known, binds + (operator in "-/"))
    return f"({written})" if binds < outside else written


def shown(value: float) -> str:
    """A number for people: four significant digits or all of the whole ones, no zeros at the end, thousands apart."""
    size = abs(value)
    if size >= 1000:
        decimals = 0
    elif size >= 1:
        decimals = 1 if size >= 100 else 2 if size >= 10 else 3
    else:
        decimals = 4 if size >= 0.1 else 5 if size >= 0.01 else 6
    # by whole numbers, since languages round halves differently
    digits = str(math.floor(size * 10**decimals + 0.5)).rjust(decimals + 1, "0")
    whole, rest = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    grouped = f"{int(whole):,}" + (f".{rest}" if rest else "")
    return f"−{grouped}" if value < 0 and grouped != "0" else grouped


def amount(value: float, unit: str) -> str:
    """A number with its unit, which is a word in the plural or a sign: one line, two lines, 1 ns."""
    number = shown(value)
    if number == "1" and len(unit) > 3 and unit.endswith("s") and "/" not in unit:
        unit = unit[:-1]
    return f"{number} {unit}".rstrip()
