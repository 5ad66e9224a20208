"""Bugs of the kinds that survived seed 9300: the comparison, the owner, the attribute, the bug."""

from kraftproof.node.core.broker.data import directory_assignments, fetch, produce, producer_ids
from kraftproof.node.core.controller import active, authorized, sessions, topics
from kraftproof.node.core.controller.configs import resource_names
from kraftproof.node.core.effects import EndRequest
from kraftproof.node.core.metadata import changed_topics
from kraftproof.node.core.quotas import mutations
from kraftproof.node.core.security import authorizer
from kraftproof.node.storage import bootstrap
from kraftproof.node.storage.partitions import partition_log, producer_files
from kraftproof.node.wire.records import compression
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import write_level

NEWEST_MS = partition_log.PartitionLog._newest_ms


def await_moves_of_any_epoch(self, broker, last_offset):
    """Keep the offset of the moves before the broker registered anew."""
    self._awaited.setdefault(broker.broker_id, (broker.epoch, last_offset))


def topic_of_any_resource(image, record):
    """Name no topic for a configuration of brokers, which holds for every topic."""
    topic_id = image.topic_ids.get(record.resource_name)
    return () if topic_id is None else (topic_id,)


PLANTED = [
    ("compare_raw_records", compression, "_GZIP_WINDOW", 47),
    ("compare_raw_records", compression, "_LZ4_BLOCK_CHECKSUM", 0),
    ("compare_snapshots", bootstrap, "LARGEST_LEVEL", 29),
    ("compare_snapshots", bootstrap, "write_level", lambda _: write_level(30)),
    ("compare_partition_logs", producer_files, "_SEQUENCES", 1 << 32),
    (
        *("compare_partition_logs", partition_log.PartitionLog, "_newest_ms"),
        property(lambda log: NEWEST_MS.fget(log) - 1),
    ),
    ("compare_parts", producer_ids, "_PREFETCH_AT", 11),
    ("compare_report_times", directory_assignments, "_SHORTEST_BACKOFF", 50_000_000),
    ("compare_report_times", directory_assignments, "_LONGEST_BACKOFF", 20_000_000_000),
    (
        *("compare_throttled_clients", fetch.DelayedFetch, "is_of_consumer"),
        property(lambda waiting: waiting.replica_id <= 0),
    ),
    (
        *("compare_throttled_clients", produce, "EndRequest"),
        lambda *, request, closes_connection, throttle_ms: EndRequest(
            request=request, closes_connection=closes_connection, throttle_ms=throttle_ms // 2
        ),
    ),
    ("compare_metered_changes", mutations, "bounded_ms", lambda wait_ms: int(wait_ms) + 2),
    ("compare_placements", changed_topics.ChangedTopics, "take", lambda *_: []),
    (
        *("compare_placements", changed_topics, "_TOPICS"),
        {
            kind: named
            for kind, named in changed_topics._TOPICS.items()
            if kind is not records.ConfigRecord
        },
    ),
    (
        *("compare_placements", changed_topics, "_TOPICS"),
        {**changed_topics._TOPICS, records.ConfigRecord: topic_of_any_resource},
    ),
    ("compare_sessions", sessions.Sessions, "await_moves", await_moves_of_any_epoch),
    ("compare_resource_errors", resource_names, "is_legal_name", lambda _: True),
    ("compare_busy_controllers", active, "RECORDS_A_STEP", 1),
    ("compare_topic_creations", topics, "_check_policy", lambda *_: None),
    ("compare_partly_allowed", authorized, "_without_configs", lambda topic: topic),
    ("compare_entry_decisions", authorizer, "_dominates", lambda *_: False),
    ("compare_entry_decisions", authorizer, "_concerns", lambda *_: True),
    ("compare_entry_decisions", authorizer, "_IMPLIED", {}),
]
