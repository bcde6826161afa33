"""What instructions ask of their operands: registers that are set, rows and items that exist."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine import opcodes as O
from ..engine import tables as T
from .image import Image
from .state import Held, State
from .types import OWNED, Known, Range, constant
from .unsound import Unsound


@dataclass
class Operands:
    """Operands of an image's instructions, executed by contexts of one kind. All methods raise `Unsound`."""

    image: Image
    kind: int = T.SOFTIRQ

    def _read(self, address: int, state: State, register: int) -> Known:
        content = state.registers[register]
        if content is None:
            raise self._no(address, f"r{register} is read but not set on every way here")
        return content

    def _source(self, address: int, state: State, register: int, number: int) -> Known:
        return constant(number) if register < 0 else self._read(address, state, register)

    def _target(self, address: int, register: int) -> int:
        if self.kind == T.SOFTIRQ and register in (O.INDEX_REGISTER, O.CPU_REGISTER):
            raise self._no(address, f"r{register} is preset for all softirqs of a CPU: it may not be written")
        return register

    def _define(
        self, address: int, state: State, register: int, bounds: Range, domain: int = -1, item: int = OWNED
    ) -> State:
        return state.defined(self._target(address, register), bounds, domain, address, item)

    def _row(self, address: int, state: State, register: int, domain: int, what: str) -> None:
        if register >= 0:
            self._index(address, self._read(address, state, register), register, domain, f"rows of {what}")
        elif self.image.count(domain) < 1:
            raise self._no(address, f"{what} has no rows")

    def _index(self, address: int, content: Known, register: int, domain: int, what: str) -> None:
        if content.domain not in (-1, domain):
            other = self._domain(content.domain)
            raise self._no(address, f"r{register} refers to {other}; {what} are {self._domain(domain)}")
        last = self.image.count(domain) - 1
        if not content.within(0, last):
            text = "may be none" if content.domain >= 0 and content.low == -1 else f"is {content.text()}"
            raise self._no(address, f"r{register} {text}; {what} go from 0 to {last}")

    def _below(self, address: int, state: State, register: int, count: int, what: str) -> None:
        content = self._read(address, state, register)
        if not content.within(0, count - 1):
            raise self._no(address, f"r{register} is {content.text()}; {what} go from 0 to {count - 1}")

    # -- words ----------------------------------------------------------------------------------------------

    def _domain(self, number: int) -> str:
        return self.image.name("domains", number)

    def _lock_text(self, held: Held) -> str:
        return f"{self.image.name('locks', held.locks)} (taken at {held.address})"

    def _no(self, address: int, reason: str) -> Unsound:
        return self.image.unsound(address, reason)
