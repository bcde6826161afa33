"""The wall: bubblewrap's arguments for one sandbox, and whether bubblewrap works here.

Inside there are the system's programs, this Python with its packages, `sim` and `widgets`, all read-only, and three
small places in memory that can be written. There is no network, no other process, no course directory, no
`book.course.checks`, no file of the person who grades.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from sim.exercises.identity import GRADER

from .group import Group
from .limits import Limits

ROOT: Final = Path(__file__).resolve().parents[3]
DRIVER: Final = Path(__file__).resolve().parent / "driver.py"
INSIDE: Final = "/home/student"
#: Users that no system hands out: each sandbox that root starts runs as another one, so that none counts for another.
FIRST_UID: Final = 1_900_000_000
SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC: Final = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "fonts", "mime.types", "alternatives")
PEOPLE: Final = "root:x:0:0:root:/:/bin/false\nstudent:x:{uid}:{uid}:student:/home/student:/bin/sh\n"

_numbers = itertools.count()


class JailMissing(RuntimeError):
    """There is no sandbox on this computer; the message says why and what to do."""


@cache
def problem() -> str:
    """Why bubblewrap cannot be used here; empty if it can."""
    if sys.platform != "linux":
        return "the sandbox needs Linux: grade in a virtual machine or a container that has it"
    found = shutil.which("bwrap")
    if not found:
        return "bubblewrap is not installed (Debian and Ubuntu: apt-get install bubblewrap)"
    tried = subprocess.run(
        [found, *_namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "true"],
        capture_output=True, text=True, check=False,
    )
    if tried.returncode:
        return f"bubblewrap does not work here: {tried.stderr.strip().splitlines()[-1:] or ['no reason given']}"
    return ""


def require() -> None:
    """Refuse to go on without a sandbox."""
    if problem():
        raise JailMissing(problem())


def _namespaces() -> list[str]:
    apart = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        # root sets up mounts as root, so that its own folders need not be open to others, and the driver becomes
        # a user without rights before anything of the student is read
        return [*apart, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000", *apart]


@dataclass(frozen=True)
class Jail:
    """A sandbox for one student.

    Attributes
    ----------
    student
        The id from the submission's place: `sim.exercises` draws its numbers.
    compiled
        A folder with the compiled engine, copied in so that nothing is compiled; None: nothing is copied.
    """

    student: str
    limits: Limits = field(default_factory=Limits)
    compiled: Path | None = None
    uid: int = field(default_factory=lambda: FIRST_UID + (os.getpid() * 64 + next(_numbers) % 64) % (1 << 24))

    def command(self, people: int) -> list[str]:
        """Arguments that start the driver; `people` is an open file with the sandbox's passwd."""
        size = str(self.limits.disk_mb << 20)
        words = ["bwrap", *_namespaces(), "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
        for name, value in self.environment().items():
            words += ["--setenv", name, value]
        shown = [*pythons(), *(ROOT / package for package in ("sim", "widgets"))]
        words += ["--ro-bind", "/usr", "/usr", *_parents([*shown, Path("/etc/x"), Path(INSIDE)])]
        for name in SYSTEM:
            path = Path(name)
            if path.is_symlink():
                words += ["--symlink", str(path.readlink()), name]
            elif path.is_dir():
                words += ["--ro-bind", name, name]
        for each in ETC:
            words += ["--ro-bind-try", f"/etc/{each}", f"/etc/{each}"]
        words += ["--perms", "0444", "--ro-bind-data", str(people), "/etc/passwd", "--proc", "/proc", "--dev", "/dev"]
        for place in ("/tmp", "/dev/shm", INSIDE):
            words += ["--perms", "1777", "--size", size, "--tmpfs", place]
        words += _parents([path for path in shown if path.is_relative_to("/tmp")])
        for folder in shown:
            words += ["--ro-bind-try", str(folder), str(folder)]
        if self.compiled is not None:
            words += ["--ro-bind", str(self.compiled), "/compiled"]
        words += ["--ro-bind", str(DRIVER), "/driver.py"]
        # the rest of the tree is in memory, too, and would be a fourth place, without a limit
        words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", INSIDE]
        return [*words, "--", sys.executable, "-s", "/driver.py"]

    def environment(self) -> dict[str, str]:
        """All that the driver finds in its environment."""
        return {
            "HOME": INSIDE,
            "USER": "student",
            "LANG": "C.UTF-8",
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": f"{INSIDE}/compiled",
            "MPLBACKEND": "agg",
            "MPLCONFIGDIR": f"{INSIDE}/matplotlib",
            GRADER: self.student,
            # threads count as processes, and one submission is worth one core
            **{f"{name}_NUM_THREADS": "1" for name in ("NUMBA", "OMP", "OPENBLAS", "MKL")},
        }

    def start(self, group: Group | None = None, home: str = "") -> subprocess.Popen[bytes]:
        """Start it; the job goes to its standard input.

        Parameters
        ----------
        group
            It enters this before anything else, for limits on memory and processes together.
        home
            A folder for a student's files where there is no sandbox.
        """
        people = os.memfd_create("passwd")
        try:
            os.write(people, PEOPLE.format(uid=self.uid if os.getuid() == 0 else 1000).encode())
            os.lseek(people, 0, os.SEEK_SET)
            words = self.command(people) if self.limits.sandbox else [sys.executable, "-s", str(DRIVER)]
            if group is not None:
                words = [*group.entered_by(), *words]
            return subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(people,), start_new_session=True, env=None if self.limits.sandbox else self.unprotected(home),
            )
        finally:
            os.close(people)

    def unprotected(self, home: str) -> dict[str, str]:
        """The driver's environment where there is no sandbox."""
        kept = {"HOME": home, "MPLCONFIGDIR": f"{home}/matplotlib", "NUMBA_CACHE_DIR": str(self.compiled or home)}
        return {**self.environment(), **kept}


def _parents(paths: list[Path]) -> list[str]:
    """Words that make the folders above; bubblewrap would make them for their owner alone."""
    parents = {parent for path in paths for parent in path.parents} - {Path("/"), Path("/usr")}
    return [word for parent in sorted(parents) for word in ("--perms", "0755", "--dir", str(parent))]


def pythons() -> list[Path]:
    """Folders of the running Python that are not below /usr."""
    found = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix)}
    found.add(Path(sys.executable).resolve().parents[1])
    return sorted(path for path in found if not path.is_relative_to("/usr"))
