"""Ratios of two systems measured in turns, and the page with them."""

import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.cluster import __doc__ as introduction
from bench.cluster.measure import FLIGHT, Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A quantity, and the ratio of ours to the rival's that is to be reached.

    Attributes:
        name: The quantity with its unit.
        of: The value of one round.
        target: The ratio to reach.
        is_rate: Whether a larger ratio is better.
    """

    name: str
    of: Callable[[Figures], float]
    target: float
    is_rate: bool = False


METRICS = (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The ratio of ours to the rival's, round by round.

    Attributes:
        name: The quantity.
        ours, theirs: The medians of the rounds.
        ratio: The median of the ratios of each round.
        least, most: The smallest and the largest of these ratios.
        target: The ratio to reach.
        is_reached: Whether the median reaches the target.
    """

    name: str
    ours: float
    theirs: float
    ratio: float
    least: float
    most: float
    target: float
    is_reached: bool


def ratios(ours: Sequence[Figures], theirs: Sequence[Figures]) -> list[Ratio]:
    """Return the ratio of each metric over rounds in pairs."""
    return [_ratio(metric, ours, theirs) for metric in METRICS]


def _ratio(metric: Metric, ours: Sequence[Figures], theirs: Sequence[Figures]) -> Ratio:
    pairs = [(metric.of(one), metric.of(other)) for one, other in zip(ours, theirs, strict=True)]
    found = [one / other for one, other in pairs]
    median = statistics.median(found)
    return Ratio(
        name=metric.name,
        ours=statistics.median(one for one, _ in pairs),
        theirs=statistics.median(other for _, other in pairs),
        ratio=median,
        least=min(found),
        most=max(found),
        target=metric.target,
        is_reached=median >= metric.target if metric.is_rate else median <= metric.target,
    )


def page(ours: Sequence[Figures], theirs: Sequence[Figures]) -> str:
    """Return the page in Markdown."""
    first, rival = ours[0], theirs[0].system
    rounds = len(ours)
    lines = [
        "# A whole cluster beside real Kafka",
        "",
        str(introduction).strip(),
        "",
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; "
        f"{first.nodes} nodes, {first.backend}, {first.timeouts} time-outs, {rounds} rounds; load "
        f"average of the last 15 minutes {os.getloadavg()[2]:.1f}.",
        "",
        f"| | reference | {rival} | ratio | bounds | to reach | |",
        "|---|---|---|---|---|---|---|",
        *(_row(one, metric) for one, metric in zip(ratios(ours, theirs), METRICS, strict=True)),
        "",
        f"The systems take turns, and {rival} begins every second round. The values are medians of "
        "the rounds. A ratio is ours divided by Kafka's of the same round; the column has the "
        "median, and the bounds are the smallest and the largest ratio. With n rounds the bounds "
        f"enclose the true median with probability 1 - 2^(1-n), here {1 - 2 ** (1 - rounds):.0%}.",
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


def _row(one: Ratio, metric: Metric) -> str:
    sign = "at least" if metric.is_rate else "at most"
    return (
        f"| {one.name} | {_number(one.ours)} | {_number(one.theirs)} | {_number(one.ratio)} | "
        f"{_number(one.least)} to {_number(one.most)} | {sign} {one.target:g} | "
        f"{'reached' if one.is_reached else 'not reached'} |"
    )


def _number(value: float) -> str:
    """Return three significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
