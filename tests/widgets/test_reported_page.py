"""Reported figures beside a lab's own: read on the page as Python reads them, also those of a whole system."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from sim import reported
from tests.widgets.lab_page import LabPage
from widgets import ReceivePathLab

pytestmark = pytest.mark.browser


def shown(page: LabPage) -> dict[str, float | None]:
    """The number that the page gives beside each reported figure, by the figure's words; None if it gives none."""
    found: dict[str, float | None] = {}
    for summary in page.page.locator(".rp-proof summary").all():
        text = summary.inner_text()
        number = re.search(r", here (-?[\d.,]+)", text)
        found[text.rpartition(": reported")[0].strip()] = float(number[1].replace(",", "")) if number else None
    return found


def test_shares_of_the_whole_system_are_those_of_python(
    watch: Callable[..., Any], write_page: Callable[..., str]
) -> None:
    lab = ReceivePathLab("packet-rollover", start="full", replications=2)
    watched = watch(write_page("rollover", lab))
    watched.page.wait_for_selector("[data-settled=true]", timeout=90_000)  # eight CPUs that spin: a long run
    numbers = shown(LabPage(watched.page))
    assert watched.errors == []
    figures = {figure.id: figure for figure in reported.figures(lab.sidecar["scenario"])}
    rows = [figures[row["id"]] for row in lab.reported(0)]
    assert any(row.reading and row.reading.term.startswith("profile:*") for row in rows)
    for row in rows:
        expected = row.read(lab.result.before).mean
        assert numbers[row.figure] == pytest.approx(expected, rel=0.006, abs=0.006), row.figure


def test_a_gain_that_compares_other_settings_than_the_two_shown_is_not_worked_out(
    watch: Callable[..., Any], write_page: Callable[..., str]
) -> None:
    """The thread's gain is that of both caches; the lab's arms differ in one."""
    lab = ReceivePathLab("tcp-rx-skb-cache", replications=2)
    watched = watch(write_page("caches", lab))
    watched.page.wait_for_selector("[data-settled=true]", timeout=90_000)
    numbers = shown(LabPage(watched.page))
    assert numbers["requests, both patches gain"] is None
    assert numbers["requests after the two patches"] == pytest.approx(lab.result.after.mpps, rel=0.006)
