"""Makes the folder that a hub runs from, and brings it up to date; what is there and right stays."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import sim

from ...build import environment as project
from ...build.places import CONSTRAINTS, REQUIREMENTS, ROOT
from ...build.report import Refusal, say
from .. import kit

HERE: Final = Path(__file__).resolve().parent
PINS: Final = HERE / "requirements.txt"
NODE: Final = 18
#: Beside what the students' kit needs: nbgrader itself, and what authors of assignments use.
MORE: Final = ("nbgrader", "jupytext")
#: Server extensions of nbgrader that a student has no use for.
TEACHERS_ONLY: Final = ("formgrader", "course_list")
LAB_TEACHERS_ONLY: Final = ("@jupyter/nbgrader:formgrader", "@jupyter/nbgrader:course-list")


def install(folder: Path, proxied: bool = True) -> None:
    """Make or renew the folder of a hub.

    Parameters
    ----------
    proxied
        False: leave out the proxy, which a cluster brings itself.

    Raises
    ------
    Refusal
        if Node.js or its package manager is missing, or if a package cannot be had.
    """
    if proxied:
        require_node()
    folder.mkdir(parents=True, exist_ok=True)
    environment(folder)
    if proxied:
        proxy(folder)
    share(folder)
    configure(folder)
    compiled(folder)
    say(f"the hub is in {folder}: look at settings.toml there, then {folder / 'venv/bin/jupyterhub'} -f "
        f"{folder / 'jupyterhub_config.py'}")


def require_node() -> None:
    """Refuse if there is no Node.js, or one that is too old for the proxy."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        raise Refusal(f"the hub's proxy needs Node.js {NODE} or newer with npm (on Debian: apt-get install npm)")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"v(\d+)", said)
    if found and int(found[1]) < NODE:
        raise Refusal(f"the hub's proxy needs Node.js {NODE} or newer; this is {said.strip()}")


def pins() -> str:
    """All requirements of the hub's environment, one a line."""
    known = dict(re.findall(r"^([\w.-]+)==([\w.]+)", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE))
    return PINS.read_text(encoding="utf-8") + kit.requirements() + "".join(f"{name}=={known[name]}\n" for name in MORE)


def environment(folder: Path) -> None:
    """The Python environment of hub and servers."""
    stamp, wanted = folder / "venv" / "installed", _digest(pins(), CONSTRAINTS.read_text(encoding="utf-8"), str(folder))
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing the hub's environment (0.4 GB; 1 to 2 minutes)")
    if not (folder / "venv" / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    asked = folder / "venv" / "requirements.txt"
    asked.write_text(pins(), encoding="utf-8")
    _run(
        [folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
         "--constraint", CONSTRAINTS, "--requirement", asked],
        "cannot install the hub's environment",
    )
    stamp.write_text(wanted)


def proxy(folder: Path) -> None:
    """The proxy, from npm, at the releases of its lock file."""
    lock = (HERE / "proxy" / "package-lock.json").read_text(encoding="utf-8")
    stamp = folder / "proxy" / "installed"
    if stamp.exists() and stamp.read_text() == _digest(lock):
        return
    say("installing the hub's proxy")
    (folder / "proxy").mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / "proxy" / name, folder / "proxy" / name)
    _run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefix", folder / "proxy"], "cannot install the proxy")
    stamp.write_text(_digest(lock))


def share(folder: Path) -> None:
    """`sim` and `widgets` for everybody, as the students' kit has them: nothing of `book`."""
    shared = folder / "shared"
    for package in kit.PACKAGES:
        kept = set()
        for path in (ROOT / package).rglob("*"):
            if path.suffix in kit.SUFFIXES and "__pycache__" not in path.parts:
                here = shared / path.relative_to(ROOT)
                kept.add(here)
                # a file that is written again is a new file to Numba, which would compile again
                if not here.exists() or here.read_bytes() != path.read_bytes():
                    here.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, here)
        for path in (shared / package).rglob("*"):
            if path.is_file() and path not in kept and "__pycache__" not in path.parts:
                path.unlink()
    libraries = next((folder / "venv" / "lib").glob("python3.*")) / "site-packages"
    (libraries / "receive_path.pth").write_text(f"{shared}\n")


def configure(folder: Path) -> None:
    """Configuration of hub, servers and nbgrader; settings.toml is written only if it is not there."""
    (folder / "state").mkdir(mode=0o700, exist_ok=True)
    for name in ("jupyterhub_config.py", "singleuser.py"):
        shutil.copyfile(HERE / name, folder / name)
    settings = folder / "settings.toml"
    if not settings.exists():
        shutil.copyfile(HERE / "settings.toml", settings)
        settings.chmod(0o600)  # it names students
        say(f"wrote {settings}: name your teachers there")
    for role in ("teacher", "student"):
        place = folder / "etc" / role
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "nbgrader_config.py", place / "nbgrader_config.py")
    off = {f"nbgrader.server_extensions.{name}": False for name in TEACHERS_ONLY}
    _json(folder / "etc/student/jupyter_server_config.d/nbgrader.json", {"ServerApp": {"jpserver_extensions": off}})
    _json(
        folder / "etc/student/labconfig/page_config.json",
        {"disabledExtensions": dict.fromkeys(LAB_TEACHERS_ONLY, True)},
    )


def compiled(folder: Path) -> None:
    """The engine compiled once, for the students' copy of `sim` and for the clone's."""
    place = folder / "compiled"
    for paths in (str(folder / "shared"), str(ROOT)):
        asked = {**os.environ, "PYTHONPATH": paths, "RECEIVE_PATH_CACHE": str(place)}
        asked.pop("NUMBA_CACHE_DIR", None)
        _run(
            [folder / "venv/bin/python", "-m", "sim", "compile"], "cannot compile the engine", env=asked, cwd=folder
        )
    for old in place.glob("numba-*"):
        if old.name != f"numba-{sim.source_hash()}":
            shutil.rmtree(old)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _json(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def _run(
    words: list[str | Path], failed: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> None:
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=env, cwd=cwd
    )
    if done.returncode:
        pip = "pip" in map(str, words)
        lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no reason given"]
        raise Refusal(f"{failed}: {project.explain(done.stdout) if pip else lines[-1]}")
