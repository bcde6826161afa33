"""The lab with a virtual cable instead of a NIC: what an experiment of `sim.host` should show, before it is run.

Virtual Ethernet has no NIC, and the scenario leaves out what is not there: no interrupt and no moderation (0 ns), no
link rate (the knob's top), one queue. In place of a driver's work a packet costs its *sender's*: with a virtual
cable softirq runs on the sender's CPU, behind its system calls. That time is what no source gives. It is written

    packet_ns = fixed_ns + 2 * payload * copy

where the two copies are the sender's (from its program, and by software segmentation) at the machine's measured rate.
`fit` finds ``fixed_ns`` from one arm of one experiment; every other number is a prediction.

Bytes are IP's on both sides: each packet on the wire with its headers, without Ethernet's. `of_ip` makes documents so
that were written when bytes stood as the device counted them.

What the lab cannot say is refused with the reason: a sender that shares its CPU with the reader (there it is a thread,
here part of softirq), packets on the wire beyond the MTU, and writes smaller than a packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..machine import Machine
from ..result import Result
from ..scenarios.lab import Lab
from .catalogue import EXPERIMENTS
from .load import Setup
from .reading import BYTES_OF, IN_BYTES

MOST_PACKET_NS: Final = 20_000
TCP_HEADERS: Final = 72
COPIES: Final = 2  # from the program, and when a large packet is cut for the wire
#: The arm on which each kind of load is fitted: the first one, with the switch off.
FITTED_ON: Final = {"tcp": ("gro", "off"), "udp": ("udp-early-demux", "off")}
SEARCH_STEPS: Final = 8
#: Where a fit looks for a setting that comes nearer than the one that halving ends at, in percent of it.
NEIGHBOURS_PCT: Final = range(-12, 13, 2)
SEED: Final = 1
REPLICATIONS: Final = 2


class NotPredicted(ValueError):
    """The lab has nothing like this arm; the message says what is missing, for a page."""


class Veth(Lab):
    """The lab behind a virtual cable."""

    name = "veth"
    title = "The lab behind virtual Ethernet: no NIC, and the sender's work in front of softirq's"
    verified = False
    knobs = tuple(
        replace(k, high=MOST_PACKET_NS, doc="The sender's time for a packet, which runs before softirq's on its CPU.")
        if k.name == "softirq_packet_ns" else k
        for k in Lab.knobs
    )


def scenario(on: Machine, cpus: int = 2) -> Veth:
    """The scenario on a machine cut to `cpus` cores of one socket, without interrupts of a device."""
    return Veth(on.with_(sockets=1, cores_per_socket=cpus, threads_per_core=1, irq_ps=0))


def knobs(setup: Setup) -> dict[str, Any]:
    """The lab's knobs for an arm, but for the sender's time. Raises NotPredicted."""
    if setup.sender_cpu == setup.reader_cpu:
        raise NotPredicted("the sender shares its CPU with the reader as a thread; here its work is part of softirq")
    if setup.segmentation:
        raise NotPredicted("packets of 64 KB on the wire, and the lab's MTU ends at 9,000")
    if setup.load == "tcp_small":
        raise NotPredicted("writes smaller than a packet: the lab's bulk senders fill theirs")
    if setup.load == "fanout":
        raise NotPredicted("a socket that nobody reads: in the lab all of them are read")
    kind = {"tcp": "tcp_bulk", "forward": "forward"}.get(setup.load, "udp_connected" if setup.connected else "udp")
    return {
        "socket": kind, "flows": setup.flows, "mtu": setup.mtu, "message_bytes": setup.message_bytes,
        "gro_max_segs": 129 if setup.gro else 1, "gro_max_size": setup.gro_max_size,
        "rps_cpus": len(setup.rps_cpus), "tcp_early_demux": int(setup.tcp_early_demux),
        "udp_early_demux": int(setup.udp_early_demux),
        "rx_dst_set": 1,  # as in every kernel since 4.13: without it UDP's early demux saves no route look-up
        "rx_queues": 1, "readers": 1, "reader_cpus": "behind",
        "link_gbps": 400, "offered_kpps": 1000, "burst_segs": 44, "round_trip_us": 5, "coalesce_us": 0,
        "rcvbuf": 4 << 20, "recv_size_bytes": 131_072,
    }


def packet_ns(setup: Setup, fixed_ns: int, on: Machine) -> int:
    """The sender's time for a packet, within the knob's range."""
    payload = setup.mtu - TCP_HEADERS if setup.load == "tcp" else setup.message_bytes
    copies = COPIES * payload * on.cost("copy_fs_per_byte") // 1_000_000
    return min(max(20, fixed_ns + copies), MOST_PACKET_NS)


def run(lab: Veth, setup: Setup, fixed_ns: int, replications: int = REPLICATIONS) -> Result:
    """One arm. Raises NotPredicted, and RunError if the run ends early."""
    return lab.run(
        SEED, replications, **knobs(setup), softirq_packet_ns=packet_ns(setup, fixed_ns, lab.machine)
    )


@dataclass(frozen=True)
class Number:
    """A prediction with the 95 % interval of its replications."""

    mean: float
    low: float
    high: float


def number(result: Result, setup: Setup, name: str) -> Number:
    """A result in the terms of `sim.host.reading.UNITS`. Raises NotPredicted for a number that the lab has not."""
    metric, scale = {
        "rate_gbps": ("mpps", setup.mtu * 8e-3), "packets_per_s": ("mpps", 1e6),
        "delivered_per_s": ("forwarded_mpps" if setup.load == "forward" else "read_mpps", 1e6),
        "received_packet_bytes": ("gro_segments", float(setup.mtu)),
    }.get(name, ("", 0.0))
    if not metric:
        raise NotPredicted(f"the lab does not count {name}")
    found = result.metrics[metric]
    return Number(found.mean * scale, found.low * scale, found.high * scale)


def fit(lab: Veth, setup: Setup, name: str, measured: float) -> int:
    """The ``fixed_ns`` at which an arm shows the measured number; the nearest end if none does.

    Found by halving, and then among the neighbours: with one packet at a time a rate does not fall evenly as softirq
    gets dearer, since a reader that comes round a little later or earlier meets another state of the queue. So the
    halving may end beside a jump, and the setting that comes nearest is a few per cent away.
    """
    low, high = 0, MOST_PACKET_NS
    for _ in range(SEARCH_STEPS):
        middle = (low + high) // 2
        faster = number(run(lab, setup, middle, 1), setup, name).mean > measured
        low, high = (middle, high) if faster else (low, middle)
    found = (low + high) // 2

    def distance(fixed_ns: int) -> float:
        return abs(number(run(lab, setup, fixed_ns), setup, name).mean - measured)

    return min((found * (100 + percent) // 100 for percent in NEIGHBOURS_PCT), key=distance)


def of_ip(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of an experiment with its bytes as IP's; one that says so already comes back as it is.

    A device that counts Ethernet's header counts it for each packet, so all numbers in bytes of an arm shrink by one
    factor, and a change by the quotient of two.
    """
    out = dict(document)
    if out.get("bytes_of") == BYTES_OF or out["experiment"] not in EXPERIMENTS:
        return out
    setups = EXPERIMENTS[out["experiment"]].arms
    factors = {arm: _factor(setups.get(arm), numbers) for arm, numbers in out["arms"].items()}
    out["bytes_of"] = BYTES_OF
    out["arms"] = {
        arm: {name: _scaled(number, factors[arm]) if name in IN_BYTES else number for name, number in numbers.items()}
        for arm, numbers in out["arms"].items()
    }
    if out["answers"] in IN_BYTES:
        first = next(iter(factors.values()))
        out["change_pct"] = {
            arm: {end: 100 * ((1 + pct / 100) * factors[arm] / first - 1) for end, pct in change.items()}
            for arm, change in out["change_pct"].items()
        }
    return out


