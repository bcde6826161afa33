"""Right answers of the design project."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from sim.exercises.assignments.receiver_design import CHANGES
from sim.exercises.instance import Instance
from sim.exercises.receiver import Design, Site, design
from sim.result import Result
from sim.scenarios.scenario import RunError

from . import Verdict, near, partly, question, right, together, wrong
from .cheapest import cheapest

HEADERS: Final = 72
FOR_TARGET, FOR_PRICE = 0.4, 0.6  # parts of the points
FREE: Final = 1.1  # so much above the cheapest costs no points


@question("design-pencil", points=4)
def pencil(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """Rates over sizes, and what they need."""
    target = Site.of(instance).target_gbps
    small, large = (1000 * target / (8 * (mtu - HEADERS)) for mtu in (1500, 9000))
    queues = small * instance.number("packet_ns") / 1000
    readers = target / instance.number("reader_gbps")
    up = "a part of a CPU is a CPU"
    return together({
        "small_mpps": near(answer["small_mpps"], small, relative=0.01, traps=[
            (1000 * target / (8 * 1500), 0.5, "payload was asked for: headers are not delivered"),
            (1000 * instance.number("link_gbps") / (8 * (1500 - HEADERS)), "the target is a part of the link"),
        ]),
        "large_mpps": near(answer["large_mpps"], large, relative=0.01, traps=[
            (1000 * target / (8 * 9000), 0.5, "payload was asked for: headers are not delivered"),
        ]),
        "queues": near(answer["queues"], math.ceil(queues), traps=[(math.floor(queues), 0.5, up)],
                       hint="packets a second times the time of one is CPUs"),
        "readers": near(answer["readers"], math.ceil(readers), traps=[(math.floor(readers), 0.5, up)],
                        hint="the target over what one reads"),
    })


@cache
def _run(site: tuple[Any, ...], chosen: tuple[tuple[str, int | str], ...]) -> Result:
    return Site(*site, {}).run(dict(chosen))


def _at(instance: Instance, **changes: int) -> Result:
    """The first design at a student's site, with changes; each is run once."""
    site = Site.of(instance)
    first: Design = design(
        rx_queues=instance.number("first_queues"), readers=instance.number("first_readers"), **changes)
    return _run((site.processor, site.link_gbps, site.flows, site.target_gbps), tuple(first.items()))


@question("design-first", points=4)
def first(instance: Instance, answer: Mapping[str, Any]) -> Verdict:
    """The same run."""
    run = _at(instance)
    truth = run.metrics["gbps"]
    profile = run.profile("reader")
    share = max(profile.values())
    full = [role for role in ("softirq", "reader") if run.cpu[role] > 0.97 * max(run.cpu.values())]
    named = answer["symbol"].strip().strip("`()")
    how = "the plain design with your queues and readers, site.run(...)"
    return together({
        "gbps": near(answer["gbps"], truth.mean, absolute=max(truth.high - truth.low, 0.03 * truth.mean), hint=how),
        "full": right() if answer["full"] in full else wrong(
            "Those have time left.", "a result has a dict `cpu`: the busy shares by role"),
        "symbol": right() if profile.get(named, 0) > 0.97 * share else wrong(
            "That is not the largest." if named in profile else "No function of that name is in the reader's profile.",
            'result.profile("reader") is sorted, the largest first'),
        "share_pct": near(answer["share_pct"], share, absolute=2, hint="the profile's first number, in percent"),
    })


@question("design-change", points=4)
def change(instance: Instance, answer: Mapping[str, Any]) -> Verdict:
    """The same five runs."""
    before = _at(instance).gbps
    gains = {name: 100 * (_at(instance, **chosen).gbps / before - 1) for name, chosen in CHANGES.items()}
    best, worst = max(gains.values()), min(gains.values())
    return together({
        "guess": right(),
        "best": right() if gains[answer["best"]] > best - 1 else wrong(
            "Another change gains more.", "one change at a time, all from the same first design"),
        "best_pct": near(answer["best_pct"], best, absolute=3, hint="the rate with it over the rate without it"),
        "worst_pct": near(answer["worst_pct"], worst, absolute=3, traps=[
            (-worst, "has the rate risen or fallen?"),
        ], hint="the smallest of the four, with its sign"),
    })


@question("design-receiver", points=12)
def receiver(instance: Instance, answer: Mapping[str, int | str]) -> Verdict:
    """The design is run, and its price compared with one that was found by trying."""
    site = Site.of(instance)
    try:
        low = site.run(answer).metrics["gbps"].low
    except RunError as error:
        return wrong(f"The run came to no end: {error}.", "settings at the ends of their ranges may be too much")
    if low < site.target_gbps:
        near_it = low >= 0.9 * site.target_gbps
        message = "The design does not reach the target" + (", but comes near." if near_it else ".")
        hint = "the low end of the interval counts; which CPUs are full? What would relieve *them*?"
        return partly(0.2, message, hint) if near_it else wrong(message, hint)
    price = site.price(answer)
    try:
        best = cheapest(site)[0]
    except ValueError:  # the student has found more than the course
        best = price
    if price <= FREE * best:
        return right("Right: it reaches the target, and nothing that is much cheaper is known.")
    over = (price / best - FREE) / (2 - FREE)
    return partly(
        FOR_TARGET + FOR_PRICE * max(0.0, 1 - over),
        f"It reaches the target, for {100 * (price / best - 1):.0f} % more than the cheapest design known.",
        "whose CPUs have time left? What does the dearest part bring, and would a cheaper one do?",
    )
