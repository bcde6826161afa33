"""Tables and pictures of the chapter on deferring the free (patch 17 of the 5.17 series)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures.program import excerpt
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.result import Estimate, Result
from sim.scenarios.scenario import Scenario

#: Before and after the patch, by the payload of a packet.
Runs = Mapping[str, tuple[Result, Result]]

#: Kinds of the reader's work: name, colour class, kernel symbols. What is not listed is drawn blank.
KINDS: Final = (
    ("copy", "c0", frozenset({"copy_user_enhanced_fast_string"})),
    ("fragments", "c3", frozenset({"__skb_datagram_iter"})),
    ("free", "c1", frozenset({"__kfree_skb", "put_page", "free_unref_page", "free_pcppages_bulk"})),
    ("defer", "c2", frozenset({"tcp_eat_recv_skb", "sk_defer_free_flush"})),
)


def span(estimate: Estimate, digits: int = 1) -> str:
    """A mean with its 95 % interval, as a reader writes it."""
    return f"{estimate.mean:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def kinds(run: Result, role: str = "reader") -> dict[str, float]:
    """A CPU's profile summed by kind of work, in percent of its busy time."""
    profile = run.profile(role)
    return {name: sum(profile.get(symbol, 0.0) for symbol in symbols) for name, _, symbols in KINDS}


def words(runs: Runs) -> dict[str, str]:
    """What the chapter's sentences quote, by name: rates in Gbit/s, shares in percent."""
    quoted = {}
    for payload, arms in runs.items():
        name = payload.split()[0].replace(",", "")
        for arm, run in zip(("before", "after"), arms, strict=True):
            shares = kinds(run)
            quoted[f"{arm}-{name}"] = f"{run.metrics['gbps'].mean:.1f}"
            quoted[f"copy-{arm}-{name}"] = f"{shares['copy']:.1f} %"
            quoted[f"free-{arm}-{name}"] = f"{shares['free']:.1f} %"
            quoted[f"softirq-{arm}-{name}"] = f"{run.cpu['softirq']:.0f} %"
            quoted[f"deferred-{arm}-{name}"] = f"{run.metrics['freed_by_softirq'].mean:.0f} %"
            quoted[f"segments-{arm}-{name}"] = f"{run.metrics['gro_segments'].mean:.0f}"
    return quoted


def rates(runs: Runs) -> Table:
    """Throughput and busy CPUs of both arms."""
    rows: list[list[Cell]] = []
    for payload, arms in runs.items():
        for arm, run in zip(("before", "after"), arms, strict=True):
            rows.append([
                f"{payload}, {arm}", span(run.metrics["gbps"]), span(run.metrics["mpps"], 2),
                run.cpu["softirq"], run.cpu["reader"],
            ])
    columns = ["payload", "Gbit/s (95 % interval)", "M packets/s", "softirq CPU, %", "reader CPU, %"]
    return Table("The patch off and on, simulated", columns, rows)


def both(scenario: Scenario, knobs: Mapping[str, Any]) -> list[Cell]:
    """Both arms at one setting: rates, gain, and how often a packet met an owned socket."""
    before, after = (scenario.run(**{**knobs, "defer_free": key}) for key in (0, 1))
    owned = (f"{run.metrics['owned_share'].mean:.0f}" for run in (before, after))
    gain = after.metrics["gbps"].mean - before.metrics["gbps"].mean
    return [span(before.metrics["gbps"]), span(after.metrics["gbps"]), gain, " / ".join(owned)]


_BOTH: Final = ("before", "after", "gain", "owned, before / after, %")


def sweep(scenario: Scenario, knob: str, values: Sequence[int], **knobs: Any) -> Table:
    """Both arms over the values of one knob."""
    rows = [[value, *both(scenario, {**knobs, knob: value})] for value in values]
    return Table(f"Gbit/s over {knob}", [knob, *_BOTH], rows)


def compare(scenario: Scenario, settings: Mapping[str, Mapping[str, Any]], **knobs: Any) -> Table:
    """Both arms at several named settings, each of them one change from the first."""
    rows = [[name, *both(scenario, {**knobs, **changed})] for name, changed in settings.items()]
    return Table("Gbit/s without and with the patch, one thing changed at a time", ["setting", *_BOTH], rows)


