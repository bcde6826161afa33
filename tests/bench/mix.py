"""The mix on which the cost of an instruction is followed from 2 CPUs to 112.

Every CPU runs one thread that goes round for ever: arithmetic, two lines and two cells of its own, a line that all
read and one of them writes now and then, a lock that four CPUs share with a line under it, a subroutine, and every
sixteenth time a counter of all by a locked instruction. The work between takes a random time, so that the CPUs do
not march in step. About 35 instructions a round, on half of the CPUs in each of two sockets.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sim import machine
from sim.engine.tables import MACHINE_FIELDS
from sim.machine import COSTS
from sim.program import Register
from sim.spec import Integer, Spec

NAME = "private, shared and locked lines"
CPUS = (2, 8, 28, 56, 112)
X, Y, GROUP, TURN = (Register(number, name) for number, name in enumerate(("x", "y", "group", "turn")))
ME = Register(14, "index")
WRITES_EVERY, COUNTS_EVERY, GROUP_OF = 64, 16, 4


def spec(cpus: int) -> Spec:
    """The mix on so many CPUs, an even number."""
    s = Spec()
    host = machine.load("cascade-lake")
    s.cost(**{name: host.cost(name) for name in MACHINE_FIELDS if name in COSTS})
    s.cost(sockets=2, cores_per_socket=cpus // 2, threads_per_core=1, chunk_ps=1_000_000, slice_ps=3_000_000_000)
    one, each = s.domain("one", 1), s.domain("cpu", cpus)
    groups = s.domain("group", -(-cpus // GROUP_OF))
    cells = s.table("cells", each, total=Integer(0, 1023), seen=Integer())
    own = s.struct("own", each, {"head": 0, "tail": 1}, 2)
    common = s.struct("common", one, {"config": 0, "counter": 1}, 2)
    shared = s.struct("shared", groups, {"lock": 0, "data": 1}, 2)
    lock = s.spinlocks("lock", shared, "lock")
    p = s.program
    with p.symbol("loop"):
        p.label("begin")
        p.alu(GROUP, ME, "//", GROUP_OF)
        p.set(TURN, 0)
        p.label("again")
        p.alu(TURN, TURN, "+", 1)
        p.alu(TURN, TURN, "%", WRITES_EVERY)
        p.write(own, "head", ME)
        p.load(X, cells, "total", ME)
        p.alu(X, X, "+", 7)
        p.alu(X, X, "%", 1000)
        p.store(cells, "total", X, ME)
        p.uniform(Y, 400_000)
        p.work(100_000, by=Y, fs=1000)
        p.read(common, "config")
        p.branch(ME, "!=", 0, "read_only")
        p.branch(TURN, "!=", 0, "read_only")
        p.write(common, "config")
        p.label("read_only")
        p.call("tally")
        p.lock(lock, GROUP)
        p.write(shared, "data", GROUP)
        p.work(20_000)
        p.unlock(lock, GROUP)
        p.alu(Y, TURN, "%", COUNTS_EVERY)
        p.branch(Y, "!=", 0, "again")
        p.atomic(common, "counter")
        p.count("sixteenths")
        p.jump("again")
    with p.symbol("tally"):
        p.label("tally")
        p.read(own, "tail", ME)
        p.load(X, cells, "seen", ME)
        p.alu(X, X, "+", 1)
        p.alu(X, X, "&", 1023)
        p.store(cells, "seen", X, ME)
        p.write(own, "tail", ME)
        p.work(30_000)
        p.ret()
    s.spawn_threads("threads", "begin", cpus, mod=cpus)
    return s


def image(cpus: int) -> npt.NDArray[np.int64]:
    """The spec image of the mix."""
    return spec(cpus).image({"seed": 1})
