"""Fitting for tcp-rx-skb-cache: what a request and its reply cost beyond the model, on the rate before the patches.

One number, on SLAB, which the authors' company ran; SLUB's rate before the patches is then a prediction too.
`fit` reads the one figure that it is given by name, and the constants that tcp-5.17 has fitted on the same machine
(the copy); `write` puts its row beside those of other threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from . import scenarios
from .fit import write

THREAD: Final = "tcp-rx-skb-cache"
TARGETS: Final = {"transaction_ps": ("rate_before", "requests a second before both patches, on SLAB")}
BEFORE: Final[dict[str, Any]] = {"rx_skb_cache": 0, "tx_skb_cache": 0}
START_PS: Final = 6_000_000
ROUNDS: Final = 3
STEP_PS: Final = 10_000

__all__ = ["BEFORE", "TARGETS", "THREAD", "fit", "write"]


def fit(figures: Mapping[str, float], log: Callable[[str], None] = print) -> list[dict[str, Any]]:
    """The fitted constant as a row of `fitted.json`. KeyError if `figures` lacks the rate; no other is read.

    All CPUs are busy, so a request takes CPUs / rate, and siblings stretch what they compute: each round adds what
    is missing.
    """
    figure, why = TARGETS["transaction_ps"]
    want = figures[figure]
    cost = START_PS
    for _ in range(ROUNDS):
        scenario = scenarios.load(THREAD, changes={"transaction_ps": cost})
        topology = scenario.machine.topology
        mpps = scenario.run(replications=5, **BEFORE).mpps
        log(f"{cost} ps: {mpps:.3f} Mpps")
        missing_ps = topology.cpus * 1e6 * (1.0 / want - 1.0 / mpps)
        stretched = scenario.machine.cost("smt_permille") if topology.threads_per_core > 1 else 1000
        cost = round((cost + missing_ps * 1000 / stretched) / STEP_PS) * STEP_PS
    return [
        {
            "scenario": THREAD, "machine": scenario.machine.name, "constant": "transaction_ps", "value": cost,
            "unit": "ps", "figure": figure, "reported": want, "fitted_on": why,
        }
    ]
