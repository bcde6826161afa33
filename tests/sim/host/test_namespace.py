"""Namespaces end with the process that made them, however it ends, and nothing outside of them changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from book.build.places import ROOT
from sim.host import child
from sim.host.namespace import Namespace
from sim.host.wire import cable

pytestmark = pytest.mark.usefixtures("kernel")

#: Makes hosts with a cable and traffic, says that all runs, and waits to be ended.
VICTIM = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs us in the background has it ignored
from sim.host.load import Setup, hosts
with hosts(Setup()) as (near, arrival, far):
    server = far.host.start("iperf3", "-s", "-p", "5201")
    far.host.listens(5201)
    near.host.start("iperf3", "-c", far.v6, "-p", "5201", "-t", "60")
    print("all runs", flush=True)
    {then}
"""
SWITCHES = (
    "net/ipv4/tcp_early_demux", "net/ipv4/udp_early_demux", "net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding",
    "net/ipv6/conf/default/accept_dad",
)


def namespaces(of: Iterable[int] | None = None) -> dict[int, str]:
    """Network namespaces by process, of some or of all."""
    found = {}
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        pid = int(link.parts[2])
        try:
            if of is None or pid in of:
                found[pid] = str(link.readlink())
        except OSError:
            continue  # it has just ended
    return found


def children(parent: int) -> set[int]:
    """Processes that one has started and that still run."""
    return {int(n) for task in Path(f"/proc/{parent}/task").glob("*/children") for n in task.read_text().split()}


def hosts_of(parent: int) -> set[str]:
    """Network namespaces that a process has made for its children."""
    return set(namespaces(children(parent)).values()) - set(namespaces([parent]).values())


def outside() -> dict[str, str]:
    """What an experiment may not change: devices, named namespaces, switches, mounts."""
    state = {name: Path("/proc/sys", name).read_text() for name in SWITCHES if Path("/proc/sys", name).exists()}
    state["devices"] = " ".join(sorted(os.listdir("/sys/class/net")))  # noqa: PTH208  names only
    state["named"] = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    state["mounts"] = "\n".join(sorted(line.split(" ", 2)[1] for line in Path("/proc/mounts").read_text().splitlines()))
    return state


def python(code: str) -> subprocess.Popen[str]:
    """A Python that runs some code."""
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )


def victim(then: str) -> subprocess.Popen[str]:
    """A process in the midst of an experiment."""
    started = python(VICTIM.format(then=then))
    assert started.stdout is not None
    said = started.stdout.readline()
    if said != "all runs\n":
        raise AssertionError(ended(started))
    return started


def ended(process: subprocess.Popen[str]) -> str:
    """What a process said on standard error; it is gone and its pipes are closed, whatever came before."""
    process.kill()
    return process.communicate()[1]


def gone(spaces: set[str]) -> bool:
    """Whether no process is in some namespaces any more, so that the kernel takes them down."""
    return within(20, lambda: spaces.isdisjoint(namespaces().values()))


def within(seconds: float, what: Callable[[], bool]) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT", "SIGTERM", "exception"])
def test_nothing_is_left_however_the_parent_ends(how: str) -> None:
    before = outside()
    process = victim("input(); raise RuntimeError('on purpose')" if how == "exception" else "time.sleep(60)")
    try:
        spaces = hosts_of(process.pid)
        assert len(spaces) == 2
        if how != "exception":
            process.send_signal(getattr(signal, how))
        process.communicate("\n", timeout=20)
        assert process.returncode != 0
        assert gone(spaces)
        assert outside() == before
    finally:
        ended(process)


def test_ctrl_c_at_the_command_line_leaves_nothing() -> None:
    before = outside()
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from sim.cli import main; "
        "sys.exit(main(['host', 'experiment', 'udp-flood', '--seconds', '30']))"
    )
    process = python(code)
    try:
        assert within(20, lambda: len(hosts_of(process.pid)) == 2)
        spaces = hosts_of(process.pid)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        assert (process.returncode, said.splitlines()[-1]) == (130, "interrupted")
        assert gone(spaces)
        assert outside() == before
    finally:
        ended(process)


def test_a_switch_is_the_namespace_s_own() -> None:
    before = outside()
    with Namespace("host") as host:
        host.sysctl("net.ipv4.udp_early_demux", 0)
        assert host.read("/proc/sys/net/ipv4/udp_early_demux").strip() == "0"
        assert outside() == before
    assert outside() == before


def test_a_cable_carries_packets_and_its_knobs_are_set() -> None:
    with Namespace("left") as left, Namespace("right") as right, cable(left, right) as (one, other):
        other.rps([0, 1])
        mask = other.host.read(f"/sys/class/net/{other.device}/queues/rx-0/rps_cpus")
        assert int(mask.strip().replace(",", ""), 16) == 3
        other.offload(gro=True)
        assert "generic-receive-offload: on" in other.host.run("ethtool", "-k", other.device)
        one.mtu(9000)
        other.mtu(9000)
        assert "mtu 9000" in one.host.run("ip", "link", "show", one.device)


def test_a_switch_that_the_kernel_has_not_is_an_error_that_names_it() -> None:
    with Namespace("host") as host, pytest.raises(child.Failed, match="no_such_switch"):
        host.sysctl("net.ipv4.no_such_switch", 1)


def test_a_command_that_does_not_end_is_ended() -> None:
    with Namespace("host") as host, pytest.raises(child.Failed, match=r"no end after 0.2 s"):
        host.run("sleep", "60", timeout_s=0.2)


def test_outside_its_with_statement_there_is_no_namespace() -> None:
    host = Namespace("receiver")
    with pytest.raises(RuntimeError, match="the receiver is not there"):
        host.run("true")
