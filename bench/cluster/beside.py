"""What is compared of two systems, and the page with the ratios."""

import os
import platform
import statistics
from collections.abc import Sequence

from bench.beside import Metric, table
from bench.cluster import __doc__ as introduction
from bench.cluster.measure import FLIGHT, Figures

METRICS: tuple[Metric[Figures], ...] = (
    Metric(
        name="createTopics RF 3 in series, 1/s",
        of=lambda one: one.in_series_per_s,
        target=5.0,
        is_rate=True,
    ),
    Metric(
        name=f"createTopics RF 3, {FLIGHT} in flight, 1/s",
        of=lambda one: one.in_flight_per_s,
        target=5.0,
        is_rate=True,
    ),
    Metric(name="failover after kill -9, s", of=lambda one: one.failover_median_s, target=1.0),
    Metric(name="start to the first topic, s", of=lambda one: one.first_topic_s, target=0.5),
    Metric(
        name="resident memory a node, MB",
        of=lambda one: statistics.mean(one.memory_mb),
        target=0.25,
    ),
)


def page(ours: Sequence[Figures], theirs: Sequence[Figures]) -> str:
    """Return the page in Markdown."""
    first, rival = ours[0], theirs[0].system
    lines = [
        "# A whole cluster beside real Kafka",
        "",
        str(introduction).strip(),
        "",
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; "
        f"{first.nodes} nodes, {first.backend}, {first.timeouts} time-outs, {len(ours)} rounds; "
        f"load average of the last 15 minutes {os.getloadavg()[2]:.1f}.",
        "",
        *table(METRICS, rival, ours, theirs),
        "",
        "Both systems flush each batch of the metadata log before a replica acknowledges it, "
        "and both write one record of a topic and one of each partition. Kafka's controller waits "
        "up to 25 ms for further records before an append (controller.quorum.append.linger.ms), "
        "its default; ours does not wait. One JVM has a heap of at most 256 MB and compiles with "
        "C1 only, for a quick start. 200 topics are made before the rates are measured. Memory is "
        "read after the topics.",
        "",
    ]
    return "\n".join(lines)
