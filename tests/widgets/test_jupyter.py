"""Widgets in JupyterLab and Notebook: Python reads back what is moved, a restart of the kernel leaves them working."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.chosen import chosen
from tests.widgets import every
from tests.widgets.jupyter import opened, restart, run_cell, serving, shut_down

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LAB = (
    "from widgets import ReceivePathLab\nlab = ReceivePathLab(replications=2)\nlab",
    "print('in Python', lab.mtu, lab.answer['knobs']['mtu'], f'{lab.result.after.gbps:.1f}')",
)
#: A control of each widget, the key that moves it, and how Python reads it back.
READ_BACK = {
    "ContentionCurve": ("cpus", "End", "w.cpus"),
    "GroPacker": ("mtu", "End", "w.result.segments"),
    "LineCost": ("threads", "End", "w.threads"),
    "LineWatcher": ("drop_dst_early", "Space", "w.knobs['drop_dst_early']"),
    "Practice": ("seed", "ArrowRight", "w.problem.seed"),
    "Profile": ("seed", "ArrowRight", "w.seed"),
    "ProgramDiff": ("key", "ArrowDown", "w.key"),
    "ReceivePathLab": ("mtu", "End", "w.mtu"),
    "SteeringMap": ("follow", "End", "w.follow"),
    "StructLayout": ("seed", "ArrowRight", "w.seed"),
    "Timeline": ("defer_free", "Space", "w.knobs['defer_free']"),
}
BACK = {"End": "Home", "ArrowDown": "ArrowUp", "ArrowRight": "ArrowLeft", "Space": "Space"}


def notebook(name: str) -> tuple[str, str]:
    return f"from widgets import {name}\nw = {every.call(name)}\nw", f"print('in Python', {READ_BACK[name][2]})"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    notebooks = {"lab": LAB, **{name: notebook(name) for name in every.NAMES}}
    with serving(tmp_path_factory.mktemp("notebooks"), notebooks) as address:
        yield address


def settle(page: Page, engine: str) -> None:
    page.locator(".rp-mark", has_text=engine).filter(has_text="2 replications").wait_for(timeout=60_000)


@pytest.mark.parametrize("place", ["lab/tree", "notebooks"], ids=["JupyterLab", "Notebook"])
def test_the_kernel_answers_and_a_restart_leaves_the_lab_working(browser: Browser, server: str, place: str) -> None:
    page = opened(browser, f"{server}/{place}/lab.ipynb")
    run_cell(page, 0)
    settle(page, "Numba, in the kernel")
    page.locator('[data-knob="mtu"]').press("End")
    page.locator(".rp-command", has_text="--mtu 9000").wait_for(state="attached")
    settle(page, "Numba, in the kernel")
    run_cell(page, 1)
    page.get_by_text("in Python 9000 9000").wait_for(timeout=20_000)
    restart(server)
    page.wait_for_timeout(3000)
    page.locator('[data-knob="mtu"]').press("Home")
    settle(page, "WebAssembly, in this page: the kernel does not answer")
    page.close()
    shut_down(server)


def at_rest(page: Page) -> str:
    """Wait for the widget's last picture; what it shows, and the mark that says where it ran."""
    page.wait_for_function("document.querySelector('.rp[data-settled]')?.dataset.settled === 'true'", timeout=60_000)
    return page.locator(".rp svg[role=img], .rp .rp-numbers, .rp .rp-picture").first.inner_html()


#: Every widget in JupyterLab; in Notebook, which has the same code around them, the one that asks most of its kernel,
#: the one that computes in the page only, and the one whose text is long.
HOSTED = chosen(
    [(host, name) for host in ("JupyterLab", "Notebook") for name in every.NAMES],
    [*(("JupyterLab", name) for name in every.NAMES),
     *(("Notebook", name) for name in ("ReceivePathLab", "Practice", "ProgramDiff"))],
)


@pytest.mark.parametrize(("host", "name"), HOSTED)
def test_a_widget_is_read_back_and_outlives_its_kernel(browser: Browser, server: str, host: str, name: str) -> None:
    control, key, _ = READ_BACK[name]
    # a workspace of its own: the others' tabs are not restored
    place = f"lab/workspaces/{name}/tree" if host == "JupyterLab" else "notebooks"
    page = opened(browser, f"{server}/{place}/{name}.ipynb")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    run_cell(page, 0)
    page.wait_for_selector(".rp[data-settled]", timeout=60_000)
    at_rest(page)
    for more in page.locator(".rp details").all():
        more.evaluate("details => (details.open = true)")
    knob = page.locator(f'.rp [data-knob="{control}"]')
    value = "element => element.type === 'checkbox' ? String(+element.checked) : element.value"
    before = knob.evaluate(value)
    knob.press(key)
    moved = knob.evaluate(value)
    assert moved != before
    at_rest(page)
    run_cell(page, 1)
    said = "7" if name == "GroPacker" else moved  # a packet of 64 KB holds seven jumbo frames
    page.locator(".jp-OutputArea-output", has_text="in Python").wait_for(timeout=30_000)
    assert page.locator(".jp-OutputArea-output", has_text="in Python").inner_text().strip() == f"in Python {said}"
    restart(server)
    page.wait_for_timeout(3000)
    knob.press(BACK[key])
    page.wait_for_timeout(500)
    at_rest(page)
    if name not in {"GroPacker", "Practice"}:  # arithmetic, no run
        assert "WebAssembly, in this page" in " ".join(page.locator(".rp .rp-mark").all_inner_texts())
    assert page.locator(".jp-OutputArea-output[data-mime-type$='stderr']").count() == 0
    assert errors == []
    page.close()
    shut_down(server)
