"""What ``python -m sim`` does, one function a command: (options, words that set knobs) -> exit status."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import Any, Final

from . import compiled, display, machine, reported, scenarios, sensitivity, study, sweep, validate, words
from .progress import Progress
from .scenarios import Scenario
from .schema import nearest
from .words import Mistake, allowed

DONE: Final = 0
SYMBOLS_SHOWN: Final = 12


def _load(options: argparse.Namespace) -> Scenario:
    if options.name not in scenarios.names():
        raise Mistake(f"no scenario {options.name!r}; {nearest(options.name, scenarios.names())}")
    return scenarios.load(options.name, machine.load(options.machine) if options.machine else None)


def _shown(scenario: Scenario) -> list[str]:
    """Roles for a table: all, or the first of each kind where many CPUs do the same."""
    kinds = {role.doc or role.name: role.name for role in reversed(scenario.roles)}
    return [role.name for role in scenario.roles if role.name in kinds.values()]


def _processes(count: int) -> Callable[[], ProcessPoolExecutor] | None:
    """What makes a pool of so many processes; None, for threads, without any."""
    return partial(ProcessPoolExecutor, count, mp_context=get_context("spawn")) if count else None


def _print_json(document: Any) -> int:
    print(json.dumps(document, indent=1, ensure_ascii=False))
    return DONE


def show_list(options: argparse.Namespace, rest: list[str]) -> int:
    """The scenarios, or the knobs of one."""
    if options.name:
        options.machine = None
    shown = [_load(options)] if options.name else [scenarios.load(name) for name in scenarios.names()]
    if options.json:
        documents = [
            {"name": s.name, "title": s.title, "varies": s.varies, "patches": list(s.patches),
             "replications": s.replications, "knobs": [k.to_dict() for k in s.knobs]}
            for s in shown
        ]
        return _print_json(documents[0] if options.name else documents)
    if not options.name:
        display.table(
            "",
            ["scenario", "patches", "what it is"],
            [[s.name, ", ".join(s.patches), s.title] for s in shown],
        )
        return DONE
    scenario = shown[0]
    print(f"{scenario.name}: {scenario.title}\nThe seed varies {scenario.varies}.\n")
    rows = [
        [k.name, str(k.default), allowed(k), k.effect,
         " ".join(filter(None, (k.doc, k.why, k.kernel and f"({k.kernel})")))]
        for k in scenario.knobs
    ]
    display.table("Knobs", ["knob", "default", "range", "effect", "what it does"], rows, ["default"])
    return DONE


def run_scenario(options: argparse.Namespace, rest: list[str]) -> int:
    """Run a scenario: rates, busy CPUs, profiles."""
    scenario = _load(options)
    chosen = words.knobs(scenario, rest)
    compiled.announce()
    result = scenario.run(
        seed=options.seed, replications=options.replications, threads=options.threads, **chosen
    )
    if options.json:
        return _print_json(result.to_dict())
    changed = " ".join(f"{name}={value}" for name, value in chosen.items()) or "defaults"
    print(
        f"{result.scenario}: {changed}; {len(result.replications)} replications from seed {result.seed}, "
        f"engine {result.engine}\n"
    )
    rows = [[name, display.number(e.mean), e.unit, display.interval(e)] for name, e in result.metrics.items()]
    rows += [
        [f"{role} busy", display.number(e.mean), "%", display.interval(e)]
        for role, e in ((role, result.cpu_estimate(role)) for role in _shown(scenario))
    ]
    display.table("", ["metric", "mean", "unit", "95 % interval"], rows, ["mean"])
    for role in _shown(scenario):
        top = list(result.profile_estimates(role).items())[:SYMBOLS_SHOWN]
        print()
        display.table(
            f"Where {role}'s time goes",
            ["share, %", "95 % interval", "symbol"],
            [[display.number(e.mean), display.interval(e), symbol] for symbol, e in top],
            ["share, %"],
        )
    return DONE


def show_diff(options: argparse.Namespace, rest: list[str]) -> int:
    """What a switch changes in the program."""
    scenario = _load(options)
    key = options.key.replace("-", "_")
    if scenario.knob(key).kind != "switch":
        switches = [k.name for k in scenario.knobs if k.kind == "switch"]
        raise Mistake(f"{key} is not a switch; there are {', '.join(switches)}")
    chosen = words.knobs(scenario, rest)
    text = scenario.diff(key, **chosen)
    if options.json:
        return _print_json({"scenario": scenario.name, "key": key, "knobs": chosen, "diff": text})
    if text.strip():
        print(text, end="")
    else:
        others = "".join(f" --{name} {value}" for name, value in scenario.knob(key).shows_with if name not in chosen)
        hint = f"; its effect shows with{others}" if others else "; what it moves is a layout"
        print(f"{key} changes no instruction at this setting{hint}", file=sys.stderr)
    return DONE


def show_listing(options: argparse.Namespace, rest: list[str]) -> int:
    """The program at one setting."""
    scenario = _load(options)
    chosen = words.knobs(scenario, rest)
    text = scenario.listing(**chosen)
    if options.json:
        return _print_json({"scenario": scenario.name, "knobs": scenario.settings(**chosen), "listing": text})
    print(text, end="")
    return DONE


def run_validation(options: argparse.Namespace, rest: list[str]) -> int:
    """The figures of the threads beside the simulation's, misses counted first."""
    if options.thread and options.thread not in reported.threads():
        raise Mistake(
            f"no figures of a thread {options.thread!r}; {nearest(options.thread, reported.threads())}"
        )
    compiled.announce()
    with Progress("validate") as progress:
        rows = validate.rows(
            options.thread, seed=options.seed, replications=options.replications, progress=progress
        )
    if options.json:
        return _print_json(rows)
    columns = ["thread", "figures", "given", "hits", "misses", "rates and CPUs predicted", "of them missed"]
    display.table(
        "Verdicts",
        columns,
        [
            [c.thread, *map(str, (c.figures, c.given, c.hits, c.misses, c.predicted, c.predicted_misses))]
            for c in validate.counts(rows)
        ],
        columns[1:],
    )
    print()
    display.table(
        "Figures",
        ["figure", "reported", "simulated", "95 % interval", "range", "unit", "error", "role", "verdict"],
        [
            [r["figure"], display.number(r["reported"]), display.number(r["simulated"]),
             display.span(r["low"], r["high"]), display.span(r["range_low"], r["range_high"]), r["unit"],
             _error(r), r["role"], validate.judgement(r)]
            for r in rows
        ],
        ["reported", "simulated", "error"],
    )
    if options.notes:
        for r in rows:
            print("\n  ".join(filter(None, (f"\n{r['figure']}: {r['verdict']}", r["source"], r["note"]))))
    return DONE


