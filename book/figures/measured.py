"""What experiments showed on a named machine, beside what the lab predicts; a reader's own file takes its place.

The measured numbers are files in `book/measured`, written by ``python -m sim host``: a build reads them and measures
nothing. The page's script reads files of the same kinds that a reader chooses, and fills them in.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any, Final

from book.build.places import ROOT
from book.figures import kept, table
from sim import machine, packing
from sim.host import veth
from sim.host.catalogue import EXPERIMENTS
from sim.host.reading import BYTES_OF

FOLDER: Final = ROOT / "book" / "measured"
OWN: Final = FOLDER / "own-machine.json"
READINGS: Final = FOLDER / "readings.json"
#: Numbers that a page shows in other units: factor, unit, decimals.
SHOWN: Final = {
    "rate_gbps": (1.0, "Gbit/s", 1), "packets_per_s": (1e-3, "thousand packets/s", 0),
    "delivered_per_s": (1e-3, "thousand packets/s", 0), "received_packet_bytes": (1.0, "bytes", 0),
}
WRITE_BYTES: Final = 128 * 1024  # that iperf3 hands to a TCP socket in one call, if not told otherwise
ROLES: Final = {"fitted": "fitted on it", "predicted": "predicted", "none": "not predicted"}


@cache
def documents() -> dict[str, dict[str, Any]]:
    """Stored experiments by name, in the order of the catalogue; bytes are IP's, whatever the file counts."""
    found = {}
    for name in EXPERIMENTS:
        path = FOLDER / f"{name}.json"
        if path.exists():
            found[name] = veth.of_ip(json.loads(path.read_text(encoding="utf-8")))
    return found


def rows(name: str) -> list[dict[str, Any]]:
    """Arms of an experiment, measured and predicted; those of all experiments are computed at once, and kept."""
    every = kept.once(
        f"own-kernel-{state()}", lambda: veth.beside(list(documents().values()), machine.load(OWN))
    )
    return [row for row in every if row["experiment"] == name]


@cache
def state() -> str:
    """A hash of the stored files: predictions rest on them as well."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.json")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def where(document: dict[str, Any]) -> str:
    """The machine of an experiment in words."""
    on = document["machine"]
    load = on.get("load_average")
    busy = f", load average {load:.1f} before" if load is not None else ""
    return f"{on['processor']}, {on['cpus']} CPUs, Linux {on['kernel']}{busy}"


def _span(low: float, high: float, digits: int) -> str:
    return f"{low:,.{digits}f} to {high:,.{digits}f}"


class Beside:
    """One experiment as a table: arms with prediction and measurement; the page's script may replace the latter."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.document = documents()[name]
        self.rows = rows(name)

    def _cells(self) -> list[tuple[str, str, str, str, str, str]]:
        scale, _, digits = SHOWN[self.document["answers"]]
        out = []
        for row in self.rows:
            simulated = why = ""
            if row["simulated"] is not None:
                simulated = f"{scale * row['simulated']:,.{digits}f}"
            else:
                why = row["why"]
            measured = f"{scale * row['measured']:,.{digits}f}"
            span = _span(scale * row["measured_low"], scale * row["measured_high"], digits)
            role = ROLES[row["role"]] + (f": {why}" if why else "")
            out.append((row["arm"], simulated or "–", role, measured, span, _change(row)))
        return out

    @property
    def caption(self) -> str:
        """What the table shows."""
        _, unit, _ = SHOWN[self.document["answers"]]
        question = EXPERIMENTS[self.name].question  # a stored one may be of an earlier wording
        return f"{self.name}: {question} {unit}, 95 % intervals over {self.document['rounds']} rounds"

    def __repr__(self) -> str:
        head = "arm | simulated | role | measured | interval | change, measured and simulated"
        lines = [head, *(" | ".join(row) for row in self._cells())]
        return f"{self.caption}\n" + "\n".join(lines) + f"\nmeasured on {where(self.document)}"

    def _repr_html_(self) -> str:
        scale, _, digits = SHOWN[self.document["answers"]]
        body = ""
        for arm, simulated, role, measured, span, change in self._cells():
            body += (
                f'<tr data-arm="{escape(arm)}"><th scope="row">{escape(arm)}</th><td class="num">{simulated}</td>'
                f'<td data-part="role">{escape(role)}</td><td class="num" data-part="measured">{measured}</td>'
                f'<td class="num" data-part="span">{span}</td><td data-part="change">{escape(change)}</td></tr>'
            )
        caption = escape(self.caption)
        heads = ("arm", "simulated", "role", "measured", "interval", "change, and the simulated one")
        head = "".join(f'<th scope="col">{h}</th>' for h in heads)
        return (
            f'<style>{table._STYLE}</style>'
            f'<div class="rpt" role="region" tabindex="0" aria-label="{caption}" data-measured="{self.name}" '
            f'data-answers="{self.document["answers"]}" data-bytes="{BYTES_OF}" data-scale="{scale}" '
            f'data-digits="{digits}">'
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f'<p data-part="where">Measured on {escape(where(self.document))}.</p></div>'
        )


