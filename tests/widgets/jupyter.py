"""A Jupyter server of the tests' own, with notebooks made from cells; serves JupyterLab and Notebook."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]


@contextmanager
def serving(folder: Path, notebooks: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The address of a server with notebooks: name to the texts of code cells."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    for name, cells in notebooks.items():
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells], metadata=kernel)
        nbformat.write(book, folder / f"{name}.ipynb")
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
    try:
        yield address
    finally:
        started.terminate()
        try:
            started.wait(30)
        except subprocess.TimeoutExpired:  # it asks its kernels first, and they may be busy
            started.kill()
            started.wait(10)
        log.close()


def opened(browser: Browser, address: str) -> Page:
    """A page with a notebook whose kernel has started."""
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.goto(address)
    page.locator(".jp-CodeCell .cm-content").first.wait_for(timeout=60_000)
    page.locator("text=Python 3 >> visible=true").first.wait_for(timeout=60_000)
    page.wait_for_timeout(2000)  # the kernel's connection shows nowhere that both front ends share
    return page


def run_cell(page: Page, number: int) -> None:
    """Run a cell by its number."""
    page.locator(".jp-CodeCell .cm-content").nth(number).click()
    page.keyboard.press("Shift+Enter")


def _each_kernel(address: str, what: str, method: str) -> None:
    with urllib.request.urlopen(f"{address}/api/kernels") as answer:
        kernels: list[dict[str, Any]] = json.load(answer)
    for kernel in kernels:
        asked = urllib.request.Request(f"{address}/api/kernels/{kernel['id']}{what}", b"{}", method=method)
        urllib.request.urlopen(asked).close()


def restart(address: str) -> None:
    """Restart the kernels of a server."""
    _each_kernel(address, "/restart", "POST")


def shut_down(address: str) -> None:
    """End the kernels of a server."""
    _each_kernel(address, "", "DELETE")
