"""Network namespaces without a name: they end, devices and all, when their last process does.

A *holder* sleeps in each; whatever runs inside is started with `nsenter`.  Holder and children die with us (see
`child`), so that nothing is left behind by an exception, Ctrl-C, or a SIGKILL of this process.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from . import child

READY: Final = "ready"
# sysfs shows the devices of the namespace that mounted it: RPS masks are written below /sys
# addresses are needed at once: no detection of duplicates
SET_UP: Final = (
    "mount -t sysfs sysfs /sys && ip link set lo up && cd /proc/sys/net/ipv6/conf/default && echo 0 > accept_dad && "
    f"echo 0 > dad_transmits && echo 0 > disable_ipv6 && echo {READY}"
)
UNSHARED: Final = ("unshare", "--net", "--mount", "--propagation", "private", "sh", "-c")
WAIT_S: Final = 10.0


class Namespace:
    """A host on this machine: a network stack of its own with its own sysctls. Use it in a ``with`` statement.

    Parameters
    ----------
    name
        What messages call it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._holder: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._holder = child.start([*UNSHARED, f"{SET_UP} && exec sleep infinity"])
        try:
            said = child.line(self._holder, f"the namespace of the {self.name}")
            if said != READY:
                raise child.Failed(f"no namespace for the {self.name}: {said}")
        except BaseException:
            child.stop(self._holder)
            self._holder = None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._holder is not None:
            child.stop(self._holder)
            self._holder = None

    @property
    def pid(self) -> int:
        """Process that holds the namespace. Raises RuntimeError outside the ``with`` statement."""
        if self._holder is None:
            raise RuntimeError(f"the {self.name} is not there: use it in a with statement")
        return self._holder.pid

    def inside(self, command: Sequence[str], cpu: int | None = None) -> list[str]:
        """The command line that runs a command in here, on one CPU if asked."""
        pinned = ["taskset", "--cpu-list", str(cpu)] if cpu is not None else []
        return ["nsenter", f"--target={self.pid}", "--net", "--mount", "--", *pinned, *command]

    def run(self, *command: str, timeout_s: float = 20, cpu: int | None = None) -> str:
        """Run a command in here and return what it printed; raises `child.Failed`."""
        return child.run(self.inside(command, cpu), timeout_s)

    def start(self, *command: str, cpu: int | None = None) -> subprocess.Popen[str]:
        """Start a command in here."""
        return child.start(self.inside(command, cpu))

    def net(self, name: str) -> str:
        """A file of the namespace's /proc/net, read without a process. Raises OSError if this kernel has it not."""
        return Path(f"/proc/{self.pid}/net/{name}").read_text(encoding="utf-8")

    def read(self, path: str) -> str:
        """A file of the namespace's own /proc or /sys."""
        return self.run("cat", path)

    def write(self, path: str, text: str) -> None:
        """Write such a file: a sysctl or an RPS mask. Raises `child.Failed` where the kernel has it not."""
        self.run("sh", "-c", 'printf "%s" "$1" > "$0"', path, text)

    def sysctl(self, name: str, value: int | str) -> None:
        """Set a sysctl of this namespace by its dotted name."""
        self.write("/proc/sys/" + name.replace(".", "/"), str(value))

    def listens(self, port: int) -> None:
        """Return when something in here listens on a TCP port; raises `child.Failed` if nothing does in time."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            for table in ("tcp", "tcp6"):
                for line in self.net(table).splitlines()[1:]:
                    local, state = line.split()[1], line.split()[3]
                    if int(local.rpartition(":")[2], 16) == port and state == "0A":
                        return
            time.sleep(0.02)
        raise child.Failed(f"nothing listens on port {port} of the {self.name} after {WAIT_S:g} s")