def check(document: Mapping[str, Any]) -> None:
    """Whether means, their intervals and the changes of a document go together. Raises ValueError with what does not.

    A mean of the rounds' changes is not the change of the means, but its interval holds that one too.
    """
    first: float | None = None
    for arm, numbers in document["arms"].items():
        one, change = numbers[document["answers"]], document["change_pct"].get(arm)
        if one["mean"] < 0 or not one["low"] <= one["mean"] <= one["high"]:
            raise ValueError(f"the arm {arm} has a mean below 0 or outside its own interval")
        if first and change:
            means = 100 * (one["mean"] / first - 1)
            if not min(change["low"], change["mean"] - 1) <= means <= max(change["high"], change["mean"] + 1):
                raise ValueError(
                    f"the arm {arm} states a change of {change['mean']:.0f} %, and its means differ by {means:.0f} %"
                )
        first = one["mean"] if first is None else first


def _factor(setup: Setup | None, numbers: Mapping[str, Any]) -> float:
    """Bytes of IP in a byte that the device counted in an arm; 1 where the arm does not tell its packets."""
    if setup is None or not {"rate_gbps", "packets_per_s"} <= numbers.keys():
        return 1.0
    counted = numbers["rate_gbps"]["mean"]
    header_gbps = 8e-9 * setup.link_header_bytes * numbers["packets_per_s"]["mean"]
    return float(1 - header_gbps / counted) if counted else 1.0


