"""Atomic operations on a 64-bit word at an address, as Numba intrinsics: LLVM makes them for x86-64 and arm64 alike.

Addresses are plain integers, so that threads share words of one buffer; whoever calls keeps the buffer alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WORD: Final = ir.IntType(64)
BYTES: Final = 8


def _atomic(function: Callable[..., Any]) -> Any:
    """An intrinsic, whose callers do not give the typing context that its declaration names."""
    return intrinsic(function)


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, WORD.as_pointer())


@_atomic
def load(_typing: Any, address: Any) -> Any:
    """The word, with acquire order."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(builder, args[0]), "acquire", BYTES)

    return types.int64(types.int64), generate


@_atomic
def store(_typing: Any, address: Any, value: Any) -> Any:
    """Set the word, with release order."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        builder.store_atomic(args[1], _pointer(builder, args[0]), "release", BYTES)
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


@_atomic
def add(_typing: Any, address: Any, value: Any) -> Any:
    """Add to the word; returns what it was."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, args[0]), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


@_atomic
def exchange(_typing: Any, address: Any, value: Any) -> Any:
    """Set the word; returns what it was."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("xchg", _pointer(builder, args[0]), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


@_atomic
def compare_exchange(_typing: Any, address: Any, old: Any, new: Any) -> Any:
    """Set the word to `new` if it is `old`; returns what it was."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pair = builder.cmpxchg(_pointer(builder, args[0]), args[1], args[2], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 0)

    return types.int64(types.int64, types.int64, types.int64), generate
