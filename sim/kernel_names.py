"""Symbols that programs charge time to, and that the kernel in question does not have under this name.

All others are functions of the kernel that a program is written from.  These are of two kinds: names of the book's
own, where the kernel has one for each driver or processor, and stand-ins, names of another version or processor.

>>> note("driver_rx", ["udpv6-early-demux"]).partition(": ")[0]
"a name of the book's own"
>>> note("tcp_v6_rcv", ["lab"])
''
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class StandIn:
    """A name of another kernel than that of some scenarios: where it is right, and what is there instead."""

    right: str
    instead: str
    scenarios: frozenset[str]


#: Names that no kernel has, and the work that they stand for.
OWN: Final = {
    "driver_rx": "what the driver of a small machine's NIC does with a packet's bytes",
    "driver_rx_poll": "the poll function of the NIC's driver, which each driver calls differently",
    "entry_syscall": "the entry of a system call, whatever the processor",
}
_QUEUED: Final = StandIn(
    "ticket locks, on x86 before 4.2", "who waits for a queued lock is charged to native_queued_spin_lock_slowpath",
    frozenset({"lab", "tcp-5.17", "tcp-rx-skb-cache"}),
)
STAND_INS: Final = {
    "__copy_to_user": StandIn(
        "arm64 before 4.8", "the copy is __arch_copy_to_user there, on x86 copy_user_enhanced_fast_string",
        frozenset({"lab", "udpv6-early-demux"}),
    ),
    "_raw_spin_lock": _QUEUED,
    "_raw_spin_lock_bh": StandIn(_QUEUED.right, _QUEUED.instead, frozenset({"lab"})),
    "asm_common_interrupt": StandIn(
        "x86 from 5.8 on", "the entry of an interrupt has other names",
        frozenset({"tcp-prequeue", "tcp-rx-skb-cache", "udpv6-early-demux"}),
    ),
    "netif_receive_skb_internal": StandIn(
        "GRO of older kernels", "in 5.17 it hands packets on in lists, to netif_receive_skb_list_internal",
        frozenset({"lab", "tcp-5.17"}),
    ),
    "smp_call_function_single_interrupt": StandIn(
        "x86 before 5.8", "it is sysvec_call_function_single since, and handle_IPI on arm64",
        frozenset({"lab", "udpv6-early-demux"}),
    ),
}


def note(symbol: str, scenarios: Sequence[str]) -> str:
    """What to say of a symbol that some scenarios charge; empty if it is the kernel's name in all of them."""
    if symbol in OWN:
        return f"a name of the book's own: {OWN[symbol]}"
    stand_in = STAND_INS.get(symbol)
    here = [name for name in scenarios if stand_in and name in stand_in.scenarios]
    if stand_in is None or not here:
        return ""
    where = "a" if len(here) == len(scenarios) else f"in {', '.join(here)} a"
    return f"{where} stand-in: the name is right for {stand_in.right}; {stand_in.instead}"
