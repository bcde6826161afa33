"""What someone waits for: the first run, a picture after a move, each scenario's estimates, the validation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Browser

from sim import scenarios
from sim.engine.native import NativeEngine
from tests.bench import startup
from tests.bench.hosts import Chromium
from tests.bench.line import Line, at_most
from tests.widgets import every, page_speed, widget_speed

ENOUGH_S = 3.0  # a wait that takes longer is not repeated
REPEATS = 3

FIRST_CALL, LATER, PICTURE, INTERVALS = at_most(30), at_most(2), at_most(100), at_most(600)
FIRST_NATIVE, FINAL_NATIVE, FIRST_IN_PAGE, FINAL_IN_PAGE = at_most(1.5), at_most(5), at_most(3), at_most(15)
ARENA_MB, VALIDATE = at_most(64), at_most(180)
READY, ANSWER = at_most(2500), at_most(100)


def seconds(act: Callable[[], object]) -> tuple[float, str]:
    """Median seconds of a few repeats by the wall clock; how many there were and their seconds on CPUs."""
    took: list[float] = []
    busy = time.process_time()
    while len(took) < REPEATS and sum(took) < ENOUGH_S:
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    each = (time.process_time() - busy) / len(took)
    return statistics.median(took), f"{len(took)} {'repeats' if len(took) > 1 else 'run'}, CPU {each:.1f} s each"


def starting() -> list[Line]:
    """The first run of all, and `import sim` with a first run once the engine is compiled."""
    group = "Starting, in a fresh Python"
    first, said, later = startup.first_and_later()
    told = "says so" if said else "does not say so"
    middle = sorted(later, key=lambda one: one.wall)[len(later) // 2]
    return [
        Line(group, "first run, nothing compiled", first.wall, "s", FIRST_CALL, f"{told}; CPU {first.cpu:.1f} s"),
        Line(group, "  it says that it compiles", float(said), "1 = yes", None),
        Line(group, "import sim and first run", middle.wall, "s", LATER, f"CPU {middle.cpu:.1f} s"),
    ]


def page(browser: Browser) -> list[Line]:
    """A lab on a page from a file, after a move of a knob."""
    group = "The page, after a move of the MTU"
    got = page_speed.measure(browser)
    rows = (("first picture", "first_picture", PICTURE), ("both arms, 5 replications", "five_replications", INTERVALS))
    return [
        Line(group, f"{name}, p95", got[key]["p95_ms"], "ms", target, f"median {got[key]['median_ms']:g} ms")
        for name, key, target in rows
    ]


def widgets(browser: Browser) -> list[Line]:
    """A page with four widgets until all show runs; each kind of widget after a move."""
    group = "Widgets on a page from a file"
    made = ", ".join(widget_speed.PAGE)
    out = [Line(group, "four of them ready, median", round(widget_speed.ready(browser)), "ms", READY, made)]
    for name in every.NAMES:
        got = widget_speed.answers(browser, name)
        note = f"{widget_speed.CONTROL[name]} moved, median {got['median_ms']:g} ms"
        out.append(Line(group, f"{name}, move to picture, p95", got["p95_ms"], "ms", ANSWER, note))
    return out


def scenario(name: str, browser: Browser) -> list[Line]:
    """A default run of a scenario, native and in a page; nothing is kept from one repeat to the next."""
    group = f"Scenario {name}"
    one = scenarios.load(name)
    image = one.image()
    megabytes = NativeEngine().build(image).nbytes / (1 << 20)
    first, first_note = seconds(lambda: scenarios.load(name).run(replications=1, until_ps=one.quick_ps))
    final, final_note = seconds(lambda: scenarios.load(name).run())
    images = [one.image(seed) for seed in range(1, one.replications + 1)]
    with Chromium(browser) as host:
        page_first = host.replicate(image, one.warm_ps, one.quick_ps)
        page_final = sum(host.replicate(np.asarray(each), one.warm_ps, one.until_ps) for each in images)
    runs = f"{one.replications} replications"
    return [
        Line(group, "first estimate, native", first, "s", FIRST_NATIVE, first_note),
        Line(group, f"{runs}, native", final, "s", FINAL_NATIVE, final_note),
        Line(group, "first estimate, Chromium", page_first, "s", FIRST_IN_PAGE, "one arm, engine only, once"),
        Line(group, f"{runs}, Chromium", page_final, "s", FINAL_IN_PAGE, "one arm, engine only"),
        Line(group, "arena", megabytes, "MB", ARENA_MB),
    ]


def validation() -> list[Line]:
    """All figures of all threads."""
    got = startup.python(["-m", "sim", "validate", "--json"])
    return [Line("Validation", "python -m sim validate", got.wall, "s", VALIDATE, f"CPU {got.cpu:.0f} s")]
