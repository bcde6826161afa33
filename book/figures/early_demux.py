"""Tables and pictures of the chapter on early demux for UDP over IPv6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures.program import excerpt
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from book.figures.threads import Trial, change
from sim.result import Estimate, Result
from sim.scenarios.scenario import Scenario

OFF: Final = {"udp_early_demux": 0}
POSTED: Final = {"udp_early_demux": 1, "match_any": 1, "rx_dst_cookie": 0}
RELEASED: Final = {"udp_early_demux": 1}
#: The last is 4.12's with the reference dropped that 4.12 itself leaked (c9f2c1ae123a, after its release).
ARMS: Final = {"without": OFF, "as posted": POSTED, "4.12, leak mended": RELEASED}

#: Kinds of softirq's work: name, colour class, kernel symbols. What is not listed is drawn blank.
KINDS: Final = (
    ("driver", "c0", frozenset({"driver_rx", "__alloc_skb", "netif_receive_skb_internal"})),
    ("look-ups", "c1", frozenset({"__udp6_lib_lookup", "udp_v6_early_demux"})),
    ("rules", "c3", frozenset({"ip6t_do_table", "qtaguid_mt", "sock_put"})),
    ("route", "c2", frozenset({"ip6_pol_route", "fib6_rule_lookup", "ip6_dst_check", "dst_release"})),
)


def trio(scenario: Scenario, replications: int = 3, **knobs: Any) -> dict[str, Result]:
    """The three programs at one setting, in short runs: without, as posted, as released."""
    return {
        name: scenario.run(replications=replications, until_ps=scenario.quick_ps, **{**knobs, **arm})
        for name, arm in ARMS.items()
    }


def packet_us(run: Result) -> float:
    """Time of a full softirq CPU for a packet, microseconds."""
    return float(1 / run.metrics["mpps"].mean)


def kinds(run: Result) -> dict[str, float]:
    """Softirq's time for a packet by kind of work, microseconds."""
    profile, us = run.profile("softirq"), packet_us(run) / 100
    return {name: us * sum(profile.get(symbol, 0.0) for symbol in symbols) for name, _, symbols in KINDS}


