"""How a GRO packet fills: segments under the limit, fragments in sk_buffs, the MTUs that waste least."""

from __future__ import annotations

from typing import Any

import traitlets as t

from sim import packing
from widgets import still
from widgets.base import PathWidget


class GroPacker(PathWidget):
    """A full GRO packet for a size of packet and a limit: arithmetic, so every move is answered at once.

    Parameters
    ----------
    mtu
        Length of a full IP packet, 1,280 to 9,000 bytes.
    ip
        ``IPv6`` or ``IPv4``: 40 or 20 bytes of header.
    timestamps
        1 with TCP's time stamps (12 bytes), 0 without.
    gro_max_size
        GRO's limit, 16,384 to 524,280 bytes.
    max_skb_frags
        Fragments of one sk_buff: 17, or 45 as it may be since 6.4.

    Raises
    ------
    traitlets.TraitError
        For values out of range.

    Examples
    --------
    >>> GroPacker(mtu=3300, ip="IPv4").result.segments      # doctest: +SKIP
    20
    """

    sizes = t.Dict().tag(sync=True)
    mtu = t.Int(1500, min=packing.MTU[0], max=packing.MTU[1]).tag(sync=True)
    ip = t.Enum(tuple(packing.IP_HEADER_BYTES), default_value="IPv6").tag(sync=True)
    timestamps = t.Int(1, min=0, max=1).tag(sync=True)
    gro_max_size = t.Int(65536, min=packing.GRO_MAX_SIZE[0], max=packing.GRO_MAX_SIZE[1]).tag(sync=True)
    max_skb_frags = t.Enum(packing.MAX_SKB_FRAGS, default_value=17).tag(sync=True)

    def __init__(
        self, mtu: int = 1500, *, ip: str = "IPv6", timestamps: int = 1, gro_max_size: int = 65536,
        max_skb_frags: int = 17,
    ) -> None:
        super().__init__(
            sizes=packing.page_data(), mtu=mtu, ip=ip, timestamps=timestamps, gro_max_size=gro_max_size,
            max_skb_frags=max_skb_frags,
        )

    @property
    def knobs(self) -> dict[str, Any]:
        """What the controls say."""
        return {name: getattr(self, name) for name in ("mtu", "ip", "timestamps", "gro_max_size", "max_skb_frags")}

    @property
    def result(self) -> packing.Packing:
        """The full packet for the controls as they are."""
        return packing.pack(**self.knobs)

    def page_traits(self) -> tuple[str, ...]:
        """All of its state."""
        return ("sizes", *self.knobs)

    def still(self) -> still.Still:
        """The share of the limit that a full packet uses, over the MTU."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        axes = figure.subplots()
        mtus = range(packing.MTU[0], packing.MTU[1] + 1)
        axes.plot(mtus, [packing.pack(**{**self.knobs, "mtu": m}).filled_pct for m in mtus], color=still.COLOURS[0])
        axes.plot([self.mtu], [self.result.filled_pct], "D", color="#c2185b")
        axes.set(xlabel="MTU, bytes", ylabel="% of the limit used by a full packet")
        packet = self.result
        axes.set_title(f"MTU {self.mtu:,}: {packet.segments} segments of {packet.payload_bytes:,} bytes", fontsize=10)
        return still.render(figure, self._finding(packet))

    def _finding(self, packet: packing.Packing) -> str:
        chain = " + ".join(map(str, packet.sk_buffs)) if len(packet.sk_buffs) < 5 else f"{len(packet.sk_buffs)} of them"
        return (
            f"A GRO packet at MTU {self.mtu:,} holds {packet.segments} segments of {packet.payload_bytes:,} bytes, "
            f"{packet.length_bytes:,} bytes with headers: {packet.filled_pct:.1f} % of the limit. Its "
            f"{packet.fragments} fragments lie in {len(packet.sk_buffs)} sk_buffs (segments {chain})."
        )
