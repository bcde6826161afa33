"""A kernel struct on its cache lines: move a field, and the scenario that it matters for runs again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets as t

from sim.layout import LINE_BYTES, Layout
from sim.placement import MOST_LINES, SAMPLES, Sample, aligned_fields, arranged, natural
from sim.schema import nearest
from widgets import still
from widgets.pair import PairWidget
from widgets.sidecar import of_scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sim.result import Result


class StructLayout(PairWidget):
    """The fields of a struct on lines of 64 bytes, before and after a patch, and as the reader places them.

    Declarations are moved, as a patch moves them: C's rule gives the offsets. The lines that early demux (or any
    function of the path) touches, and the rate of a run with these lines, follow.

    Parameters
    ----------
    struct
        ``sock``, ``dst_entry`` or ``tcp_globals`` (see `sim.placement.SAMPLES`).
    start
        Which of the sample's layouts to begin with, by its name; the first if not given.
    order, aligned
        Fields in the order of their declarations, and those that begin a cache line; the start's if not given.
    seed, replications
        First seed, and how many seeds from it.
    **knobs
        Settings of the sample's scenario that differ from the sample's.

    Raises
    ------
    ValueError
        For an unknown struct, layout, field or knob, and for a value out of its range, with what is allowed.

    Examples
    --------
    >>> w = StructLayout("sock")                                    # doctest: +SKIP
    >>> w.place("sk_rx_dst_ifindex", behind="sk_refcnt")            # doctest: +SKIP
    >>> w.result.after.gbps                                         # doctest: +SKIP
    """

    start = t.Unicode().tag(sync=True)
    order = t.List(t.Unicode()).tag(sync=True)
    aligned = t.List(t.Unicode()).tag(sync=True)
    selection = t.Unicode().tag(sync=True)

    def __init__(
        self,
        struct: str = "sock",
        start: str | None = None,
        *,
        order: Sequence[str] | None = None,
        aligned: Sequence[str] | None = None,
        seed: int = 1,
        replications: int | None = None,
        **knobs: Any,
    ) -> None:
        if struct not in SAMPLES:
            raise ValueError(f"no struct {struct!r}; {nearest(struct, list(SAMPLES))}")
        self._sample = SAMPLES[struct]
        names = list(self._sample.layouts)
        start = start or names[0]
        if start not in names:
            raise ValueError(f"{struct} has no layout {start!r}; {nearest(start, names)}")
        self._scenario = self._placed = self._sample.placed()
        self._given = {**self._sample.knobs, **knobs}
        self._ready = False
        self._scenario.settings(**self._given)  # its errors name the nearest knob and the range
        layout = self._sample.layouts[start]
        order = list(order) if order is not None else [f.name for f in layout.fields]
        aligned = list(aligned) if aligned is not None else aligned_fields(layout)
        self._placed.lines(arranged(layout, order, aligned))
        super().__init__(
            sidecar=self._sidecar(),
            start=start,
            order=order,
            aligned=aligned,
            selection=self._sample.about[0],
            seed=seed,
            replications=replications or self._sample.replications,
        )
        self._ready = True

    @t.observe("start")
    def _restart(self, _change: Any) -> None:
        if self._ready:  # another layout has its own fields in its own order
            layout = self._sample.layouts[self.start]
            with self.hold_trait_notifications():
                self.order, self.aligned = [f.name for f in layout.fields], aligned_fields(layout)

    @t.validate("start")
    def _known(self, proposal: Any) -> str:
        names = list(self._sample.layouts)
        if proposal.value not in names:
            raise t.TraitError(f"no layout {proposal.value!r}; {nearest(proposal.value, names)}")
        return str(proposal.value)

    @t.validate("order", "aligned")
    def _fields(self, proposal: Any) -> list[str]:
        # a LayoutError names the field
        layout = self._sample.layouts[self.start]
        order = proposal.value if proposal.trait.name == "order" else [f.name for f in layout.fields]
        aligned = proposal.value if proposal.trait.name == "aligned" else []
        self._placed.lines(arranged(layout, order, aligned))
        return list(proposal.value)

    @property
    def base(self) -> Layout:
        """The layout before the patch, with which the reader's is compared."""
        return next(iter(self._sample.layouts.values()))

    @property
    def layout(self) -> Layout:
        """The layout as the reader has it."""
        return arranged(self._sample.layouts[self.start], self.order, self.aligned)

    def place(self, name: str, *, behind: str | None = None) -> None:
        """Move a field's declaration behind another one, or to the front. Raises LayoutError for unknown names."""
        self.layout.field(name)
        order = [one for one in self.order if one != name]
        at = 0 if behind is None else order.index(self.layout.field(behind).name) + 1
        self.order = [*order[:at], name, *order[at:]]

    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The run before the patch, and the one with the fields where they are now."""
        return tuple({**self._given, **self._placed.lines(x)} for x in (self.base, self.layout))  # type: ignore[return-value]  # two of two

    def page_traits(self) -> tuple[str, ...]:
        """Everything but the answer of a kernel."""
        return ("sidecar", "start", "order", "aligned", "selection", "seed", "replications")

    def lines_of(self, *symbols: str) -> tuple[int, ...]:
        """The lines that some functions touch; those of the sample if none is given."""
        wanted = symbols or self._sample.symbols
        uses = self.sidecar["uses"]
        names = [f.name for f in self.layout.fields if set(uses.get(f.name, ())) & set(wanted)]
        return tuple(sorted({self.layout.line(name) for name in names}))

    def still(self) -> still.Still:
        """Two layouts, with the fields that the sample is about: before and now, or the patch if nothing has moved."""
        from matplotlib.figure import Figure

        sides = self._compared()
        shown = [_shown(layout, self.sidecar["uses"]) for _, layout in sides]
        figure = Figure(figsize=(7.2, 0.42 * max(map(len, shown)) + 1.1), layout="constrained")
        for axes, (name, layout), lines in zip(figure.subplots(1, 2), sides, shown, strict=True):
            _draw(axes, layout, lines, self.sidecar["uses"], self._sample)
            count = len(layout.lines_of(*self._touched(layout)))
            touched = f"{count} {'line' if count == 1 else 'lines'} touched"
            axes.set_title(f"{name}: {touched}{self._beside(layout)}", fontsize=8)
        who = ", ".join(self._sample.symbols)
        figure.supxlabel(f"{self._sample.title}; orange: touched by {who}, blue: by others", fontsize=8)
        return still.render(figure, self.finding())

    def finding(self) -> str:
        """The text alternative: lines touched and the metric that tells, of two layouts, and how the runs are set."""
        name = self._sample.metrics[0]
        parts = [
            f"{side} they lie on {_lines(layout.lines_of(*self._touched(layout)))}{self._beside(layout)}"
            f"{', ' if self._sample.hot[0] else ' '}and the run gives "
            f"{_number(m.mean)} {m.unit} ({_number(m.low)} to {_number(m.high)})"
            for (side, layout), m in ((one, self._run(one[1]).metrics[name]) for one in self._compared())
        ]
        who = " and ".join(self._sample.symbols)
        verb = "touch" if len(self._sample.symbols) > 1 else "touches"
        return f"{self._sample.title}, fields that {who} {verb}: {'; '.join(parts)}. {self._setting()}"

    def _beside(self, layout: Layout) -> str:
        """Whether the fields share a line with the one that others take away, where the sample has such a one."""
        hot, words = self._sample.hot
        if not hot:
            return ""
        touched = layout.lines_of(*self._touched(layout))
        no = "" if layout.line(hot) in touched else "not "
        return f", {no}{words}" if len(touched) == 1 else f", {words} {no}among them"

    def _compared(self) -> list[tuple[str, Layout]]:
        """What a still picture compares: twice the same layout would show nothing, so then it is the patch's move."""
        if self.layout.fields != self.base.fields:
            return [("before", self.base), ("now", self.layout)]
        first, *_, last = self._sample.layouts.items()
        return [first, last]

    def _run(self, layout: Layout) -> Result:
        """The run with a layout: one of the widget's two, or another one."""
        side = {**self._given, **self._placed.lines(layout)}
        for known, result in zip(self.sides(), self.result, strict=True):
            if known == side:
                return result
        return self._scenario.run(seed=self.seed, replications=self.replications, **side)

    def _setting(self) -> str:
        if self._given == self._sample.knobs:
            return self._sample.why
        return f"The runs have {', '.join(f'{name}={value}' for name, value in self._given.items())}."

    def _touched(self, layout: Layout) -> list[str]:
        uses = self.sidecar["uses"]
        return [f.name for f in layout.fields if set(uses.get(f.name, ())) & set(self._sample.symbols)]

    def _sidecar(self) -> dict[str, Any]:
        layouts = self._sample.layouts
        first = self.base
        given = dict(self._given)
        return {
            **of_scenario(self._placed),
            "name": self._sample.name,
            "struct_title": self._sample.title,
            "struct": self._sample.struct,
            "why": self._sample.why,
            "given": self._placed.settings(**given),
            "metrics_shown": list(self._sample.metrics),
            "symbols_shown": list(self._sample.symbols),
            "about": list(self._sample.about),
            "hot": list(self._sample.hot),
            "uses": self._placed.uses(list(layouts.values()), **given),
            "knob_fields": list(self._placed.fields),
            "line_bytes": LINE_BYTES,
            "most_lines": MOST_LINES,
            "layouts": {
                name: {
                    "fields": [[f.name, f.size, natural(x, f.name), f.comment] for f in x.fields],
                    "aligned": aligned_fields(x),
                    "source": x.source,
                    "status": x.status,
                }
                for name, x in layouts.items()
            },
            "first": next(n for n, x in layouts.items() if x is first),
        }


