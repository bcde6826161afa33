"""What Linux counts: CPU time by kind, packets by protocol and device; read twice, the difference is the run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .namespace import Namespace
from .read import kernel
from .read.text import Source, Unreadable
from .wire import End

#: Columns of a line of /proc/stat, as proc(5) names them, in ticks.
STAT: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
#: Columns of /proc/net/dev, named as below /sys/class/net/*/statistics.
RECEIVED: Final = (
    "rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame", "rx_compressed", "multicast",
)
SENT: Final = ("tx_bytes", "tx_packets", "tx_errors", "tx_dropped")


def stat(text: str) -> dict[int, dict[str, int]]:
    """Ticks of each CPU by kind, from /proc/stat. Raises Unreadable."""
    found: dict[int, dict[str, int]] = {}
    for line in text.splitlines():
        head, _, numbers = line.partition(" ")
        if head.startswith("cpu") and head != "cpu":
            try:
                found[int(head[3:])] = dict(zip(STAT, map(int, numbers.split()), strict=False))
            except ValueError:
                raise Unreadable(f"/proc/stat: cannot read {line!r}") from None
    if not found:
        raise Unreadable("/proc/stat: no line of a CPU")
    return found


def singles(text: str, where: str) -> dict[str, int]:
    """Counters of /proc/net/snmp6: a name and a number a line. Raises Unreadable."""
    try:
        return {name: int(number) for name, number in (line.split() for line in text.splitlines() if line.strip())}
    except ValueError:
        raise Unreadable(f"{where}: a line is not a name and a number") from None


def softirqs(text: str, kind: str) -> int:
    """How often a softirq ran, on all CPUs, from /proc/softirqs. Raises Unreadable."""
    for line in text.splitlines():
        head, _, numbers = line.partition(":")
        if head.strip() == kind:
            try:
                return sum(map(int, numbers.split()))
            except ValueError:
                raise Unreadable(f"/proc/softirqs: cannot read {line!r}") from None
    raise Unreadable(f"/proc/softirqs: no line of {kind}")


def protocols(host: Namespace) -> dict[str, int]:
    """All protocol counters of a host."""
    found = singles(host.net("snmp6"), "/proc/net/snmp6")
    for name in ("snmp", "netstat"):
        found |= kernel.netstat(Source.of(host.net(name), f"/proc/net/{name}"))
    return found


def processed(text: str) -> dict[int, int]:
    """Packets that each CPU has taken to the protocols, from /proc/net/softnet_stat. Raises Unreadable."""
    found = kernel.softnet_stat(Source.of(text, "/proc/net/softnet_stat"))
    columns = ((name.removeprefix("cpu").partition("."), count) for name, count in found.items())
    return {int(cpu): count for (cpu, _, column), count in columns if column == "processed"}


def devices(text: str) -> dict[str, dict[str, int]]:
    """Packets and bytes of each device, both ways, from /proc/net/dev. Raises Unreadable."""
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines()[2:]:
        name, _, numbers = line.partition(":")
        values = numbers.split()
        if len(values) < len(RECEIVED) + len(SENT) or not all(map(str.isdecimal, values)):
            raise Unreadable(f"/proc/net/dev: cannot read {line!r}")
        found[name.strip()] = dict(zip((*RECEIVED, *SENT), map(int, values), strict=False))
    return found


def device(end: End) -> dict[str, int]:
    """Packets and bytes of a device, both ways."""
    return devices(end.host.net("dev"))[end.device]


def cpu_time_s(pid: int) -> float:
    """User and system time of a process with its threads so far; 0 when it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Snapshot:
    """Counters of the machine and of two hosts at one moment."""

    cpus: dict[int, dict[str, int]]
    net_rx: int
    processed: dict[int, int]
    sent: dict[str, int]
    received: dict[str, int]
    devices: dict[str, int]

    @classmethod
    def take(cls, sender: End, receiver: End) -> Snapshot:
        """Read all of it."""
        cpus = stat(Path("/proc/stat").read_text(encoding="utf-8"))
        net_rx = softirqs(Path("/proc/softirqs").read_text(encoding="utf-8"), "NET_RX")
        taken = processed(Path("/proc/net/softnet_stat").read_text(encoding="utf-8"))
        return cls(cpus, net_rx, taken, protocols(sender.host), protocols(receiver.host), device(receiver))


@dataclass(frozen=True)
class Difference:
    """What happened between two snapshots."""

    first: Snapshot
    last: Snapshot

    def share(self, cpu: int, *kinds: str) -> float:
        """Per cent of a CPU's time in the named kinds."""
        before, after = self.first.cpus[cpu], self.last.cpus[cpu]
        spent = {kind: after[kind] - before[kind] for kind in after}
        whole = sum(spent.values())
        return 100 * sum(spent.get(kind, 0) for kind in kinds) / whole if whole else 0.0

    def net_rx(self) -> int:
        """Runs of the softirq that receives packets, on all CPUs and of everything on this machine."""
        return self.last.net_rx - self.first.net_rx

    def taken(self, cpu: int) -> float:
        """Per cent of all packets, of everything on this machine, that a CPU took to the protocols."""
        counts = {n: self.last.processed[n] - before for n, before in self.first.processed.items()}
        return 100 * counts[cpu] / sum(counts.values()) if any(counts.values()) else 0.0

    def softirq_s(self) -> float:
        """CPU time in softirqs of all kinds, on all CPUs; as fine as the kernel's tick."""
        ticks = sum(self.last.cpus[n]["softirq"] - at["softirq"] for n, at in self.first.cpus.items())
        return ticks / os.sysconf("SC_CLK_TCK")

    def received(self, *names: str) -> int:
        """Sum of counters of the receiver; those that this kernel has not count 0."""
        return sum(self.last.received.get(n, 0) - self.first.received.get(n, 0) for n in names)

    def sent(self, *names: str) -> int:
        """Sum of counters of the sender."""
        return sum(self.last.sent.get(n, 0) - self.first.sent.get(n, 0) for n in names)

    def device(self, name: str) -> int:
        """A counter of the receiver's device."""
        return self.last.devices[name] - self.first.devices[name]
