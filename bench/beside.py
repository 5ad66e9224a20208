"""Measure two systems in turns, and compare the measurements round by round."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

FiguresT = TypeVar("FiguresT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric(Generic[FiguresT]):
    """A quantity, and the ratio of ours to the rival's that is to be reached.

    Attributes:
        name: The quantity with its unit.
        of: The value of one round.
        target: The ratio to reach; None if the issue names no ratio.
        is_rate: Whether a larger ratio is better.
    """

    name: str
    of: Callable[[FiguresT], float]
    target: float | None
    is_rate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The ratio of ours to the rival's, round by round.

    Attributes:
        name: The quantity.
        ours, theirs: The medians of the rounds.
        ratio: The median of the ratios of each round.
        least, most: The smallest and the largest of these ratios.
        target: The ratio to reach, or None.
        is_reached: Whether the median reaches the target; None without a target.
    """

    name: str
    ours: float
    theirs: float
    ratio: float
    least: float
    most: float
    target: float | None
    is_reached: bool | None


def in_turns(
    names: tuple[str, str],
    rounds: int,
    measure: Callable[[str], FiguresT],
    say: Callable[[str], None],
) -> Mapping[str, list[FiguresT]]:
    """Return the figures of each round; the systems take turns, and in turns begin a round."""
    found: dict[str, list[FiguresT]] = {name: [] for name in names}
    for number in range(rounds):
        for name in names if number % 2 == 0 else names[::-1]:
            say(f"round {number + 1} of {rounds}: {name}")
            found[name].append(measure(name))
    return found


def ratios(
    metrics: Sequence[Metric[FiguresT]], ours: Sequence[FiguresT], theirs: Sequence[FiguresT]
) -> list[Ratio]:
    """Return the ratio of each metric over rounds in pairs."""
    return [_ratio(metric, ours, theirs) for metric in metrics]


def _ratio(metric: Metric[FiguresT], ours: Sequence[FiguresT], theirs: Sequence[FiguresT]) -> Ratio:
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
        is_reached=_is_reached(metric, median),
    )


def _is_reached(metric: Metric[FiguresT], ratio: float) -> bool | None:
    if metric.target is None:
        return None
    return ratio >= metric.target if metric.is_rate else ratio <= metric.target


def table(
    metrics: Sequence[Metric[FiguresT]],
    rival: str,
    ours: Sequence[FiguresT],
    theirs: Sequence[FiguresT],
) -> list[str]:
    """Return the lines of a table in Markdown, and a paragraph that explains the columns."""
    rounds = len(ours)
    rows = zip(ratios(metrics, ours, theirs), metrics, strict=True)
    return [
        f"| | reference | {rival} | ratio | bounds | to reach | |",
        "|---|---|---|---|---|---|---|",
        *(_row(one, metric) for one, metric in rows),
        "",
        f"The systems take turns, and {rival} begins every second round. The values are medians of "
        "the rounds. A ratio is ours divided by Kafka's of the same round; the column has the "
        "median, and the bounds are the smallest and the largest ratio. With n rounds the bounds "
        f"enclose the true median with probability 1 - 2^(1-n), here {1 - 2 ** (1 - rounds):.0%}.",
    ]


def _row(one: Ratio, metric: Metric[FiguresT]) -> str:
    sign = "at least" if metric.is_rate else "at most"
    target = "" if one.target is None else f"{sign} {one.target:g}"
    verdict = {None: "", True: "reached", False: "not reached"}[one.is_reached]
    return (
        f"| {one.name} | {_number(one.ours)} | {_number(one.theirs)} | {_number(one.ratio)} | "
        f"{_number(one.least)} to {_number(one.most)} | {target} | {verdict} |"
    )


def _number(value: float) -> str:
    """Return three significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