def _change(row: dict[str, Any]) -> str:
    """Change against the first arm, measured with its interval and simulated."""
    if row["change_pct"] is None:
        return ""
    text = f"{_whole(row['change_pct'])} % ({_whole(row['change_low'])} to {_whole(row['change_high'])})"
    if row["simulated_change_pct"] is not None:
        text += f", simulated {_whole(row['simulated_change_pct'])} %"
    return text


def _whole(percent: float) -> str:
    """A change without decimals; one that rounds to nothing has no sign."""
    return f"{round(percent):+d}" if round(percent) else "0"


def beside(name: str) -> Beside:
    """The table of an experiment. KeyError if none is stored."""
    return Beside(name)


def constants() -> table.Table:
    """The measured machine beside the one that gives what it has not."""
    own = machine.load(OWN)
    base = machine.load(own_base())
    lines: list[Sequence[table.Cell]] = []
    for row in own.table():
        if str(row["source"]).startswith("measured"):
            name = str(row["name"])
            span = f"{row['low']:,} to {row['high']:,}"
            unstable = "unstable" if "; unstable" in str(row["source"]) else ""
            lines.append([name, row["value"], span, str(row["unit"]), base.cost(name), unstable])
    for name, each in other_readings().items():
        span = f"{each['low']:,.1f} to {each['high']:,.1f}"
        lines.append([name, each["median"], span, each["unit"], None, "unstable" if each["unstable"] else ""])
    columns = ["constant", "measured", "middle half of the rounds", "unit", base.name, ""]
    return table.Table(f"{own.title}: what was measured", columns, lines, code=["constant"])


def other_readings() -> dict[str, dict[str, Any]]:
    """Readings that the page speaks of and no constant holds as they are: those of two threads, and the far wake-up."""
    readings = json.loads(READINGS.read_text(encoding="utf-8"))
    found = {f"{each['loop']}, 2 threads": each for each in readings["by_threads"] if each["threads"] == 2}
    return found | {"wakeup_other_cpu": readings["plain"]["wakeup_other_cpu"]}


def _lock_words() -> dict[str, str]:
    """Passings of locks in hand-overs of a line: measured, published for ticket locks, assumed for queued ones."""
    own = machine.load(OWN)
    every = [machine.load(name) for name in machine.names()]
    whole, borrowed = set(), set()  # a lock and a hand-over of one processor, or another one's hand-over
    for each in every:
        lock, line = each.constant("ticket_permille"), each.constant("same_socket_ps")
        if not lock.stand_in:
            (borrowed if line.stand_in else whole).add(lock.value / 1000)
    assumed = machine.load(own_base()).constant("queued_permille")
    assert assumed.low is not None
    assert assumed.high is not None
    return {
        "own-ticket-lines": f"{own.cost('ticket_permille') / 1000:.1f}",
        "own-queued-lines": f"{own.cost('queued_permille') / 1000:.1f}",
        "own-ticket-published": " and ".join(f"{lines:.1f}" for lines in sorted(whole)),
        "own-ticket-borrowed": " and ".join(f"{lines:.1f}" for lines in sorted(borrowed)),
        "own-queued-assumed": f"{assumed.low / 1000:.1f} to {assumed.high / 1000:.1f}",
    }


def own_base() -> str:
    """The machine of the book that gives what could not be measured."""
    return str(json.loads(OWN.read_text(encoding="utf-8"))["base"])


