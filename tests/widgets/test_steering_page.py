"""The steering map on a page from a file: Python's ways and work, every control, what a switch moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import traitlets

from sim.knob import KnobError
from tests.widgets.panel_page import PanelPage
from widgets import SteeringMap

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def steering() -> SteeringMap:
    return SteeringMap(replications=2)


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str], steering: SteeringMap) -> str:
    return write_page("steering", steering)


@pytest.fixture
def opened(watch: Callable[..., Any], address: str) -> Callable[..., PanelPage]:
    return lambda hash_="", **options: PanelPage(watch(address + hash_, **options))


def assert_python_has(drawn: dict[str, Any], **knobs: Any) -> None:
    python = SteeringMap(replications=2, **knobs).result
    for page, way in zip(drawn["ways"], python.ways, strict=True):
        assert (page["queue"], page["polled"], page["carried"], page["read"]) == (
            way.queue, way.polled, way.carried, way.read,
        )  # fmt: skip
        assert page["mpps"] == pytest.approx(way.mpps)
    for page, work in zip(drawn["work"], python.work, strict=True):
        assert (page["polled"], page["carried"], page["read"], page["busy"]) == pytest.approx(
            (work.polled_mpps, work.carried_mpps, work.read_gbps, work.busy_pct)
        )
    for name in ("gbps", "mpps"):
        assert drawn["result"]["metrics"][name] == pytest.approx(python.result.metrics[name].to_dict())


def test_the_page_has_ways_and_work_of_python(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    assert_python_has(page.after(lambda: page.control("rps_cpus").fill("4")), rps_cpus=4)
    assert_python_has(page.after(lambda: page.control("rfs").press("Space")), rps_cpus=4, rfs=1)
    page.control("rss").select_option("hashed")
    drawn = page.after(lambda: page.control("socket").select_option("udp_connected"))
    assert_python_has(drawn, rps_cpus=4, rfs=1, rss="hashed", socket="udp_connected")
    assert page.watched.errors == []
    assert page.watched.foreign == []


def test_the_finding_says_what_a_switch_moved(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    assert "neither RPS nor RFS. Polled on CPUs 0, 1, carried up on 0, 1, read on 2, 3, 4, 5." in page.summary()
    page.after(lambda: page.control("rfs").press("Space"))
    assert "RFS sends each flow to its reader's CPU. Polled on CPUs 0, 1, carried up on 2, 3, 4, 5" in page.summary()
    assert "8 flows are carried up on another CPU, CPU 0 100 to" in page.summary()
    page.control("rfs").press("Space")
    page.after(lambda: page.control("rps_cpus").press("ArrowRight"))
    assert "RPS spreads flows over mask 80." in page.summary()
    assert page.page.locator(".rp-picture .rp-reported").count() == 8


@pytest.mark.slow
def test_every_control_moves_the_map(watch: Callable[..., Any], write_page: Callable[..., str]) -> None:
    steering = SteeringMap(rps_cpus=2, replications=2)
    page = PanelPage(watch(write_page("steered", steering)))
    for control in steering.sidecar["controls"]:
        name, before = control["name"], page.page.locator(".rp-thread title").all_text_contents()
        key = {"switch": "Space", "choice": "ArrowDown"}.get(control["kind"], "ArrowRight")
        drawn = page.after(lambda name=name, key=key: page.control(name).press(key))
        assert drawn["knobs"][name] != steering.knobs[name], name
        assert page.page.locator(".rp-thread title").all_text_contents() != before, name
        page.after(lambda name=name: page.control(name).press("Escape"))


def test_a_flow_is_followed_by_keys_mouse_and_finger(opened: Callable[..., PanelPage]) -> None:
    page = opened(has_touch=True, viewport={"width": 375, "height": 800})
    page.control("follow").focus()
    for key, flow in (("ArrowRight", 1), ("End", 32), ("Home", 0), ("PageUp", 4), ("PageDown", 1), ("Escape", 0)):
        page.page.keyboard.press(key)
        if key in ("PageUp", "PageDown"):
            continue  # how far a page goes is the browser's
        assert page.control("follow").input_value() == str(flow)
    page.page.locator(".rp-thread").nth(2).dispatch_event("click")
    assert page.control("follow").input_value() == "3"
    assert "Flow 3: queue 0, polled by CPU 0" in page.summary()
    assert page.page.locator(".rp-faint").count() == 7
    page.page.get_by_role("button", name="Reset").tap()
    assert page.page.locator(".rp-faint").count() == 0
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375


def test_the_command_gives_the_same_run(opened: Callable[..., PanelPage]) -> None:
    page = opened("#steering-map?rps_cpus=3&rps_place=first&flows=99&seed=2")
    assert page.copied("Copy as a command") == (
        "python -m sim run lab --flows 32 --rps_cpus 3 --rps_place first --seed 2 --replications 2"
    )
    assert page.copied("Copy as Python").startswith('SteeringMap(socket="tcp_bulk", flows=32, rx_queues=2')


def test_python_reads_back_and_refuses(steering: SteeringMap) -> None:
    followed = SteeringMap(follow=3, flows=4)
    assert followed.selection == 2
    followed.flows = 2
    assert followed.selection is None
    with pytest.raises(KnobError, match="did you mean rx_queues"):
        SteeringMap(rx_queue=2)
    with pytest.raises(ValueError, match="the map has no mtu; it has socket, flows"):
        SteeringMap(mtu=1500)
    with pytest.raises(traitlets.TraitError, match="flows"):
        SteeringMap(flows=64)
    with pytest.raises(traitlets.TraitError, match="socket"):
        SteeringMap(socket="forward")
    finding = steering._repr_mimebundle_()[0]["text/plain"]
    assert finding.startswith("8 flows, ")
    assert "CPU 0 polls" in finding


def test_a_move_without_effect_says_why(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    page.after(lambda: page.control("socket").select_option("udp"))
    page.after(lambda: page.control("readers").press("ArrowRight"))
    assert "nothing moved: one UDP socket has one reader, on one CPU" in page.summary()
    page.control("follow").press("End")
    assert "There is no flow 32 to follow." in page.summary()
