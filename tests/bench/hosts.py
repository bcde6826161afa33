"""The hosts of the engine on one image, each ready to go on by some instructions at a time."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from playwright.sync_api import Browser

from sim.engine import tables as T
from sim.reference import ReferenceEngine
from sim.wasm.stamp import ENGINE
from tests.bench.turns import Spent, timed

Words = npt.NDArray[np.int64]
HERE = Path(__file__).parent
HOST = HERE.parents[1] / "widgets" / "js" / "engine.mjs"
END = T.INF - 1  # a time that no turn reaches


class Host(Protocol):
    """An arena after its warm-up."""

    def turn(self, steps: int) -> Spent: ...

    def now(self) -> int: ...


class InProcess:
    """The native engine, or WebAssembly under wasmtime."""

    def __init__(self, engine: Any, image: Words, warm_ps: int) -> None:
        self.engine = engine
        self.arena = engine.build(image)
        engine.run_until(self.arena, warm_ps)
        engine.reset(self.arena)
        self.arena[T.H_UNTIL] = END

    def turn(self, steps: int) -> Spent:
        """Go on by so many instructions."""
        return timed(steps, lambda: self.engine.run(self.arena, steps))

    def now(self) -> int:
        """Simulated time, ps."""
        return int(self.arena[T.H_NOW])


class Reference:
    """The SimPy reference; it is not warmed up to the end, which would take long."""

    def __init__(self, image: Words) -> None:
        self.engine = ReferenceEngine()
        self.machine = self.engine.build(image)
        self.machine.until = END

    def turn(self, steps: int) -> Spent:
        """Go on by so many instructions."""
        return timed(steps, lambda: self.engine.run(self.machine, steps))

    def now(self) -> int:
        """Simulated time, ps."""
        return int(self.machine.now)


class Node:
    """The page's host under node, in a process of its own."""

    def __init__(self, image: Words, warm_ps: int) -> None:
        words = (str(T.H_UNTIL), str(T.H_NOW))
        self.process = subprocess.Popen(
            [node(), str(HERE / "node.mjs"), str(HOST), str(ENGINE), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        self._now = 0
        self._ask({"spec": texts(image), "warm": warm_ps})

    def _ask(self, message: dict[str, Any]) -> float:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"node ended with status {self.process.wait()}")
        answer = json.loads(line)
        self._now = int(answer["now"])
        return float(answer["ms"]) / 1000

    def turn(self, steps: int) -> Spent:
        """Go on by so many instructions."""
        before = on_cpu([self.process.pid])
        wall = self._ask({"steps": steps, "until": END})
        return Spent(steps, wall, between(before, on_cpu([self.process.pid])))

    def now(self) -> int:
        """Simulated time, ps."""
        return self._now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.communicate()


class Chromium:
    """The engine in a worker of a page from a file, in slices."""

    def __init__(self, browser: Browser) -> None:
        self.folder = tempfile.TemporaryDirectory()
        engine = HOST.read_text(encoding="utf-8").replace("export ", "")
        script = (HERE / "chromium.js").read_text(encoding="utf-8")
        constants = f"const ENGINE = {json.dumps(engine)}, UNTIL = {T.H_UNTIL}, NOW = {T.H_NOW};\n"
        path = Path(self.folder.name) / "bench.html"
        text = f'<!doctype html><meta charset="utf-8"><title>Bench</title><script>{constants}{script}</script>'
        path.write_text(text, encoding="utf-8")
        self.page = browser.new_page()
        self.page.goto(path.as_uri())
        self.pids = renderers(browser)
        self._now = 0
        self._ask({"act": "start"}, wasm=list(ENGINE.read_bytes()))

    def _ask(self, message: dict[str, Any], wasm: list[int] | None = None) -> float:
        script = "([message, wasm]) => bench.ask(wasm ? { ...message, wasm: Uint8Array.from(wasm) } : message)"
        answer = self.page.evaluate(script, [message, wasm])
        self._now = int(answer["now"] or 0)
        return float(answer["ms"]) / 1000

    def begin(self, image: Words, warm_ps: int) -> None:
        """Build an arena and run to the end of the warm-up."""
        self._ask({"act": "build", "spec": texts(image), "warm": warm_ps})

    def turn(self, steps: int) -> Spent:
        """Go on by so many instructions."""
        before = on_cpu(self.pids)
        wall = self._ask({"act": "turn", "steps": steps, "until": END})
        return Spent(steps, wall, between(before, on_cpu(self.pids)))

    def replicate(self, image: Words, warm_ps: int, until_ps: int) -> float:
        """Build, warm up and run to a time; seconds."""
        return self._ask({"act": "replicate", "spec": texts(image), "warm": warm_ps, "until": until_ps})

    def now(self) -> int:
        """Simulated time, ps."""
        return self._now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.page.close()
        self.folder.cleanup()


def renderers(browser: Browser) -> list[int]:
    """Process numbers of a browser's pages."""
    session = browser.new_browser_cdp_session()
    answer = session.send("SystemInfo.getProcessInfo")
    session.detach()
    return [int(one["id"]) for one in answer["processInfo"] if one["type"] == "renderer"]


def on_cpu(pids: Sequence[int]) -> float | None:
    """Seconds that all threads of some processes have been on a CPU; None where the kernel does not say."""
    try:
        rows = [path.read_text() for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except OSError:  # another system, or a thread that has just ended
        return None
    return sum(int(row.split()[0]) for row in rows) / 1e9 if rows else None


def between(before: float | None, after: float | None) -> float | None:
    """What passed between two readings of `on_cpu`; None if it cannot be told."""
    return after - before if before is not None and after is not None and after > before else None


def texts(image: Words) -> list[str]:
    """Words as JSON can carry them."""
    return [str(word) for word in image]


def node() -> str:
    """A node: the machine's, else the one that Playwright brings."""
    found = shutil.which("node")
    if found is None:
        from playwright._impl._driver import compute_driver_executable

        found = compute_driver_executable()[0]
    return str(found)
