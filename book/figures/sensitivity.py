"""What the conclusions rest on: the records of `sim.sensitivity` as one picture and two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures.svg import Picture
from book.figures.table import Table, shown
from sim import reported, sensitivity

Record = Mapping[str, Any]

FITS: Final = "fits"
SHOWN: Final = 5  # constants of a conclusion in the picture
TWO_STATES: Final = "two states: a seed alone changes them as well"
LEFT, RIGHT, ROW, HEAD, MARK, FOOT, LEGEND = 142, 352, 19, 42, 15, 30, 30


def mark(record: Record) -> str:
    """Whether a record still fits what it was made with: ``fits``, or what has changed since."""
    changed = sensitivity.outdated(record)
    return f"outdated: {changed} changed" if changed else FITS


def role(record: Record) -> str:
    """The role of the figure that a conclusion is: only a predicted one is evidence."""
    return next((f.role for f in reported.figures(record["thread"]) if f.id == record["id"]), "–")


def heaviest(record: Record) -> list[Mapping[str, Any]]:
    """Constants that move the gain by more than chance, the farthest first; with two states, that change the state."""
    gain = record["gain"]
    rows = [row for row in record["constants"] if sensitivity.moves(row, gain)]
    if sensitivity.border(gain) is not None:
        return sorted(rows, key=lambda row: -abs((row["low"]["gain"] or 0.0) - (row["high"]["gain"] or 0.0)))
    return sorted(rows, key=lambda row: -sensitivity.beyond(row, gain))


def notes(record: Record) -> list[str]:
    """What stands below a panel's title: what has changed since, and that there are two states."""
    outdated = [mark(record)] if mark(record) != FITS else []
    return outdated + [TWO_STATES] * (sensitivity.border(record["gain"]) is not None)


def _signed(value: float | None) -> str:
    return "run ended" if value is None else f"{value:+.1f}"


def _name(record: Record) -> str:
    return f"{record['thread']}: {record['figure']}"


def _finding(records: Sequence[Record]) -> str:
    safe = [r for r in records if r["survives"]["sign"]]
    lost = [
        f"{_name(r)} is lost with {', '.join(r['survives']['sign_lost_with'])}"
        for r in records if not r["survives"]["sign"]
    ]
    return (
        f"{len(safe)} of {len(records)} conclusions keep their sign whichever single constant is a quarter smaller or "
        f"larger" + (f"; {'; '.join(lost)}." if lost else ".")
    )


def tornado(records: Sequence[Record]) -> Picture:
    """For each conclusion the constants that move it most: its gain with each a quarter smaller and larger."""
    heights = [
        HEAD + MARK * len(notes(r)) + FOOT + ROW * (min(SHOWN, len(heaviest(r))) + 2) for r in records
    ]
    picture = Picture(LEGEND + sum(heights), _finding(records))
    picture.dot(8, 10, 4, "c0")
    picture.text(17, 14, "a quarter smaller", "small")
    picture.dot(130, 10, 4, "l1")
    picture.text(139, 14, "a quarter larger", "small")
    picture.line([(244, 10), (262, 10)], "l3")
    picture.text(268, 14, "from, to", "small")
    top = float(LEGEND)
    for record in records:
        top = _panel(picture, record, top)
    return picture