def later(scenario: Scenario, settings: Mapping[str, Mapping[str, Any]], **knobs: Any) -> Table:
    """No deferral, the list of 5.17 and the list of 5.19, at several settings."""
    forms = ({"defer_free": 0}, {"defer_free": 1}, {"defer_free": 0, "defer_per_cpu": 1})
    rows: list[list[Cell]] = []
    for name, changed in settings.items():
        runs = [scenario.run(**{**knobs, **changed, **form}) for form in forms]
        rows.append([name, *(span(run.metrics["gbps"]) for run in runs), runs[-1].cpu["softirq"]])
    columns = ["setting", "no list", "list per socket (5.17)", "list per CPU (5.19)", "softirq CPU (5.19), %"]
    return Table("Gbit/s with three ways to free", columns, rows)


def headline(figures: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of a thread's figures the rates, the shares of 10 % and more, and every miss."""
    return [
        row for row in figures
        if row["unit"] in ("Gbit/s", "Mpps") or (row["unit"] == "%" and row["reported"] >= 10)
        or row["verdict"] == "miss"
    ]


def forgetful(scenario: Scenario) -> Scenario:
    """The scenario with a fault put in: its reader never empties the defer list of the socket."""
    program = scenario.spec.program
    for at in range(program.address("recvmsg"), program.address("tcp_cleanup_rbuf")):
        if program.code[at].operands == ("sk_defer_free_flush",):
            program = program.replaced(at, op="WORK", operands=(0, None, 0, 0), words=("0", "0", "0"))
    scenario.spec.program = program
    return scenario


def ending(scenario: Scenario) -> str:
    """Where the reader waits and where its call ends, as a listing; what was taken out leaves no trace."""
    lines = excerpt(scenario.listing(defer_free=1), "recvmsg.wait", "tcp_cleanup_rbuf").splitlines()
    return "\n".join(line for line in lines if "WORK    0 0 0" not in line)


def unnoticed(right: Scenario, wrong: Scenario, settings: Mapping[str, Mapping[str, Any]]) -> Table:
    """A right and a wrong program under the bulk benchmark."""
    rows: list[list[Cell]] = []
    for name, knobs in settings.items():
        runs = [scenario.run(defer_free=1, **knobs) for scenario in (right, wrong)]
        rows.append([name, *(span(run.metrics["gbps"]) for run in runs)])
    return Table("The bulk benchmark, Gbit/s", ["setting", "with patch 17", "the colleague's"], rows)


def reader_time(runs: Runs) -> Picture:
    """The reader's time for one GRO packet: stacked bars in microseconds."""
    bars = []
    for payload, arms in runs.items():
        for arm, run in zip(("before", "after"), arms, strict=True):
            packets_per_us = run.metrics["mpps"].mean / run.metrics["gro_segments"].mean
            bars.append((payload, arm, 1 / packets_per_us, kinds(run)))
    longest = max(us for _, _, us, _ in bars)
    said = "; ".join(
        f"{payload} {arm}: {us:.1f} µs, of which copy {us * shares['copy'] / 100:.1f} "
        f"and free {us * shares['free'] / 100:.1f}"
        for payload, arm, us, shares in bars
    )
    picture = Picture(
        40 + 44 * len(bars),
        f"The patch shortens the reader's freeing; the copy of a packet grows with the packet, a little ({said}).",
    )
    y = 2.0
    for payload, arm, us, shares in bars:
        y += 14
        picture.text(4, y, f"{payload}, {arm}", "strong")
        picture.text(356, y, f"{us:.1f} µs", "end")
        x = 4.0
        for name, colour, _ in KINDS:
            width = 352 * us / longest * shares[name] / 100
            picture.box(x, y + 5, width, 16, colour, 0)
            x += width
        picture.box(4, y + 5, 352 * us / longest, 16, "box", 0)
        y += 30
    for place, (name, colour, _) in enumerate(KINDS):
        picture.box(4 + 76 * place, y + 8, 11, 11, colour, 0)
        picture.text(19 + 76 * place, y + 18, name, "small")
    picture.text(356, y + 18, "blank: rest", "end small quiet")
    return picture
