"""What a machine's primitives cost. One field for each machine field of the spec, of the same name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """Picoseconds (``_ps``), per mille, counts. A zero cache size means that it never overflows."""

    hit_ps: int  # the line is in this core's own cache
    sibling_ps: int  # a lock is handed to the other thread of the core
    same_socket_ps: int  # a line comes from another core of the socket
    other_socket_ps: int  # a line comes from the other socket
    shared_read_ps: int  # a line comes from the socket's shared cache
    memory_ps: int
    atomic_ps: int  # what a locked instruction takes beyond an access
    l2_lines: int  # a core's own cache
    llc_lines: int  # a socket's shared cache
    smt_permille: int  # how much longer work takes while the sibling computes
    ticket_permille: int  # a ticket lock's hand-over in transfers, and more for each further waiter
    ticket_waiter_permille: int
    queued_permille: int  # a queued lock's hand-over in transfers
    switch_ps: int  # a switch to another thread
    idle_exit_ps: int  # from an interrupt or wake-up to the first instruction of an idle CPU
    chunk_ps: int  # a thread's long work is cut into pieces of this length, so that interrupts get in
    slice_ps: int  # a thread's time on the CPU while others wait
    ksoftirqd_after_ps: int  # softirq for so long without a pause, and waiting threads get a slice
    ksoftirqd_slice_ps: int
    ksoftirqd_blocks_irq: int  # in that slice vector 0 waits too
    sockets: int
    cores_per_socket: int
    threads_per_core: int