def _panel(picture: Picture, record: Record, top: float) -> float:
    """One conclusion; returns where the next one begins."""
    rows, together, gain = heaviest(record)[:SHOWN], record["together"], record["gain"]["mean"]
    ends = [row[end]["gain"] for row in rows for end in ("low", "high")]
    seeds = record["gain"]["seeds"]
    every = [0.0, gain, *seeds, *(x for x in (*ends, together["lowest"], together["highest"]) if x is not None)]
    low, span = min(every), max(every) - min(every) or 1.0

    def x(value: float) -> float:
        return LEFT + 7 + (RIGHT - LEFT - 7) * (value - low) / span

    picture.text(4, top + 16, record["thread"], "strong")
    picture.text(4, top + 31, record["figure"], "small")
    for note in notes(record):
        top += MARK
        picture.text(4, top + 31, note, "small quiet")
    bottom = top + HEAD + ROW * (len(rows) + 2)
    for value, kind in ((0.0, "rule"), (gain, "rule dash")):
        picture.line([(x(value), top + HEAD - 4), (x(value), bottom)], kind)
    y = top + HEAD
    for row in rows:
        picture.text(LEFT - 6, y + 12, row["name"], "end small")
        found = [(row[end]["gain"], colour) for end, colour in (("low", "c0"), ("high", "l1"))]
        points = [(x(value), colour) for value, colour in found if value is not None]
        picture.line([(at, y + 8) for at, _ in points], "rule")
        for at, colour in points:
            picture.dot(at, y + 8, 4, colour)
        y += ROW
    for words, first, last in (
        (f"{together['points']} mixtures", together["lowest"], together["highest"]),
        (f"{len(seeds)} seeds", min(seeds), max(seeds)),
    ):
        picture.text(LEFT - 6, y + 12, words, "end small")
        if first is not None:
            middle = (x(first) + x(last)) / 2
            reach = max((x(last) - x(first)) / 2, 1.5)
            picture.line([(middle - reach, y + 8), (middle + reach, y + 8)], "l3")
        y += ROW
    apart = abs(x(gain) - x(0.0)) > 70
    picture.text(min(max(x(0.0), LEFT), RIGHT - 8), bottom + 13, "0" if apart else "", "mid small")
    picture.text(min(max(x(gain), LEFT + 24), RIGHT - 20), bottom + 13, f"{gain:+.1f} %", "mid small")
    return bottom + FOOT


def conclusion_table(records: Sequence[Record]) -> Table:
    """Each conclusion: its gain, how far single constants and mixtures move it, and whether it survives."""
    missing = [t for t in sensitivity.threads() if t not in {r["thread"] for r in records}]
    return Table(
        "Conclusions under other constants",
        ["conclusion", "role", "data", "gain, %", "one constant", "several", "sign kept", "lost with",
         "mixtures keep it", "figure from after"],
        [
            (_name(r), role(r), mark(r).partition(":")[0], _signed(r["gain"]["mean"]),
             " to ".join(map(_signed, sensitivity.span(r))), _together(r),
             _yes(r["survives"]["sign"]), ", ".join(r["survives"]["sign_lost_with"]) or "–",
             f"{r['together']['signs_kept']} of {r['together']['points']}", _rate(r))
            for r in records
        ] + [(thread, "–", "not run", *["–"] * 7) for thread in missing],
        code=["role", "lost with"],
    )


def _together(record: Record) -> str:
    low, high = (record["together"][end] for end in ("lowest", "highest"))
    return "–" if low is None else f"{_signed(low)} to {_signed(high)}"


def _yes(good: bool) -> str:
    return "yes" if good else "no"


def _rate(record: Record) -> str:
    stated, survives = record["stated"], record["survives"]
    if stated is None:
        return "–"
    return _yes(survives["rate"]) if stated["met"] else "missed anyway"


def constant_table(records: Sequence[Record]) -> Table:
    """Every constant that moves a gain by more than chance, with Morris's effects where it was varied."""
    rows = []
    for record in records:
        effects = {e["name"]: e for e in record["morris"]}
        for row in heaviest(record):
            effect = effects.get(row["name"])
            rows.append((
                row["name"], f"{shown(row['value'])} {row['unit']}", row["status"], _name(record),
                _signed(row["low"]["gain"]), _signed(row["high"]["gain"]),
                f"{effect['mu_star']:.1f} ± {effect['half_width']:.1f}" if effect else "–",
                effect["sigma"] if effect else None,
            ))
    return Table(
        "Constants that move a gain",
        ["constant", "value", "status", "conclusion", "gain at −25 %", "gain at +25 %", "elementary effect, points",
         "its spread"],
        rows, code=["constant"],
    )


def silent(records: Sequence[Record]) -> int:
    """How many constants, summed over the conclusions, move the gain no more than chance does."""
    return sum(len(r["constants"]) - len(heaviest(r)) for r in records)
