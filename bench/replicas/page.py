"""What is compared of two systems, and the page with the ratios."""

import os
import platform
import statistics
from collections.abc import Sequence

from bench.beside import Metric, table
from bench.replicas import __doc__ as introduction
from bench.replicas.measure import Figures

METRICS: tuple[Metric[Figures], ...] = (
    Metric(name="produce in series, p50, ms", of=lambda one: one.p50_ms, target=1.0),
    Metric(name="produce in series, p99, ms", of=lambda one: one.p99_ms, target=None),
    Metric(
        name="produce in batches, MB/s",
        of=lambda one: one.produce_mb_s,
        target=0.3,
        is_rate=True,
    ),
    Metric(name="consume, MB/s", of=lambda one: one.consume_mb_s, target=None, is_rate=True),
    Metric(
        name="failover of a partition leader, s",
        of=lambda one: statistics.median(one.failover_s),
        target=1.0,
    ),
    Metric(
        name="resident memory a broker, MB",
        of=lambda one: statistics.mean(one.memory_mb),
        target=0.25,
    ),
)


def page(ours: Sequence[Figures], theirs: Sequence[Figures]) -> str:
    """Return the page in Markdown."""
    first, rival = ours[0], theirs[0].system
    lines = [
        "# Replicas beside real Kafka",
        "",
        str(introduction).strip(),
        "",
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; "
        f"{first.nodes} nodes, {first.backend}, {first.timeouts} time-outs, {len(ours)} rounds; "
        f"load average of the last 15 minutes {os.getloadavg()[2]:.1f}.",
        "",
        *table(METRICS, rival, ours, theirs),
        "",
        "Records have 1 KiB, topics have one partition and three replicas, and acks is all. In "
        "series, a record waits for the acknowledgement of the record before. In batches, an "
        "idempotent producer sends batches of 64 KiB, at most five at a time. Neither system "
        "flushes records before the acknowledgement, which is Kafka's default. A JVM has 512 MB "
        "of heap and both compilers, and 2,000 records warm it up. Memory is read after the "
        "records. A failover begins with kill -9 of the leader, and ends with the next "
        "acknowledged record of a producer that already knew the old leader.",
        "",
    ]
    return "\n".join(lines)
