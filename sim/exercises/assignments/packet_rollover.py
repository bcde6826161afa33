"""What the assignment on packet rollover asks."""

from __future__ import annotations

from typing import Final

from ..faulty import texts
from ..forms import Choice, Number, Parts
from ..instance import Assignment, Given, Picked, Question
from ..pressure_mark import with_mark
from ..routine_form import Routine

EFFECTS: Final = (
    "two CPUs may fill the same frame", "the program may read a frame that is not filled yet", "a lock stays held",
    "a lock is taken for nothing", "an index leaves its table", "a line is written for nothing",
)
#: The search and the filling of a frame as six colleagues typed them, one fault in each.
LISTINGS: Final = texts("packet-rollover")
_TASKS: Final = tuple(Given(f"task_{k}", 430, 540) for k in range(8))

ASSIGNMENT = Assignment(
    "packet-rollover",
    "Asking whether there is room",
    75,
    machine=(
        Given("members", 5, 16),
        Given("handover_ns", 120, 260, 5),
        Given("stack_ns", 400, 700, 10),
    ),
    workload=(Given("load_kpps", 2800, 4200, 50),),
    questions=(
        Question(
            "rollover-locks", "How many locks a packet takes",
            "A fanout group has {members} packet sockets with rings, one on each of {members} CPUs, and rolls over. "
            "A packet finds its own ring full. Its CPU then looks at the other sockets one after the other.\n\n"
            "- `saved`: without the patch, the socket that it looks at as number {asked} has room, those before have "
            "none. How many times does the packet take a receive queue's lock until it lies in a ring?\n"
            "- `lost`: without the patch, all rings are full. How many times until it is dropped?\n"
            "- `marked`: with the patch, the sockets without room being marked already: the case of `saved` again.",
            Parts({name: Number("locks", 1, 1000, whole=True) for name in ("saved", "lost", "marked")}),
            "exact", (Given("asked", 2, 4),),
        ),
        Question(
            "rollover-budget", "What a lost packet costs, and where the trap opens",
            "Your group's {members} CPUs get {load_kpps:,} thousand packets a second, spread evenly. A lock that a "
            "crowd wants takes {handover_ns} ns each time; driver and stack take {stack_ns} ns a packet. All rings are "
            "full, the patch is not there.\n\n"
            "- `budget_us`: how much time has a CPU for one of its packets?\n"
            "- `lost_us`: how much does a packet take that is lost?\n"
            "- `escape_kpps`: below which load, over all CPUs, is any time left for the readers?",
            Parts({
                "budget_us": Number("us", 0.01, 1000), "lost_us": Number("us", 0.01, 1000),
                "escape_kpps": Number("thousand packets a second", 1, 1e6),
            }),
            "2 %",
        ),
        Question(
            "rollover-profile", "Read a profile",
            "`perf` was run over all eight CPUs of such a machine. The entries are in hundredths of a percent of all "
            "samples; all nine are `_raw_spin_lock`:\n\n"
            "| task | share |\n|---|---:|\n| bench_rollover | {bench} |\n"
            + "".join(f"| ksoftirqd/{k} | {{task_{k}}} |\n" for k in range(8))
            + "\nThe call graph of the first entry says: {room} % of it were called by `packet_rcv_has_room`, the rest "
            "by `tpacket_rcv`. Take the same division for the others.\n\n"
            "- `spinning_pct`: which share of all samples is spinning?\n"
            "- `room_pct`: which share of all samples is spinning only to *ask*?\n"
            "- `cpus`: how many of the eight CPUs do nothing but spin, on average, if all are busy?",
            Parts({
                "spinning_pct": Number("%", 0, 100), "room_pct": Number("%", 0, 100), "cpus": Number("CPUs", 0, 8),
            }),
            "1 %", (Given("bench", 1500, 2100), Given("room", 70, 90), *_TASKS),
        ),
        Question(
            "rollover-measure", "Predict, then measure",
            "Take `packet-rollover` with rings of {ring_frames} frames and {kpps:,} thousand packets a second, rings "
            "full at the start. Write down *first* how many million packets a second the program reads without the "
            "patch and with it (`guess_without`, `guess_with`; any honest guess gets its points). Then run both "
            "settings with two replications up to the scenario's `quick_ps`, and hand in what you measured (`without`, "
            "`with_mark`), and `probes`: the probes a packet without the patch.",
            Parts({
                **{name: Number("Mpps", 0, 20) for name in ("guess_without", "guess_with", "without", "with_mark")},
                "probes": Number("probes", 0, 20),
            }),
            "what other seeds change: 0.3 Mpps without the patch; with it, from a third of the load to all of it, as "
            "full rings drain a turn of the scheduler sooner or later; one probe",
            (Given("kpps", 2150, 2276, 2), Picked("ring_frames", (384,))),
        ),
        Question(
            "rollover-mark", "Write the mark",
            "Write the patch: three routines that keep and use `packet_sock.pressure`.\n\n"
            "- `has_room` runs after a socket was asked under its lock: `slot` is the socket, `n` is 1 if its ring has "
            "room. `n` has to be the same afterwards. It ends at its end, or at `out`.\n"
            "- `search` runs before a CPU asks another one's socket: `slot` is the candidate, `flow` the packet's own "
            "socket. It ends at `out` to ask, at `skip` to pass over.\n"
            "- `poll` runs when a program asks whether its ring has something to read: `flow` is its socket, `k` is 0 "
            "if the ring was found empty.\n\n"
            "Rules: a socket without room is marked, and then only its own CPU asks it. Whoever finds room takes the "
            "mark away, and so does a program that finds its ring empty. No packet may be lost while another ring has "
            "room that nobody has reason to doubt. A mark that is right already is not written again.",
            Routine(with_mark), "by what it does in runs that you do not see",
        ),
        Question(
            "rollover-bug", "Find the fault",
            "A colleague has typed the search for a ring and the filling of a frame, without the mark, and made one "
            "mistake: a line is missing, or stands in the wrong place. `first` is the socket where the search began."
            "\n\n```\n{listing}\n```\n\nSay at which `line` (the one that stands in the wrong place; if one is "
            "missing, the line before which it is missing), and which `effect` it has.",
            Parts({"line": Number("", 1, 40, whole=True), "effect": Choice(EFFECTS)}),
            "exact; half of the points for each part", (Picked("listing", LISTINGS),),
        ),
    ),
)
