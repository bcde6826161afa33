"""What a machine was doing between two looks at its counters: a load, beside a run of the lab at like knobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ... import scenarios
from ...result import Result
from . import kernel
from .kernel import Counters
from .text import Unreadable

LONGEST_S: Final = 86_400.0
_QUEUE: Final = re.compile(r"^(?:rx_?(?:queue_)?|rx-|queue_?)(\d+)[_.-]?(?:rx_)?(?:xdp_)?(?:packets|pkts)$")
#: Interrupts that deliver no device's data: left out of the rate.
_NO_DEVICE: Final = re.compile(r"^[A-Z]{3}\.")
#: Metrics of the lab that counters know as well: the name there, and what it is.
_ROWS: Final = (
    ("gbps", "Gbit/s", "payload that TCP received"), ("mpps", "Mpps", "packets on the wire"),
    ("gro_segments", "segments", "packets of the wire in each one that GRO sent up"),
    ("interrupts_per_s", "1/s", "interrupts of devices"), ("backlog_drops_per_s", "1/s", "packets dropped after RPS"),
)


@dataclass(frozen=True)
class Load:
    """Differences of counters, by the kind of their file (`sim.host.read.kernel.READERS`).

    Attributes
    ----------
    seconds
        Time between the two looks.
    """

    seconds: float
    counters: Mapping[str, Counters] = field(repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= LONGEST_S:
            raise ValueError(f"{self.seconds:g} s between the files: more than 0, at most {LONGEST_S:,.0f}")

    @classmethod
    def between(cls, before: Mapping[str, Path], after: Mapping[str, Path], seconds: float) -> Load:
        """From saved files by kind, such as ``{"softnet_stat": path}``.

        Raises
        ------
        Unreadable
            for a file that is not what its kind says, and for a kind that has only one of its two files.
        """
        alone = sorted(set(before) ^ set(after))
        if alone:
            raise Unreadable(f"{', '.join(alone)}: one file only; a difference takes one of before, one of after")
        return cls(
            seconds,
            {kind: kernel.difference(kernel.read(kind, path), kernel.read(kind, after[kind]))
             for kind, path in before.items()},
        )

    def count(self, kind: str, *names: str) -> int | None:
        """Sum of counters of a kind; None if there is no file of it, or none of them in it."""
        found = [self.counters[kind][n] for n in names if n in self.counters.get(kind, {})]
        return sum(found) if found else None

    def by_cpu(self, name: str) -> dict[int, int]:
        """A column of softnet_stat by CPU."""
        found = self.counters.get("softnet_stat", {})
        return {int(key[3:].partition(".")[0]): n for key, n in found.items() if key.partition(".")[2] == name}

    def queues(self) -> dict[int, int]:
        """Packets by receive queue, from the driver's names for them."""
        out: dict[int, int] = {}
        for name, number in self.counters.get("ethtool", {}).items():
            found = _QUEUE.match(name)
            if found is not None:
                out[int(found[1])] = max(number, out.get(int(found[1]), 0))
        return out

    def wire(self) -> int | None:
        """Packets before GRO: IPv4's counters by ECN count each segment of a merged packet; else the driver's queues.

        (``processed`` of softnet_stat counts a merged packet once.)
        """
        by_ecn = self.count("netstat", *(f"IpExtIn{kind}Pkts" for kind in ("NoECT", "ECT0", "ECT1", "CE")))
        return by_ecn or sum(self.queues().values()) or by_ecn

    def metrics(self) -> dict[str, float]:
        """Those of the lab's metrics that these files know, in its units."""
        out: dict[str, float] = {}
        wire, up = self.wire(), sum(self.by_cpu("processed").values())
        if wire is not None:
            out["mpps"] = wire / self.seconds / 1e6
            if up:
                out["gro_segments"] = wire / up
        if up:
            out["backlog_drops_per_s"] = sum(self.by_cpu("dropped").values()) / self.seconds
        received = self.count("ss", "bytes_received")
        if received is not None:
            out["gbps"] = 8e-9 * received / self.seconds
        if "interrupts" in self.counters:
            device = [n for name, n in self.counters["interrupts"].items() if not _NO_DEVICE.match(name)]
            out["interrupts_per_s"] = sum(device) / self.seconds
        return out

    def knobs(self) -> dict[str, int | str]:
        """What these files say about the lab's knobs, within their ranges: a start, the rest is the reader's."""
        lab = scenarios.load("lab")
        sockets = self.count("ss", "sockets")
        wanted: dict[str, int] = {}
        if sockets:
            wanted["flows"] = sockets
        queues = [n for n in self.queues().values() if n]
        if queues:
            wanted["rx_queues"] = len(queues)
        if self.by_cpu("received_rps"):
            wanted["rps_cpus"] = sum(n > 0 for n in self.by_cpu("received_rps").values())
        mtu = self.count("ss", "pmtu")
        if mtu:
            wanted["mtu"] = mtu
        out: dict[str, int | str] = {}
        for name, value in wanted.items():
            knob = lab.knob(name)
            inside = min(max(value, knob.low), knob.high)
            out[name] = knob.low + (inside - knob.low) // knob.step * knob.step
        return out

    def beside(self, run: Result) -> list[dict[str, Any]]:
        """Rows for a page: metric, unit, meaning, measured, simulated, low and high of the run's interval."""
        found = self.metrics()
        return [
            {
                "metric": name, "unit": unit, "meaning": meaning, "measured": found[name],
                "simulated": run.metrics[name].mean, "low": run.metrics[name].low, "high": run.metrics[name].high,
            }
            for name, unit, meaning in _ROWS if name in found and name in run.metrics
        ]
