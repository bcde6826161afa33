"""A Numba function made into a WebAssembly module, by llvmlite alone.

Numba compiles the function for this machine and keeps the LLVM code it came from. That code is taken before
optimisation (`ENVIRONMENT` says how), its target is replaced by wasm32, a plain entry is put around Numba's
calling convention, everything else is made internal and optimised away or in, and LLVM emits an object.

The process must be its own: Numba reads its settings on import, and code it has already compiled or cached
carries this machine's layout and vectors. `sim.wasm.compile` starts one.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from . import stamp
from .object import ObjectError, link

ENVIRONMENT: Final = {
    "NUMBA_OPT": "0",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_DEBUGINFO": "0",
    "NUMBA_BOUNDSCHECK": "0",
}
TRIPLE: Final = "wasm32-unknown-unknown"
# Written out, since LLVM's "generic" moves with its version. Without nontrapping-fptoint a float out of range
# becomes the least integer, as on x86. Every browser since 2021 has these.
CPU: Final = "mvp"
FEATURES: Final = "+sign-ext,+mutable-globals,+bulk-memory"
EXPORT: Final = "entry"

# Numba passes an array as memory owner, parent, items, item size, data, shape, strides; it returns a status
# and leaves the result behind a pointer. A status other than 0 is a raised exception: here it traps.
WRAPPER: Final = """
declare void @llvm.trap()
define i64 @{export}(ptr %arena, i64 %arena_words, ptr %spec, i64 %spec_words, i64 %steps) {{
  %result = alloca i64
  %exception = alloca ptr
  store i64 0, ptr %result
  %status = call i32 @"{function}"(ptr %result, ptr %exception,
    ptr null, ptr null, i64 %arena_words, i64 8, ptr %arena, i64 %arena_words, i64 8,
    ptr null, ptr null, i64 %spec_words, i64 8, ptr %spec, i64 %spec_words, i64 8, i64 %steps)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %return, label %raised
return:
  %value = load i64, ptr %result
  ret i64 %value
raised:
  call void @llvm.trap()
  unreachable
}}
"""


# Numba lets an index below 0 count from the end, as Python does: an addition and a choice at every access.
# No sound spec has such an index, and without the choice the engine is a third faster and a fifth smaller.
WRAP_AROUND: Final = re.compile(
    r"  (%\S+) = icmp slt i64 (?P<index>\S+), 0\n"
    r"  (%\S+) = add i64 (?P=index), (?P<size>%\S+)\n"
    r"  (?P<result>%\S+) = select i1 \1, i64 \3, i64 (?P=index)\n"
    r"(?=  %\S+ = getelementptr inbounds \{ ptr, ptr, i64, i64, ptr, )"  # of an array; bounds of slices stay
)
PLAIN: Final = r"  \g<result> = add i64 \g<index>, 0\n"
CHECKED: Final = r"  call void @check_index(i64 \g<index>, i64 \g<size>)\n" + PLAIN
CHECK: Final = """
define void @check_index(i64 %index, i64 %size) {
  %inside = icmp ult i64 %index, %size
  br i1 %inside, label %fine, label %outside
fine:
  ret void
outside:
  call void @llvm.trap()
  unreachable
}
"""


def numba_settings() -> Any:
    """Numba's settings; importing them imports Numba."""
    from numba.core import config

    return config


def target_machine() -> Any:
    """LLVM's machine for wasm32."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=CPU, features=FEATURES, opt=3)


def retarget(code: str, machine: Any) -> str:
    """LLVM code with its target replaced by that of `machine`."""
    code = re.sub(r'target triple = ".*"', f'target triple = "{TRIPLE}"', code)
    return re.sub(r'target datalayout = ".*"', f'target datalayout = "{machine.target_data}"', code)


def straighten(code: str, checked: bool) -> str:
    """LLVM code in which an index is used as it is; if `checked`, one outside its array traps.

    Raises
    ------
    ObjectError
        If no index is found, since Numba then writes them in another way than this module knows.
    """
    straight, count = WRAP_AROUND.subn(CHECKED if checked else PLAIN, code)
    if not count:
        raise ObjectError("no array index found in Numba's code: has Numba changed?")
    return straight + (CHECK if checked else "")


def emit(code: str, machine: Any, export: str = EXPORT) -> bytes:
    """The object of LLVM code in which only `export` is kept, and what it reaches."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(code)
    for value in [*module.functions, *module.global_variables]:
        if not value.is_declaration and value.name != export:
            value.linkage = "internal"
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    # Twice: what the first round inlines leaves functions behind that only the second can drop.
    for _ in range(2):
        passes = builder.getModulePassManager()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(module, builder)
    return bytes(machine.emit_object(module))


def lower(function: Any, checked: bool = False) -> bytes:
    """The object of a Numba function ``(int64[::1], int64[::1], int64) -> int64``; see `straighten`.

    Raises
    ------
    ObjectError
        If Numba has other settings than `ENVIRONMENT`, or the function returns something else.
    """
    from numba import types

    config = numba_settings()
    if int(config.OPT) != 0 or config.CPU_NAME != "generic" or config.BOUNDSCHECK:
        raise ObjectError("Numba was imported with other settings than those for WebAssembly")
    words = types.Array(types.int64, 1, "C")
    signature = (words, words, types.int64)
    function.compile(signature)
    compiled = function.overloads[signature]
    if compiled.signature.return_type != types.int64:
        raise ObjectError(f"the entry returns {compiled.signature.return_type}, not int64")
    machine = target_machine()
    wrapper = WRAPPER.format(export=EXPORT, function=compiled.fndesc.mangled_name)
    code = straighten(retarget(function.inspect_llvm(signature), machine), checked)
    return emit(code + wrapper, machine)


def find(entry: str) -> tuple[ModuleType, Any]:
    """The module and the function that ``package.module:function`` names."""
    place, _, title = entry.partition(":")
    module = importlib.import_module(place)
    return module, getattr(module, title)


def main(arguments: list[str] | None = None) -> int:
    """Compile ``entry`` to ``output``; the environment must be `ENVIRONMENT`, the cache folder empty."""
    parser = argparse.ArgumentParser(prog="python -m sim.wasm.lower", description=__doc__)
    parser.add_argument("entry")
    parser.add_argument("output", type=Path)
    parser.add_argument("cache", help="an empty folder: nothing that was compiled before may be used")
    parser.add_argument("--checked", action="store_true", help="an index outside its array traps")
    options = parser.parse_args(arguments)
    # Again, since importing `sim` sets a cache folder of its own.
    os.environ.update(ENVIRONMENT, NUMBA_CACHE_DIR=options.cache)
    from importlib.metadata import version

    numba_settings().reload_config()
    module, function = find(options.entry)
    versions = {"numba": version("numba"), "llvmlite": version("llvmlite")}
    marks = {**stamp.current(Path(str(module.__file__)).parent), **versions}
    try:
        linked = link(lower(function, options.checked), EXPORT, {stamp.TITLE: stamp.encode(marks)})
    except ObjectError as error:
        print(error, file=sys.stderr)
        return 1
    options.output.write_bytes(linked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
