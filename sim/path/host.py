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
    machines
        The machines that a knob chooses from, each with its own values for constants of `sim.path.costs`;
        `machine` alone if not given. `changes` hold on all of them.
    chosen
        That knob's setting: which of `machines` it is.
    """

    def __init__(
        self, spec: Spec, machine: Machine, scheduler: Mapping[str, Number], changes: Mapping[str, int] | None = None,
        topology: tuple[Number, Number, Number] | None = None,
        machines: Sequence[tuple[Machine, Mapping[str, int]]] = (), chosen: Number = 0,
    ) -> None:
        self.spec = spec
        self.machine = machine
        self.changes = dict(changes or {})
        self._machines = machines or ((machine, {}),)
        self._chosen = spec.values.value(chosen)
        self.used = spec.constants
        own = machine.topology
        sockets, cores, threads = topology or (own.sockets, own.cores_per_socket, own.threads_per_core)
        for name in MACHINE_FIELDS:
            if name in MACHINE_COSTS:
                spec.cost(**{name: self._on_each([each.cost(name) for each, _ in self._machines])})
        spec.cost(
            sockets=sockets, cores_per_socket=cores, threads_per_core=threads, chunk_ps=1_000_000, **scheduler,
        )
        self.one = spec.domain("one", 1)
        self.cpu = spec.domain("cpu", sockets * cores * threads)

    @property
    def program(self) -> Program:
        """The program that the parts write into."""
        return self.spec.program

    def cost(self, name: str) -> Number:
        """A constant of the path or of the machine, and remember that it was used. Raises KeyError if unknown."""
        numbers = [self._cost(name, *each) for each in self._machines]
        self.used[name] = numbers[0]
        chosen = self._on_each(numbers)
        if isinstance(chosen, Value):
            self.spec.values.names.setdefault(chosen.row, name)
        return chosen

    def _cost(self, name: str, machine: Machine, own: Mapping[str, int]) -> int:
        if name in self.changes:
            return self.changes[name]
        if name in own:
            return own[name]
        return COSTS[name].value if name in COSTS else machine.cost(name)

    def _on_each(self, numbers: Sequence[int]) -> Number:
        """A number for each machine, as one that follows the choice; itself if all have the same."""
        common = max(set(numbers), key=numbers.count)
        out: Number = common
        for number in sorted(set(numbers) - {common}):
            places = [self._chosen.is_(at) for at, other in enumerate(numbers) if other == number]
            out = sum(places[1:], places[0]).choose(number, out)
        return out

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
