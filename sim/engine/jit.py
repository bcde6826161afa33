"""How the engine's functions are compiled: one decorator, so that every host compiles them alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile with Numba for all hosts.

    No fast maths (floating point must be the same everywhere), no bounds checks (the verifier refuses
    what could leave the arena), no reference counting (WebAssembly has none of Numba's run time).
    """
    options: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": False, "nogil": True, "_nrt": False}
    decorated: F = numba.njit(**options)(function)
    return decorated
