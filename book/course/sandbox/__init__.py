"""Runs one notebook of a student where it can harm nothing: `run_cells` does it, `Jail` is the wall around it.

`driver` runs inside and is as little trusted as the code it runs; everything else runs outside and takes what the
driver says for what it is: text from a stranger, of bounded size.
"""

from __future__ import annotations

from .jail import Jail, JailMissing
from .limits import Limits
from .records import CellRun
from .run import Code, Run, run_cells

__all__ = ["CellRun", "Code", "Jail", "JailMissing", "Limits", "Run", "run_cells"]
