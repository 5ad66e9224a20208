"""The figures of a node in the text format of Prometheus, version 0.0.4.

Names are those of Kafka's raft-metrics as its JMX exporter shows them:
`kafka_server_raft_metrics_current_leader`; those of type KafkaController begin with
`kafka_controller_`. Not: the figures (raft_metrics.py).
"""

import math
from collections.abc import Mapping
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
PREFIX: Final = "kafka_server_raft_metrics_"
CONTROLLER_PREFIX: Final = "kafka_controller_"


def metrics_text(
    gauges: Mapping[str, float],
    controller_gauges: Mapping[str, float],
    states: Mapping[str, bool],
) -> str:
    """Return one gauge after the other, the state as one gauge of a label a role."""
    lines: list[str] = []
    for prefix, group in ((PREFIX, gauges), (CONTROLLER_PREFIX, controller_gauges)):
        for name, value in group.items():
            full = prefix + name.replace("-", "_")
            lines += [f"# TYPE {full} gauge", f"{full} {_number(value)}"]
    full = PREFIX + "current_state"
    lines.append(f"# TYPE {full} gauge")
    lines += [f'{full}{{state="{state}"}} {int(holds)}' for state, holds in states.items()]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else str(value)
