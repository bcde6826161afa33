"""The registers that the parts of the path agree on. A softirq and a thread have sixteen each.

The first holds the packet, so the trace ring can follow one.
"""

from __future__ import annotations

from typing import Final

from ..engine.opcodes import CPU_REGISTER, INDEX_REGISTER
from ..program import Register

SKB: Final = Register(0, "skb")  # the packet in hand
PAGE: Final = Register(1, "page")
FRAME: Final = Register(2, "frame")  # a receive descriptor's buffer
FLOW: Final = Register(3, "flow")  # the socket of the packet in hand, or of the reader
BUDGET: Final = Register(4, "budget")  # packets left in this net_rx_action
LEFT: Final = Register(5, "left")  # bytes that the read may still take
COPIED: Final = Register(6, "copied")  # bytes that it has taken
ASIDE: Final = Register(7, "aside")  # the packet put aside while others are freed
N: Final = Register(8, "n")
M: Final = Register(9, "m")
K: Final = Register(10, "k")
SLOT: Final = Register(11, "slot")
OTHER: Final = Register(12, "other")  # another CPU, or a thread or agent to wake
INDEX: Final = Register(INDEX_REGISTER, "index")
CPU: Final = Register(CPU_REGISTER, "cpu")
RXQ: Final = Register(13, "rxq")  # a receive queue of the NIC
