"""The command line: ``python -m sim``, then what to do. `sim.commands` does it.

Each command prints tables for people, or with ``--json`` the contract's JSON on standard output. What is said
on the way (progress, that the engine is compiled) goes to standard error.

Status: 0 done, 1 the run ended early or could not be done, 2 a mistake on the command line, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from . import commands
from .commands import DONE
from .host.command import declare as declare_host
from .knob import KnobError
from .machine import MachineError
from .schema import nearest
from .words import Mistake

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130


class _Parser(argparse.ArgumentParser):
    commands: dict[str, argparse.ArgumentParser]

    def error(self, message: str) -> NoReturn:
        raise Mistake(f"{message}; python -m sim{self.prog.partition('sim')[2]} --help says more")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status."""
    try:
        parser = _parser()
        words, rest = _apart(parser, list(sys.argv[1:] if argv is None else argv))
        options = parser.parse_args(words)
        if options.command is None:
            parser.print_help()
            return MISTAKE
        command: Callable[[argparse.Namespace, list[str]], int] = options.run
        return command(options, rest)
    except (Mistake, KnobError, MachineError) as error:
        return _say(str(error), MISTAKE)
    except (ValueError, RuntimeError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of the pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        return _say(str(error), FAILED)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)


def _say(text: str, status: int) -> int:
    for line in text.splitlines():
        print(f"error: {line}" if status != INTERRUPTED else line, file=sys.stderr)
    return status


def _apart(parser: _Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Words for argparse, and those that set knobs: options that the command itself does not have."""
    if words and not words[0].startswith("-") and words[0] not in parser.commands:
        raise Mistake(f"no command {words[0]!r}; {nearest(words[0], parser.commands)}")
    command = parser.commands.get(words[0]) if words else None
    own: list[str] = []
    rest: list[str] = []
    place = own
    for word in words:
        if word.startswith("--") and command is not None and command.get_default("knobs"):
            name, equals, _ = word.partition("=")
            known = name in command._option_string_actions
            (own if known else rest).append(word)
            place = own if known or equals else rest  # the next word is the knob's value
            continue
        place.append(word)
        place = own
    return own, rest


def _parser() -> _Parser:
    parser = _Parser(prog="python -m sim", description="Runs the receive path.", allow_abbrev=False)
    choices = parser.add_subparsers(dest="command", metavar="command", parser_class=_Parser)

    def command(name: str, run: Callable[..., int], text: str) -> argparse.ArgumentParser:
        sub = choices.add_parser(name, help=text, description=text, allow_abbrev=False)
        sub.set_defaults(run=run, knobs=False)
        return sub

    def with_json(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--json", action="store_true", help="JSON on standard output")

    def with_scenario(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("name", help="a scenario, see list")
        sub.add_argument("--machine", metavar="FILE", help="a machine by name, or a file of your own")
        sub.usage = f"{sub.prog} NAME [--knob VALUE ...] [options]; the knobs are in: python -m sim list NAME"
        sub.set_defaults(knobs=True)
        with_json(sub)

    def with_seeds(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--seed", type=_number, default=1, help="first seed (1)")
        sub.add_argument("--replications", type=_number, help="how many seeds from it")

    sub = command("list", commands.show_list, "the scenarios, or the knobs of one")
    sub.add_argument("name", nargs="?")
    with_json(sub)
    sub = command("run", commands.run_scenario, "run a scenario: rates, busy CPUs, profiles")
    with_scenario(sub)
    with_seeds(sub)
    sub.add_argument(
        "--threads", type=_number, default=2, help="threads to run on (2); the numbers are the same"
    )
    sub = command("diff", commands.show_diff, "what a switch changes in the program")
    with_scenario(sub)
    sub.add_argument("key", help="a switch of the scenario")
    sub = command("listing", commands.show_listing, "the program at one setting")
    with_scenario(sub)
    sub = command("validate", commands.run_validation, "the figures of the threads beside the simulation's")
    sub.add_argument("--thread", help="one thread only")
    sub.add_argument(
        "--notes", action="store_true", help="print the notes and where each figure stands as well"
    )
    with_json(sub)
    with_seeds(sub)
    sub = command("sensitivity", commands.run_sensitivity, "the gain of each patch under other constants")
    sub.add_argument("--thread", help="one thread only")
    sub.add_argument("--trajectories", type=_number, help="paths of Morris's design (6)")
    sub.add_argument("--constants", type=_number, help="how many constants it varies (8)")
    sub.add_argument("--outdated", action="store_true", help="only what no longer fits the engine or the scenario")
    sub.add_argument("--processes", type=_number, default=0, help="run on so many processes instead of threads")
    with_json(sub)
    sub = command("sweep", commands.run_sweep, "a scenario over the values of knobs")
    with_scenario(sub)
    with_seeds(sub)
    sub.add_argument(
        "--over", action="append", required=True, metavar="KNOB=A,B,C", help="a knob and its values"
    )
    sub.add_argument("--csv", action="store_true", help="CSV on standard output")
    sub.add_argument(
        "--processes", type=_number, default=0, help="run on so many processes instead of threads"
    )
    command("compile", commands.compile_engine, "compile the engine ahead, so that no run waits for it")
    sub = command("machines", commands.show_machines, "the machines, or the constants of one")
    sub.add_argument("name", nargs="?")
    with_json(sub)
    command(
        "fit", commands.run_fit, "fit the constants that no source gives, on figures from before the patches"
    )
    declare_host(command)
    parser.commands = dict(choices.choices)
    return parser


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_number.__name__ = "number above 0"  # argparse puts it into its message