def _lines(numbers: Sequence[int]) -> str:
    return f"line {numbers[0]}" if len(numbers) == 1 else f"lines {', '.join(map(str, numbers))}"


def _shown(layout: Layout, uses: dict[str, Any]) -> list[int]:
    return sorted({line for name in uses if name in {f.name for f in layout.fields} for line in layout.lines_of(name)})


def _draw(axes: Axes, layout: Layout, lines: list[int], uses: dict[str, Any], sample: Sample) -> None:
    from matplotlib.patches import Rectangle

    for row, line in enumerate(lines):
        named = [f.name for f in map(layout.field, layout.on_line(line)) if f.name in sample.about and f.name in uses]
        axes.add_patch(Rectangle((0, row + 0.1), LINE_BYTES, 0.8, fill=False, edgecolor="#808080", linewidth=0.8))
        for f in map(layout.field, layout.on_line(line)):
            left, right = max(f.offset - line * LINE_BYTES, 0), min(f.end - line * LINE_BYTES, LINE_BYTES)
            by = uses.get(f.name, {})
            look = still.COLOURS[1] if set(by) & set(sample.symbols) else still.COLOURS[0] if by else "#80808040"
            axes.add_patch(Rectangle((left, row + 0.1), right - left, 0.8, facecolor=look, edgecolor="#404040", lw=0.4))
            if f.name in named:  # names are wider than fields: each a little lower than the last
                y = row + 0.5 + 0.26 * (named.index(f.name) - (len(named) - 1) / 2)
                late = left > LINE_BYTES / 2
                x, side = (right - 0.4, "right") if late else (left + 0.4, "left")
                axes.text(x, y, f.name, fontsize=6.5, ha=side, va="center")
    axes.set(xlim=(-0.5, LINE_BYTES + 0.5), ylim=(len(lines), 0), xticks=range(0, 65, 16))
    axes.set_yticks([row + 0.5 for row in range(len(lines))], [f"line {line}" for line in lines], fontsize=8)
    axes.tick_params(labelsize=8)


def _number(value: float) -> str:
    """Four digits or all before the point, and never a power of ten."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
