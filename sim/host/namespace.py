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
HOLD: Final = (
    "mount -t sysfs sysfs /sys && ip link set lo up && cd /proc/sys/net/ipv6/conf/default && echo 0 > accept_dad && "
    f"echo 0 > dad_transmits && echo {READY} && exec sleep infinity"
)
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
        self._holder = child.start(
            ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", HOLD],
        )
        assert self._holder.stdout is not None
        line = self._holder.stdout.readline().strip()
        if line != READY:
            _, err = self._holder.communicate()
            self.__exit__(None, None, None)
            raise child.Failed(f"no namespace for the {self.name}: {err.strip() or line or 'it ended at once'}")
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

    def read(self, path: str) -> str:
        """A file of the namespace's own /proc or /sys."""
        return self.run("cat", path)

    def write(self, path: str, text: str) -> None:
        """Write such a file: a sysctl or an RPS mask. Raises `child.Failed` where the kernel has it not."""
        self.run("sh", "-c", 'printf "%s" "$1" > "$0"', path, text)

    def sysctl(self, name: str, value: int | str) -> None:
        """Set a sysctl of this namespace by its dotted name."""
        self.write("/proc/sys/" + name.replace(".", "/"), str(value))

    def exists(self, path: str) -> bool:
        """Whether this kernel has a file."""
        return Path(path).exists() or bool(self.run("sh", "-c", f"ls -d {path} 2>/dev/null || true").strip())

    def listens(self, port: int, udp: bool = False) -> None:
        """Return when something in here listens on a port; raises `child.Failed` if nothing does in time."""
        tables = ("udp", "udp6") if udp else ("tcp", "tcp6")
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            for table in tables:
                for line in self.read(f"/proc/net/{table}").splitlines()[1:]:
                    local, state = line.split()[1], line.split()[3]
                    if int(local.rpartition(":")[2], 16) == port and (udp or state == "0A"):
                        return
            time.sleep(0.02)
        raise child.Failed(f"nothing listens on port {port} of the {self.name} after {WAIT_S:g} s")
