"""The lab in JupyterLab and Notebook: the kernel answers, Python reads it back, a restart leaves it working."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CELLS = (
    "from widgets import ReceivePathLab\nlab = ReceivePathLab(replications=2)\nlab",
    "print('in Python', lab.mtu, lab.answer['knobs']['mtu'], f'{lab.result.after.gbps:.1f}')",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Jupyter server with one notebook; serves JupyterLab and Notebook."""
    folder = tmp_path_factory.mktemp("notebooks")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS], metadata=kernel)
    nbformat.write(book, folder / "lab.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder / f".{name}") for name in ("CONFIG", "DATA", "RUNTIME")}
    options = ("--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1", "--IdentityProvider.token=")
    log = (folder / "log").open("w")
    started = subprocess.Popen(
        [sys.executable, "-m", "jupyter", "lab", *options, "--ServerApp.disable_check_xsrf=True"],
        cwd=folder, env={**os.environ, **own, "PYTHONPATH": str(ROOT)}, stdout=log, stderr=log,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{address}/api").close()
            break
        except OSError:
            time.sleep(0.5)
    yield address
    started.terminate()
    started.wait(20)
    log.close()


def run_cell(page: Page, number: int) -> None:
    page.locator(".jp-CodeCell .cm-content").nth(number).click()
    page.keyboard.press("Shift+Enter")


def settle(page: Page, engine: str) -> None:
    page.locator(".rp-mark", has_text=engine).filter(has_text="2 replications").wait_for(timeout=60_000)


def restart(server: str) -> None:
    with urllib.request.urlopen(f"{server}/api/kernels") as answer:
        kernel: dict[str, Any] = json.load(answer)[0]
    asked = urllib.request.Request(f"{server}/api/kernels/{kernel['id']}/restart", b"{}", method="POST")
    urllib.request.urlopen(asked).close()


@pytest.mark.parametrize("place", ["lab/tree", "notebooks"], ids=["JupyterLab", "Notebook"])
def test_the_kernel_answers_and_a_restart_leaves_the_lab_working(browser: Browser, server: str, place: str) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.goto(f"{server}/{place}/lab.ipynb")
    page.locator(".jp-CodeCell .cm-content").nth(1).wait_for(timeout=60_000)
    page.get_by_text("Python 3", exact=False).first.wait_for(timeout=60_000)
    page.wait_for_timeout(2000)  # the kernel's connection shows nowhere that both front ends share
    run_cell(page, 0)
    settle(page, "Numba, in the kernel")
    page.locator('[data-knob="mtu"]').press("End")
    page.locator(".rp-command", has_text="--mtu 9000").wait_for(state="attached")
    settle(page, "Numba, in the kernel")
    run_cell(page, 1)
    page.get_by_text("in Python 9000 9000").wait_for(timeout=20_000)
    restart(server)
    page.wait_for_timeout(3000)
    page.locator('[data-knob="mtu"]').press("Home")
    settle(page, "WebAssembly, in this page: the kernel does not answer")
    page.close()
