"""An object becomes a module only if a page can run it, and what stands in the way is named."""

from __future__ import annotations

import pytest
import wasmtime

from sim.wasm import lower
from sim.wasm import object as wasm_object
from sim.wasm.object import ObjectError, Reader

HEAD = f'target triple = "{lower.TRIPLE}"\n'


def objects(code: str) -> bytes:
    machine = lower.target_machine()
    return lower.emit(f'{HEAD}target datalayout = "{machine.target_data}"\n{code}', machine)


def run(module: bytes, *arguments: int) -> int:
    engine = wasmtime.Engine()
    store = wasmtime.Store(engine)
    instance = wasmtime.Instance(store, wasmtime.Module(engine, module), [])
    return instance.exports(store)["entry"](store, *arguments)


@pytest.mark.parametrize("value", [0, 1, 63, 64, 127, 128, 300, 65_536, 2**31, 2**40])
def test_numbers_survive_the_binary_format(value: int) -> None:
    assert Reader(wasm_object.unsigned(value)).unsigned() == value
    for signed in (value, -value, -value - 1):
        assert Reader(wasm_object.signed(signed)).signed() == signed


def test_constants_are_found_where_the_code_looks_for_them() -> None:
    table = ", ".join(f"i64 {n * n}" for n in range(100))
    module = wasm_object.link(
        objects(
            '@first = constant [3 x i8] c"abc"\n'
            f"@squares = constant [100 x i64] [{table}]\n"
            "@total = global i64 7\n"
            "define i64 @entry(i64 %i) {\n"
            "  %at = getelementptr i64, ptr @squares, i64 %i\n  %x = load i64, ptr %at\n"
            "  %b = getelementptr i8, ptr @first, i64 %i\n  %c = load volatile i8, ptr %b\n"
            "  %old = load i64, ptr @total\n  %new = add i64 %old, %x\n  store i64 %new, ptr @total\n"
            "  ret i64 %new\n}\n"
        ),
        "entry",
    )
    assert run(module, 2) == 7 + 4


def test_the_stack_lies_between_the_constants_and_the_base() -> None:
    module = wasm_object.link(
        objects(
            "define i64 @entry(i64 %i) {\n  %a = alloca [8 x i64]\n"
            "  %p = getelementptr i64, ptr %a, i64 %i\n  store volatile i64 5, ptr %p\n"
            "  %at = ptrtoint ptr %p to i64\n  ret i64 %at\n}\n"
        ),
        "entry",
    )
    at = run(module, 0)
    assert wasm_object.STACK_TOP - 1024 < at < wasm_object.STACK_TOP


def test_every_function_that_a_page_lacks_is_named() -> None:
    code = "declare double @sin(double)\ndeclare double @log(double)\ndeclare double @fmod(double, double)\n"
    code += (
        "define double @entry(double %x) {\n  %a = call double @sin(double %x)\n"
        "  %b = call double @log(double %a)\n"
        "  %c = call double @fmod(double %b, double 3.0)\n  ret double %c\n}\n"
    )
    with pytest.raises(ObjectError, match=r"log, sin \(allowed: fmod, memcpy, memmove, memset\)"):
        wasm_object.link(objects(code), "entry")


def test_an_indirect_call_is_refused() -> None:
    code = "define i64 @entry(ptr %f) {\n  %x = call i64 %f()\n  ret i64 %x\n}\n"
    with pytest.raises(ObjectError, match="indirect calls"):
        wasm_object.link(objects(code), "entry")


def test_a_missing_entry_is_refused() -> None:
    with pytest.raises(ObjectError, match="does not define run"):
        wasm_object.link(objects("define i64 @entry() {\n  ret i64 1\n}\n"), "run")


def test_constants_that_leave_no_room_for_a_stack_are_refused() -> None:
    code = (
        "@big = global [5000 x i64] zeroinitializer\ndefine i64 @entry(i64 %i) {\n"
        "  %at = getelementptr i64, ptr @big, i64 %i\n  store i64 %i, ptr %at\n"
        "  %x = load volatile i64, ptr @big\n  ret i64 %x\n}\n"
    )
    with pytest.raises(ObjectError, match="40000 bytes of constants"):
        wasm_object.link(objects(code), "entry")


def test_a_relocation_that_does_not_hold_is_found() -> None:
    obj = objects(
        "@cells = global [4 x i64] [i64 1, i64 2, i64 3, i64 4]\ndefine i64 @entry(i64 %i) {\n"
        "  %at = getelementptr i64, ptr @cells, i64 %i\n  %x = load volatile i64, ptr %at\n"
        "  store volatile i64 9, ptr @cells\n  ret i64 %x\n}\n"
    )
    parts = wasm_object.sections(obj)
    linking = wasm_object.custom(obj, "linking")
    assert linking is not None
    table = wasm_object.symbols(linking)
    data = wasm_object.segments(dict(parts)[wasm_object.DATA])
    wasm_object.check_relocations(parts, table, data)
    with pytest.raises(ObjectError, match="holds 0, not 64"):
        wasm_object.check_relocations(parts, table, [(address + 64, size) for address, size in data])


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (b"", "not a WebAssembly object"),
        (b"\0asm\x02\0\0\0", "not a WebAssembly"),
        (wasm_object.MAGIC, "no linking"),
    ],
)
def test_what_is_no_object_is_refused(damaged: bytes, reason: str) -> None:
    with pytest.raises(ObjectError, match=reason):
        wasm_object.link(damaged, "entry")


def test_an_object_cut_short_is_refused_unless_nothing_that_counts_is_missing() -> None:
    obj = objects("define i64 @entry() {\n  ret i64 1\n}\n")
    whole = wasm_object.link(obj, "entry")
    refused = 0
    for end in range(len(obj)):
        try:
            assert wasm_object.link(obj[:end], "entry") == whole
        except ObjectError:
            refused += 1
    assert refused > len(obj) // 2
