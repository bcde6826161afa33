"""The playground's experiments: settings of the lab, what to look at, and the runs that answer them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from book.figures.table import Cell, Table
from sim.result import Estimate, Result
from sim.scenarios import Scenario

Settings = Mapping[str, int | str]
#: Metrics as the tables show them: what to divide by, decimals, unit.
SHOWN: Final = {
    "gbps": (1, 1, "Gbit/s"),
    "read_mpps": (1, 2, "Mpps"),
    "transactions_per_s": (1000, 0, "k requests a second"),
    "lookups_per_packet": (1, 1, "look-ups a packet"),
    "demux_found_share": (1, 0, "% found by early demux"),
    "freed_by_softirq": (1, 0, "% freed by softirq"),
    "ipis_per_s": (1000, 0, "k IPIs a second"),
    "interrupts_per_s": (1000, 0, "k interrupts a second"),
    "gro_segments": (1, 1, "segments a GRO packet"),
    "lock_wait": (1, 0, "% of a CPU waiting for locks"),
}


class Experiment(NamedTuple):
    """A question to the lab: settings that all arms share, the arms by name, what to look at first and beside it."""

    common: Settings
    arms: Mapping[str, Settings]
    metric: str
    beside: tuple[str, ...] = ()


_REQUESTS: Final = {"socket": "tcp_rr", "flows": 256}
EXPERIMENTS: Final = {
    "loses": Experiment(
        {**_REQUESTS, "rx_queues": 4},
        {"no RPS": {}, "RPS, 4 CPUs": {"rps_cpus": 4}}, "transactions_per_s", ("ipis_per_s",),
    ),
    "wins": Experiment(
        {**_REQUESTS, "rx_queues": 1},
        {"no RPS": {}, "RPS, 4 CPUs": {"rps_cpus": 4}, "RFS": {"rfs": 1}}, "transactions_per_s",
        ("ipis_per_s",),
    ),
    "queues": Experiment(
        {"socket": "udp", "flows": 8, "readers": 1, "offered_kpps": 8000},
        {f"{n} queue{'s' * (n > 1)}": {"rx_queues": n} for n in (1, 2, 4, 7)}, "read_mpps", ("lock_wait",),
    ),
    "place-one": Experiment(
        {"flows": 1},
        {"same CPU": {"reader_cpus": "same"}, "next CPU": {"reader_cpus": "behind"},
         "other socket": {"reader_cpus": "other_socket"}}, "gbps",
    ),
    "place-eight": Experiment(
        {"flows": 8},
        {"same CPUs": {"reader_cpus": "same"}, "next CPUs": {"reader_cpus": "behind"},
         "other socket": {"reader_cpus": "other_socket"}}, "gbps",
    ),
    "gro": Experiment(
        {"flows": 1},
        {"GRO, MTU 1,500": {}, "GRO of 8 segments, MTU 1,500": {"gro_max_segs": 8},
         "no GRO, MTU 1,500": {"gro_max_segs": 1}, "no GRO, MTU 9,000": {"gro_max_segs": 1, "mtu": 9000}},
        "gbps", ("gro_segments",),
    ),
    "patch": Experiment(
        {"flows": 8, "rx_queues": 2},
        {"before": {"defer_free": 0}, "after": {"defer_free": 1}}, "gbps", ("freed_by_softirq",),
    ),
    "reads": Experiment(
        {"flows": 1},
        {f"reads of {size}, {arm}": {"recv_size_bytes": bytes_, "defer_free": on}
         for size, bytes_ in (("4 KB", 4096), ("64 KB", 65_536), ("1 MB", 1_048_576))
         for arm, on in (("before", 0), ("after", 1))}, "gbps", ("freed_by_softirq",),
    ),
    "rules": Experiment(
        {"socket": "udp_connected", "offered_kpps": 8000, "uid_rules": 8},
        {f"{n} socket{'s' * (n > 1)}, {arm}": {"flows": n, "udp_early_demux": on}
         for n in (1, 16) for arm, on in (("no early demux", 0), ("early demux", 1))},
        "read_mpps", ("lookups_per_packet", "demux_found_share"),
    ),
    "coalesce": Experiment(
        {"socket": "tcp_rr"},
        {f"{n} flows, {us} µs": {"flows": n, "coalesce_us": us} for n in (16, 256) for us in (0, 8, 50)},
        "transactions_per_s",
    ),
    "wait": Experiment(
        {"socket": "tcp_rr", "flows": 64, "reader_cpus": "same"},
        {f"{us} µs": {"coalesce_us": us} for us in (0, 8, 50)}, "transactions_per_s", ("interrupts_per_s",),
    ),
    "big": Experiment(
        {"flows": 1, "mtu": 4168, "max_skb_frags": 45, "link_gbps": 200},
        {f"{arm}, {kind}": {"defer_free": on, "gro_max_size": size}
         for arm, on in (("before", 0), ("after", 1)) for kind, size in (("64 KB", 65_536), ("BIG TCP", 184_500))},
        "gbps", ("gro_segments", "freed_by_softirq"),
    ),
}


@cache
def runs(lab: Scenario, name: str) -> dict[str, Result]:
    """One run of each arm of an experiment."""
    experiment = EXPERIMENTS[name]
    return {arm: lab.run(**{**experiment.common, **settings}) for arm, settings in experiment.arms.items()}


def shown(metric: str, estimate: Estimate) -> str:
    """A mean with its 95 % interval."""
    divisor, digits, _ = SHOWN[metric]
    mean, low, high = (f"{value / divisor:,.{digits}f}" for value in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} ({low} to {high})"


def table(lab: Scenario, name: str) -> Table:
    """The arms of an experiment: the metric that was asked for, what to look at beside it, the CPUs' load."""
    experiment = EXPERIMENTS[name]
    rows: list[list[Cell]] = []
    for arm, result in runs(lab, name).items():
        beside: list[Cell] = [plain(metric, result) for metric in experiment.beside]
        rows.append([
            arm, shown(experiment.metric, result.metrics[experiment.metric]), *beside,
            f"{result.cpu['softirq']:.0f}", f"{result.cpu['reader']:.0f}",
        ])
    head = f"{SHOWN[experiment.metric][2]} (95 % interval)"
    beside_heads = [SHOWN[metric][2] for metric in experiment.beside]
    columns = ["setting", head, *beside_heads, "first softirq CPU, %", "first reader CPU, %"]
    return Table(f"What the lab answers: {head.split(' (')[0]}", columns, rows)


