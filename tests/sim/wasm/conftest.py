"""The toy kernel as WebAssembly, compiled once for a session."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sim.wasm.compile import compile_module
from tests.sim.wasm import toy

Words = npt.NDArray[np.int64]


@pytest.fixture(scope="session")
def toy_module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wasm") / "toy.wasm"
    compile_module(path, "tests.sim.wasm.toy:entry")
    return path


@pytest.fixture(scope="session")
def node() -> str:
    """A node to run the page's host in: the machine's, else the one that Playwright brings."""
    found = shutil.which("node")
    if found is None:
        from playwright._impl._driver import compute_driver_executable

        found = compute_driver_executable()[0]
    return str(found)


class Native:
    """The toy kernel compiled for this machine, with the methods of an engine."""

    def build(self, spec: Words) -> Words:
        arena = np.zeros(toy.entry(np.zeros(0, np.int64), spec, 0), np.int64)
        toy.entry(arena, spec, 0)
        return arena

    def run(self, arena: Words, steps: int) -> int:
        return int(toy.entry(arena, np.zeros(0, np.int64), steps))

    def reset(self, arena: Words) -> int:
        return int(toy.entry(arena, np.zeros(0, np.int64), -1))


@pytest.fixture(scope="session")
def native() -> Native:
    return Native()
