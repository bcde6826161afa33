"""``python -m sim host``: experiments on this kernel, from the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .. import display
from ..progress import Progress
from ..words import Mistake
from . import catalogue, own, report, tools
from .experiment import LARGEST_ROUNDS, LONGEST_S, bounded, perform
from .reading import MEANING, UNITS

DONE: Final = 0
BUSY: Final = 0.5


def declare(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add ``host`` and what it does to the project's command line; `command` makes a subcommand of `sim.cli`."""
    host = command("host", show, "experiments on this kernel, and what its machine costs")
    choices = host.add_subparsers(dest="host", metavar="what")
    sub = choices.add_parser("list", help="the experiments, and what this system lacks for them")
    sub.set_defaults(run=show)
    sub.add_argument("--json", action="store_true", help="JSON on standard output")
    text = "run one: both arms in turns, between network namespaces of its own"
    sub = choices.add_parser(
        "experiment", help=text, description=text[0].upper() + text[1:] + ".", epilog=_more(), allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    sub.set_defaults(run=experiment)
    sub.add_argument("name", help="an experiment, see host list")
    sub.add_argument("--seconds", type=float, default=1.0, help=f"length of a run, 0.1 to {LONGEST_S:g} (1)")
    sub.add_argument("--rounds", type=int, default=5, help=f"runs of each arm, 1 to {LARGEST_ROUNDS} (5)")
    sub.add_argument("--json", type=Path, metavar="FILE", help="write the readings down as well; - is standard output")
    sub.add_argument(
        "--perf", action="store_true",
        help="record each run as long again, and show the CPUs' time by the book's layers and symbols",
    )
    own.declare(choices)


def _more() -> str:
    """What stands below the options of ``host experiment --help``."""
    return "\n".join([
        "experiments:", *(f"  {e.name:28}{e.question}" for e in catalogue.EXPERIMENTS.values()), "",
        "numbers, each a mean over the rounds with Student's 95 % interval:",
        *(f"  {name:28}{f'{UNITS[name]}: ' if UNITS[name] else ''}{MEANING[name]}" for name in UNITS), "",
        "Needs root on Linux. All that is set up ends with the command, however it ends; nothing outside is changed.",
        "status: 0 done, 1 this system cannot, or a run failed, 2 a mistake on the command line, 130 interrupted",
    ])


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
    try:
        chosen = catalogue.find(options.name)
        bounded(options.seconds, options.rounds)
    except ValueError as error:
        raise Mistake(str(error)) from None
    target = options.json
    if target is not None and str(target) != "-" and not target.resolve().parent.is_dir():
        raise Mistake(f"--json {target}: there is no folder {target.resolve().parent}")
    whole = options.rounds * len(chosen.arms)
    done = 0
    with Progress(chosen.name) as progress:

        def told(_: str) -> None:
            nonlocal done
            progress(done, whole)
            done += 1

        outcome = perform(chosen, options.seconds, options.rounds, told, options.perf)
    if outcome.machine["load_average"] > BUSY:
        print(f"other programs ran before: load average {outcome.machine['load_average']:.1f}; expect wide intervals",
              file=sys.stderr)
    document = outcome.to_dict()
    if str(target) == "-":
        print(json.dumps(document, indent=1))
        return DONE
    if target is not None:
        _write(target, document)
    report.show(chosen, outcome)
    return DONE


def _write(target: Path, document: dict[str, Any]) -> None:
    """All of it or nothing: an interrupted write leaves the old file."""
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        unfinished.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    print(f"written to {target}", file=sys.stderr)
