"""`make fuzz`: engines against each other on cases of the corpus, for as long as one likes.

    python -m tests.sim.fuzz --minutes 5          other cases every time
    python -m tests.sim.fuzz --seed 123 --show    one case again, with its program
"""

from __future__ import annotations

import argparse
import sys
import time
from random import Random, SystemRandom
from typing import Any

from sim.engine.native import NativeEngine
from sim.reference import ReferenceEngine
from sim.wasm import stamp
from sim.wasm.host import WasmEngine
from tests.sim.engine import corpus
from tests.sim.engine.agreement import Disagreement, check
from tests.sim.engine.census import Census, missing


def engines() -> list[Any]:
    """The native engine, and WebAssembly if its module is that of the sources."""
    complaint = stamp.complaint()
    if complaint:
        print(f"without WebAssembly: {complaint}")
    return [NativeEngine(), *([] if complaint else [WasmEngine()])]


def one(seed: int, others: list[Any], census: Census) -> int:
    """Check the case of a seed; the instructions that were executed."""
    case = corpus.draw(Random(seed))
    machine = check(case, others, census.watch(ReferenceEngine().build(case.image)))
    census.close(machine)
    return machine.steps


def main(arguments: list[str] | None = None) -> int:
    """Run; the exit status is 1 if engines disagree."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, help="this one case only")
    parser.add_argument("--show", action="store_true", help="print the program")
    options = parser.parse_args(arguments)
    others, census = engines(), Census()
    seed = options.seed if options.seed is not None else SystemRandom().randrange(1 << 48)
    end = time.monotonic() + 60 * options.minutes
    cases = steps = 0
    with census.of_cpus():
        while cases == 0 or (options.seed is None and time.monotonic() < end):
            if options.show:
                print(corpus.draw(Random(seed)).listing())
            try:
                steps += one(seed, others, census)
            except Disagreement as difference:
                print(f"the engines disagree: {difference}")
                print(f"again: python -m tests.sim.fuzz --seed {seed} --show")
                return 1
            cases += 1
            seed += 1
    print(f"{cases} cases, {steps:,} instructions: {1 + len(others)} engines agree")
    rare = missing(census)
    if rare and options.seed is None:
        print("seldom: " + ", ".join(f"{name} {count}" for name, count in rare.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
