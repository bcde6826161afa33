"""The compiler needs nothing but llvmlite, gives the same bytes every time, and a stale module fails."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from sim.wasm import compile as compiler
from sim.wasm import lower, stamp
from sim.wasm import object as wasm_object
from sim.wasm.host import WasmEngine, WasmError
from sim.wasm.object import ObjectError


def test_the_same_source_gives_the_same_bytes(
    toy_module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    monkeypatch.setenv("NUMBA_OPT", "3")
    again = tmp_path / "again.wasm"
    compiler.compile_module(again, "tests.sim.wasm.toy:entry")
    assert again.read_bytes() == toy_module.read_bytes()


def test_a_kernel_that_is_not_pure_fails_with_the_symbols_and_leaves_the_old_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "module.wasm"
    output.write_bytes(b"old")
    assert compiler.main(["--entry", "tests.sim.wasm.toy:impure", "--output", str(output)]) == 1
    assert "log, sin" in capsys.readouterr().err
    assert output.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["module.wasm"]


def test_a_checked_module_traps_where_an_index_leaves_its_array(tmp_path: Path) -> None:
    output = tmp_path / "checked.wasm"
    compiler.compile_module(output, "tests.sim.wasm.toy:astray", checked=True)
    engine = WasmEngine(output)
    arena = engine.build(np.array([50], np.int64))
    assert engine.run(arena, 49) == 7
    with pytest.raises(WasmError, match="unreachable"):
        engine.run(arena, 50)
    with pytest.raises(WasmError, match="unreachable"):
        engine.reset(arena)  # asks for word -1, the last one for Python and Numba


def test_numba_code_without_indices_as_this_compiler_knows_them_is_refused() -> None:
    with pytest.raises(ObjectError, match="has Numba changed"):
        lower.straighten("define i64 @entry() {\n  ret i64 1\n}\n", checked=False)


def test_another_entry_does_not_overwrite_the_engine() -> None:
    with pytest.raises(SystemExit):
        compiler.main(["--entry", "tests.sim.wasm.toy:entry"])


def test_the_stamp_says_what_the_module_was_made_from(toy_module: Path) -> None:
    assert set(stamp.read(toy_module.read_bytes())) == {"sources", "compiler", "numba", "llvmlite"}


def test_a_module_without_a_stamp_has_none() -> None:
    assert stamp.read(wasm_object.MAGIC) == {}


def test_a_changed_added_or_renamed_source_makes_the_module_stale(toy_module: Path, tmp_path: Path) -> None:
    sources = tmp_path / "engine"
    shutil.copytree(Path(__file__).parent, sources, ignore=shutil.ignore_patterns("__pycache__"))
    assert stamp.complaint(toy_module, sources) is None
    text = (sources / "toy.py").read_text()
    (sources / "toy.py").write_text(text.replace("1442695040888963407", "1442695040888963409"))
    complaint = stamp.complaint(toy_module, sources)
    assert complaint is not None
    assert "\n" not in complaint
    assert complaint.startswith(
        "toy.wasm is stale, sim/engine changed since: run `python -m sim.wasm.compile`"
    )
    (sources / "toy.py").write_text(text)
    assert stamp.complaint(toy_module, sources) is None
    (sources / "more.py").write_text("")
    assert stamp.complaint(toy_module, sources) is not None
    (sources / "more.py").unlink()
    (sources / "toy.py").rename(sources / "toys.py")
    assert stamp.complaint(toy_module, sources) is not None


def test_a_missing_or_damaged_module_is_said_to_be(toy_module: Path, tmp_path: Path) -> None:
    assert "is missing" in str(stamp.complaint(tmp_path / "none.wasm"))
    short = tmp_path / "short.wasm"
    short.write_bytes(toy_module.read_bytes()[:-40])
    assert "is damaged" in str(stamp.complaint(short))
    assert compiler.main(["--check", "--output", str(short)]) == 1
