"""Compare defaults, keys and levels that the core states with those of Kafka.

Simulated nodes are given most settings, and few runs ask for a level by its number, so a run hardly
reads these tables. The defaults of the settings are in the table generated from Kafka's jars.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.core.required_rights import (
    compare_required_rights,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import (
    InternalTopics,
    QuotaPolicy,
    ReplicationPolicy,
    SnapshotPolicy,
    Timeouts,
    TokenPolicy,
)
from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.configs.broker_keys import definition_of
from kraftproof.node.core.configs.generated.broker_keys import BROKER_KEYS
from kraftproof.node.core.metadata.version import RELEASES

DEFAULTS_OF_THE_KIP: Final = {
    "broker.heartbeat.interval.ms": "3000",
    "broker.session.timeout.ms": "18000",
}
"""The defaults of KIP-631 that the node has in place of Kafka's."""
MS, S = 1_000_000, 1_000_000_000
LEVELS: Final = (
    *("3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
    *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1"),
    "4.3-IV0",
)
FIRST_LEVEL: Final = 7
GIVEN: Final = (
    (
        Timeouts(),
        {
            "election_ns": ("controller.quorum.election.timeout.ms", MS),
            "election_backoff_max_ns": ("controller.quorum.election.backoff.max.ms", MS),
            "fetch_ns": ("controller.quorum.fetch.timeout.ms", MS),
            "request_ns": ("controller.quorum.request.timeout.ms", MS),
            "retry_backoff_ns": ("controller.quorum.retry.backoff.ms", MS),
            "initial_registration_ns": ("initial.broker.registration.timeout.ms", MS),
            "directory_failure_ns": ("log.dir.failure.timeout.ms", MS),
        },
    ),
    (
        SnapshotPolicy(),
        {
            "bytes_between": ("metadata.log.max.record.bytes.between.snapshots", 1),
            "interval_ns": ("metadata.log.max.snapshot.interval.ms", MS),
        },
    ),
    (
        ReplicationPolicy(),
        {
            "lag_ns": ("replica.lag.time.max.ms", MS),
            "fetch_wait_ms": ("replica.fetch.wait.max.ms", 1),
            "fetch_partition_bytes": ("replica.fetch.max.bytes", 1),
            "fetch_response_bytes": ("replica.fetch.response.max.bytes", 1),
            "fetch_backoff_ns": ("replica.fetch.backoff.ms", MS),
            "request_timeout_ns": ("request.timeout.ms", MS),
            "checkpoint_interval_ns": ("replica.high.watermark.checkpoint.interval.ms", MS),
            "retention_interval_ns": ("log.retention.check.interval.ms", MS),
            "producer_expiration_ms": ("producer.id.expiration.ms", 1),
        },
    ),
    (
        TokenPolicy(),
        {
            "max_lifetime_ms": ("delegation.token.max.lifetime.ms", 1),
            "default_lifetime_ms": ("delegation.token.expiry.time.ms", 1),
            "sweep_interval_ns": ("delegation.token.expiry.check.interval.ms", MS),
        },
    ),
    (
        QuotaPolicy(),
        {"windows": ("quota.window.num", 1), "window_ns": ("quota.window.size.seconds", S)},
    ),
    (
        InternalTopics(),
        {
            "group_partitions": ("offsets.topic.num.partitions", 1),
            "group_factor": ("offsets.topic.replication.factor", 1),
            "transaction_partitions": ("transaction.state.log.num.partitions", 1),
            "transaction_factor": ("transaction.state.log.replication.factor", 1),
            "share_partitions": ("share.coordinator.state.topic.num.partitions", 1),
            "share_factor": ("share.coordinator.state.topic.replication.factor", 1),
            "transaction_min_isr": ("transaction.state.log.min.isr", 1),
            "share_min_isr": ("share.coordinator.state.topic.min.isr", 1),
            "group_segment_bytes": ("offsets.topic.segment.bytes", 1),
            "transaction_segment_bytes": ("transaction.state.log.segment.bytes", 1),
            "share_segment_bytes": ("share.coordinator.state.topic.segment.bytes", 1),
        },
    ),
)
"""The settings whose defaults are those of a key, with the size of the key's unit."""


def compare_core_tables(random: Random) -> None:
    """Compare the defaults, the levels of metadata.version, and the look-up of drawn keys.

    Raises:
        DifferenceError: the node has another table than Kafka.
    """
    levels = dict(enumerate(LEVELS, FIRST_LEVEL))
    same("the levels of metadata.version", dict(RELEASES), levels)
    reserved = tuple(bytes(15) + bytes([last]) for last in range(3))
    same("the reserved ids of directories", (MIGRATING, UNASSIGNED, LOST), reserved)
    compare_required_rights()
    of_kafka = {one.name: one for one in BROKER_KEYS}
    for settings, keys in GIVEN:
        for field, (key, unit) in keys.items():
            kind = type(settings).__name__
            default = int(of_kafka[key].default or 0) * unit
            same(f"the default of {kind}.{field}", getattr(settings, field), default)
    for one in random.sample(BROKER_KEYS, 20):
        own = replace(one, default=DEFAULTS_OF_THE_KIP.get(one.name, one.default))
        same(f"the definition of {one.name}", definition_of(one.name), own)
        beside = f"listener.name.l{random.randrange(9)}.{one.name}"
        same(f"the definition of {beside}", definition_of(beside), own)
        check(f"x.{one.name} is no key", definition_of(f"x.{one.name}") is None)
    for key in ("config.providers.x", "rlmm.config.x", "rsm.config.x"):
        found = definition_of(key)
        same(f"the name of {key}", None if found is None else found.name, key)
    for key in ("listener.name.", "listener.name.x", "listener.name..log.dirs"):
        check(f"{key} is no key", definition_of(key) is None)