def plain(metric: str, result: Result) -> str:
    """A metric's mean as the tables show it."""
    divisor, digits, _ = SHOWN[metric]
    return f"{result.metrics[metric].mean / divisor:,.{digits}f}"


def words(lab: Scenario) -> dict[str, str]:
    """What the answers quote: each arm's metric by experiment and number of the arm, from 1; what was asked; loads."""
    return asked(lab) | wakers(lab) | {
        f"play-{name}-{place}": plain(experiment.metric, result)
        for name, experiment in EXPERIMENTS.items()
        for place, result in enumerate(runs(lab, name).values(), 1)
    }


def asked(lab: Scenario) -> dict[str, str]:
    """What a guess is compared to, where it is not the metric of an arm."""
    means = {
        name: [result.metrics[experiment.metric].mean for result in runs(lab, name).values()]
        for name, experiment in EXPERIMENTS.items()
    }
    best_queues = max(runs(lab, "queues").values(), key=lambda result: result.metrics["read_mpps"].mean)
    lost = 100 * (1 - means["coalesce"][5] / means["coalesce"][3])
    return {
        "play-loses-asked": f"{100 * means['loses'][1] / means['loses'][0]:.0f}",
        "play-wins-asked": f"{means['wins'][1] / means['wins'][0]:.1f}",
        "play-queues-asked": str(best_queues.knobs["rx_queues"]),
        "play-place-asked": str(1 + means["place-eight"].index(max(means["place-eight"]))),
        "play-patch-asked": f"{means['patch'][1] - means['patch'][0]:+.1f}".replace("-", "−"),
        "play-reads-asked": f"{means['reads'][1] - means['reads'][0]:.1f}",
        "play-rules-asked": plain("demux_found_share", runs(lab, "rules")["16 sockets, early demux"]),
        "play-coalesce-asked": f"{max(0.0, lost):.0f}",
    }


def wakers(lab: Scenario) -> dict[str, str]:
    """How much of its time the first reader's CPU spends in waking programs, with RPS and with RFS."""
    arms = runs(lab, "wins")
    return {
        f"play-wakes-{name.lower()}": f"{arms[arm].profile('reader').get('sock_def_readable', 0):.0f}"
        for name, arm in (("RPS", "RPS, 4 CPUs"), ("RFS", "RFS"))
    }


def command(name: str) -> str:
    """The command for the first arm, and for each other arm what that command gets at its end."""
    experiment = EXPERIMENTS[name]
    first, *others = experiment.arms.values()
    lines = ["python -m sim run lab" + _options({**experiment.common, **first})]
    changes = ({k: v for k, v in arm.items() if first.get(k) != v} for arm in others)
    lines += ["    the first line with" + _options(change) for change in changes]
    return "\n".join(lines)


def _options(settings: Settings) -> str:
    return "".join(f" --{knob} {value}" for knob, value in settings.items())
