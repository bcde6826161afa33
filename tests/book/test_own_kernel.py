"""The pages on one's own kernel: stored measurements are whole, and a reader's file takes their place or is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from book.figures import measured, own_data
from sim import machine
from sim.host.catalogue import EXPERIMENTS


def test_every_experiment_is_stored_with_the_machine_that_it_ran_on() -> None:
    stored = measured.documents()
    assert list(stored) == list(EXPERIMENTS)
    for name, document in stored.items():
        assert list(document["arms"]) == list(EXPERIMENTS[name].arms)
        assert document["answers"] == EXPERIMENTS[name].answers
        assert document["rounds"] >= 5
        assert document["machine"]["processor"]
        assert document["machine"]["kernel"]


def test_the_stored_machine_is_one_that_can_be_loaded() -> None:
    assert machine.load(measured.OWN).constant("same_socket_ps").source.startswith("measured on")
    assert len(measured.constants().rows) > 8


def test_the_capture_on_the_page_is_merged_more_the_higher_the_limit() -> None:
    up = [row[2] for row in own_data.merged().rows]
    assert up == sorted(up, reverse=True)
    assert up[0] == 400


def changed(name: str, arm: str) -> tuple[float, float]:
    change = measured.documents()[name]["change_pct"][arm]
    return change["low"], change["high"]


def test_what_the_page_says_of_the_stored_measurements_is_so() -> None:
    for name in ("rps", "rps-many"):
        low, high = changed(name, "on")
        assert low < 0 < high
    widths = [high - low for low, high in (changed("rps", "on"), changed("rps-many", "on"))]
    assert widths[1] > 5 * widths[0]
    assert changed("reader-cpu", "other")[0] > 0
    arms = measured.documents()["mtu"]["arms"]
    assert arms["1500"]["rate_gbps"]["mean"] < arms["9000"]["rate_gbps"]["mean"] < arms["4168"]["rate_gbps"]["mean"]


def test_the_route_that_a_connected_socket_keeps_is_worth_what_the_lab_promises() -> None:
    row = next(row for row in measured.rows("udp-early-demux") if row["arm"] == "on")
    assert row["change_low"] < row["simulated_change_pct"] < row["change_high"]
    assert row["simulated_change_pct"] > 1


def test_a_lock_s_time_holds_two_passings_and_the_page_gives_one() -> None:
    readings, words = json.loads(measured.READINGS.read_text(encoding="utf-8")), measured.words()
    line = readings["pairs"][0]["median"]
    every = {each["loop"]: each["median"] for each in readings["by_threads"] if each["threads"] == 2}
    assert float(words["own-ticket-lines"]) == pytest.approx(every["ticket_lock"] / line / 2, abs=0.1)
    assert float(words["own-queued-lines"]) == pytest.approx(every["queued_lock"] / line / 2, abs=0.1)
    low, high = map(float, words["own-ticket-borrowed"].split(" and "))
    assert low < float(words["own-ticket-published"]) < high  # of one processor, and one only
    assert low < float(words["own-ticket-lines"]) < high
    assert float(words["own-queued-lines"]) > float(words["own-queued-assumed"].split(" to ")[1])


def test_what_the_page_names_has_a_row_and_the_nearest_machine_a_column() -> None:
    shown = measured.constants()
    names = [row[0] for row in shown.rows]
    assert {"shared_add, 2 threads", "wakeup_other_cpu", "ticket_permille", "queued_permille"} <= set(names)
    assert shown.rows[names.index("wakeup_other_cpu")][-1] == "unstable"
    assert measured.own_base() in shown.columns


def test_a_change_that_rounds_to_nothing_has_no_sign() -> None:
    assert not re.search(r"[-+]0 ", "".join(map(repr, map(measured.beside, measured.documents()))))
    assert measured._whole(-0.4) == "0"
    assert measured._whole(-0.6) == "-1"


def test_a_write_s_end_explains_the_small_packets_at_every_mtu_and_limit() -> None:
    shares = measured.full_packets()
    assert len(shares) == 6
    assert {round(summed) for summed, _ in shares.values()} == {67, 89}
    for arm, (summed, sampled) in shares.items():
        assert sampled == pytest.approx(summed, abs=5), arm


def test_without_gro_segments_are_sent_again() -> None:
    arms = measured.documents()["gro"]["arms"]
    assert arms["off"]["retransmits_per_s"]["low"] > 10 * arms["on"]["retransmits_per_s"]["high"]


PAGE = """<!doctype html><html lang="en"><title>x</title><body>{chooser}<details><summary>x</summary>
<div data-measured="gro" data-answers="rate_gbps" data-bytes="IP" data-scale="1" data-digits="1"><table><tbody>
<tr data-arm="off"><td data-part="measured">1.0</td><td data-part="span"></td><td data-part="change"></td></tr>
<tr data-arm="on"><td data-part="role">predicted</td><td data-part="measured">2.0</td><td data-part="span"></td>
<td data-part="change">+1 %, simulated +5 %</td></tr>
</tbody></table><p data-part="where">the book's</p></div></details></body></html>"""


