"""What Linux counts, from saved files: softnet_stat, netstat and snmp, interrupts, ``ethtool -S``, ``ss -tmi``.

Each reader gives numbers by name; two files of one kind, before and after, give what happened between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from .text import Source, whole

Counters = dict[str, int]
#: Columns of /proc/net/softnet_stat that still count (net/core/net-procfs.c); the fourth to ninth are zeros.
SOFTNET: Final = {
    0: "processed", 1: "dropped", 2: "time_squeeze", 9: "received_rps", 10: "flow_limit", 11: "backlog_len",
}
SOFTNET_CPU: Final = 12
GAUGES: Final = frozenset({"backlog_len", "sockets", "recv_q", "pmtu"})  # lengths and sizes, not counts


def softnet_stat(source: Source) -> Counters:
    """``cpuN.processed`` and the other columns of /proc/net/softnet_stat. Raises Unreadable."""
    found: Counters = {}
    width = 0
    for at, line in enumerate(source.lines):
        words = line.split()
        if not words:
            continue
        if not all(re.fullmatch("[0-9a-fA-F]{8,16}", word) for word in words):
            source.refuse(at, "a line of softnet_stat is hexadecimal numbers of eight digits")
        width = width or len(words)
        if len(words) != width or width < 3:
            source.refuse(at, f"{len(words)} columns where the first line has {width}: the file was cut off")
        numbers = [int(word, 16) for word in words]
        cpu = numbers[SOFTNET_CPU] if width > SOFTNET_CPU else len({n.partition(".")[0] for n in found})
        found |= {f"cpu{cpu}.{name}": numbers[i] for i, name in SOFTNET.items() if i < width}
    if not found:
        source.fail("no line of a CPU")
    return found


def netstat(source: Source) -> Counters:
    """``TcpExtTCPBacklogDrop`` and the like, from /proc/net/netstat or snmp. Raises Unreadable."""
    found: Counters = {}
    rows = [(at, line) for at, line in enumerate(source.lines) if line.strip()]
    if not rows:
        source.fail("is empty")
    if len(rows) % 2:
        source.refuse(rows[-1][0], "names without their numbers: the file was cut off")
    for (at, names), (below, numbers) in zip(rows[::2], rows[1::2], strict=True):
        group, *keys = names.split()
        again, *values = numbers.split()
        if not group.endswith(":") or group != again:
            source.refuse(below, f"expected the numbers of {group}")
        if len(keys) != len(values):
            source.refuse(below, f"{len(values)} numbers for the {len(keys)} names of {group} in line {at + 1}")
        for key, value in zip(keys, values, strict=True):
            if not re.fullmatch("-?[0-9]+", value):
                source.refuse(below, f"{group[:-1]}{key} is {value!r}, which is no number")
            found[group[:-1] + key] = int(value)
    return found


def interrupts(source: Source) -> Counters:
    """``36.cpu1`` or ``RES.cpu0`` with ``36 virtio1-req.0`` as the name of the first, of /proc/interrupts.

    Raises Unreadable. Names are ``NUMBER NAME.cpuN``, or ``NUMBER.cpuN`` for an interrupt without a name.
    """
    first = next((at for at, line in enumerate(source.lines) if line.strip()), None)
    if first is None:
        source.fail("is empty")
    heading = source.lines[first].split()
    if not heading or not all(re.fullmatch("CPU[0-9]+", word) for word in heading):
        source.refuse(first, "the first line names the CPUs (CPU0 CPU1 ...)")
    cpus = [word.lower() for word in heading]
    found: Counters = {}
    for at, line in enumerate(source.lines[first + 1 :], first + 1):
        if not line.strip():
            continue
        label, colon, rest = line.strip().partition(":")
        words = rest.split()
        if not colon or not words or not words[0].isdigit():
            source.refuse(at, "expected the name of an interrupt, a colon, and its numbers")
        numbers = [word for word in words[: len(cpus)] if word.isdigit()]
        if len(numbers) not in (1, len(cpus)):
            source.refuse(at, f"{len(numbers)} numbers for {len(cpus)} CPUs: the line was cut off")
        name = label if not label.isdigit() or len(words) <= len(cpus) else f"{label} {words[-1]}"
        found |= {f"{name}.{cpu}": int(number) for cpu, number in zip(cpus, numbers, strict=False)}
    if not found:
        source.fail("no interrupt in it")
    return found


def ethtool(source: Source) -> Counters:
    """``ethtool -S``: what the driver counts, under its own names. Raises Unreadable."""
    found: Counters = {}
    for at, line in enumerate(source.lines):
        if not line.strip():
            continue
        name, colon, number = line.strip().rpartition(":")
        if not found and not number.strip():
            continue  # the heading, in any language
        value = whole(number)
        if not colon or value is None:
            source.refuse(at, f"expected 'name: number', not {line.strip()[:40]!r}")
        found[name.strip()] = value
    if not found:
        source.fail("no counter in it; the device may have none (ethtool -S DEV)")
    return found


_SOCKET: Final = re.compile(r"^(?:tcp\s+)?[A-Z][A-Z0-9-]+\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)")
_PAIR: Final = re.compile(r"\b([a-z_]+):([0-9][0-9.]*)(?:/[0-9.]+)?(?=[\s(]|$)")
_SKMEM: Final = re.compile(r"skmem:\(([^)]*)\)")
_DROPS: Final = re.compile(r"(?:^|,)d(\d+)(?:,|$)")


def ss(source: Source) -> Counters:
    """``ss -tmi``: sums over its sockets under ss's names, ``sockets``, ``recv_q`` and ``drops``. Raises Unreadable."""
    found: Counters = {"sockets": 0, "recv_q": 0, "drops": 0}
    inside = False
    for at, line in enumerate(source.lines):
        if not line.strip() or line.startswith(("State", "Netid")):
            continue
        begun = _SOCKET.match(line)
        if begun is not None:
            inside = True
            found["sockets"] += 1
            found["recv_q"] += int(begun[1])
            line = line[begun.end() :]
        elif not line[0].isspace() or not inside:
            source.refuse(at, f"expected a socket (STATE Recv-Q Send-Q local peer), not {line.strip()[:40]!r}")
        memory = _SKMEM.search(line)
        if memory is None and "skmem:(" in line:
            source.refuse(at, "skmem:( has no end: the file was cut off")
        if memory is not None:
            drops = _DROPS.search(memory[1])
            found["drops"] += int(drops[1]) if drops else 0
        for name, value in _PAIR.findall(line):
            if value.isdigit() and name not in PER_SOCKET:
                together = max if name in LARGEST else int.__add__
                found[name] = together(found.get(name, 0), int(value))
    if not inside:
        source.fail("no socket in it: is it what ss -tmi printed?")
    return found


