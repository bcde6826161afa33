"""Where experiments on this kernel cannot run, their tests say so and are counted as skipped."""

from __future__ import annotations

import pytest

from sim.host import load, record, tools
from sim.host.experiment import BASE


@pytest.fixture(scope="session")
def kernel() -> None:
    """A kernel that lets us make namespaces; the test is skipped, with the reason, where it does not."""
    lacks = tools.missing((*BASE, "iperf3"))
    if lacks:
        pytest.skip(f"this system lacks {lacks[0].name}: {lacks[0].remedy}")
    if len(load.cpus()) < 2:
        pytest.skip("experiments need two CPUs, and this process may use one")


@pytest.fixture(scope="session")
def perf(kernel: None) -> None:
    """The same, with perf and a clock that it can sample by."""
    if record.event() is None:
        pytest.skip("this system lacks perf, or it may not sample: install linux-perf, see kernel.perf_event_paranoid")
