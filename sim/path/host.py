"""The host under construction: a spec, a machine, and what every part of the path shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..engine.tables import MACHINE_FIELDS
from ..expression import Number, Value
from ..layout import Layout
from ..machine import COSTS as MACHINE_COSTS
from ..machine import Machine
from ..program import Program, Register
from ..spec import Domain, Lines, Locks, Spec
from .costs import COSTS


class Host:
    """A spec with a machine's costs and one domain for its CPUs, to which parts are added.

    Parameters
    ----------
    spec
        The spec to fill.
    machine
        Topology and costs.
    scheduler
        Times of the kernel's scheduler and softirq rules, ps: ``slice_ps``, ``ksoftirqd_after_ps``,
        ``ksoftirqd_slice_ps``, ``ksoftirqd_blocks_irq``.
    changes
        Other values for constants of `sim.path.costs` (for fits and sensitivity), ps.
    topology
        Sockets, cores of a socket, threads of a core, where they are not the machine's.
    """

    def __init__(
        self, spec: Spec, machine: Machine, scheduler: Mapping[str, Number], changes: Mapping[str, int] | None = None,
        topology: tuple[Number, Number, Number] | None = None,
    ) -> None:
        self.spec = spec
        self.machine = machine
        self.changes = dict(changes or {})
        self.used = spec.constants
        own = machine.topology
        sockets, cores, threads = topology or (own.sockets, own.cores_per_socket, own.threads_per_core)
        spec.cost(**{n: machine.cost(n) for n in MACHINE_FIELDS if n in MACHINE_COSTS})
        spec.cost(
            sockets=sockets, cores_per_socket=cores, threads_per_core=threads, chunk_ps=1_000_000, **scheduler,
        )
        self.one = spec.domain("one", 1)
        self.cpu = spec.domain("cpu", sockets * cores * threads)

    @property
    def program(self) -> Program:
        """The program that the parts write into."""
        return self.spec.program

    def cost(self, name: str) -> int:
        """A constant of the path or of the machine, and remember that it was used. Raises KeyError if unknown."""
        if name in self.changes:
            number = self.changes[name]
        elif name in COSTS:
            number = COSTS[name].value
        else:
            number = self.machine.cost(name)
        self.used[name] = number
        return number

    def knob(self, name: str) -> Value:
        """A knob's setting as a value."""
        return self.spec.values.knob(name)

    def value(self, number: Number) -> Value:
        """A number as a value of the spec."""
        return self.spec.values.value(number)

    def struct(
        self, name: str, domain: Domain, fields: Sequence[str], keys: Sequence[str], layout: Callable[..., Layout]
    ) -> Lines:
        """Declare a kernel struct whose layout depends on keys: a patch that moves fields is a layout key.

        `layout` is called with the keys as switches (those that are knobs of this spec; others are off) and
        gives the layout; each field's line is then a value that follows the knobs.
        """
        known = [key for key in keys if key in self.spec.knobs]

        def lines(of: Callable[[Layout], int], at: int, on: dict[str, bool]) -> Number:
            if at == len(known):
                return of(layout(**on))
            no = lines(of, at + 1, {**on, known[at]: False})
            yes = lines(of, at + 1, {**on, known[at]: True})
            return no if no == yes else self.knob(known[at]).choose(yes, no)

        def place(field: str) -> Number:
            # a field that a patch adds is touched by that patch's code only: without it any line will do
            return lines(lambda x: x.line(field) if field in {f.name for f in x.fields} else 0, 0, {})

        return self.spec.struct(name, domain, {f: place(f) for f in fields}, lines(lambda x: x.lines, 0, {}))

    def lock(self, locks: Locks, row: Register | None = None) -> None:
        """Take a spinlock, charged as profiles show it."""
        with self.program.symbol("_raw_spin_lock"):
            self.program.lock(locks, row)