def full_packets() -> dict[tuple[str, str], tuple[float, float]]:
    """How many of GRO's packets are full, per cent by experiment and arm: by arithmetic, and in the sample of sizes.

    The arithmetic: iperf3 writes so much at a time, GRO's packets are filled from that, and what is left of it makes
    the last and smaller one. The sample counts by powers of two, so full is what shares one with a full packet.
    """
    found = {}
    for name in ("gro", "gro-size", "mtu"):
        for arm, sizes in documents()[name]["packet_sizes_pct"].items():
            setup = EXPERIMENTS[name].arms[arm]
            if not setup.gro or setup.gro_max_size < packing.GRO_MAX_SIZE[0]:
                continue
            full = packing.pack(mtu=setup.mtu, gro_max_size=setup.gro_max_size)
            packets = math.ceil(WRITE_BYTES / full.data_bytes)
            bound = 1 << (full.length_bytes - 1).bit_length()
            found[name, arm] = (100 * (WRITE_BYTES // full.data_bytes) / packets, sizes[str(bound)])
    return found


def words() -> dict[str, str]:
    """Numbers of the readings and of the experiments that the page's sentences name."""
    readings = json.loads(READINGS.read_text(encoding="utf-8"))
    plain = {name: entry["median"] for name, entry in readings["plain"].items()}
    many = {(each["loop"], each["threads"]): each["median"] for each in readings["by_threads"]}
    pair = readings["pairs"][0]["median"]
    out = {
        "own-hand-over": f"{pair:.0f} ns", "own-call": f"{plain['system_call']:.0f} ns",
        "own-wakeup": f"{plain['wakeup']:.0f} ns", "own-far": f"{plain['wakeup_other_cpu'] / 1000:.1f} µs",
        "own-switch": f"{plain['switch']:.0f} ns", "own-page": f"{plain['page_touch'] / 1000:.1f} µs",
        "own-add-1": f"{many['shared_add', 1]:.1f} ns", "own-add-2": f"{many['shared_add', 2]:.0f} ns",
        "own-ticket": f"{many['ticket_lock', 2]:.0f} ns", "own-queued": f"{many['queued_lock', 2]:.0f} ns",
        "own-where": where(documents()["gro"]), "own-steal": f"{readings['machine']['steal_pct']:.1f} %",
        "own-base": own_base(), **_lock_words(),
    }
    gro = documents()["gro"]["arms"]
    out["own-gro-segments"] = f"{gro['on']['segments_per_packet']['mean']:.0f}"
    for arm in ("off", "on"):
        out[f"own-gro-resent-{arm}"] = f"{gro[arm]['retransmits_per_s']['mean']:,.0f}"
    shares = full_packets()
    summed, sampled = shares["gro", "on"]
    apart = max(abs(one - other) for one, other in shares.values())
    out |= {
        "own-full-sum": f"{summed:.0f} %", "own-full-sample": f"{sampled:.0f} %",
        "own-full-apart": f"{apart:.0f} points",
    }
    demux = documents()["udp-early-demux"]["arms"]
    for arm in ("off", "on"):
        looked = demux[arm].get("lookups_per_packet")
        if looked:
            out[f"own-lookups-{arm}"] = f"{looked['mean']:.2f}"
    for name in ("forward", "udp-early-demux"):
        spent = documents()[name]["arms"]["off"]["softirq_ns_per_packet"]["mean"]
        out[f"own-{name.split('-')[0]}-softirq"] = f"{spent / 1000:.1f} µs"
    far = readings["plain"]["wakeup_other_cpu"]
    out["own-far-least"] = f"{far['low'] / 1000:.1f} µs"
    for name in ("rps", "udp-early-demux"):
        here = next(row for row in rows(name) if row["arm"] == "on")
        out[f"own-{name.split('-')[0]}-promised"] = f"{_whole(here['simulated_change_pct'])} %"
    here = next(row for row in rows("forward") if row["arm"] == "off")
    out["own-forward-promised"] = f"{100 * (here['simulated'] / here['measured'] - 1):.0f} %"
    lost = documents()["fanout"]["arms"]["without"]["lost_pct"]["mean"]
    out["own-fanout-lost"] = f"{lost:.1f} %"
    return out


class Chooser:
    """The field with which a reader puts own files into the page's tables, and its script."""

    def __repr__(self) -> str:
        return "On the book's pages, a field for files of your own stands here."

    def _repr_html_(self) -> str:
        return CHOOSER


CHOOSER: Final = """
<div class="rp-own-files" role="group" aria-label="Your own files">
<p><label for="rp-own-file">Your own files (written by <code>host experiment --json</code>): </label>
<input id="rp-own-file" type="file" accept=".json,application/json" multiple="multiple">
<button id="rp-own-back" type="button" hidden="hidden">the book's again</button></p>
<p id="rp-own-said" role="status" aria-live="polite">They stay in your browser: nothing is sent.</p>
</div>
<script>
(() => {
  const start = () => {
    const input = document.getElementById("rp-own-file"), back = document.getElementById("rp-own-back");
    const said = document.getElementById("rp-own-said");
    if (!input || input.dataset.ready) return;
    input.dataset.ready = "yes";
    const tables = () => [...document.querySelectorAll("[data-measured]")];
    const first = new Map();
    const number = (value, digits) =>
      value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const finite = (x) => typeof x === "number" && Number.isFinite(x);
    const signed = (value) => {
      const whole = Math.round(value);
      return whole === 0 ? "0" : (whole < 0 ? "" : "+") + whole.toFixed(0);
    };
    const percent = (value) => `${value.toFixed(0)} %`;

    function fill(name, found) {
      if (found === null || typeof found !== "object" || typeof found.experiment !== "string" || !found.arms)
        throw new Error("is not what python -m sim host experiment --json writes");
      const table = tables().find((t) => t.dataset.measured === found.experiment);
      if (!table) throw new Error(`is of the experiment ${found.experiment}, which this page does not show`);
      if (found.bytes_of !== table.dataset.bytes)
        throw new Error("is of an earlier version, which counted Ethernet's header in some arms: measure again");
      if (found.answers !== table.dataset.answers)
        throw new Error(`answers with ${found.answers}, this page with ${table.dataset.answers}`);
      const scale = Number(table.dataset.scale), digits = Number(table.dataset.digits), ready = [];
      for (const row of table.querySelectorAll("tr[data-arm]")) {
        const one = found.arms[row.dataset.arm]?.[found.answers];
        if (!one || ![one.mean, one.low, one.high].every(finite))
          throw new Error(`has no ${found.answers} of the arm ${row.dataset.arm}`);
        if (one.mean < 0 || one.mean < one.low || one.mean > one.high)
          throw new Error(`gives the arm ${row.dataset.arm} a mean below 0 or outside its own interval`);
        let change = found.change_pct?.[row.dataset.arm];
        if (!change || ![change.mean, change.low, change.high].every(finite)) change = null;
        if (ready.length && change) {
          // a mean of the rounds' changes is not the change of the means, but its interval holds that one too
          const means = 100 * (one.mean / ready[0][1].mean - 1);
          if (means < Math.min(change.low, change.mean - 1) || means > Math.max(change.high, change.mean + 1))
            throw new Error(`states a change of ${percent(change.mean)} for the arm ${row.dataset.arm}, ` +
              `and its means differ by ${percent(means)}`);
        }
        ready.push([row, one, ready.length ? change : null]);
      }
      if (!first.has(table)) first.set(table, table.innerHTML);
      for (const [row, one, change] of ready) {
        row.querySelector('[data-part="measured"]').textContent = number(scale * one.mean, digits);
        row.querySelector('[data-part="span"]').textContent =
          `${number(scale * one.low, digits)} to ${number(scale * one.high, digits)}`;
        const cell = row.querySelector('[data-part="change"]');
        const simulated = cell.textContent.match(/simulated .*$/);
        cell.textContent = [
          ...(change ? [`${signed(change.mean)} % (${signed(change.low)} to ${signed(change.high)})`] : []),
          ...(simulated ? [simulated[0]] : []),
        ].join(", ");
        const role = row.querySelector('[data-part="role"]');
        if (role && /^(fitted|predicted)/.test(role.textContent)) {
          role.textContent = `${role.textContent}, for the book's machine`;
          role.style.opacity = "0.65";
        }
      }
      const fold = table.closest("details");
      if (fold) fold.open = true; // who chose a file wants to see it
      const on = found.machine ?? {};
      table.querySelector('[data-part="where"]').textContent =
        `Yours (${name}): ${on.processor ?? "a processor"}, ${on.cpus ?? "?"} CPUs, Linux ${on.kernel ?? "?"}. ` +
        "The simulation and the text around are still about the book's machine; host beside computes it for yours.";
      return found.experiment;
    }

    input.addEventListener("change", async () => {
      const done = [], refused = [];
      for (const file of input.files) {
        try {
          if (file.size > 4e6) throw new Error("is larger than any such file");
          let found;
          try { found = JSON.parse(await file.text()); } catch { throw new Error("is not JSON"); }
          done.push(fill(file.name, found));
        } catch (error) { refused.push(`${file.name} ${error.message}`); }
      }
      back.hidden = first.size === 0;
      const shown = done.length ? `Shown: ${done.join(", ")}. ` : "";
      said.textContent = shown + (refused.length ? `Refused: ${refused.join("; ")}.` : "");
    });
    back.addEventListener("click", () => {
      for (const [table, html] of first) table.innerHTML = html;
      first.clear();
      back.hidden = true;
      input.value = "";
      said.textContent = "The book's measurements are back.";
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
</script>
"""


def chooser() -> Chooser:
    """The field for a reader's files."""
    return Chooser()
