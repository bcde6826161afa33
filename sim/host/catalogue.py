"""The experiments, by name: each switch of the book that a kernel with two CPUs and virtual Ethernet has."""

from __future__ import annotations

import difflib
from typing import Final

from .experiment import Experiment
from .load import Setup

BULK: Final = Setup()
FLOOD: Final = Setup(load="udp", connected=True, count_look_ups=True)
ROUTED: Final = Setup(load="forward", count_look_ups=True)

EXPERIMENTS: Final = {
    e.name: e
    for e in (
        Experiment(
            "gro", "What does merging segments give a bulk receiver?",
            {"off": BULK.with_(gro=False), "on": BULK},
            "rate_gbps",
            "With GRO, IP, TCP and the socket see one packet where the wire carried up to 45.",
        ),
        Experiment(
            "gro-size", "How large are GRO's packets, if the sender's bursts have the same limit?",
            {"4 KB": BULK.with_(gro_max_size=4096), "16 KB": BULK.with_(gro_max_size=16384), "64 KB": BULK},
            "received_packet_bytes",
            "Two limits move together, the sender's and GRO's: a burst within the limit is merged whole.",
        ),
        Experiment(
            "mtu", "What do larger packets on the wire give?",
            {"1500": BULK, "4168": BULK.with_(mtu=4168), "9000": BULK.with_(mtu=9000)},
            "rate_gbps",
            "The driver's and GRO's work is for each packet on the wire; with fewer of them it shrinks.",
        ),
        Experiment(
            "big-tcp", "Do packets beyond 64 KB still help?",
            {
                "64 KB": BULK.with_(segmentation=True),
                "185,000 bytes": BULK.with_(segmentation=True, gro_max_size=185000),
            },
            "rate_gbps",
            "The costs for each packet are already spread over 64 KB: three times as much gives less.",
        ),
        Experiment(
            "rps", "One flow: should another CPU take over the protocols?",
            {"off": BULK, "on": BULK.with_(rps_cpus=(1,))},
            "rate_gbps",
            "On virtual Ethernet the softirq runs on the sender's CPU. RPS moves the protocols to the reader's.",
        ),
        Experiment(
            "rps-many", "Many flows: does spreading them help?",
            {"off": BULK.with_(flows=16), "on": BULK.with_(flows=16, rps_cpus=(0, 1))},
            "rate_gbps",
            "With two CPUs that are both busy, there is no idle one to spread to.",
        ),
        Experiment(
            "reader-cpu", "Reader on the softirq's CPU, or on another?",
            {"same": BULK.with_(reader_cpu=0), "other": BULK},
            "rate_gbps",
            "On one CPU nothing travels between caches, and softirq, sender and reader share its time.",
        ),
        Experiment(
            "tcp-early-demux", "What does early demux give TCP?",
            {
                "off": BULK.with_(tcp_early_demux=False, count_look_ups=True),
                "on": BULK.with_(count_look_ups=True),
            },
            "rate_gbps",
            "A route look-up saved for each packet after GRO: one in 45 segments, so little in bulk.",
        ),
        Experiment(
            "udp-early-demux", "And a connected UDP socket?",
            {"off": FLOOD.with_(udp_early_demux=False), "on": FLOOD},
            "packets_per_s",
            "One socket look-up instead of a route look-up and a socket look-up.",
        ),
        Experiment(
            "udp-early-demux-unconnected", "And a UDP socket that is not connected?",
            {
                "off": FLOOD.with_(connected=False, udp_early_demux=False),
                "on": FLOOD.with_(connected=False),
            },
            "packets_per_s",
            "Early demux looks among connected sockets, finds none, and everything else is done as without it.",
        ),
        Experiment(
            "forward", "What does early demux cost a router?",
            {
                "off": ROUTED.with_(tcp_early_demux=False, udp_early_demux=False),
                "on": ROUTED,
            },
            "delivered_per_s",
            "A router has no socket to find: the look-up is for nothing.",
        ),
        Experiment(
            "udp-flood", "More flows into one UDP socket?",
            {"1 flow": Setup(load="udp"), "16 flows": Setup(load="udp", flows=16)},
            "delivered_per_s",
            "One queue, one lock, one reader: the number of senders' ports changes none of them.",
        ),
        Experiment(
            "fanout", "A packet socket that nobody reads, with and without rollover?",
            {"without": Setup(load="fanout", rollover=False), "with": Setup(load="fanout")},
            "delivered_per_s",
            "Nearly all arrive on one CPU, whose socket nobody reads: lost, unless rollover moves them to the other.",
        ),
        Experiment(
            "small-messages", "64-byte messages over many flows: where does RPS help?",
            {
                "off": Setup(load="tcp_small", flows=32),
                "on": Setup(load="tcp_small", flows=32, rps_cpus=(1,)),
            },
            "packets_per_s",
            "Small packets cost softirq time, not copying: the CPU that has less to do should take them.",
        ),
    )
}

def find(name: str) -> Experiment:
    """An experiment by name; raises ValueError with the nearest one or the list."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    near = difflib.get_close_matches(name, EXPERIMENTS, 1, 0.4)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(EXPERIMENTS)}"
    raise ValueError(f"no experiment {name!r}; {hint}")
