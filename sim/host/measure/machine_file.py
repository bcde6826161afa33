"""From readings to a machine file that scenarios take, and a comparison with the machines of the project.

What user programs cannot measure (an interrupt's entry, the page allocator's lists, ...) is taken from the nearest of
the project's machines of the same family; each such constant says so, as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ... import machine
from ...contention import expected_ns
from ...machine import Machine
from .cpus import KINDS
from .readings import Reading, Readings

NAME: Final = "own-machine"
ARM: Final = ("arm64-phone", "cortex-a72", "neoverse-n1")
LINE_BYTES: Final = 64
#: CPUs that the threads' scenarios place programs on: those of their own machines.
THREADS_SHAPE: Final = (2, 28, 2)
#: Constants by which the nearest machine is chosen.
NEAREST_BY: Final = ("same_socket_ps", "atomic_ps", "syscall_ps")
Entry = dict[str, Any]


def costs(readings: Readings) -> dict[str, Entry]:
    """The constants that the readings give, as they stand in a machine file."""
    plain, out = readings.plain, {}

    def put(name: str, reading: Reading | None, what: str, scale: float = 1000.0) -> None:
        if reading is not None:
            low, high = (scale * x for x in reading.middle)
            out[name] = _entry(name, scale * reading.median, low, high, what, reading.unstable, readings)

    alone = readings.by_threads.get(("shared_add", 1))
    put("hit_ps", plain["private_add"], "load, add and store of an own line")
    if alone is not None:
        above = tuple(max(0.0, a - b) for a, b in zip(alone.samples, plain["private_add"].samples, strict=True))
        put("atomic_ps", Reading(above), "one thread's atomic add less the plain one")
    for kind in KINDS:
        put(f"{kind}_ps", readings.kind(kind), "two threads pass a word to and fro, half a round, median over pairs")
    transfer = readings.kind("same_socket")
    if transfer is not None:
        put("queued_permille", _locks(readings, "queued_lock", transfer), "MCS lock and a counter, by hand-overs")
        put("ticket_permille", _locks(readings, "ticket_lock", transfer), "ticket lock and a counter, by hand-overs")
        waiter = _waiter(readings, transfer)
        if waiter is not None:
            put("ticket_waiter_permille", waiter, "slope of the ticket lock's time over its waiters")
    put("syscall_ps", plain["system_call"], "getppid()")
    put("wakeup_ps", plain["wakeup"], "write() to an eventfd with a sleeper of its CPU, less one without")
    put("switch_ps", plain["switch"], "two threads of one CPU wake each other by eventfd, less calls and wakeups")
    kernel = next((r for (place, _), r in readings.copies.items() if place == "kernel"), None)
    put("copy_fs_per_byte", kernel, "pread() from a file in memory beyond the L2, large less small", 1e6)
    for name, size in (("l2_lines", readings.cpus.l2_bytes), ("llc_lines", readings.cpus.llc_bytes)):
        if size is not None:
            lines = size / LINE_BYTES
            out[name] = _entry(name, lines, lines, lines, "as Linux states the cache", False, readings)
    return out


def _locks(readings: Readings, name: str, transfer: Reading) -> Reading | None:
    """Hand-over of a lock with two threads, in transfers, by round; `put` scales it to per mille."""
    two = readings.by_threads.get((name, 2))
    if two is None:
        return None
    return Reading(tuple(t / (2 * line) for t, line in zip(two.samples, transfer.samples, strict=True)), "")


def _waiter(readings: Readings, transfer: Reading) -> Reading | None:
    """What each further waiter adds, in transfers: slope of t / (n * transfer) over n - 2, least squares by round."""
    many = {n: r for (name, n), r in readings.by_threads.items() if name == "ticket_lock" and n >= 2}
    if len(many) < 2:
        return None
    slopes = []
    for at, line in enumerate(transfer.samples):
        points = [(n - 2, r.samples[at] / (n * line)) for n, r in many.items()]
        mx, my = (sum(p[k] for p in points) / len(points) for k in (0, 1))
        slopes.append(max(0.0, sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)))
    return Reading(tuple(slopes), "")


def _entry(
    name: str, value: float, low: float, high: float, what: str, unstable: bool, readings: Readings
) -> Entry:
    rules = machine.file_schema()["properties"]["costs"]["properties"][name]["properties"]
    least, most = rules["value"]["minimum"], rules["value"]["maximum"]
    inside = [min(max(round(x), least), most) for x in (low, value, high)]
    warning = "; unstable: the rounds differ by more than 15 %" if unstable else ""
    guest = " in a virtual machine" if readings.cpus.hypervisor else ""
    return {
        "value": inside[1], "unit": rules["unit"]["const"],
        "source": f"measured on {readings.cpus.processor}{guest}, {readings.when}, median: {what}{warning}",
        "bounds": {"low": inside[0], "high": inside[2]},
    }


def nearest(readings: Readings) -> str:
    """The project's machine, of the same family, whose constants are nearest to the measured ones."""
    found = costs(readings)
    arm = readings.cpus.machine in ("aarch64", "arm64")
    candidates = [machine.load(name) for name in machine.names() if (name in ARM) == arm]

    def distance(other: Machine) -> float:
        return sum(
            abs(math.log(max(1, found[name]["value"]) / max(1, other.cost(name))))
            for name in NEAREST_BY if name in found
        )

    return min(candidates, key=distance).name