def _error(row: dict[str, Any]) -> str:
    if row["error_points"] is not None:
        return f"{row['error_points']:+.2f} points"
    return "-" if row["error_pct"] is None else f"{row['error_pct']:+.1f} %"


def run_sensitivity(options: argparse.Namespace, rest: list[str]) -> int:
    """The gain of each patch under other constants, written down thread by thread."""
    threads = sensitivity.threads()
    if options.thread and options.thread not in threads:
        raise Mistake(f"no conclusion of a thread {options.thread!r}; {nearest(options.thread, threads)}")
    compiled.announce()
    changed = {n: getattr(options, n) for n in ("trajectories", "constants") if getattr(options, n)}
    design = replace(study.DESIGN, **changed)
    pool = _processes(options.processes)
    made: list[dict[str, Any]] = []
    for thread in [options.thread] if options.thread else threads:
        old = [r for r in sensitivity.load() if r["thread"] == thread] if options.outdated else []
        if old and not any(map(sensitivity.outdated, old)):
            continue
        records = (study.confirmed(thread, old, pool) if old else None) or study.study(thread, design, pool)
        sensitivity.write(records)
        made += records
    if options.json:
        return _print_json(made)
    display.table(
        "Gains with each constant a quarter smaller and larger, and several at once",
        ["conclusion", "gain, %", "one at a time", "several", "sign kept", "lost with"],
        [
            [f"{r['thread']}: {r['figure']}", display.number(r["gain"]["mean"]), display.span(*sensitivity.span(r)),
             display.span(r["together"]["lowest"], r["together"]["highest"]), "yes" if r["survives"]["sign"] else "no",
             ", ".join(r["survives"]["sign_lost_with"])]
            for r in made
        ],
        ["gain, %"],
    )
    return DONE


