"""What one contended line or lock costs: published measurements, the closed form of the line model, the fit.

The measurements are those of Travis Downs, "A Concurrency Cost Hierarchy": N threads, each pinned to its own
core, change one shared counter in a loop; the number is the time of one operation as a thread sees it, the
median of 15 trials. In that benchmark the ticket lock's two words share a line that is aligned to 64 bytes,
waiters spin without a pause instruction, and the lock's counter lies elsewhere.

The line model says: a line is handed round, so an operation that needs it once takes N times one hand-over.
For a lock it says that a hand-over takes `transfer * (ticket + waiter * further waiters) / 1000`: with N
threads in the loop one holds the lock, one is next, and N - 2 wait further behind. `fit_ticket` finds the two
factors by least squares of the relative error. Such a hand-over contains the move of the counter that the
lock protects, unless `protected_lines` takes it out.

>>> fit = fit_ticket("neoverse-n1", transfer_ps=47_000)
>>> fit.ticket_permille, fit.waiter_permille
(2822, 435)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sim.machine import Machine

SOURCE: Final = (
    "Travis Downs, A Concurrency Cost Hierarchy; github.com/travisdowns/concurrency-hierarchy-bench "
    "at 1b3f7f8ceeaf, results/*/combined.csv, medians over 15 trials"
)

#: The measured processors and the machine of this project that stands for each ("" if none does).
PROCESSORS: Final = {
    "Skylake i7-6700HQ": "skylake-client",
    "Ice Lake i5-1035G4": "",
    "Graviton1, Cortex-A72": "cortex-a72",
    "Graviton2, Neoverse N1": "neoverse-n1",
}


@dataclass(frozen=True)
class Measurement:
    """Nanoseconds per operation and thread, by the number of threads."""

    operation: str
    processor: str
    ns: tuple[tuple[int, float], ...]

    def at(self, threads: int) -> float:
        """The measured time, in ns. Raises KeyError if it was not measured with so many threads."""
        return dict(self.ns)[threads]


def _measured() -> tuple[Measurement, ...]:
    skylake, ice_lake, a72, n1 = PROCESSORS
    four = (1, 2, 3, 4)
    wide = (1, 2, 3, 4, 8, 16)
    rows: list[tuple[str, str, tuple[int, ...], tuple[float, ...]]] = [
        ("atomic_add", skylake, four, (7.0, 44.1, 70.0, 96.4)),
        ("atomic_add", ice_lake, four, (6.1, 32.8, 49.3, 69.5)),
        ("atomic_add", a72, wide, (8.8, 30.7, 85.6, 105.4, 410, 1372)),
        ("atomic_add", n1, wide, (5.3, 17.0, 26.2, 34.7, 75.5, 150)),
        ("cas_loop", skylake, four, (12.0, 108.6, 226.8, 347.2)),
        ("cas_loop", a72, wide, (17.1, 54.8, 142.6, 175.1, 641, 2060)),
        ("cas_loop", n1, wide, (8.4, 52.2, 84.1, 116.5, 323, 639)),
        ("mutex", skylake, four, (20.9, 125.3, 178.3, 276.3)),
        ("ticket_lock", skylake, four, (9.7, 215.2, 346.0, 489.2)),
        ("ticket_lock", a72, wide, (28.9, 177.2, 378.8, 492.5, 1737, 4387)),
        ("ticket_lock", n1, wide, (12.2, 265.7, 469.9, 681.7, 1996, 6841)),
        ("private_add", skylake, four, (2.0, 2.0, 2.0, 2.0)),
        ("private_add", ice_lake, four, (1.2, 1.2, 1.2, 1.3)),
        ("private_add", a72, wide, (4.1, 4.1, 4.1, 4.1, 4.1, 4.1)),
        ("private_add", n1, wide, (3.2, 3.2, 3.2, 3.2, 3.2, 3.2)),
        ("private_cas", skylake, four, (12.0, 12.0, 12.0, 12.0)),
        ("blocking_lock", skylake, four, (44.4, 7835, 12715, 16948)),
    ]
    return tuple(Measurement(op, cpu, tuple(zip(n, ns, strict=True))) for op, cpu, n, ns in rows)


MEASURED: Final = _measured()


def measured(operation: str, machine: str) -> Measurement:
    """The measurement of an operation on the processor that a machine stands for.

    Raises KeyError with the pairs that exist if there is none.
    """
    for row in MEASURED:
        if row.operation == operation and PROCESSORS[row.processor] == machine:
            return row
    known = ", ".join(f"{m.operation} on {PROCESSORS[m.processor] or m.processor}" for m in MEASURED)
    raise KeyError(f"{operation} was not measured on {machine}; known: {known}")


@dataclass(frozen=True)
class TicketFit:
    """Hand-over factors of a ticket lock and what the fit leaves over.

    Attributes
    ----------
    errors
        Relative error of the fitted time, (model - measured) / measured, by the number of threads.
    """

    machine: str
    ticket_permille: int
    waiter_permille: int
    errors: tuple[tuple[int, float], ...]
    fitted_on: str


def fit_ticket(machine: str, transfer_ps: int, protected_lines: int = 0) -> TicketFit:
    """Least squares of the relative error over all measured points with two threads or more.

    Parameters
    ----------
    machine
        A machine for which the ticket lock was measured.
    transfer_ps
        What one hand-over of a line costs there, in ps.
    protected_lines
        How many of the transfers in each turn are data under the lock, to be charged apart.
    """
    row = measured("ticket_lock", machine)
    points = [(n, ns * 1000.0) for n, ns in row.ns if n >= 2]
    # model / measured = a * u + b * v with u = n * transfer / measured and v = u * (n - 2): normal equations
    pairs = [(n * transfer_ps / ps, n * transfer_ps * (n - 2) / ps) for n, ps in points]
    uu, uv, vv = (sum(x * y for x, y in z) for z in (
        [(u, u) for u, _ in pairs], [(u, v) for u, v in pairs], [(v, v) for _, v in pairs]
    ))
    su, sv = sum(u for u, _ in pairs), sum(v for _, v in pairs)
    determinant = uu * vv - uv * uv
    a = (su * vv - sv * uv) / determinant
    b = (sv * uu - su * uv) / determinant
    errors = tuple((n, a * u + b * v - 1.0) for (n, _), (u, v) in zip(points, pairs, strict=True))
    threads = ", ".join(str(n) for n, _ in points)
    return TicketFit(
        machine,
        round(1000 * (a - protected_lines)),
        round(1000 * b),
        errors,
        f"ticket lock on {row.processor} with {threads} threads",
    )


def expected_ns(operation: str, machine: Machine, threads: int) -> float | None:
    """The line model's closed form, in ns an operation; None where it has none and only a run can say."""
    cost = machine.cost
    own, atomic, transfer = cost("hit_ps"), cost("atomic_ps"), cost("same_socket_ps")
    if operation == "private_add":
        return own / 1000
    if operation == "private_cas":
        return (2 * own + atomic) / 1000
    if operation == "atomic_add":
        return (own + atomic if threads == 1 else threads * (transfer + atomic)) / 1000
    if operation == "ticket_lock":
        if threads == 1:
            return (3 * own + atomic) / 1000  # take a ticket, look who is served, change the counter, pass on
        waiters = cost("ticket_permille") + cost("ticket_waiter_permille") * (threads - 2)
        return threads * transfer * waiters / 1e6
    if operation == "queued_lock":
        if threads == 1:
            return (3 * own + atomic) / 1000
        return threads * transfer * cost("queued_permille") / 1e6
    return None


def table(machine: Machine) -> list[dict[str, str | int | float | None]]:
    """Model against measurement, for a page: one row for each operation and number of threads.

    Columns: operation, processor, threads, measured_ns, model_ns and error_pct (None without a closed form),
    source. The machine must be one that stands for a measured processor; otherwise there are no rows.
    """
    rows: list[dict[str, str | int | float | None]] = []
    for measurement in MEASURED:
        if PROCESSORS[measurement.processor] != machine.name:
            continue
        for threads, ns in measurement.ns:
            model = expected_ns(measurement.operation, machine, threads)
            rows.append({
                "operation": measurement.operation, "processor": measurement.processor, "threads": threads,
                "measured_ns": ns, "model_ns": model,
                "error_pct": None if model is None else 100 * (model - ns) / ns, "source": SOURCE,
            })
    return rows
