"""A control group for one sandbox, where one can be made: memory and processes of all that run in it, together.

Limits of a process bind each process by itself. A group binds their sum, and the kernel enforces it at once. It needs
a place in the tree that we may write: root has one under version 1, others where a service manager delegated one
(``systemd-run --user --scope -p Delegate=yes``). Elsewhere `watch` looks at the sum from outside.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from .limits import Limits

TREE: Final = Path("/sys/fs/cgroup")
NAME: Final = "receive-path-"
FILES: Final = {1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), 2: ("memory.max", "memory.swap.max")}


@dataclass(frozen=True)
class Place:
    """Where a group for a controller can be made."""

    controller: str
    version: int
    parent: Path


@cache
def places() -> tuple[Place, ...]:
    """Places below our own group that can be written; none on most laptops."""
    found: list[Place] = []
    try:
        own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return ()
    for _, controllers, path in own:
        for controller in ("memory", "pids"):
            if controller in controllers.split(","):
                found.append(Place(controller, 1, TREE / controller / path.lstrip("/")))
            elif not controllers and _delegates(TREE / path.lstrip("/"), controller):
                found.append(Place(controller, 2, TREE / path.lstrip("/")))
    return tuple(place for place in found if _writable(place.parent))


def _delegates(folder: Path, controller: str) -> bool:
    try:
        return controller in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _writable(parent: Path) -> bool:
    probe = parent / f"{NAME}{os.getpid()}-probe"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return True


class Group:
    """A sandbox's group in each controller that there is a place for; without places it does nothing."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.folders: dict[str, tuple[Place, Path]] = {}
        for place in places():
            folder = place.parent / f"{NAME}{os.getpid()}-{name}"
            try:
                folder.mkdir(exist_ok=True)
                if place.controller == "pids":
                    (folder / "pids.max").write_text(str(limits.processes + 8))
                else:
                    size = str((limits.memory_mb << 20) + (3 * limits.disk_mb << 20))
                    (folder / FILES[place.version][0]).write_text(size)
                    with contextlib.suppress(OSError):  # no swap is accounted on many computers
                        (folder / FILES[place.version][1]).write_text("0" if place.version == 2 else size)
            except OSError:
                continue
            self.folders[place.controller] = (place, folder)

    @property
    def holds_memory(self) -> bool:
        """Whether the kernel limits the memory of all processes together."""
        return "memory" in self.folders

    def entered_by(self) -> list[str]:
        """Words before a command, so that it runs in the group from its first instruction on."""
        if not self.folders:
            return []
        files = sorted({str(folder / "cgroup.procs") for _, folder in self.folders.values()})
        enter = 'for f in "$@"; do [ "$f" = -- ] && break; echo $$ >"$f" || exit 70; shift; done; shift; exec "$@"'
        return ["/bin/sh", "-c", enter, "sh", *files, "--"]

    def killed(self) -> int:
        """How many processes the kernel ended in this group because of memory."""
        for name in ("memory.oom_control", "memory.events"):
            with contextlib.suppress(KeyError, OSError):
                words = (self.folders["memory"][1] / name).read_text().split()
                return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0
        return 0

    def remove(self) -> None:
        """Take it away, once what ran in it is gone."""
        for _, folder in self.folders.values():
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.02)


def sweep() -> None:
    """Remove groups that a grader left which was itself killed."""
    for place in places():
        for folder in place.parent.glob(f"{NAME}*"):
            owner = folder.name.removeprefix(NAME).split("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()


def available() -> str:
    """What limits memory and processes of a sandbox together, for people."""
    names = {place.controller for place in places()}
    held = "memory and processes by control groups" if names == {"memory", "pids"} else ""
    some = f"{' and '.join(sorted(names))} by control groups, the rest by limits of a process" if names else ""
    return held or some or "by limits of a process and a watcher that looks four times a second"
