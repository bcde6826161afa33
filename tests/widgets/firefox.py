"""A headless Firefox by its own remote protocol (Marionette), for a smoke test: open a page, ask it things.

Playwright drives only Firefoxes of its own making; this one is the system's.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("firefox-esr", "firefox")


def find() -> str | None:
    """Path of an installed Firefox, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Firefox:
    """One window. `close` ends the browser."""

    def __init__(self, path: str, profile: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        profile.mkdir(parents=True)
        (profile / "user.js").write_text(
            f'user_pref("marionette.port", {port});\nuser_pref("network.manage-offline-status", false);\n'
        )
        self._process = subprocess.Popen(
            [path, "--headless", "--marionette", "--no-remote", "--profile", str(profile)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0
        for _ in range(120):
            try:
                self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
                break
            except OSError:
                time.sleep(0.5)
        self._receive()  # its greeting
        self._call("WebDriver:NewSession")

    def open(self, address: str) -> None:
        """Load a page."""
        self._call("WebDriver:Navigate", url=address)

    def ask(self, script: str) -> Any:
        """The value of a function body's ``return``."""
        return self._call("WebDriver:ExecuteScript", script=script, args=[], newSandbox=False)["value"]

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Until an expression is true; raises TimeoutError."""
        end = time.monotonic() + seconds
        while not self.ask(f"return Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.1)

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(20)

    def _call(self, command: str, **parameters: Any) -> Any:
        self._number += 1
        text = json.dumps([0, self._number, command, parameters])
        self._socket.sendall(f"{len(text)}:{text}".encode())
        _, _, error, result = self._receive()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def _receive(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._socket.recv(1)
        rest = int(length[:-1])
        data = b""
        while len(data) < rest:
            data += self._socket.recv(rest - len(data))
        return json.loads(data)
