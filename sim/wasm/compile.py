"""Make ``sim/wasm/engine.wasm`` from the engine's Numba source, or check that it is not stale.

``python -m sim.wasm.compile`` compiles (about half a minute); with ``--check`` it only looks, and
ends with one line and exit code 1 if the committed module is stale.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from . import stamp
from .lower import ENVIRONMENT

ENTRY: Final = "sim.engine:entry"


class CompileError(RuntimeError):
    """The engine could not be compiled; the message says why."""


def compile_module(output: Path, entry: str = ENTRY, checked: bool = False) -> None:
    """Compile ``package.module:function`` to the module `output`, in a process of its own.

    If `checked`, an index outside its array traps: for tests. Nothing is written unless everything went
    well, so an interrupted run leaves the old module.

    Raises
    ------
    CompileError
        With the reason, such as the symbol that a page does not have.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "module.wasm"
        cache = Path(folder) / "cache"
        cache.mkdir()
        command = [sys.executable, "-W", "ignore", "-m", "sim.wasm.lower", entry, str(made), str(cache)]
        command += ["--checked"] if checked else []
        setting = {**kept, **ENVIRONMENT, "NUMBA_CACHE_DIR": str(cache)}
        setting["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        done = subprocess.run(command, env=setting, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileError(done.stderr.strip() or f"the compiler ended with code {done.returncode}")
        beside = output.with_suffix(".partial")
        beside.write_bytes(made.read_bytes())
        beside.replace(output)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m sim.wasm.compile", description="Engine to WebAssembly.")
    parser.add_argument("--check", action="store_true", help="only say whether the module is stale")
    parser.add_argument("--entry", default=ENTRY, help="function to compile (default %(default)s)")
    parser.add_argument("--output", type=Path, default=stamp.ENGINE, help="where to write the module")
    options = parser.parse_args(arguments)
    if options.entry != ENTRY and options.output == stamp.ENGINE:
        parser.error("another entry needs another --output")
    if options.check:
        complaint = stamp.complaint(options.output)
        print(complaint or f"{options.output.name} is that of the sources")
        return 1 if complaint else 0
    begun = time.perf_counter()
    print(f"compiling {options.entry} to WebAssembly ...", flush=True)
    try:
        compile_module(options.output, options.entry)
    except (CompileError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    module = options.output.read_bytes()
    sizes = f"{len(module):,} bytes, {len(gzip.compress(module, 9)):,} gzipped"
    print(f"{options.output.name}: {sizes}, {time.perf_counter() - begun:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
