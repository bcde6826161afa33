"""Formulas as data: read, evaluated, written on paper."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.exercises import formula
from sim.exercises.formula import FormulaError, amount, evaluate, parse, shown, text

SOURCES = st.recursive(
    st.sampled_from(["a", "b", "7", "2.5"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda x: f"({x[0]}) {x[1]} ({x[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda x: f"{x[0]}({x[1]}, {x[2]})"),
        st.tuples(st.sampled_from(["floor", "ceil"]), inner).map(lambda x: f"{x[0]}({x[1]})"),
    ),
    max_leaves=8,
)


@given(SOURCES, st.integers(1, 1000), st.integers(1, 1000))
def test_a_formula_has_the_value_that_python_gives_it(source: str, a: int, b: int) -> None:
    import math

    known = {"a": a, "b": b}
    functions = {"min": min, "max": max, "floor": math.floor, "ceil": math.ceil}
    try:
        wanted = eval(source, functions, {name: float(value) for name, value in known.items()})  # strings made above
    except ZeroDivisionError:
        with pytest.raises(FormulaError, match="divides by zero"):
            evaluate(parse(source), known)
        return
    assert evaluate(parse(source), known) == wanted


@given(SOURCES)
def test_what_is_written_needs_no_other_brackets(source: str) -> None:
    """Read back, the written formula is the same arithmetic."""
    known = {"a": 3, "b": 8}
    written = text(parse(source), known)
    back = written
    for sign, plain in (("×", "*"), ("−", "-"), ("⌊", "floor("), ("⌋", ")"), ("⌈", "ceil("), ("⌉", ")")):
        back = back.replace(sign, plain)
    try:
        value = evaluate(parse(source), known)
    except FormulaError:
        return
    assert evaluate(parse(back), {}) == pytest.approx(value, rel=1e-12)


def test_brackets_stand_only_where_they_are_needed() -> None:
    known = {"a": 1500, "b": 72, "c": 8}
    assert text(parse("(a - b) * c / (a + b) - (b - c)"), known) == "(1,500 − 72) × 8 / (1,500 + 72) − (72 − 8)"
    assert text(parse("floor((a - b) / c) + min(b, c)"), known) == "⌊(1,500 − 72) / 8⌋ + min(72, 8)"


REFUSED = ("a ** b", "f(a)", "min(a)", "'word'", "a if b else 1", "a +", "min(a, b, c)", "True")


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_no_such_arithmetic_is_refused(source: str) -> None:
    with pytest.raises(FormulaError, match=r"understood|invalid"):
        parse(source)


def test_an_unknown_name_is_told_with_those_there_are() -> None:
    with pytest.raises(FormulaError, match="no value for 'c'; there are a, b"):
        evaluate(parse("a + c"), {"a": 1, "b": 2})


def test_numbers_are_shown_as_people_write_them() -> None:
    numbers = (0.0, 1234567.6, 999.96, 54.7, 0.063, 2.5, -0.83, 172.0, 0.0000001)
    assert [shown(x) for x in numbers] == ["0", "1,234,568", "1,000", "54.7", "0.063", "2.5", "−0.83", "172", "0"]
    assert [amount(x, "lines") for x in (1, 2)] == ["1 line", "2 lines"]
    assert [amount(1, unit) for unit in ("ns", "interrupts/s", "")] == ["1 ns", "1 interrupts/s", "1"]


@given(st.floats(1e-3, 1e9))
def test_a_shown_number_is_within_a_half_per_mille(value: float) -> None:
    assert float(shown(value).replace(",", "")) == pytest.approx(value, rel=5.1e-4)
    assert formula.shown(-value) == f"−{shown(value)}"
