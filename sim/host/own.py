"""``python -m sim host`` for a reader's own data: captures, profiles, counters."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

from .. import display, machine
from . import capture, read, toeplitz, veth
from .measure import command as measure
from .read import READERS
from .replay import BUDGET, KEEPS_FROM_HZ, Summary, replay

DONE: Final = 0
ROWS: Final = 25


def declare(choices: Any) -> None:
    """Add the commands to ``python -m sim host``'s parser."""

    def command(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        sub: argparse.ArgumentParser = choices.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        sub.add_argument("--json", action="store_true", help="JSON on standard output")
        return sub

    measure.declare(choices)
    sub = command("capture", show_capture, "what GRO would have merged of a pcap or pcapng file, where RSS sends it")
    sub.add_argument("file", type=Path, help="captured as on the wire: GRO or TSO off, see the book")
    sub.add_argument("--gro_max_size", default="65536", metavar="A,B", help="limits to compare, bytes (65536)")
    sub.add_argument("--queues", type=int, default=1, help="receive queues (1)")
    sub.add_argument("--rps_cpus", type=int, default=1, help="CPUs in RPS's mask (1)")
    sub.add_argument("--key", help="the hash key as ethtool -x prints it (Microsoft's)")
    sub.add_argument("--poll_gap_us", type=float, default=20.0, help="a pause that ends a poll, us (20)")
    sub.add_argument("--hz", type=int, default=KEEPS_FROM_HZ, help="CONFIG_HZ: below 1000 polls leave none held (1000)")
    sub.add_argument("--mtu", type=int, default=1500, help="longer packets were not on the wire: a warning (1500)")
    sub = command("profile", show_profile, "what perf report, perf script or perf top printed, under the book's names")
    sub.add_argument("file", type=Path)
    sub.add_argument("--cpu", type=int, help="one CPU only")
    sub.add_argument("--command", dest="comm", help="one command's part only")
    sub = command("load", show_load, "what was counted between two moments: a folder each, files named for their kind")
    sub.add_argument("before", type=Path, help=f"a folder with any of {', '.join(READERS)}")
    sub.add_argument("after", type=Path, help="the same, later")
    sub.add_argument("--seconds", type=float, required=True, help="time between the two")
    sub = command("beside", show_beside, "what host experiment wrote, beside what the lab says of the same set-up")
    sub.add_argument("files", type=Path, nargs="+", metavar="FILE", help="written by host experiment --json")
    sub.add_argument("--machine", required=True, metavar="FILE", help="written by host measure --json, or a machine")


def show_beside(options: argparse.Namespace, rest: list[str]) -> int:
    """Predictions beside measurements. Raises MachineError, OSError, and ValueError for a file of another kind."""
    documents = [_document(path) for path in options.files]
    rows = veth.beside(documents, machine.load(options.machine))
    if options.json:
        print(json.dumps(rows))
        return DONE
    shown = [
        [r["experiment"], r["arm"], f"{r['number']}, {r['unit']}", display.number(r["simulated"]),
         display.span(r["low"], r["high"]), display.number(r["measured"]),
         display.span(r["measured_low"], r["measured_high"]), r["role"] if r["role"] != "none" else r["why"]]
        for r in rows
    ]
    columns = ["experiment", "arm", "number", "simulated", "interval", "measured", "interval", "role"]
    display.table("Simulated beside measured, 95 % intervals", columns, shown, ["simulated", "measured", "interval"])
    return DONE


def _document(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict) or not {"experiment", "answers", "arms", "change_pct"} <= found.keys():
        raise ValueError(f"{path}: not written by python -m sim host experiment --json")
    try:
        veth.check(found)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return found


def show_capture(options: argparse.Namespace, rest: list[str]) -> int:
    """Replay a capture at each limit. Raises `sim.host.capture.Damaged`, OSError, ValueError."""
    key = toeplitz.MICROSOFT_KEY if options.key is None else toeplitz.parse_key(options.key)
    try:
        limits = [int(word) for word in options.gro_max_size.split(",")]
    except ValueError:
        raise ValueError(f"--gro_max_size {options.gro_max_size}: limits in bytes, apart by commas") from None
    skipped = capture.Skipped()
    found: dict[int, Summary] = {}
    for limit in limits:
        skipped.frames = 0
        packets = capture.read(options.file, skipped)
        found[limit] = replay(
            packets, limit, options.queues, options.rps_cpus, options.poll_gap_us, key, hz=options.hz, mtu=options.mtu
        )
    if warning := found[limits[0]].warning:
        print(f"{options.file}: warning: {warning}.", file=sys.stderr)
    if options.json:
        print(json.dumps([{"gro_max_size": n, "skipped": skipped.frames, **s.to_dict()} for n, s in found.items()]))
        return DONE
    first = found[limits[0]]
    print(f"{options.file}: {first.packets:,} packets ({first.tcp:,} of TCP), {len(first.flows):,} flows, "
          f"{first.mpps:.3f} Mpps; {skipped.frames:,} frames without IP")
    display.table(
        "What GRO would have sent up", ["gro_max_size", "packets", "segments a packet", "largest"],
        [[f"{n:,}", f"{s.up:,}", f"{s.segments_per_packet:.2f}", str(max(s.merged, default=0))]
         for n, s in found.items()],
        ["gro_max_size", "packets", "segments a packet", "largest"],
    )
    _spread("Receive queues", first.queues, options.queues)
    _spread("CPUs of RPS", first.cpus, options.rps_cpus)
    _spread("Packets in a poll", first.polls, 0)
    left = "those of its last jiffy" if options.hz >= KEEPS_FROM_HZ else "none"
    print(f"A poll is taken to end after a pause of {options.poll_gap_us:g} us or {BUDGET} packets. "
          f"Packets that it leaves held after {BUDGET}, with HZ {options.hz}: {left}.")
    return DONE


def _spread(title: str, counts: Counter[int], places: int) -> None:
    if places == 1:
        return
    total = counts.total() or 1
    rows = [[str(n), f"{counts[n]:,}", f"{100 * counts[n] / total:.1f} %"] for n in (range(places) or sorted(counts))]
    display.table(title, ["", "count", "share"], rows, ["", "count", "share"])


def show_profile(options: argparse.Namespace, rest: list[str]) -> int:
    """The shares of a recording. Raises `sim.host.read.Unreadable`, OSError, ValueError."""
    profile = read.profile(options.file)
    if options.cpu is not None or options.comm is not None:
        profile = profile.only(cpu=options.cpu, command=options.comm)
    shares = profile.shares()
    if options.json:
        print(json.dumps({"file": str(options.file), "source": profile.source, "shares": shares}))
        return DONE
    display.table(
        f"{options.file} ({profile.source}), % of the time that was not idle", ["symbol", "%"],
        [[name, f"{share:.2f}"] for name, share in list(shares.items())[:ROWS]], ["%"],
    )
    return DONE


def show_load(options: argparse.Namespace, rest: list[str]) -> int:
    """The load between two folders. Raises `sim.host.read.Unreadable`, OSError, ValueError."""
    sides = [
        {kind: folder / kind for kind in READERS if (folder / kind).exists()}
        for folder in (options.before, options.after)
    ]
    if not any(sides):
        raise ValueError(f"{options.before}, {options.after}: none of the files {', '.join(READERS)} is there")
    load = read.load(sides[0], sides[1], options.seconds)
    if options.json:
        print(json.dumps({"metrics": load.metrics(), "knobs": load.knobs(), "counters": load.counters}))
        return DONE
    display.table(
        f"Over {options.seconds:g} s", ["", "measured"],
        [[name, display.number(value)] for name, value in load.metrics().items()], ["measured"],
    )
    knobs = " ".join(f"--{name} {value}" for name, value in load.knobs().items())
    print(f"A run to begin with: python -m sim run lab {knobs}")
    return DONE
