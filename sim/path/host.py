"""The host under construction: a spec, a machine, and what every part of the path shares."""

from __future__ import annotations

from collections.abc import Mapping

from ..engine.tables import MACHINE_FIELDS
from ..expression import Number, Value
from ..machine import COSTS as MACHINE_COSTS
from ..machine import Machine
from ..program import Program
from ..spec import Spec
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
    """

    def __init__(
        self, spec: Spec, machine: Machine, scheduler: Mapping[str, int], changes: Mapping[str, int] | None = None
    ) -> None:
        self.spec = spec
        self.machine = machine
        self.changes = dict(changes or {})
        self.used: dict[str, int] = {}
        topology = machine.topology
        spec.cost(**{n: machine.cost(n) for n in MACHINE_FIELDS if n in MACHINE_COSTS})
        spec.cost(
            sockets=topology.sockets, cores_per_socket=topology.cores_per_socket,
            threads_per_core=topology.threads_per_core, chunk_ps=1_000_000, **scheduler,
        )
        self.one = spec.domain("one", 1)
        self.cpu = spec.domain("cpu", topology.sockets * topology.cores_per_socket * topology.threads_per_core)

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
