"""The layers of the receive path: every symbol of every scenario has one."""

from __future__ import annotations

import pytest

from sim import scenarios
from sim.layers import LAYERS, OTHER, layer, present
from sim.scenarios import Scenario
from tests.sim.scenarios.example_udp_flood import UdpFlood

ALL: list[Scenario] = [*(scenarios.load(name) for name in scenarios.names()), UdpFlood()]


@pytest.mark.parametrize("scenario", ALL, ids=lambda s: s.name)
def test_no_symbol_of_a_scenario_is_without_a_layer(scenario: Scenario) -> None:
    assert [symbol for symbol in scenario.spec.program.symbols if layer(symbol) == OTHER] == []


@pytest.mark.parametrize(
    ("symbol", "where"),
    [
        ("smp_call_function_single_interrupt", "steering"),
        ("ipv4_dst_check", "IP"),
        ("fib6_rule_lookup", "IP"),
        ("qtaguid_mt", "IP"),
        ("__udp6_lib_lookup", "TCP and socket"),
        ("__skb_recv_datagram", "TCP and socket"),
        ("packet_rcv_has_room", "TCP and socket"),
        ("tpacket_rcv", "TCP and socket"),
        ("napi_alloc_skb", "memory"),
        ("napi_poll", "driver and NAPI"),
        ("kmem_cache_free", "memory"),
        ("__cache_free_alien", "memory"),
        ("get_partial_node", "memory"),
        ("memcpy_erms", "copy to user"),
        ("reader", "copy to user"),
        ("__skb_wait_for_more_packets", "locks and scheduler"),
        ("ep_poll_callback", "locks and scheduler"),
        ("weather", OTHER),
    ],
)
def test_a_symbol_belongs_where_its_work_is_done(symbol: str, where: str) -> None:
    assert layer(symbol) == where


def test_layers_come_in_the_order_of_a_packets_way() -> None:
    assert present(["memcpy_erms", "tpacket_rcv", "weather", "mlx4_en_process_rx_cq"]) == [
        "driver and NAPI", "TCP and socket", "copy to user", OTHER,
    ]
    assert OTHER not in LAYERS
