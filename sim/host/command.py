"""``python -m sim host``: experiments on this kernel, from the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import display
from ..progress import Progress
from . import catalogue, own, tools
from .experiment import LARGEST_ROUNDS, LONGEST_S, Experiment, Outcome, perform
from .load import UNITS

DONE = 0


def declare(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add ``host`` and what it does to the project's command line; `command` makes a subcommand of `sim.cli`."""
    host = command("host", show, "experiments on this kernel, and what its machine costs")
    choices = host.add_subparsers(dest="host", metavar="what")
    sub = choices.add_parser("list", help="the experiments, and what this system lacks for them")
    sub.set_defaults(run=show)
    sub.add_argument("--json", action="store_true", help="JSON on standard output")
    sub = choices.add_parser("experiment", help="run one: both arms in turns, between namespaces of its own")
    sub.set_defaults(run=experiment)
    sub.add_argument("name", help="an experiment, see host list")
    sub.add_argument("--seconds", type=float, default=1.0, help=f"length of a run, 0.1 to {LONGEST_S:g} (1)")
    sub.add_argument("--rounds", type=int, default=5, help=f"runs of each arm, 1 to {LARGEST_ROUNDS} (5)")
    sub.add_argument("--json", type=Path, metavar="FILE", help="write the readings down as well; - is standard output")
    own.declare(choices)


def show(options: argparse.Namespace, rest: list[str]) -> int:
    """What can be tried here."""
    rows = []
    for each in catalogue.EXPERIMENTS.values():
        lacks = tools.missing(each.needs)
        rows.append((each, "yes" if not lacks else f"no: {lacks[0].name}, {lacks[0].remedy}"))
    if getattr(options, "json", False):
        print(json.dumps([{"name": e.name, "question": e.question, "arms": list(e.arms), "here": h} for e, h in rows],
                         indent=1))
        return DONE
    display.table(
        "Experiments on this kernel", ["name", "question", "arms", "here"],
        [[e.name, e.question, ", ".join(e.arms), here] for e, here in rows],
    )
    return DONE


def experiment(options: argparse.Namespace, rest: list[str]) -> int:
    """Run one and show it. Raises what `sim.host.experiment.perform` raises."""
    chosen = catalogue.find(options.name)
    target = options.json
    if target is not None and str(target) != "-" and not target.resolve().parent.is_dir():
        raise ValueError(f"--json {target}: there is no folder {target.resolve().parent}")
    whole = options.rounds * len(chosen.arms)
    done = 0
    with Progress(chosen.name) as progress:

        def told(_: str) -> None:
            nonlocal done
            progress(done, whole)
            done += 1

        outcome = perform(chosen, options.seconds, options.rounds, told)
    document = outcome.to_dict()
    if str(target) == "-":
        print(json.dumps(document, indent=1))
        return DONE
    if target is not None:
        _write(target, document)
    table(chosen, outcome)
    return DONE


def table(chosen: Experiment, outcome: Outcome) -> None:
    """The arms side by side, each number with its interval, and the change in what was asked."""
    print(chosen.question)
    arms = list(outcome.readings)
    names = [n for n in UNITS if n in outcome.readings[arms[0]][0].numbers]
    rows = []
    for name in names:
        row = [name, UNITS[name]]
        for arm in arms:
            found = outcome.estimate(arm, name)
            row += [display.number(found.mean), display.span(found.low, found.high)]
        rows.append(row)
    columns = ["", "unit", *(c for arm in arms for c in (arm, "95 % interval"))]
    display.table("", columns, rows, arms)
    for arm in arms[1:]:
        change = outcome.change(arm, chosen.answers)
        if change is None:
            print(f"{chosen.answers}: {arm} against {arms[0]}: no change can be stated, {arms[0]} showed 0")
        else:
            print(f"{chosen.answers}: {arm} against {arms[0]}: {change.mean:+.1f} % "
                  f"({change.low:+.1f} to {change.high:+.1f}, round by round)")
    print(chosen.expect)


def _write(target: Path, document: dict[str, Any]) -> None:
    """All of it or nothing: an interrupted write leaves the old file."""
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        unfinished.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    print(f"written to {target}", file=sys.stderr)