def _scaled(number: Mapping[str, Any], factor: float) -> dict[str, Any]:
    return {**number, **{end: number[end] * factor for end in ("mean", "low", "high")}}


Row = dict[str, Any]


def beside(documents: Sequence[Mapping[str, Any]], on: Machine) -> list[Row]:
    """Every arm of measured experiments with its prediction.

    Parameters
    ----------
    documents
        What ``host experiment --json`` wrote, one for each experiment; taken through `of_ip`.
    on
        The machine that it ran on (``host measure``).

    Returns
    -------
    list of dict
        ``experiment``, ``arm``, ``number``, ``unit``, ``measured``, ``measured_low``, ``measured_high``,
        ``simulated``, ``low``, ``high`` (None where it is not predicted), ``role`` (``fitted``, ``predicted``, or
        ``none``), ``why`` (of ``none``), ``change_pct``, ``change_low``, ``change_high`` (measured, against the first
        arm) and ``simulated_change_pct``.
    """
    lab = scenario(on)
    seen: dict[tuple[Setup, int], Result] = {}
    by_name = {d["experiment"]: of_ip(d) for d in documents}
    fixed: dict[str, int] = {}
    for kind, (name, arm) in FITTED_ON.items():
        if name in by_name:
            setup, answers = EXPERIMENTS[name].arms[arm], EXPERIMENTS[name].answers
            fixed[kind] = fit(lab, setup, answers, by_name[name]["arms"][arm][answers]["mean"])
    rows: list[Row] = []

    def simulate(setup: Setup, fixed_ns: int) -> Result:
        plain = setup.with_(count_look_ups=False)
        if (plain, fixed_ns) not in seen:  # experiments share arms
            seen[plain, fixed_ns] = run(lab, setup, fixed_ns)
        return seen[plain, fixed_ns]

    for name, document in by_name.items():
        rows += _rows(name, document, fixed, simulate)
    return rows


def _rows(
    name: str, document: Mapping[str, Any], fixed: Mapping[str, int], simulate: Callable[[Setup, int], Result]
) -> list[Row]:
    answers = document["answers"]
    first: float | None = None  # the first arm's prediction, if there is one: a change is against that arm
    out: list[Row] = []
    for arm, numbers in document["arms"].items():
        measured, change = numbers[answers], document["change_pct"].get(arm, {})
        row: Row = {
            "experiment": name, "arm": arm, "number": answers, "unit": measured["unit"],
            "measured": measured["mean"], "measured_low": measured["low"], "measured_high": measured["high"],
            "simulated": None, "low": None, "high": None, "role": "none", "why": "",
            "change_pct": change.get("mean"), "change_low": change.get("low"), "change_high": change.get("high"),
            "simulated_change_pct": None,
        }
        setup = EXPERIMENTS[name].arms.get(arm) if name in EXPERIMENTS else None
        kind = "tcp" if setup is not None and setup.load.startswith("tcp") else "udp"
        try:
            if setup is None:
                raise NotPredicted("an experiment or arm of another version of this book")
            if kind not in fixed:
                raise NotPredicted(f"nothing to fit the sender on: run the experiment {FITTED_ON[kind][0]} as well")
            found = number(simulate(setup, fixed[kind]), setup, answers)
            row |= {"simulated": found.mean, "low": found.low, "high": found.high}
            row["role"] = "fitted" if FITTED_ON[kind] == (name, arm) else "predicted"
            first = first if out else found.mean
            row["simulated_change_pct"] = 100 * (found.mean / first - 1) if first and out else None
        except NotPredicted as reason:
            row["why"] = str(reason)
        out.append(row)
    return out
