"""A measured profile: which symbols, on which CPU; as a result that the widgets show beside a run.

Names of today's kernels are brought to those of the book where both mean the same work, and the compiler's endings go
(``.isra.0``): the table is `SAME`.  Everything else keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ...result import Replication, Result

PARTS: Final = 5  # a recording with times is cut into so many of equal busy time, for intervals
USER: Final = "user code"
#: A symbol of a newer or another kernel, and the book's name for the same work.
SAME: Final = {
    "_copy_to_iter": "copy_user_enhanced_fast_string",  # inlines it since 6.4
    "rep_movs_alternative": "copy_user_enhanced_fast_string",
    "copy_user_generic_string": "copy_user_enhanced_fast_string",
    "copy_user_generic_unrolled": "copy_user_enhanced_fast_string",
    "__arch_copy_to_user": "copy_user_enhanced_fast_string",  # arm64
    "copyout": "copy_user_enhanced_fast_string",
    "handle_softirqs": "__do_softirq",  # split off in 6.10
    "asm_sysvec_apic_timer_interrupt": "asm_common_interrupt",
    "skb_copy_datagram_iter": "__skb_datagram_iter",
    "entry_SYSCALL_64_after_hwframe": "entry_SYSCALL_64",
    "do_syscall_64": "entry_SYSCALL_64",
    "syscall_return_via_sysret": "entry_SYSCALL_64",
    "native_queued_spin_lock_slowpath": "_raw_spin_lock",
    "queued_spin_lock_slowpath": "_raw_spin_lock",
    "_raw_spin_lock_bh": "_raw_spin_lock",
    "_raw_spin_lock_irqsave": "_raw_spin_lock",
    "free_frozen_pages": "free_unref_page",  # renamed in 6.14
    "free_unref_folios": "free_unref_page",
    "skb_page_unref": "put_page",
    "memcpy_orig": "memcpy_erms",
    "memcpy": "memcpy_erms",
}
_ENDINGS: Final = re.compile(r"(\.(isra|constprop|part|cold|llvm)(\.\d+)*|_noprof)+$")


def book_name(symbol: str) -> str:
    """The book's name for a symbol of a running kernel; the plain symbol if there is none."""
    plain = _ENDINGS.sub("", symbol.removeprefix("__pi_"))
    return SAME.get(plain, plain)


@dataclass(frozen=True)
class Sample:
    """A row of a report or a sample of a recording: its weight is per cent, or nanoseconds or events."""

    symbol: str
    weight: float
    kernel: bool = True
    cpu: int | None = None
    command: str = ""
    time_s: float | None = None


@dataclass(frozen=True)
class Profile:
    """What a file of perf says.

    Attributes
    ----------
    name, source
        The file; which of perf's outputs it is.
    """

    name: str
    samples: Sequence[Sample] = field(repr=False)
    source: str = "perf"

    @property
    def cpus(self) -> list[int]:
        """CPUs that the file tells apart."""
        return sorted({s.cpu for s in self.samples if s.cpu is not None})

    def only(self, *, cpu: int | None = None, command: str | None = None) -> Profile:
        """One CPU's or one command's part. Raises ValueError with what there is if that leaves nothing."""
        kept = [
            s for s in self.samples if (cpu is None or s.cpu == cpu) and (command is None or s.command == command)
        ]
        if not kept:
            commands = ", ".join(sorted({s.command for s in self.samples if s.command})) or "none told apart"
            cpus = ", ".join(map(str, self.cpus)) or "none told apart"
            raise ValueError(f"{self.name}: nothing of it; CPUs: {cpus}; commands: {commands}")
        return replace(self, samples=kept)

    def shares(self, translate: bool = True) -> dict[str, float]:
        """Per cent by symbol of all that is not idle, largest first; code of programs is one entry."""
        return _shares(self.samples, translate)

    def parts(self, number: int = PARTS) -> list[dict[str, float]]:
        """The shares of consecutive stretches of equal busy time; of the whole alone if the file has no times.

        A sample on a border is divided, so that the mean of the parts is the share of the whole.
        """
        if any(s.time_s is None for s in self.samples):
            return [self.shares()]
        busy = sorted((s for s in self.samples if s.symbol not in IDLE), key=lambda s: s.time_s or 0.0)
        each = sum(s.weight for s in busy) / number
        if len(busy) < number or busy[0].time_s == busy[-1].time_s or each <= 0:
            return [self.shares()]
        bins: list[list[Sample]] = [[] for _ in range(number)]
        at, room = 0, each
        for s in busy:
            left = s.weight
            while left > room and at < number - 1:
                bins[at].append(replace(s, weight=room))
                left, at, room = left - room, at + 1, each
            bins[at].append(replace(s, weight=left))
            room -= left
        return [_shares(one, True) for one in bins]

    def beside(self, run: Result, role: str) -> Result:
        """This profile in the form of `run`, so that ``Profile(run, measured)`` draws both.

        Parameters
        ----------
        role
            The role of the run that it is compared with; the other roles stay empty.

        Raises
        ------
        KeyError
            for a role that the run has not.
        ValueError
            if nothing but idling was recorded.
        """
        if role not in run.cpu:
            raise KeyError(f"no role {role!r}; there are {', '.join(run.cpu)}")
        parts = self.parts()
        if not parts[0]:
            raise ValueError(f"{self.name}: only idle CPUs in it")
        replications = tuple(
            Replication(
                seed, {}, {}, {name: 100.0 if name == role else 0.0 for name in run.cpu},
                {name: shares if name == role else {} for name in run.cpu}, 0, "measured",
            )
            for seed, shares in enumerate(parts, 1)
        )
        return Result(run.scenario, run.knobs, 1, f"{self.source}: {self.name}", replications, {})


IDLE: Final = frozenset({
    "pv_native_safe_halt", "native_safe_halt", "default_idle", "acpi_idle_do_entry", "intel_idle", "poll_idle",
    "mwait_idle", "cpu_idle_poll", "acpi_safe_halt", "arch_cpu_idle", "cpuidle_enter_state", "io_idle", "do_idle",
    "intel_idle_irq", "mwait_idle_with_hints", "cpu_startup_entry",
})


def _shares(samples: Sequence[Sample], translate: bool) -> dict[str, float]:
    sums: dict[str, float] = {}
    for s in samples:
        if s.symbol in IDLE:
            continue
        name = USER if not s.kernel else book_name(s.symbol) if translate else s.symbol
        sums[name] = sums.get(name, 0.0) + s.weight
    total = sum(sums.values())
    if total <= 0:
        return {}
    return {name: 100 * w / total for name, w in sorted(sums.items(), key=lambda item: (-item[1], item[0]))}
