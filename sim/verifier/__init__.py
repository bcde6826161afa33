"""The verifier: it refuses a spec that could leave its tables, its types or the numbers that fit.

The engine has no bounds checks, so every spec is verified before it is run. The program is executed on ranges
of numbers instead of numbers (abstract interpretation), from every vector and every spawn, as the kernel's
BPF verifier does: each register is unset, a number in a range, or a reference to a row of a domain that may
be none. What a run can meet without harm is not refused: a queue that is empty or full, a deadlock, a
livelock are results of the run.

Two limits. A column that is added to (or, with the default type, stored to without bounds) may hold any
number: what is loaded from it is bounded by branches or by min and max before it is a row or a time. Whose
an item is, is followed in registers only: an item that is surely on a queue is not pushed again, but one
loaded from a cell may be.

>>> from sim.spec import Spec
>>> from sim.verifier import Unsound, verify
>>> spec = Spec()
>>> spec.cost(sockets=1, cores_per_socket=1, threads_per_core=1)
>>> spec.spawn_threads("reader", spec.program.label("reader"))
>>> spec.program.ret()
>>> try:
...     verify(spec, {})
... except Unsound as error:
...     print(error)
instruction 0 (reader) `ret` in __schedule: returns, but no subroutine was called
"""

from __future__ import annotations

from collections.abc import Mapping

from ..engine.jit import Array
from ..spec import Spec
from .dataflow import check_program
from .declared import check_declarations
from .image import Image
from .unsound import Unsound

__all__ = ["Unsound", "verify", "verify_image"]


def verify(spec: Spec, knobs: Mapping[str, int] | None = None) -> None:
    """Refuse a spec at a setting of its knobs if it is unsound.

    Parameters
    ----------
    spec
        The spec; only the parts of the program that the knobs leave in are followed.
    knobs
        Settings as for `Spec.image`: those not given are 0.

    Raises
    ------
    Unsound
        With the instruction (address, label, listing line, symbol) and the reason in words.
    """
    verify_image(spec, spec.image(knobs))


def verify_image(spec: Spec, image: Array) -> None:
    """Refuse an image (int64, one dimension) that is unsound; `spec` tells the types of cells and the names.

    Raises `Unsound` as `verify` does.
    """
    view = Image(spec, [int(word) for word in image])
    check_declarations(view)
    check_program(view)