def run_sweep(options: argparse.Namespace, rest: list[str]) -> int:
    """A scenario over the values of knobs."""
    scenario = _load(options)
    fixed = words.knobs(scenario, rest)
    over = words.over(scenario, options.over)
    compiled.announce()
    with Progress(f"sweep {scenario.name}") as progress:
        rows = sweep.sweep(
            scenario,
            over,
            _processes(options.processes),
            seed=options.seed,
            replications=options.replications,
            progress=progress,
            **fixed,
        )
    if options.json:
        return _print_json(rows)
    if options.csv:
        sweep.write_csv(rows, sys.stdout)
        return DONE
    metrics = [m.name for m in scenario.metrics[:4]] + [f"cpu_{role}" for role in _shown(scenario)]
    columns = [*over, *metrics, "status"]
    display.table(
        "",
        columns,
        [
            [*(str(r[name]) for name in over), *(display.number(r.get(m)) for m in metrics), r["status"]]
            for r in rows
        ],
        [*over, *metrics],
    )
    return DONE


def compile_engine(options: argparse.Namespace, rest: list[str]) -> int:
    """Compile the engine ahead."""
    if compiled.ready():
        print("the engine is compiled already")
        return DONE
    print(compiled.NOTICE, flush=True)
    print(f"done in {compiled.compile_ahead():.1f} s")
    return DONE


def show_machines(options: argparse.Namespace, rest: list[str]) -> int:
    """The machines, or the constants of one."""
    if options.name:
        one = machine.load(options.name)
        if options.json:
            return _print_json(one.to_dict())
        print(f"{one.name}: {one.title}\n{one.note}\n".rstrip() + "\n")
        columns = ["name", "value", "unit", "status", "source"]
        rows = [
            [str(r["name"]), display.number(int(r["value"])), *(str(r[c]) for c in columns[2:])]
            for r in one.table()
        ]
        display.table("", columns, rows, ["value"])
        return DONE
    every = [machine.load(name) for name in machine.names()]
    if options.json:
        return _print_json([m.to_dict() for m in every])
    rows = [[m.name, str(m.topology.cpus), str(m.topology.sockets), m.title] for m in every]
    display.table("", ["machine", "CPUs", "sockets", "what it is"], rows, ["CPUs", "sockets"])
    return DONE


def run_fit(options: argparse.Namespace, rest: list[str]) -> int:
    """Fit the constants that no source gives, and write them down."""
    from . import fit, fit_tcp_rx_skb_cache, fit_udpv6_early_demux  # nothing else needs them

    compiled.announce()
    rows: list[dict[str, Any]] = []
    for thread in (fit, fit_tcp_rx_skb_cache, fit_udpv6_early_demux):
        found = thread.fit(reported.values(thread.THREAD), log=lambda line: print(line, file=sys.stderr))
        fit.write(found)  # at once: a later thread on the same machine builds on it
        rows += found
    display.table(
        "Fitted constants", ["constant", "value", "unit", "fitted on"],
        [[r["constant"], display.number(r["value"]), r["unit"], r["fitted_on"]] for r in rows], ["value"],
    )
    return DONE
