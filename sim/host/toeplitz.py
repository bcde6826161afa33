"""The hash by which network cards spread flows over queues (RSS), and what Linux does with it.

Toeplitz hash as Microsoft specified it for RSS: the key is slid along the input bit by bit, and the 32 bits of key
above each set bit are added without carry.  A driver fills the card's indirection table with queue ``i % queues``
(`ethtool_rxfh_indir_default`), and the hash's low bits pick the entry.  RPS takes the same hash, if the card gives it,
and scales it to the CPUs of its mask (`reciprocal_scale`): the *high* bits decide.

>>> key = MICROSOFT_KEY
>>> f"{toeplitz(key, flow_input('66.9.149.187', '161.142.100.80', 2794, 1766)):08x}"
'51ccc178'
"""

from __future__ import annotations

import ipaddress
from typing import Final

#: The key of the specification's test vectors; drivers draw their own at boot (`netdev_rss_key_fill`).
MICROSOFT_KEY: Final = bytes.fromhex(
    "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"
)
KEY_BYTES: Final = 40
TABLE_ENTRIES: Final = 128  # ixgbe and mlx5's default channels; others have 64 to 512


def parse_key(text: str) -> bytes:
    """A key as ``ethtool -x`` prints it, forty bytes in hexadecimal with or without colons. Raises ValueError."""
    digits = text.replace(":", "").strip()
    try:
        key = bytes.fromhex(digits)
    except ValueError:
        raise ValueError(f"the key {text!r} is not hexadecimal; ethtool -x DEV prints the one of a card") from None
    if len(key) < KEY_BYTES:
        raise ValueError(f"the key has {len(key)} bytes; RSS takes {KEY_BYTES}")
    return key


def flow_input(source: str | bytes, destination: str | bytes, source_port: int = 0, destination_port: int = 0) -> bytes:
    """What is hashed of a TCP or UDP flow: addresses, then ports, in the order of the wire."""
    addresses = b"".join(
        part if isinstance(part, bytes) else ipaddress.ip_address(part).packed for part in (source, destination)
    )
    return addresses + source_port.to_bytes(2, "big") + destination_port.to_bytes(2, "big")


def toeplitz(key: bytes, data: bytes) -> int:
    """32-bit hash of `data`. Raises ValueError if the key is too short for it."""
    if len(key) < len(data) + 4:
        raise ValueError(f"{len(data)} bytes of input need a key of {len(data) + 4}, not of {len(key)}")
    window = int.from_bytes(key, "big")
    top = 8 * len(key) - 32
    result = 0
    for at, byte in enumerate(data):
        for bit in range(8):
            if byte & (0x80 >> bit):
                result ^= (window >> (top - 8 * at - bit)) & 0xFFFFFFFF
    return result


def queue(hash_: int, queues: int, entries: int = TABLE_ENTRIES) -> int:
    """Receive queue of a hash with the driver's default table."""
    return hash_ % entries % queues


def rps_cpu(hash_: int, cpus: int) -> int:
    """Which of the CPUs in an RPS mask, counted from its lowest, a hash goes to."""
    return hash_ * cpus >> 32
