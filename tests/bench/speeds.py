"""Instructions a second: host by host on one image, and by number of CPUs."""

from __future__ import annotations

from contextlib import ExitStack

from playwright.sync_api import Browser

from sim import scenarios
from sim.engine.native import NativeEngine
from sim.wasm.host import WasmEngine
from tests.bench import mix
from tests.bench.hosts import Chromium, Host, InProcess, Node, Reference
from tests.bench.line import Line, Target, at_least, at_most
from tests.bench.turns import Figure, clock, interleave, rate, ratio, share

SCENARIO = "tcp-5.17"
CLOCKS = {"cpu": "CPU time", "wall": "the wall clock"}

#: Least million instructions a second, least share of native in Chromium, most growth from 2 to 112 CPUs.
NATIVE, IN_PAGE, GROWTH = at_least(20), at_least(0.7), at_most(2.5)


def line(group: str, name: str, figure: Figure, unit: str, target: Target | None = None, note: str = "") -> Line:
    """A line from a median and its quartiles."""
    return Line(group, name, figure.median, unit, target, note, figure.low, figure.high)


def hosts(browser: Browser, rounds: int = 15, steps: int = 1_000_000, reference_steps: int = 60_000) -> list[Line]:
    """All hosts, on the same instructions of the same image.

    Raises RuntimeError if hosts that executed as many instructions are not at the same simulated time.
    """
    group = f"Million instructions a second of CPU time, {SCENARIO}"
    scenario = scenarios.load(SCENARIO)
    image, warm = scenario.image(), scenario.warm_ps
    with ExitStack() as open_hosts:
        page = open_hosts.enter_context(Chromium(browser))
        page.begin(image, warm)
        alike: dict[str, Host] = {
            "native": InProcess(NativeEngine(), image, warm),
            "wasmtime": InProcess(WasmEngine(), image, warm),
            "node": open_hosts.enter_context(Node(image, warm)),
            "chromium": page,
        }
        reference = Reference(image)
        subjects = {name: (lambda host=host: host.turn(steps)) for name, host in alike.items()}
        subjects["reference"] = lambda: reference.turn(reference_steps)
        got = interleave(subjects, rounds, warm=4)
        times = {name: host.now() for name, host in alike.items()}
    if len(set(times.values())) != 1:
        raise RuntimeError(f"the hosts did not execute the same: {times}")
    native, reference = got["native"], got["reference"]
    by_wall = f"{rate(native).median:.1f} by the wall clock, with {100 * share(native):.0f} % of a CPU"
    lines = [
        line(group, "native", rate(native, "cpu"), "M/s", NATIVE, by_wall),
        line(group, "SimPy reference", rate(reference, "cpu"), "M/s"),
        line(group, "native over the reference", ratio(native, reference, "cpu"), "times"),
    ]
    told = {"wasmtime": "", "node": "", "chromium": "; worker from a blob, warm, slices of 50,000"}
    for name, more in told.items():
        by = clock(native, got[name])
        note = f"by {CLOCKS[by]}{more}"
        by_wall = f"{ratio(got[name], native).median:.2f} by the wall clock"
        target = IN_PAGE if name == "chromium" else None
        lines.append(line(group, f"WebAssembly, {name}", rate(got[name], by), "M/s", None, note))
        lines.append(line(group, f"  {name} over native", ratio(got[name], native, by), "times", target, by_wall))
    return lines


def scaling(rounds: int = 11, steps: int = 500_000) -> list[Line]:
    """Cost of an instruction as CPUs are added."""
    group = f"Cost of an instruction by CPUs, mix: {mix.NAME}"
    machines = {cpus: InProcess(NativeEngine(), mix.image(cpus), 20_000_000) for cpus in mix.CPUS}
    subjects = {str(cpus): (lambda host=host: host.turn(steps)) for cpus, host in machines.items()}
    got = interleave(subjects, rounds)
    least, most = str(mix.CPUS[0]), str(mix.CPUS[-1])
    lines = []
    for name, turns in got.items():
        lines.append(line(group, f"{name} CPUs", Figure.of([1000 / t.rate("cpu") for t in turns]), "ns"))
    growth = ratio(got[least], got[most], "cpu")
    return [*lines, line(group, f"{most} CPUs over {least}", growth, "times", GROWTH)]