#: Values of ss that are no counts, so that a sum over sockets means nothing.
PER_SOCKET: Final = frozenset({
    "rto", "rtt", "ato", "mss", "rcvmss", "advmss", "cwnd", "ssthresh", "lastsnd", "lastrcv", "lastack",
    "rcv_rtt", "rcv_space", "rcv_ssthresh", "minrtt", "snd_wnd", "rcv_wnd", "backoff", "wscale", "unacked",
})
LARGEST: Final = frozenset({"pmtu"})  # of all sockets
READERS: Final[Mapping[str, Callable[[Source], Counters]]] = {
    "softnet_stat": softnet_stat, "netstat": netstat, "interrupts": interrupts, "ethtool": ethtool, "ss": ss,
}


def read(kind: str, path: Path) -> Counters:
    """A saved file of a kind, a name of `READERS`. Raises Unreadable, OSError; KeyError names the kinds."""
    if kind not in READERS:
        raise KeyError(f"no reader for {kind!r}; there are {', '.join(READERS)}")
    return READERS[kind](Source.open(path))


def difference(before: Counters, after: Counters) -> Counters:
    """What was counted between two files; a length keeps its later value.

    Counters of 32 bits that passed their end go on from zero. What appeared in between counts from zero; what is gone
    is left out (a socket that was closed, a device that was taken away), and so is a sum that shrank for that reason.
    """
    out: Counters = {}
    for name, last in after.items():
        first = before.get(name, 0)
        if name.rpartition(".")[2] in GAUGES:
            out[name] = last
        elif last >= first:
            out[name] = last - first
        elif first < 1 << 32 and first - last > 1 << 31:
            out[name] = last + (1 << 32) - first
    return out