@pytest.fixture
def page(tmp_path: Path, browser: Any) -> Iterator[Any]:
    path = tmp_path / "page.html"
    path.write_text(PAGE.format(chooser=measured.CHOOSER), encoding="utf-8")
    opened = browser.new_page()
    opened.goto(path.as_uri())
    yield opened
    opened.close()


@pytest.mark.browser
@pytest.mark.slow
def test_a_readers_file_replaces_the_books_and_a_wrong_one_is_refused(page: Any, tmp_path: Path) -> None:
    own = json.loads((measured.FOLDER / "gro.json").read_text(encoding="utf-8"))
    own["arms"]["on"]["rate_gbps"] = {"mean": 123.4, "low": 120.0, "high": 127.0}
    own["change_pct"]["on"] = {"mean": 1822.0, "low": 1700.0, "high": 1900.0}
    own["machine"]["kernel"] = "<b>9.9</b>"
    own["bytes_of"] = "IP"
    names = ("good", "broken", "other", "early", "below", "apart")
    good, broken, other, early, below, apart = (tmp_path / f"{name}.json" for name in names)
    good.write_text(json.dumps(own))
    broken.write_text("{")
    other.write_text(json.dumps({**own, "experiment": "mine"}))
    early.write_text(json.dumps({name: value for name, value in own.items() if name != "bytes_of"}))
    negative = {"rate_gbps": {"mean": -5, "low": 20, "high": 21}}
    below.write_text(json.dumps({**own, "arms": {**own["arms"], "off": negative}}))
    apart.write_text(json.dumps({**own, "change_pct": {"on": {"mean": 52.0, "low": 47.0, "high": 58.0}}}))
    page.set_input_files("#rp-own-file", [str(p) for p in (good, broken, other, early, below, apart)])
    page.wait_for_function("document.getElementById('rp-own-said').textContent.includes('Shown')")
    said = page.inner_text("#rp-own-said")
    assert "Shown: gro" in said
    assert "broken.json is not JSON" in said
    assert "experiment mine" in said
    assert "early.json is of an earlier version" in said
    assert "below.json gives the arm off a mean below 0 or outside its own interval" in said
    assert "apart.json states a change of 52 % for the arm on, and its means differ by 1823 %" in said
    assert page.inner_text('tr[data-arm="on"] [data-part="measured"]') == "123.4"
    assert page.inner_text('tr[data-arm="on"] [data-part="change"]') == "+1822 % (+1700 to +1900), simulated +5 %"
    assert page.inner_text('tr[data-arm="on"] [data-part="role"]') == "predicted, for the book's machine"
    assert "<b>9.9</b>" in page.inner_text('[data-part="where"]')  # shown as text, never as markup
    page.click("#rp-own-back")
    assert page.inner_text('tr[data-arm="on"] [data-part="measured"]') == "2.0"
