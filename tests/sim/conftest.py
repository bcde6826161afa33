"""The scenario of the 5.17 series and one short run of it, shared by the tests of this room."""

from __future__ import annotations

import pytest

from sim import scenarios
from sim.result import Result
from sim.scenarios import Scenario


@pytest.fixture(scope="session")
def tcp() -> Scenario:
    """tcp-5.17 with its own machine and constants."""
    return scenarios.load("tcp-5.17")


@pytest.fixture(scope="session")
def after(tcp: Scenario) -> Result:
    """The patched receiver at MTU 1500: three short replications."""
    return tcp.run(replications=3, until_ps=tcp.quick_ps, defer_free=1, mtu=1500)
