"""How the CPUs of a machine lie: sockets, cores, and the threads that share a core."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topology:
    """Sockets of equal cores of equal threads; CPUs are numbered as Linux does on most servers.

    First comes one thread of every core, socket by socket, then the siblings in the same order: on two
    sockets of 24 cores, CPUs 0 to 23 lie in socket 0, 24 to 47 in socket 1, and 48 is the sibling of 0.
    """

    sockets: int
    cores_per_socket: int
    threads_per_core: int

    @property
    def cores(self) -> int:
        """Cores of the whole machine."""
        return self.sockets * self.cores_per_socket

    @property
    def cpus(self) -> int:
        """Hardware threads of the whole machine."""
        return self.cores * self.threads_per_core

    def core_of(self, cpu: int) -> int:
        """The core that a CPU belongs to. Raises IndexError if there is no such CPU."""
        if not 0 <= cpu < self.cpus:
            raise IndexError(f"CPU {cpu} does not exist; this machine has 0 to {self.cpus - 1}")
        return cpu % self.cores

    def socket_of(self, cpu: int) -> int:
        """The socket that a CPU belongs to."""
        return self.core_of(cpu) // self.cores_per_socket

    def siblings_of(self, cpu: int) -> tuple[int, ...]:
        """The CPUs of the same core, the given one included."""
        return tuple(range(self.core_of(cpu), self.cpus, self.cores))
