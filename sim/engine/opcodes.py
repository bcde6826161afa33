"""The instruction set, declared once as data.

Everything that must agree on an instruction reads this table: the assembler, the verifier, `build`, the
native and WebAssembly engine, the SimPy reference and the listings in the book. An instruction is eight
words in the spec and in the arena: ``op a b c d e symbol mask``.

Operand kinds
    ``number``    an integer, or (if its bit in the mask is set) the index of a row of the values table,
                  which `build` replaces by that row's number
    ``reg``       a register read; ``reg?`` may be -1, which stands for row 0 or for the immediate
    ``dst``       a register written
    ``target``    a code address; ``target?`` may be -1: then the event is a result of the run
    ``table``, ``column``, ``lines``, ``locks``, ``queue``   sets declared by the spec
    ``stat``, ``vector``, ``cond``, ``fn``, ``access``, ``draw``, ``end``, ``who``   small enumerations
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Operand(NamedTuple):
    """One operand word: its name in listings and its kind (see the module's text)."""

    name: str
    kind: str


class Opcode(NamedTuple):
    """One instruction: its number, its operands in word order, what it does in one line."""

    number: int
    operands: tuple[Operand, ...]
    meaning: str


def _declare() -> dict[str, Opcode]:
    rows: list[tuple[str, str, str]] = [
        ("WORK", "ps:number by:reg? fs:number copy:number",
         "compute for ps + R[by] * fs / 1000; copy=1 streams R[by] bytes through the caches, source and destination"),
        ("ACCESS", "kind:access lines:lines row:reg? line:number",
         "read, write or atomically change a cache line; the transfer costs what the machine says"),
        ("LOCK", "locks:locks row:reg?", "take a spinlock; spin in arrival order while it is held"),
        ("UNLOCK", "locks:locks row:reg?", "release a spinlock; the next waiter gets it after the hand-over"),
        ("PUSH", "queue:queue row:reg? item:reg full:target? end:end",
         "append an item to a queue (or put it in front)"),
        ("POP", "queue:queue row:reg? dst:dst empty:target?", "take the first item of a queue"),
        ("PEEK", "queue:queue row:reg? dst:dst empty:target?", "look at the first item of a queue"),
        ("SPLICE", "queue:queue row:reg? to:queue to_row:reg?", "move all items to the tail of another queue"),
        ("QLEN", "queue:queue row:reg? dst:dst", "length of a queue"),
        ("JUMP", "to:target", "go on elsewhere"),
        ("LOOP", "count:dst to:target", "decrement; jump while it is above zero"),
        ("CALL", "to:target", "enter a subroutine"),
        ("RET", "", "return from a subroutine"),
        ("BRANCH", "cond:cond a:reg b:reg? value:number to:target", "jump if R[a] cond R[b] (or the value)"),
        ("KEY", "on:number off:target", "a patched branch: jump if the key is off; costs no time"),
        ("SET", "dst:dst src:reg? value:number", "R[dst] = R[src] (or the value)"),
        ("ALU", "fn:fn dst:dst a:reg b:reg? value:number", "R[dst] = R[a] fn R[b] (or the value)"),
        ("LOAD", "table:table column:column row:reg? dst:dst", "R[dst] = a cell; costs no time"),
        ("STORE", "table:table column:column row:reg? src:reg? value:number", "a cell = R[src] (or the value)"),
        ("ADD", "table:table column:column row:reg? src:reg? value:number", "a cell += R[src] (or the value)"),
        ("RAISE", "cpu:reg? vector:vector delay_ps:number", "interrupt a CPU after a delay (timer, IPI, NIC)"),
        ("END", "", "leave the softirq"),
        ("WAKE", "who:who row:reg delay_ps:number",
         "make a sleeping thread or agent runnable; the delay is an agent's or an idle CPU's"),
        ("SLEEP", "", "sleep until woken; a wake-up that came first is not lost"),
        ("YIELD", "", "go to the tail of the CPU's run queue"),
        ("RAND", "dst:dst draw:draw n:number", "uniform in 0..n-1, or exponential with mean n"),
        ("NOW", "dst:dst", "the time in ps"),
        ("COUNT", "stat:stat src:reg? value:number", "a counter += R[src] (or the value)"),
        ("HALT", "", "end the context"),
    ]
    table: dict[str, Opcode] = {}
    for number, (name, operands, meaning) in enumerate(rows):
        parsed = tuple(Operand(*part.split(":")) for part in operands.split())
        table[name] = Opcode(number, parsed, meaning)
    return table


OPCODES: Final = _declare()
NAMES: Final = tuple(OPCODES)

# Numba takes module-level integers as constants, so the engine reads these names.
(
    WORK, ACCESS, LOCK, UNLOCK, PUSH, POP, PEEK, SPLICE, QLEN, JUMP, LOOP, CALL, RET, BRANCH, KEY, SET, ALU,
    LOAD, STORE, ADD, RAISE, END, WAKE, SLEEP, YIELD, RAND, NOW, COUNT, HALT,
) = range(len(NAMES))

READ, WRITE, ATOMIC = range(3)
ACCESS_KINDS: Final = ("read", "write", "atomic")

EQ, NE, LT, LE, GT, GE = range(6)
CONDITIONS: Final = ("==", "!=", "<", "<=", ">", ">=")

PLUS, MINUS, TIMES, OVER, MODULO, MINIMUM, MAXIMUM, BITAND, BITOR, BITXOR, SHIFT_LEFT, SHIFT_RIGHT = range(12)
ALU_FUNCTIONS: Final = ("+", "-", "*", "//", "%", "min", "max", "&", "|", "^", "<<", ">>")

TAIL, FRONT = range(2)
ENDS: Final = ("tail", "front")
UNIFORM, EXPONENTIAL = range(2)
DRAWS: Final = ("uniform", "exponential")
THREADS, AGENTS = range(2)
WHO: Final = ("thread", "agent")

INSTRUCTION_WORDS: Final = 8
SYMBOL_WORD: Final = 6
MASK_WORD: Final = 7
REGISTERS: Final = 16
STACK_DEPTH: Final = 8
VECTOR_COUNT: Final = 4
INDEX_REGISTER: Final = 14  # preset: this thread's or agent's index in its spawn row
CPU_REGISTER: Final = 15  # preset: the CPU that runs the context (an agent: 0)
