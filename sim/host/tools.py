"""What an experiment needs of a system, and one line for whoever lacks it."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from . import child
from .namespace import SET_UP, UNSHARED

UTILITIES: Final = ("setpriv", "unshare", "nsenter", "taskset")
WITHOUT: Final = "python -m sim run and the book's pages work without any of this"


class Unavailable(RuntimeError):
    """This system cannot run what was asked for; the message is one line that says what is missing."""


@dataclass(frozen=True)
class Need:
    """Something an experiment rests on: how to see that it is there, and where it comes from."""

    name: str
    present: Callable[[], bool]
    remedy: str


def _program(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


@cache
def _namespaces_work() -> bool:
    """Whether a network namespace with a pair of devices can be made: a container may forbid it to root as well."""
    try:
        child.run([*UNSHARED, f"ip link add rpa0 type veth peer name rpa1 && {SET_UP}"])
    except child.Failed:
        return False
    return True


NEEDS: Final = {
    need.name: need
    for need in (
        Need("Linux", lambda: platform.system() == "Linux", f"this is {platform.system()}"),
        Need("root", lambda: hasattr(os, "geteuid") and os.geteuid() == 0, "run it with sudo"),
        Need("IPv6", lambda: Path("/proc/net/if_inet6").exists(), "this kernel has it switched off"),
        *(Need(name, _program(name), "it comes with util-linux") for name in UTILITIES),
        Need("ip", _program("ip"), "install iproute2"),
        Need("ethtool", _program("ethtool"), "install ethtool"),
        Need("iperf3", _program("iperf3"), "install iperf3"),
        Need("perf", _program("perf"), "install linux-perf (Debian) or linux-tools (Ubuntu)"),
        Need("network namespaces", _namespaces_work, "this container or kernel forbids them: run on the host itself"),
    )
}


def missing(names: Iterable[str]) -> list[Need]:
    """Those of the named needs that this system lacks, in order; later ones are not tried once one is missing."""
    for name in names:
        if not NEEDS[name].present():
            return [NEEDS[name]]
    return []


def require(names: Iterable[str], purpose: str) -> None:
    """Raise `Unavailable` with one line if something is missing."""
    for need in missing(names):
        raise Unavailable(f"{purpose} needs {need.name}: {need.remedy}; {WITHOUT}")
