"""List every metric with kind, meaning and source, for the endpoint and docs/metrics.md.

The names are those of Kafka's MBeans as the JMX exporter of Prometheus writes them. A metric
without a source in Kafka or in a KIP is named as Kafka would name it.
"""

from enum import Enum
from typing import Final

from msgspec import Struct

RAFT: Final = "kafka_server_raft_metrics_"
CONTROLLER: Final = "kafka_controller_"
SERVER: Final = "kafka_server_"
NETWORK: Final = "kafka_network_"


class Kind(Enum):
    """The kind of a metric for Prometheus."""

    GAUGE = "gauge"
    COUNTER = "counter"


class Metric(Struct, frozen=True):
    """A metric of the endpoint."""

    name: str
    help: str
    source: str
    kind: Kind = Kind.GAUGE
    labels: tuple[str, ...] = ()
    where: str = "every node"
    """The nodes that have the metric."""


_LEADER: Final = "the active controller"
_QUORUM: Final = "controllers"
_BROKER: Final = "brokers"


def _window(name: str, text: str, source: str, where: str = "every node") -> tuple[Metric, ...]:
    """Return the average and the maximum of a time over the last minute."""
    return tuple(
        Metric(
            f"{RAFT}{name}_{end}", f"{word} {text}, in ms over the last minute", source, where=where
        )
        for end, word in (("avg", "Average"), ("max", "Longest"))
    )


CATALOGUE: Final = (
    Metric(f"{RAFT}current_leader", "Id of the leader; -1 without a known leader", "KIP-595"),
    Metric(f"{RAFT}current_epoch", "Epoch of the quorum", "KIP-595"),
    Metric(f"{RAFT}current_vote", "Id of the voter that got the vote; -1 for none", "KIP-595"),
    Metric(f"{RAFT}current_state", "1 for the role of the node, else 0", "KIP-595",
           labels=("state",)),
    Metric(f"{RAFT}log_end_offset", "End offset of the metadata log", "KIP-595"),
    Metric(f"{RAFT}log_end_epoch", "Epoch of the last record", "KIP-595"),
    Metric(f"{RAFT}high_watermark", "End of the committed records", "KIP-595"),
    Metric(f"{RAFT}number_unknown_voter_connections",
           "Voters that the node has not turned to yet", "KIP-595"),
    Metric(f"{RAFT}number_of_voters", "Voters of the quorum", "Kafka 4.3"),
    Metric(f"{RAFT}poll_idle_ratio_avg", "Share of the time that the node waited", "KIP-595"),
    Metric(f"{RAFT}append_records_rate", "Records appended a second", "KIP-595", where=_LEADER),
    Metric(f"{RAFT}fetch_records_rate", "Records fetched a second", "KIP-595",
           where="followers and observers"),
    *_window("election_latency", "time from a candidacy to a known leader", "KIP-595"),
    *_window("commit_latency", "time from an append to its commit", "KIP-595", _LEADER),
    *_window("fsync_time", "time of an fsync", "KIP-595, Quorum Performance"),
    *_window("apply_time", "time of a step that applied records", "KIP-595, Quorum Performance"),
    *_window("high_watermark_time", "time from a flush to the high watermark",
             "KIP-595, Quorum Performance", _LEADER),
    *_window("request_time", "time from an admin request to its answer",
             "KIP-595, Quorum Performance", _LEADER),
    Metric(f"{CONTROLLER}active_controller_count", "1 on the active controller, else 0",
           "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}new_active_controllers_count", "Changes of the known active controller",
           "Kafka 4.3", Kind.COUNTER, where=_QUORUM),
    Metric(f"{CONTROLLER}active_broker_count", "Registered brokers without a fence", "Kafka 4.3",
           where=_QUORUM),
    Metric(f"{CONTROLLER}fenced_broker_count", "Fenced brokers", "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}controlled_shutdown_broker_count", "Brokers in a controlled shutdown",
           "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}global_topic_count", "Topics", "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}global_partition_count", "Partitions", "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}offline_partitions_count", "Partitions without a leader", "Kafka 4.3",
           where=_QUORUM),
    Metric(f"{CONTROLLER}preferred_replica_imbalance_count",
           "Partitions whose leader is not the first replica", "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}last_applied_record_offset", "Offset of the last applied record",
           "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}last_committed_record_offset", "Offset of the last committed record",
           "Kafka 4.3", where=_QUORUM),
    Metric(f"{CONTROLLER}metadata_lag", "Committed records that are not applied yet", "KIP-631",
           where=_QUORUM),
    Metric(f"{CONTROLLER}metadata_commit_latency_ms",
           "Average time of a commit, in ms over the last minute", "KIP-631", where=_LEADER),
    Metric(f"{CONTROLLER}metadata_commit_rate_per_sec",
           "Metadata records committed a second over the last minute", "KIP-631", where=_LEADER),
    Metric(f"{CONTROLLER}metadata_snapshot_offset_lag",
           "Committed records since the last snapshot", "KIP-631", where=_QUORUM),
    Metric(f"{SERVER}metadata_lag", "Committed records that are not applied yet", "KIP-631",
           where=_BROKER),
    Metric(f"{SERVER}broker_metadata_metrics_last_applied_record_offset",
           "Offset of the last applied record", "Kafka 4.3", where=_BROKER),
    Metric(f"{SERVER}broker_state",
           "State of the broker: 1 starting, 2 recovery, 3 running, 6 and 7 stopping", "Kafka 4.3",
           where=_BROKER),
    Metric(f"{SERVER}num_client_forwarding_to_controller_rate",
           "Requests forwarded a second, over the last minute", "KIP-590", where=_BROKER),
    Metric(f"{SERVER}num_client_forwarding_to_controller_count",
           "Forwarded requests without an answer yet", "KIP-590", where=_BROKER),
    Metric(f"{SERVER}num_messages_redirected_rate",
           "Envelopes sent a second, over the last minute", "KIP-590", where=_BROKER),
    Metric(f"{SERVER}num_messages_redirected_count", "Envelopes sent", "KIP-590", Kind.COUNTER,
           where=_BROKER),
    Metric(f"{SERVER}request_forwarding_to_controller_authorization_fail_count",
           "Envelopes refused since the broker may not forward", "KIP-590", Kind.COUNTER,
           where=_BROKER),
    Metric(f"{SERVER}socket_server_metrics_connections", "Open connections that named a software",
           "KIP-511", labels=("client_software_name", "client_software_version")),
    Metric(f"{NETWORK}request_metrics_requests", "Answered requests", "Kafka 4.3", Kind.COUNTER,
           labels=("request",)),
    Metric(f"{NETWORK}request_metrics_total_time_ms",
           "Sum of the times from requests to their answers, in ms", "Kafka 4.3", Kind.COUNTER,
           labels=("request",)),
)  # fmt: skip
"""Every metric, in the order of the page."""
BY_NAME: Final = {metric.name: metric for metric in CATALOGUE}
assert len(BY_NAME) == len(CATALOGUE)
