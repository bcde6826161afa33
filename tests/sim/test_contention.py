"""The contention model against the published measurements: the fit, its errors, what the machines hold."""

from __future__ import annotations

import pytest

from sim import contention, machine

MEASURED_ON = [name for name in contention.PROCESSORS.values() if name]


@pytest.mark.parametrize(
    ("name", "worst"), [("neoverse-n1", 0.025), ("skylake-client", 0.005), ("cortex-a72", 0.16)]
)
def test_the_ticket_fit_leaves_small_errors(name: str, worst: float) -> None:
    fit = contention.fit_ticket(name, machine.load(name).cost("same_socket_ps"))
    assert max(abs(error) for _, error in fit.errors) < worst


@pytest.mark.parametrize("name", MEASURED_ON)
def test_no_other_pair_of_factors_fits_better(name: str) -> None:
    transfer = machine.load(name).cost("same_socket_ps")
    row = contention.measured("ticket_lock", name)
    fit = contention.fit_ticket(name, transfer)

    def loss(ticket: float, waiter: float) -> float:
        return sum(
            (n * transfer * (ticket + waiter * (n - 2)) / 1e6 / ns - 1) ** 2 for n, ns in row.ns if n >= 2
        )

    best = loss(fit.ticket_permille, fit.waiter_permille)
    for step in (-20, 20):
        assert loss(fit.ticket_permille + step, fit.waiter_permille) > best
        assert loss(fit.ticket_permille, fit.waiter_permille + step) > best


@pytest.mark.parametrize("name", machine.names())
def test_the_machines_hold_the_fit_of_the_processor_they_name(name: str) -> None:
    loaded = machine.load(name)
    ticket, waiter = loaded.constant("ticket_permille"), loaded.constant("ticket_waiter_permille")
    assert ticket.fitted_on == waiter.fitted_on is not None
    fits = [
        contention.fit_ticket(source, machine.load(source).cost("same_socket_ps")) for source in MEASURED_ON
    ]
    assert (ticket.value, waiter.value) in [
        (fit.ticket_permille, fit.waiter_permille) for fit in fits if fit.fitted_on == ticket.fitted_on
    ]


def test_a_protected_line_is_taken_out_of_the_hand_over() -> None:
    whole = contention.fit_ticket("neoverse-n1", 47_000)
    apart = contention.fit_ticket("neoverse-n1", 47_000, protected_lines=1)
    assert whole.ticket_permille - apart.ticket_permille == 1000
    assert whole.waiter_permille == apart.waiter_permille


def test_uncontended_times_are_the_measured_ones() -> None:
    for name in MEASURED_ON:
        loaded = machine.load(name)
        for operation in ("atomic_add", "private_add"):
            model = contention.expected_ns(operation, loaded, 1)
            assert model == pytest.approx(contention.measured(operation, name).at(1))


def test_the_shared_counter_of_skylake_is_met_within_an_eighth() -> None:
    rows = contention.table(machine.load("skylake-client"))
    errors = [row["error_pct"] for row in rows if row["operation"] == "atomic_add"]
    assert len(errors) == 4
    assert all(isinstance(error, float) and abs(error) < 14 for error in errors)


def test_a_machine_that_nobody_measured_has_no_rows() -> None:
    assert contention.table(machine.load("cascade-lake")) == []
    with pytest.raises(KeyError, match="ticket_lock was not measured on cascade-lake"):
        contention.fit_ticket("cascade-lake", 47_000)


def test_every_measured_point_is_a_row_with_its_source() -> None:
    rows = [row for name in MEASURED_ON for row in contention.table(machine.load(name))]
    points = sum(len(m.ns) for m in contention.MEASURED if contention.PROCESSORS[m.processor])
    assert len(rows) == points
    assert {row["source"] for row in rows} == {contention.SOURCE}
