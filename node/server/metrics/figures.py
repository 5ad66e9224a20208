"""The figures of a node, before they are written as text.

Not: the text, see exposition.py; a node without `metrics.listener` has figures and no text.
"""

from collections.abc import Mapping

from msgspec import Struct


class Figure(Struct, frozen=True):
    """A value of a metric of the catalogue, with the values of its labels."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


def prefixed(prefix: str, gauges: Mapping[str, float]) -> list[Figure]:
    """Return figures without labels; Kafka's dashes become underscores."""
    return [Figure(prefix + name.replace("-", "_"), float(value)) for name, value in gauges.items()]
