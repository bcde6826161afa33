"""Finds a browser for the tests: an installed Chromium or Chrome, else Debian's, else Playwright's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .report import Refusal, run, say

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


def installed() -> str | None:
    """Path of an installed browser that starts; ``BROWSER_PATH`` in the environment names one first."""
    named = os.environ.get("BROWSER_PATH")
    candidates = [named] if named else [*(shutil.which(name) for name in NAMES), *APPLICATIONS]
    return next((path for path in candidates if path and starts(path)), None)


def starts(path: str) -> bool:
    """Whether the program runs at all: Ubuntu's ``chromium-browser`` may be a stub that asks for a snap."""
    try:
        return (
            subprocess.run([path, "--version"], capture_output=True, check=False, timeout=60).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def downloaded() -> str | None:
    """Path of the browser that Playwright has downloaded, if it has."""
    code = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    path = answer.stdout.strip()
    return path if path and Path(path).exists() else None


def find() -> str | None:
    """Path of a usable browser, or None."""
    return installed() or downloaded()


def install_package() -> bool:
    """Install Debian's package, where this is Debian and we may; whether it worked."""
    if not shutil.which("apt-get") or getattr(os, "geteuid", lambda: 1)() != 0:
        return False
    say("installing a browser for the tests: apt-get install chromium")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    wait = ["-o", "DPkg::Lock::Timeout=300", "-qq"]
    for command in (
        ["apt-get", "update", *wait],
        ["apt-get", "install", "-y", "--no-install-recommends", *wait, "chromium", "fonts-dejavu-core"],
    ):
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            return False
    return True


def download() -> bool:
    """Let Playwright download its own browser; whether it worked."""
    say("downloading a browser for the tests: playwright install chromium")
    done = subprocess.run(
        [sys.executable, "-m", "playwright", "install", "chromium"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def main() -> None:
    """See to it that the tests have a browser."""
    if find() or (install_package() and find()) or (download() and find()):
        return
    raise Refusal(
        "the tests need a browser: install Chromium or Google Chrome (Debian: apt-get install chromium)"
    )


if __name__ == "__main__":
    run(main)
