"""Mutants of sound specs: one word of the image, or one instruction, is something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.engine import opcodes as O
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.spec import Spec
from tests.sim.verifier.sound import CASES

NUMBERS = (
    -(1 << 40), -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 100, 1_000, 1 << 20, 1 << 31, 1 << 40, 1 << 62,
)


@dataclass(frozen=True)
class Mutant:
    """A changed image of a spec, and what was changed."""

    spec: Spec
    image: Array
    change: str


def mutants(count: int, seed: int) -> Iterator[Mutant]:
    """`count` mutants, the sound specs in turn; two of three changes are in the program."""
    rng = np.random.default_rng(seed)
    sound = [(spec, spec.image(knobs)) for spec, knobs in ((make(), knobs) for make, knobs in CASES)]
    for k in range(count):
        spec, image = sound[k % len(sound)]
        yield _mutant(spec, image.copy(), rng)


def _mutant(spec: Spec, image: Array, rng: np.random.Generator) -> Mutant:
    code, rows = int(image[T.S_CODE]), int(image[T.S_CODE + 1])
    kind = rng.integers(6)
    if kind < 4:
        address = int(rng.integers(rows))
        at = code + O.INSTRUCTION_WORDS * address
        if kind == 0:  # another opcode, the operands as they are
            image[at] = rng.integers(len(O.NAMES))
            return Mutant(spec, image, f"opcode of {address} is {image[at]}")
        if kind == 1:  # another instruction of the program
            other = code + O.INSTRUCTION_WORDS * int(rng.integers(rows))
            image[at : at + O.INSTRUCTION_WORDS] = image[other : other + O.INSTRUCTION_WORDS]
            return Mutant(spec, image, f"instruction {address} is a copy")
        operands = len(O.OPCODES[O.NAMES[image[at]]].operands)
        at += 1 + int(rng.integers(max(1, operands)))
    elif kind == 4:
        at = int(rng.integers(T.SPEC_HEADER_WORDS, image.shape[0]))
    else:
        at = int(rng.integers(image.shape[0]))
    before = int(image[at])
    if rng.integers(2):
        image[at] = before + int(rng.choice((-3, -2, -1, 1, 2, 3)))
    else:
        image[at] = int(rng.choice(NUMBERS))
    return Mutant(spec, image, f"word {at} is {image[at]}, not {before}")
