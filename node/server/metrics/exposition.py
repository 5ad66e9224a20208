"""Write figures in the text format of Prometheus, by prometheus-client."""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from kraftproof.node.server.metrics.catalogue import BY_NAME, Kind
from kraftproof.node.server.metrics.figures import Figure


def exposition(figures: Iterable[Figure]) -> str:
    """Return the text of the figures, with the help and the kind of each metric."""
    registry = CollectorRegistry()
    registry.register(_Figures(figures))
    text: str = generate_latest(registry).decode()
    return text


class _Figures:
    """The figures as a collector of prometheus-client."""

    def __init__(self, figures: Iterable[Figure]) -> None:
        self._by_name: dict[str, list[Figure]] = {}
        for figure in figures:
            self._by_name.setdefault(figure.name, []).append(figure)

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Yield each metric with its values, in the order of the figures."""
        for name, figures in self._by_name.items():
            metric = BY_NAME[name]
            make = GaugeMetricFamily if metric.kind is Kind.GAUGE else CounterMetricFamily
            family = make(name, metric.help, labels=metric.labels)
            for figure in figures:
                family.add_metric(figure.labels, figure.value)
            yield family
