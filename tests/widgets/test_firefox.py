"""A smoke test in Firefox: the lab runs in its worker, moves, and shows Python's numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.widgets import firefox
from widgets import ReceivePathLab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WATCH = """<script>
globalThis.errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("rp-drawn", (event) => (globalThis.last = event.detail), true);
</script>"""


@pytest.fixture
def window(tmp_path: Path) -> Iterator[firefox.Firefox]:
    path = firefox.find()
    if path is None:  # Chromium is what every machine gets; Firefox is tested where it is installed
        pytest.skip("no Firefox on this machine")
    opened = firefox.Firefox(path, tmp_path / "profile")
    yield opened
    opened.close()


def test_the_lab_runs_in_firefox(window: firefox.Firefox, write_page: Callable[..., str]) -> None:
    window.open(write_page("firefox", ReceivePathLab("tcp-5.17", replications=2), head=WATCH))
    window.wait("globalThis.last?.done")
    assert "without a worker" not in window.ask("return document.querySelector('.rp-mark').textContent")
    window.ask(
        "const input = document.querySelector('[data-knob=mtu]');"
        "input.value = 4168; input.dispatchEvent(new Event('input'));"
    )
    window.wait("last.done && last.arms[0].knobs.mtu === 4168")
    rates = window.ask("return last.arms.map((arm) => arm.metrics.gbps.mean)")
    expected = ReceivePathLab("tcp-5.17", mtu=4168, replications=2).result
    assert rates == pytest.approx([arm.gbps for arm in expected], rel=1e-9)
    assert window.ask("return errors") == []
