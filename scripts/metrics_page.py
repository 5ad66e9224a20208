"""Write docs/metrics.md and docs/grafana.json from the catalogue of metrics.

python -m scripts.metrics_page
"""

import json
import re
from pathlib import Path
from typing import Any, Final

from kraftproof.node.server.metrics.catalogue import CATALOGUE, CONTROLLER, NETWORK, RAFT, SERVER

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
PAGE: Final = DOCS / "metrics.md"
DASHBOARD: Final = DOCS / "grafana.json"
_INTRODUCTION: Final = """# Metrics of a node

`metrics.listener=host:port` in the server.properties opens `http://host:port/metrics` for
Prometheus. Without the key the node measures nothing. The names are those that the JMX exporter
gives to Kafka's MBeans. Import [grafana.json](grafana.json) into Grafana and choose the Prometheus
data source; the variable `job` selects the cluster.

Not measured: offsets of consumers and transactions, which the node does not have, and Kafka's
figures about its threads and caches. `SessionExpireListener` of ZooKeeper is not reported.

| metric | kind | labels | meaning | where | source |
| --- | --- | --- | --- | --- | --- |
"""
Panel = tuple[str, str, str, tuple[tuple[str, str], ...]]
"""Row, title, unit, and the queries with their legends."""
PANELS: Final[tuple[Panel, ...]] = (
    ("Quorum", "Leader as each node sees it", "none", ((f"{RAFT}current_leader", "{{instance}}"),)),
    ("Quorum", "Epoch", "none", ((f"{RAFT}current_epoch", "{{instance}}"),)),
    (
        "Quorum",
        "High watermark and log end",
        "none",
        (
            (f"{RAFT}high_watermark", "high watermark {{instance}}"),
            (f"{RAFT}log_end_offset", "log end {{instance}}"),
        ),
    ),
    (
        "Quorum",
        "Commit latency",
        "ms",
        (
            (f"{RAFT}commit_latency_avg", "average {{instance}}"),
            (f"{RAFT}commit_latency_max", "longest {{instance}}"),
        ),
    ),
    ("Quorum", "Fsync", "ms", ((f"{RAFT}fsync_time_max", "longest {{instance}}"),)),
    (
        "Quorum",
        "Records a second",
        "none",
        (
            (f"{RAFT}append_records_rate", "appended {{instance}}"),
            (f"{RAFT}fetch_records_rate", "fetched {{instance}}"),
        ),
    ),
    ("Quorum", "Idle share", "percentunit", ((f"{RAFT}poll_idle_ratio_avg", "{{instance}}"),)),
    (
        "Controller",
        "Active controllers",
        "none",
        ((f"sum({CONTROLLER}active_controller_count)", "active"),),
    ),
    (
        "Controller",
        "Brokers",
        "none",
        (
            (f"max({CONTROLLER}active_broker_count)", "active"),
            (f"max({CONTROLLER}fenced_broker_count)", "fenced"),
            (f"max({CONTROLLER}controlled_shutdown_broker_count)", "shutting down"),
        ),
    ),
    (
        "Controller",
        "Topics and partitions",
        "none",
        (
            (f"max({CONTROLLER}global_topic_count)", "topics"),
            (f"max({CONTROLLER}global_partition_count)", "partitions"),
        ),
    ),
    (
        "Controller",
        "Partitions in trouble",
        "none",
        (
            (f"max({CONTROLLER}offline_partitions_count)", "offline"),
            (f"max({CONTROLLER}preferred_replica_imbalance_count)", "not on the first replica"),
        ),
    ),
    (
        "Controller",
        "Metadata commits a second",
        "none",
        ((f"{CONTROLLER}metadata_commit_rate_per_sec", "{{instance}}"),),
    ),
    (
        "Controller",
        "Records since the last snapshot",
        "none",
        ((f"{CONTROLLER}metadata_snapshot_offset_lag", "{{instance}}"),),
    ),
    ("Brokers", "State", "none", ((f"{SERVER}broker_state", "{{instance}}"),)),
    ("Brokers", "Metadata lag", "none", ((f"{SERVER}metadata_lag", "{{instance}}"),)),
    (
        "Clients",
        "Connections by software",
        "none",
        (
            (
                f"sum by (client_software_name) ({SERVER}socket_server_metrics_connections)",
                "{{client_software_name}}",
            ),
        ),
    ),
    (
        "Clients",
        "Requests a second",
        "reqps",
        (
            (
                f"sum by (request) (rate({NETWORK}request_metrics_requests_total[1m]))",
                "{{request}}",
            ),
        ),
    ),
    (
        "Clients",
        "Time of a request",
        "ms",
        (
            (
                f"sum by (request) (rate({NETWORK}request_metrics_total_time_ms_total[1m])) / "
                f"sum by (request) (rate({NETWORK}request_metrics_requests_total[1m]))",
                "{{request}}",
            ),
        ),
    ),
)
"""The panels of the dashboard, row by row."""
_METRIC: Final = re.compile(r"\bkafka_\w+")
COLUMNS: Final = 3
GRID: Final = 24
HEIGHT: Final = 8


def page() -> str:
    """Return docs/metrics.md."""
    rows = "".join(
        f"| `{metric.name}` | {metric.kind.value} | {', '.join(metric.labels)} | {metric.help} | "
        f"{metric.where} | {metric.source} |\n"
        for metric in CATALOGUE
    )
    return f"{_INTRODUCTION}{rows}\nThe page is written by `python -m scripts.metrics_page`.\n"


def dashboard() -> str:
    """Return docs/grafana.json."""
    panels: list[dict[str, Any]] = []
    height, column, row = 0, 0, ""
    for name, title, unit, queries in PANELS:
        if name != row:
            height += HEIGHT if column else 0
            panels.append(_row(name, height, len(panels) + 1))
            row, column = name, 0
            height += 1
        elif column == COLUMNS:
            height, column = height + HEIGHT, 0
        place = {"x": column * GRID // COLUMNS, "y": height, "w": GRID // COLUMNS, "h": HEIGHT}
        panels.append(_panel(len(panels) + 1, title, unit, queries, place))
        column += 1
    whole = {
        "title": "Kraftproof cluster",
        "uid": "kraftproof",
        "schemaVersion": 39,
        "timezone": "browser",
        "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": [_variable()]},
        "panels": panels,
    }
    return json.dumps(whole, indent=1) + "\n"


def selected(query: str) -> str:
    """Return a query for the chosen job only: each metric gets a selector."""
    return _METRIC.sub(lambda found: f'{found[0]}{{job="$job"}}', query)


def _variable() -> dict[str, Any]:
    query = f"label_values({RAFT}current_epoch, job)"
    return {"name": "job", "type": "query", "query": query, "refresh": 2}


def _row(title: str, height: int, number: int) -> dict[str, Any]:
    place = {"x": 0, "y": height, "w": GRID, "h": 1}
    return {"id": number, "type": "row", "title": title, "gridPos": place, "panels": []}


def _panel(
    number: int,
    title: str,
    unit: str,
    queries: tuple[tuple[str, str], ...],
    place: dict[str, int],
) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": title,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + place_), "expr": selected(query), "legendFormat": legend}
            for place_, (query, legend) in enumerate(queries)
        ],
    }


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    DASHBOARD.write_text(dashboard(), encoding="utf-8")