def document(readings: Readings, base: str | None = None, own_topology: bool = False) -> dict[str, Any]:
    """A machine file.

    Parameters
    ----------
    base
        The machine that gives what cannot be measured; the nearest one if not given.
    own_topology
        State this machine's CPUs even if they are fewer than the threads' scenarios place programs on; ``lab``
        and ``tcp-5.17`` run on any, and ``lab`` has knobs for them.

    Raises
    ------
    MachineError
        for an unknown base.
    """
    chosen = base or nearest(readings)
    machine.load(chosen)
    shape = readings.cpus.shape()
    guest = " (virtual machine)" if readings.cpus.hypervisor else ""
    note = f"Measured by python -m sim host measure on {readings.when}, Linux {readings.kernel}. "
    if readings.cpus.hypervisor:
        note += f"A hypervisor took {readings.steal_pct:.1f} % of its time meanwhile. "
    unstable = readings.unstable()
    note += f"Unstable: {', '.join(unstable)}." if unstable else "All readings are stable."
    return {
        "name": NAME, "title": f"{readings.cpus.processor}{guest}, {len(readings.cpus.each)} CPUs", "note": note,
        "base": chosen, "topology": _topology(shape, own_topology), "costs": costs(readings),
    }


def _topology(shape: Sequence[int], own: bool) -> dict[str, Entry]:
    names = {"sockets": "sockets", "cores_per_socket": "cores", "threads_per_core": "threads"}
    enough = all(have >= need for have, need in zip(shape, THREADS_SHAPE, strict=True))
    out = {}
    for (name, unit), have, need in zip(names.items(), shape, THREADS_SHAPE, strict=True):
        have = min(have, 2) if name == "threads_per_core" else have
        if own or enough:
            out[name] = {"value": have, "unit": unit, "source": "as Linux states it (/sys/devices/system/cpu)"}
        else:
            out[name] = {
                "value": need, "unit": unit,
                "source": f"assumed: the threads' programs need them; this machine has {have}",
                "bounds": {"low": min(have, need), "high": max(have, need)},
            }
    return out


def comparison(readings: Readings) -> list[dict[str, Any]]:
    """Measured constants beside those of the project: constant, unit, measured, unstable, then by machine."""
    return compared(costs(readings))


def compared(entries: Mapping[str, Entry]) -> list[dict[str, Any]]:
    """`comparison` for the constants of a machine file."""
    rows, known = [], [machine.load(name) for name in machine.names()]
    for name, entry in entries.items():
        others = {each.name: each.cost(name) for each in known}
        rows.append({
            "constant": name, "unit": entry["unit"], "measured": entry["value"],
            "unstable": "; unstable" in entry["source"], **others,
        })
    return rows


def against_model(readings: Readings, measured: Machine) -> list[dict[str, Any]]:
    """Counters and locks of N threads, measured and by the line model's closed form on the measured machine, ns."""
    rows = []
    for (name, threads), reading in readings.by_threads.items():
        operation = "atomic_add" if name == "shared_add" else name
        rows.append({
            "loop": name, "threads": threads, "measured_ns": reading.median, "unstable": reading.unstable,
            "model_ns": expected_ns(operation, measured, threads),
        })
    return rows

