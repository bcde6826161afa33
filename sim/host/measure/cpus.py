"""What Linux says of this machine's CPUs: which share a core, a socket, caches; and what a hypervisor keeps back."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SYS: Final = Path("/sys/devices/system/cpu")
KINDS: Final = ("sibling", "same_socket", "other_socket")
HIDDEN: Final = (
    "which of the host's cores a CPU is: the hypervisor may move it, also while it is measured",
    "whether two CPUs are siblings or share a socket: it shows what it was told to show",
    "time in which the host ran something else (steal): it is in every number",
    "what an interrupt to another CPU costs on the bare machine: here it leaves the guest",
    "counters of cycles and misses, often: perf falls back to the clock, whose samples pile up where interrupts go on",
)


@dataclass(frozen=True)
class Cpu:
    """One CPU: its number, its core and its socket."""

    number: int
    core: int
    socket: int


@dataclass(frozen=True)
class Cpus:
    """The CPUs that this process may use.

    Attributes
    ----------
    processor, machine
        Its name; ``x86_64`` or ``aarch64``.
    l2_bytes, llc_bytes
        Sizes of caches as Linux shows them; None if it does not.
    hypervisor
        Whether this is a virtual machine.
    """

    processor: str
    machine: str
    each: tuple[Cpu, ...]
    l2_bytes: int | None
    llc_bytes: int | None
    hypervisor: bool

    @property
    def numbers(self) -> list[int]:
        """Their numbers."""
        return [cpu.number for cpu in self.each]

    def kind(self, a: Cpu, b: Cpu) -> str:
        """How two CPUs lie to each other: one of `KINDS`."""
        if a.socket != b.socket:
            return "other_socket"
        return "sibling" if a.core == b.core else "same_socket"

    def pairs(self) -> list[tuple[Cpu, Cpu]]:
        """Every pair once."""
        return [(a, b) for n, a in enumerate(self.each) for b in self.each[n + 1 :]]

    def cores(self) -> list[Cpu]:
        """One CPU of every core of the socket that has most of them."""
        first: dict[tuple[int, int], Cpu] = {}
        for cpu in self.each:
            first.setdefault((cpu.socket, cpu.core), cpu)
        sockets = {cpu.socket for cpu in self.each}
        most = max(sockets, key=lambda s: (sum(socket == s for socket, _ in first), -s))
        return [cpu for (socket, _), cpu in first.items() if socket == most]

    def shape(self) -> tuple[int, int, int]:
        """Sockets, cores of a socket, threads of a core, as large as the largest of each."""
        sockets = {cpu.socket for cpu in self.each}
        cores = {(cpu.socket, cpu.core) for cpu in self.each}
        threads = max(sum((c.socket, c.core) == core for c in self.each) for core in cores)
        return len(sockets), max(sum(s == socket for s, _ in cores) for socket in sockets), threads


def here() -> Cpus:
    """This machine's, from /sys and /proc; what they do not say is taken as one socket of plain cores."""
    each = []
    for number in sorted(os.sched_getaffinity(0)):
        topology = SYS / f"cpu{number}" / "topology"
        each.append(Cpu(number, _number(topology / "core_id", number), _number(topology / "physical_package_id", 0)))
    info = _text(Path("/proc/cpuinfo"))
    named = re.search(r"^model name\s*:\s*(.+)$", info, re.MULTILINE)
    hypervisor = bool(re.search(r"^flags\s*:.*\bhypervisor\b", info, re.MULTILINE)) or "hypervisor" in _text(
        Path("/sys/hypervisor/type")
    ) or any(word in _text(Path("/sys/class/dmi/id/product_name")) for word in ("KVM", "Virtual", "VMware", "HVM"))
    levels = _caches(each[0].number)
    return Cpus(
        named[1].strip() if named else platform.processor() or platform.machine(), platform.machine(), tuple(each),
        levels.get(2), levels[max(levels)] if levels and max(levels) > 2 else None, hypervisor,
    )


def _caches(cpu: int) -> dict[int, int]:
    """Bytes by level, of caches that hold data."""
    found: dict[int, int] = {}
    for folder in sorted((SYS / f"cpu{cpu}" / "cache").glob("index*")):
        size = re.fullmatch(r"(\d+)([KM])", _text(folder / "size"))
        if size and _text(folder / "type") != "Instruction":
            found[_number(folder / "level", 0)] = int(size[1]) << (10 if size[2] == "K" else 20)
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path, otherwise: int) -> int:
    text = _text(path)
    return int(text) if text.isdigit() else otherwise


def steal_ticks() -> tuple[int, int]:
    """Ticks that the host took from this machine since it started, and all ticks; from /proc/stat."""
    words = _text(Path("/proc/stat")).partition("\n")[0].split()[1:]
    ticks = [int(word) for word in words[:8]]
    return (ticks[7], sum(ticks)) if len(ticks) == 8 else (0, 0)
