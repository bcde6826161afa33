"""The GRO packer on a page from a file: Python's arithmetic over the whole range, every control, what leaves it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import traitlets
from playwright.sync_api import Page

from sim import packing
from tests.widgets.panel_page import PanelPage
from widgets import GroPacker
from widgets.bundle import Bundle

pytestmark = pytest.mark.browser

KEYS = {"ArrowRight": 1501, "ArrowUp": 1502, "ArrowLeft": 1501, "ArrowDown": 1500, "End": 9000, "Home": 1280}
#: Every packet of a range, as flat numbers.
RANGE = """([mtus, limits, frags, sizes]) => {
  const out = [];
  for (const gro_max_size of limits)
    for (const ip of ["IPv4", "IPv6"])
      for (const timestamps of [0, 1])
        for (const max_skb_frags of frags)
          for (const mtu of mtus) {
            const p = packing.pack({ mtu, ip, timestamps, gro_max_size, max_skb_frags }, sizes);
            out.push(p.segments, p.length_bytes, p.spare_bytes, p.sk_buffs.length, p.sk_buffs.at(-1));
          }
  return out;
}"""
SPOTS = "([setting, sizes]) => packing.sweetSpots(setting, sizes)"


@pytest.fixture(scope="module")
def address(write_page: Callable[..., str]) -> str:
    return write_page("gro-packer", GroPacker())


@pytest.fixture
def opened(watch: Callable[..., Any], address: str) -> Callable[..., PanelPage]:
    return lambda hash_="", **options: PanelPage(watch(address + hash_, **options))


@pytest.fixture
def arithmetic(watch: Callable[..., Any], address: str) -> Page:
    """A page with the widget's arithmetic in its hands."""
    bundle = Bundle()
    bundle.add("packing")
    page: Page = watch(address).page
    page.evaluate(f'{bundle.text}globalThis.packing = $use("packing");')
    return page


def python_range(mtus: range, limits: list[int], frags: list[int]) -> list[int]:
    out = []
    for limit, ip, stamps, most, mtu in product(limits, ("IPv4", "IPv6"), (0, 1), frags, mtus):
        p = packing.pack(mtu, ip, stamps, limit, most)
        out += [p.segments, p.length_bytes, p.spare_bytes, len(p.sk_buffs), p.sk_buffs[-1]]
    return out


def test_the_page_packs_as_python_does_over_the_whole_range(arithmetic: Page) -> None:
    sizes = packing.page_data()
    every = range(packing.MTU[0], packing.MTU[1] + 1)
    for mtus, limits, frags in (
        (every, [65536], [17]),
        (range(1280, 9001, 41), [16384, 16385, 65535, 131072, 184393, 524280], [17, 45]),
    ):
        found = arithmetic.evaluate(RANGE, [list(mtus), limits, frags, sizes])
        assert found == python_range(mtus, limits, frags)
    for limit, ip in ((65536, "IPv6"), (65536, "IPv4"), (524280, "IPv4"), (16384, "IPv6")):
        setting = {"ip": ip, "timestamps": 1, "gro_max_size": limit}
        spots = [list(spot) for spot in packing.sweet_spots(ip, 1, limit)]
        assert arithmetic.evaluate(SPOTS, [setting, sizes]) == spots


def test_every_key_moves_the_mtu_and_escape_takes_it_back(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    page.control("mtu").focus()
    for key, mtu in KEYS.items():
        drawn = page.after(lambda key=key: page.page.keyboard.press(key))
        assert drawn["knobs"]["mtu"] == mtu
        assert page.summary().startswith(f"MTU {mtu:,}, IPv6")
    assert page.after(lambda: page.page.keyboard.press("PageUp"))["knobs"]["mtu"] > 1280
    page.after(lambda: page.page.keyboard.press("PageDown"))
    assert page.after(lambda: page.page.keyboard.press("Escape"))["knobs"]["mtu"] == 1500
    assert page.watched.errors == []
    assert page.watched.foreign == []


def test_buttons_of_the_thread_give_its_packets(opened: Callable[..., PanelPage]) -> None:
    page = opened()
    for row in packing.STATED:
        button = page.page.get_by_role("button", name=row.label, exact=True)
        packet = page.after(lambda button=button: button.click())["packet"]
        assert [packet["segments"], packet[row.what]] == [row.segments, row.bytes]


def test_a_finger_on_the_curve_takes_the_sweet_spot(opened: Callable[..., PanelPage]) -> None:
    page = opened(has_touch=True, viewport={"width": 375, "height": 800})
    spot = page.page.locator(".rp-picture circle").first
    spot.scroll_into_view_if_needed()
    dot = spot.bounding_box()
    assert dot
    drawn = page.after(lambda: page.page.touchscreen.tap(dot["x"] + 6, dot["y"] + 20))
    assert drawn["knobs"]["mtu"] == packing.sweet_spots()[0][1]
    assert drawn["packet"]["spare_bytes"] < drawn["packet"]["segments"]
    page.after(lambda: page.control("timestamps").tap())
    page.after(lambda: page.control("ip").select_option("IPv4"))
    drawn = page.after(lambda: page.control("max_skb_frags").select_option("45"))
    assert {k: drawn["knobs"][k] for k in ("timestamps", "ip", "max_skb_frags")} == {
        "timestamps": 0, "ip": "IPv4", "max_skb_frags": 45,
    }  # fmt: skip
    assert page.after(lambda: page.page.get_by_role("button", name="Reset").tap())["knobs"]["ip"] == "IPv6"
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 375


def test_address_file_and_python_say_what_is_shown(opened: Callable[..., PanelPage], tmp_path: Path) -> None:
    page = opened("#gro-packer?mtu=3300&ip=IPv4&timestamps=7&colour=red")
    assert page.summary().startswith("MTU 3,300, IPv4 with time stamps: 20 segments of 3,248 bytes")
    page.after(lambda: page.control("max_skb_frags").select_option("45"))
    assert page.page.evaluate("location.hash") == "#gro-packer?mtu=3300&ip=IPv4&max_skb_frags=45"
    assert page.copied("Copy as Python") == (
        'GroPacker(mtu=3300, ip="IPv4", timestamps=1, gro_max_size=65536, max_skb_frags=45)'
    )
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Download CSV").click()
    download.value.save_as(tmp_path / "packet.csv")
    with (tmp_path / "packet.csv").open(newline="") as file:
        rows = {row[1]: row[2] for row in csv.reader(file) if row[0] in ("knob", "packet")}
    assert (rows["mtu"], rows["segments"], rows["length that GRO compares, bytes"]) == ("3300", "20", "65012")


def test_python_reads_back_and_refuses() -> None:
    packer = GroPacker(3300, ip="IPv4")
    assert packer.result == packing.pack(3300, "IPv4")
    packer.set_state({"mtu": 1500})
    assert packer.result.segments == 45
    with pytest.raises(traitlets.TraitError, match="mtu"):
        GroPacker(900)
    with pytest.raises(traitlets.TraitError, match="IPv4"):
        GroPacker(ip="IPv5")
    finding = packer._repr_mimebundle_()[0]["text/plain"]
    assert finding.startswith("A GRO packet at MTU 1,500 holds 45 segments of 1,448 bytes, 65,212 bytes with headers")
