"""Makes ``.venv`` and installs the pinned requirements, once for each change of them.

A stamp in the environment says what was installed: for the same requirements, Python and folder a
second run returns at once.  The folder is part of it because an environment does not survive a move.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from .places import CONSTRAINTS, REQUIREMENTS, ROOT, VENV, VENV_PYTHON
from .report import Refusal, run, say

OLDEST, NEWEST = (3, 11), (3, 13)
NEEDED_BYTES = 1_500_000_000  # 0.8 GB installed, and as much again for what pip unpacks on the way
EMPTY_BYTES = 50_000_000  # an environment with nothing but pip
STAMP = VENV / "installed"

# What pip prints, and what it means to someone who only typed make.
CAUSES = (
    ("No space left on device", "the disk is full: installing needs about 1.5 GB free"),
    ("Errno 28", "the disk is full: installing needs about 1.5 GB free"),
    ("NewConnectionError", "no network: the package index cannot be reached"),
    ("NameResolutionError", "no network: the package index cannot be reached"),
    ("ConnectTimeoutError", "no network: the package index does not answer"),
    ("ReadTimeoutError", "no network: the package index does not answer"),
    ("Connection refused", "no network: the package index cannot be reached"),
    ("ProxyError", "no network: the proxy refuses the package index"),
    ("SSLError", "no network: the package index's certificate is not accepted"),
    ("Permission denied", "no permission to write into the clone"),
)


def fingerprint(python: tuple[int, int]) -> str:
    """Hash of all that decides what the environment holds."""
    digest = hashlib.sha256(f"{python}\n".encode())
    for path in (REQUIREMENTS, CONSTRAINTS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def venv_version(python: Path = VENV_PYTHON) -> tuple[int, int] | None:
    """Version of the environment's Python; None if there is none or it does not start."""
    try:
        answer = subprocess.run(
            [python, "-c", "import sys, pip; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = answer.stdout.split()
    return int(major), int(minor)


def explain(output: str) -> str:
    """The cause of a failed install in one line; pip's own first error where no known cause is found."""
    for mark, cause in CAUSES:
        if mark in output:
            return cause
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")]
    return errors[0].removeprefix("ERROR:").strip() if errors else "pip failed and gave no reason"


def check_disk(folder: Path = ROOT, needed: int = NEEDED_BYTES) -> None:
    """Refuse before a long download that could not be unpacked."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Refusal(
            f"the disk is full: {folder} has {free / 1e9:.1f} GB free, installing needs {needed / 1e9:.1f} GB"
        )


def create() -> None:
    """Make an empty environment with the Python that runs this."""
    say(f"making .venv with Python {sys.version_info[0]}.{sys.version_info[1]}")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], capture_output=True, text=True, check=False
    )
    if made.returncode:
        # venv hides what its own pip said, so the likely causes are looked at one by one.
        if find_spec("ensurepip") is None or find_spec("venv") is None:
            raise Refusal(no_venv_module())
        if shutil.disk_usage(ROOT).free < EMPTY_BYTES:
            raise Refusal("the disk is full: cannot make .venv")
        raise Refusal(f"cannot make .venv: {explain(made.stdout + made.stderr)}")


def no_venv_module() -> str:
    """What to do on a Python whose distribution ships venv apart."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    package = f"python{version}-venv"
    return f"Python {version} has no venv module: install it (Debian and Ubuntu: apt-get install {package})"


def install() -> None:
    """Install the pinned requirements into the environment."""
    say("installing requirements.txt into .venv (0.8 GB; 1 to 3 minutes)")
    done = subprocess.run(
        [
            VENV_PYTHON,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--retries",
            "2",
            "-r",
            REQUIREMENTS,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode:
        raise Refusal(f"cannot install requirements.txt: {explain(done.stdout)}")


def add_import_path() -> None:
    """Make ``sim``, ``widgets`` and ``book`` importable from every folder, as an editable install would.

    A path file does it without a build back end, hence without the network, and sees new packages at once.
    """
    answer = subprocess.run(
        [VENV_PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    # before the libraries, one of which brings a package that is called tests, too; after PYTHONPATH, so that
    # a page of another copy of the project runs on that copy
    libraries = answer.stdout.strip()
    line = f"import sys; {str(ROOT)!r} in sys.path or sys.path.insert(sys.path.index({libraries!r}), {str(ROOT)!r})\n"
    (Path(libraries) / "receive_path.pth").write_text(line)


def stamp(python: tuple[int, int]) -> str:
    """What the stamp says once everything is installed: the folder on one line, the hash on the next."""
    return f"{ROOT}\n{fingerprint(python)}\n"


def main() -> None:
    """Bring ``.venv`` to what requirements.txt says."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise Refusal(
            f"Python 3.11, 3.12 or 3.13 is needed; this is {sys.version_info[0]}.{sys.version_info[1]}"
        )
    found = STAMP.read_text() if STAMP.exists() else ""
    version = venv_version()
    if version is not None and found == stamp(version):
        return
    check_disk()
    moved = bool(found) and found.splitlines()[0] != str(ROOT)
    if version is None or not OLDEST <= version <= NEWEST or moved:
        create()
        version = (sys.version_info[0], sys.version_info[1])
    STAMP.unlink(missing_ok=True)
    install()
    add_import_path()
    STAMP.write_text(stamp(version))


if __name__ == "__main__":
    run(main)
