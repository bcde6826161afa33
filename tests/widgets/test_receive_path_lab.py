"""The receive-path lab in Python: traits, errors, one run a message, the answer to a front end."""

from __future__ import annotations

from typing import Any

import pytest
import traitlets

from sim.knob import KnobError
from sim.layers import LAYERS, layer
from widgets import ReceivePathLab, sidecar, still


@pytest.fixture
def lab() -> ReceivePathLab:
    return ReceivePathLab("tcp-5.17", replications=2)


@pytest.fixture
def runs(lab: ReceivePathLab, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The knobs of every run of an arm."""
    seen: list[dict[str, Any]] = []
    run = lab._run

    def counted(knobs: dict[str, Any]) -> Any:
        seen.append(knobs)
        return run(knobs)

    monkeypatch.setattr(lab, "_run", counted)
    return seen


def test_the_result_follows_the_knobs(lab: ReceivePathLab, runs: list[dict[str, Any]]) -> None:
    assert lab.result.after.gbps > lab.result.before.gbps
    assert len(runs) == 2
    lab.mtu = 4168
    assert lab.result.before.knobs["mtu"] == 4168
    assert [run["defer_free"] for run in runs] == [0, 1, 0, 1]


def test_one_message_that_moves_several_knobs_is_one_run(lab: ReceivePathLab, runs: list[dict[str, Any]]) -> None:
    lab.set_state({"mtu": 4168, "rfs": 1, "seed": 3})
    assert len(runs) == 2
    assert lab.answer["knobs"] == lab.knobs
    assert lab.answer["seed"] == 3
    assert lab.answer["arms"] == [result.to_dict() for result in lab.result]


def test_a_greeting_is_answered_with_the_knobs_as_they_are(lab: ReceivePathLab) -> None:
    assert lab.answer == {}
    lab._greeted(lab, {"kind": "hello"}, [])
    assert lab.answer["knobs"] == lab.knobs


def test_errors_say_what_is_allowed(lab: ReceivePathLab) -> None:
    with pytest.raises(ValueError, match="no scenario 'tcp-5'"):
        ReceivePathLab("tcp-5")
    with pytest.raises(KnobError, match="did you mean mtu"):
        ReceivePathLab("tcp-5.17", mtus=1500)
    with pytest.raises(ValueError, match=r"arm 'mtu' is no switch of tcp-5\.17; its switches: defer_free"):
        ReceivePathLab("tcp-5.17", arm="mtu")
    with pytest.raises(traitlets.TraitError, match="mtu"):
        lab.mtu = 90_000
    with pytest.raises(traitlets.TraitError, match="reader_cpu"):
        lab.reader_cpu = "elsewhere"


def test_another_switch_can_be_the_arm() -> None:
    lab = ReceivePathLab("tcp-5.17", arm="page_recycling", replications=2)
    assert "page_recycling" not in lab.knobs
    assert lab.knobs["defer_free"] == 1
    assert lab.result.after.gbps > lab.result.before.gbps


def test_a_page_gets_all_knobs_and_no_answer(lab: ReceivePathLab) -> None:
    state = lab.state()
    assert set(lab.knobs) < set(state)
    assert "answer" not in state
    assert [row["label"] for row in state["sidecar"]["thread_settings"]] == ["mtu 1500", "mtu 4168"]


def test_reported_rows_belong_to_their_setting(lab: ReceivePathLab) -> None:
    assert {row["id"] for row in lab.reported(0)} == {"rate-before-1500"}
    lab.rcvbuf = 262144
    assert lab.reported(0) == []


def test_every_symbol_has_a_layer(lab: ReceivePathLab) -> None:
    symbols = lab.sidecar["symbols"]
    assert {symbol: layer(symbol) for symbol in symbols if layer(symbol) not in LAYERS} == {}


def test_a_term_that_is_none_is_refused(lab: ReceivePathLab) -> None:
    with pytest.raises(ValueError, match="no term 'weather:rain'"):
        sidecar.terms(lab._scenario.spec, "weather:rain")


def test_a_switch_that_is_no_patch_is_named_and_the_rate_can_be_another_metric() -> None:
    lab = ReceivePathLab(
        "lab", arm="rfs", headline="transactions_per_s", socket="tcp_rr", flows=16, rx_queues=1, readers=4,
        replications=2,
    )
    off, on = (result.metrics["transactions_per_s"] for result in lab.result)
    bundle = lab._repr_mimebundle_()[0]
    assert f"With rfs off {off.mean:,.0f} requests a second" in bundle["text/plain"]
    assert f"with rfs on {on.mean:,.0f} requests a second" in bundle["text/plain"]
    assert "patch" not in bundle["text/plain"]
    assert "headline" in lab.page_traits()
    with pytest.raises(ValueError, match="'transactions' is no metric of lab; the nearest is 'transactions_per_s'"):
        ReceivePathLab("lab", headline="transactions")


@pytest.mark.parametrize(
    ("socket", "metric", "unit"),
    [
        ("tcp_bulk", "gbps", "Gbit/s"),
        ("tcp_rr", "transactions_per_s", "requests a second"),
        ("udp", "read_mpps", "Mpps delivered"),
        ("forward", "forwarded_mpps", "Mpps forwarded"),
        ("packet_fanout", "read_mpps", "Mpps read"),
    ],
)
def test_the_rate_is_that_of_the_kind_of_socket(socket: str, metric: str, unit: str) -> None:
    lab = ReceivePathLab("lab", socket=socket, flows=16, replications=2)
    assert lab.rate == (metric, unit)
    before = lab.result.before.metrics[metric]
    assert before.mean > 0
    assert f"With defer_free off {still._number(before.mean)} {unit}" in lab.still().finding


def test_every_kind_of_socket_has_a_rate() -> None:
    lab = ReceivePathLab("lab", replications=2)
    by_knob = lab.sidecar["headlines"]
    kinds = next(k for k in lab.sidecar["knobs"] if k["name"] == by_knob["knob"])["choices"]
    assert list(by_knob["metrics"]) == list(kinds)
    assert {m["name"] for m in by_knob["metrics"].values()} <= {m["name"] for m in lab.sidecar["metrics"]}


def test_no_rate_is_said_to_reach_below_nothing() -> None:
    lab = ReceivePathLab("lab", headline="demux_found_share", replications=2)
    assert lab.result.before.metrics["demux_found_share"].low < 0
    assert "With defer_free off 0.0 % (0.0 to" in lab.still().finding
