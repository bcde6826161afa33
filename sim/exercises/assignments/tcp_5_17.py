"""What the assignment on the 5.17 series asks."""

from __future__ import annotations

from ..forms import Number
from ..instance import Assignment, Given, Question

ASSIGNMENT = Assignment(
    "tcp-5.17",
    "One reader, one softirq: the 5.17 series",
    90,
    machine=(),
    workload=(
        Given("payload_bytes", 1200, 1440, 4),
        Given("small_gbps_tenths", 480, 620),
        Given("large_gbps_tenths", 760, 900),
    ),
    questions=(
        Question(
            "gro-fill",
            "How much GRO packs",
            "On your machine a segment carries {payload_bytes:,} bytes of payload behind 72 bytes of IPv6 and TCP "
            "headers. GRO refuses a segment that would bring the merged packet, one set of headers included, to "
            "65,536 bytes. How many segments does a full GRO packet hold?",
            Number("segments", 1, 200, whole=True),
            "exact",
        ),
    ),
)