def words(runs: Mapping[str, Result], figures: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the chapter's sentences quote, by name: of the three runs, and of the thread's row on the gain."""
    short = {"without": "off", "as posted": "posted", "4.12, leak mended": "released"}
    quoted = {}
    for name, run in runs.items():
        quoted[f"demux-{short[name]}-mbps"] = f"{run.metrics['mbps'].mean:.0f}"
        quoted[f"demux-{short[name]}-us"] = f"{packet_us(run):.2f}"
        quoted[f"demux-{short[name]}-lookups"] = f"{kinds(run)['look-ups']:.2f}"
    old, new = (kinds(runs[name]) for name in ("without", "as posted"))
    quoted["demux-saved"] = f"{packet_us(runs['without']) - packet_us(runs['as posted']):.2f}"
    quoted["demux-saved-lookups"] = f"{old['look-ups'] - new['look-ups']:.2f}"
    quoted["demux-saved-rules"] = f"{old['rules'] - new['rules']:.2f}"
    drop_us = packet_us(runs["as posted"]) * runs["as posted"].profile("softirq")["sock_put"] / 100  # UDP's, of one
    quoted["demux-saved-rule-refs"] = f"{old['rules'] - new['rules'] + drop_us:.2f}"
    gain = next(row for row in figures if row["figure"].endswith("the patch gains"))
    quoted["demux-gain-low"] = f"{gain['range_low']:.0f} %"
    quoted["demux-gain-high"] = f"{gain['range_high']:.0f} %"
    return quoted


def forwarding_words(scenario: Scenario) -> dict[str, str]:
    """What the chapter's sentences quote of a forwarded packet: its time, and what early demux wastes of it."""
    run = scenario.run(replications=3, until_ps=scenario.quick_ps, traffic="forward", **RELEASED)
    us, profile = packet_us(run), run.profile("softirq")
    return {
        "demux-forward-us": f"{us:.1f}",
        "demux-forward-waste": f"{us * profile['udp_v6_early_demux'] / 100:.2f}",
        "demux-forward-driver": f"{us * profile['driver_rx'] / 100:.1f}",
    }


def curve_words(rows: Sequence[Mapping[str, float]]) -> dict[str, str]:
    """What the chapter's sentences quote of the allowed pairs: the first, the last, and the first one's even share."""
    first, last = rows[0], rows[-1]
    return {
        "demux-first-ns": f"{first['lookup_ns']:,.0f}",
        "demux-last-rules": f"{last['uid_rules']:.0f}",
        "demux-last-ns": f"{last['lookup_ns']:.0f}",
        "demux-share-ns": f"{first['lookup_ns'] * first['uid_rules'] / last['uid_rules']:.0f}",
    }


def span(estimate: Estimate, digits: int, sign: str = "") -> str:
    """A mean with its 95 % interval; with `sign` "+" gains have theirs too."""
    mean, low, high = (round(x, digits) + 0.0 for x in (estimate.mean, estimate.low, estimate.high))
    form = f"{sign}.{digits}f"
    return f"{mean:{form}} ({low:{form}} to {high:{form}})"


def rates(runs: Mapping[str, Result]) -> Table:
    """Rate, time and look-ups of the three programs."""
    rows: list[list[Cell]] = [
        [
            name, span(run.metrics["mbps"], 0), f"{packet_us(run):.2f}",
            f"{run.metrics['lookups_per_packet'].mean:.0f}", f"{run.metrics['socket_refs_per_packet'].mean:.0f}",
            run.cpu["softirq"],
        ]
        for name, run in runs.items()
    ]
    columns = [
        "early demux", "Mbit/s (95 % interval)", "µs a packet", "full look-ups", "reference atomics", "softirq CPU, %",
    ]
    return Table("One stream, four rules, look-ups of 250 ns", columns, rows)


def settings(scenario: Scenario, places: Mapping[str, Mapping[str, Any]], seeds: int = 3) -> Table:
    """What either form of the patch changes at several settings."""
    rows: list[list[Cell]] = []
    for what, knobs in places.items():
        cells: list[Cell] = [what]
        for arm in (POSTED, RELEASED):
            old, _, found = change(scenario, "mpps", Trial(what, {**knobs, **OFF}, {**knobs, **arm}), seeds)
            if len(cells) == 1:
                cells.append(f"{1000 * old.mean:.1f}")
            cells.append(span(found, 2, "+"))
        rows.append(cells)
    columns = ["setting", "without, kpps", "as posted, change in %", "4.12, leak mended, change in %"]
    return Table("Packet rates without early demux, and what it changes (95 % intervals)", columns, rows)


def policy(scenario: Scenario, forms: Mapping[str, Mapping[str, Any]], **knobs: Any) -> Table:
    """Where packets go that a policy rule leads to another host."""
    rows: list[list[Cell]] = []
    for name, form in forms.items():
        run = scenario.run(replications=3, until_ps=scenario.quick_ps, **{**knobs, **form})
        rows.append([
            name, span(run.metrics["wrong_share"], 1), f"{1000 * run.metrics['forwarded_mpps'].mean:.1f}",
            f"{1000 * run.metrics['mpps'].mean:.1f}", f"{run.metrics['route_lookups_per_packet'].mean:.2f}",
        ])
    columns = ["kernel", "delivered here wrongly, %", "forwarded, kpps", "packets, kpps", "route look-ups"]
    return Table("Policy rules, half of the packets to be sent elsewhere", columns, rows)


def cookies(scenario: Scenario) -> Table:
    """What a kept route is worth, with each way to check it."""
    forms = {"no route is kept (4.12, leak mended)": {}, "kept, checked by 0": {"rx_dst_set": 1, "rx_dst_cookie": 0},
             "kept, checked by its serial number (4.13)": {"rx_dst_set": 1}}
    rows: list[list[Cell]] = []
    for name, form in forms.items():
        run = scenario.run(replications=3, until_ps=scenario.quick_ps, **form)
        rows.append([name, span(run.metrics["mbps"], 0), f"{run.metrics['route_lookups_per_packet'].mean:.2f}",
                     f"{packet_us(run):.2f}"])
    columns = ["kernel", "Mbit/s (95 % interval)", "route look-ups a packet", "µs a packet"]
    return Table("The socket's route", columns, rows)


def leaky(scenario: Scenario) -> Scenario:
    """The scenario with a fault put in: UDP never drops the reference that early demux took."""
    program = scenario.spec.program
    for at in range(program.address("udpv6_rcv.queued"), program.address("udpv6_rcv.none")):
        if program.code[at].op != "RET":
            program = program.replaced(at, op="WORK", operands=(0, None, 0, 0), words=("0", "0", "0"))
    scenario.spec.program = program
    return scenario


def references(scenario: Scenario) -> str:
    """Where early demux finds a socket and where UDP's input ends, as a listing; what was taken out leaves no trace."""
    listing = scenario.listing(udp_early_demux=1)
    parts = [
        excerpt(listing, "udp_v6_early_demux", "skb_orphan"),
        excerpt(listing, "udpv6_rcv", "udpv6_queue_rcv_skb"),
        excerpt(listing, "udpv6_rcv.queued", "udpv6_rcv.none"),
    ]
    lines = "\n".join(parts).splitlines()
    return "\n".join(line for line in lines if "WORK    0 0 0" not in line and not line.startswith("udpv6_rcv.out"))


def unnoticed(right: Scenario, wrong: Scenario) -> Table:
    """A right and a wrong program under the benchmark of the thread."""
    rows: list[list[Cell]] = []
    for name, scenario in (("4.12's, with the drop", right), ("the colleague's", wrong)):
        run = scenario.run(replications=3, until_ps=scenario.quick_ps, udp_early_demux=1)
        rows.append([name, span(run.metrics["mbps"], 1), run.cpu["softirq"], run.metrics["rcvbuf_drops_per_s"].mean])
    columns = ["program", "Mbit/s (95 % interval)", "softirq CPU, %", "drops at the socket, a second"]
    return Table("One stream", columns, rows)


def way() -> Picture:
    """Where a packet's socket is looked up: before the patch at each rule and in UDP, after it once."""
    picture = Picture(
        214,
        "Before the patch a packet's socket is looked up at each of four rules and again in UDP, five times in all; "
        "after it once, before the route, and everybody behind finds it in the packet.",
    )
    for y, name, places, demux in ((20, "before", "llll", False), (112, "after", "hhhh", True)):
        picture.text(4, y, name, "strong")
        stages = [(4, 52, "driver"), (62, 44, "IPv6"), (112, 54, "demux"), (172, 46, "route"), (224, 76, "4 rules"),
                  (306, 50, "UDP")]
        for x, width, words in stages:
            if words == "demux" and not demux:
                picture.line([(106, y + 26), (172, y + 26)], "rule")
                continue
            picture.box(x, y + 10, width, 32, "warm" if words == "demux" else "box")
            picture.text(x + width / 2, y + 30, words, "mid small")
        for place, kind in enumerate(places):
            _mark(picture, 235 + 18 * place, y + 56, kind == "l")
        _mark(picture, 331, y + 56, not demux)
        if demux:
            _mark(picture, 139, y + 56, True)
    picture.dot(10, 200, 5, "c1")
    picture.text(22, 204, "looked up", "small")
    picture.dot(102, 200, 5, "c0")
    picture.text(114, 204, "taken from the packet", "small")
    return picture


def _mark(picture: Picture, x: float, y: float, looked_up: bool) -> None:
    picture.dot(x, y, 5, "c1" if looked_up else "c0")


def bill(runs: Mapping[str, Result]) -> Picture:
    """Softirq's time for a packet: stacked bars in microseconds."""
    bars = [(name, packet_us(run), kinds(run)) for name, run in runs.items()]
    longest = max(us for _, us, _ in bars)
    said = "; ".join(f"{name}: {us:.1f} µs, of which look-ups {parts['look-ups']:.2f}" for name, us, parts in bars)
    picture = Picture(
        40 + 44 * len(bars), f"Early demux shortens the look-ups and leaves the rest of a packet as it was ({said}).",
    )
    y = 2.0
    for name, us, parts in bars:
        y += 14
        picture.text(4, y, name, "strong")
        picture.text(356, y, f"{us:.2f} µs", "end")
        x = 4.0
        for kind, colour, _ in KINDS:
            width = 352 * parts[kind] / longest
            picture.box(x, y + 5, width, 16, colour, 0)
            x += width
        picture.box(4, y + 5, 352 * us / longest, 16, "box", 0)
        y += 30
    for place, (kind, colour, _) in enumerate(KINDS):
        picture.box(4 + 72 * place, y + 8, 11, 11, colour, 0)
        picture.text(19 + 72 * place, y + 18, kind, "small")
    picture.text(356, y + 18, "blank: rest", "end small quiet")
    return picture


def allowed(rows: Sequence[Mapping[str, float]], rules: int, lookup_ns: int) -> Picture:
    """The numbers of rules and costs of a look-up that a rate after the patch allows; the book's pair is marked."""
    most_rules = max(row["uid_rules"] for row in rows)
    most_ns = 1200.0
    first, last = rows[0], rows[-1]
    picture = Picture(
        226,
        f"One rate fixes one curve, not a point: {first['uid_rules']:.0f} rule with look-ups of "
        f"{first['lookup_ns']:.0f} ns gives it as well as {last['uid_rules']:.0f} rules with {last['lookup_ns']:.0f} "
        f"ns; the book's {rules} rules and {lookup_ns} ns are one point of many.",
    )

    def at(n: float, ns: float) -> tuple[float, float]:
        return 44 + 300 * n / most_rules, 184 - 160 * ns / most_ns

    for ns in (0, 300, 600, 900, 1200):
        picture.line([at(0, ns), at(most_rules, ns)], "grid")
        picture.text(38, at(0, ns)[1] + 4, str(ns), "end small quiet")
    for n in (0, 4, 8, 12, 16):
        if n <= most_rules:
            picture.text(at(n, 0)[0], 200, str(n), "mid small quiet")
    even = first["uid_rules"] * first["lookup_ns"]
    picture.line([at(row["uid_rules"], even / row["uid_rules"]) for row in rows], "l1 dash")
    picture.line([at(row["uid_rules"], row["lookup_ns"]) for row in rows], "l0")
    for row in rows:
        picture.dot(*at(row["uid_rules"], row["lookup_ns"]), 3, "c0")
    x, y = at(rules, lookup_ns)
    picture.dot(x, y, 5, "c1")
    picture.text(x + 9, y - 6, "this book's run", "small")
    picture.text(4, 14, "a look-up, ns", "small")
    picture.text(344, 218, "rules that look up", "end small")
    return picture
