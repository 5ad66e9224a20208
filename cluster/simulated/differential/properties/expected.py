"""Compare each field of a read server.properties with the fields that are expected.

The fields of a file without further keys are stated here, from docs/configuration.md: a reference
changes those that its keys determine.
"""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import attempt, named, refused, same
from kraftproof.cluster.simulated.differential.properties.written_file import written
from kraftproof.node.core.base.config import (
    InternalTopics,
    NodeConfig,
    QuotaPolicy,
    ReplicationPolicy,
    SnapshotPolicy,
    Timeouts,
    TokenPolicy,
)
from kraftproof.node.properties.config import ServerConfig, parse_server_properties
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.properties.listener_security import PeerSecurity
from kraftproof.node.storage.stored import StorageConfig
from kraftproof.node.wire.principal import DEFAULT_PRINCIPALS
from kraftproof.node.wire.types import Uuid

MS: Final = 1_000_000
"""Nanoseconds of a millisecond."""
SECOND: Final = 1_000_000_000
MIB: Final = 1_048_576
Fields = Mapping[str, object]
"""The fields of a configuration by their paths, such as node.timeouts.fetch_ns."""
NESTED: Final = (
    ServerConfig,
    NodeConfig,
    Timeouts,
    SnapshotPolicy,
    ReplicationPolicy,
    TokenPolicy,
    QuotaPolicy,
    InternalTopics,
    StorageConfig,
)
"""The types whose fields are compared one by one."""
DEFAULTS: Final[Fields] = {
    "node.cluster_id": "",
    "node.rack": None,
    "node.incarnation": Uuid(bytes(16)),
    "node.previous_broker_epoch": -1,
    "node.log_dirs": (),
    "node.log_dir_paths": (),
    "node.failed_log_dirs": (),
    "node.damaged_logs": (),
    "node.bootstrap": (),
    "node.default_replication_factor": 1,
    "node.default_partitions": 1,
    "node.timeouts.election_ns": SECOND,
    "node.timeouts.election_backoff_max_ns": SECOND,
    "node.timeouts.fetch_ns": 2 * SECOND,
    "node.timeouts.request_ns": 2 * SECOND,
    "node.timeouts.retry_backoff_ns": 20 * MS,
    "node.timeouts.retry_backoff_max_ns": SECOND,
    "node.timeouts.heartbeat_interval_ns": 3 * SECOND,
    "node.timeouts.session_ns": 18 * SECOND,
    "node.timeouts.initial_registration_ns": 60 * SECOND,
    "node.timeouts.directory_failure_ns": 30 * SECOND,
    "node.snapshots.bytes_between": 20 * MIB,
    "node.snapshots.interval_ns": 3600 * SECOND,
    "node.snapshots.slice_bytes": MIB,
    "node.replication.is_enabled": True,
    "node.replication.lag_ns": 30 * SECOND,
    "node.replication.fetch_wait_ms": 500,
    "node.replication.fetch_partition_bytes": MIB,
    "node.replication.fetch_response_bytes": 10 * MIB,
    "node.replication.fetch_backoff_ns": SECOND,
    "node.replication.request_timeout_ns": 30 * SECOND,
    "node.replication.checkpoint_interval_ns": 5 * SECOND,
    "node.replication.retention_interval_ns": 300 * SECOND,
    "node.replication.producer_expiration_ms": 86_400_000,
    "node.auto_creates_topics": True,
    "node.asks_controller_versions": True,
    "node.creates_internal_topics": True,
    "node.internal_topics.group_partitions": 50,
    "node.internal_topics.group_factor": 3,
    "node.internal_topics.group_segment_bytes": 100 * MIB,
    "node.internal_topics.transaction_partitions": 50,
    "node.internal_topics.transaction_factor": 3,
    "node.internal_topics.transaction_min_isr": 2,
    "node.internal_topics.transaction_segment_bytes": 100 * MIB,
    "node.internal_topics.share_partitions": 50,
    "node.internal_topics.share_factor": 3,
    "node.internal_topics.share_min_isr": 2,
    "node.internal_topics.share_segment_bytes": 100 * MIB,
    "node.create_topic_policy": None,
    "node.authorizer": None,
    "node.tokens.secret": None,
    "node.tokens.max_lifetime_ms": 604_800_000,
    "node.tokens.default_lifetime_ms": 86_400_000,
    "node.tokens.sweep_interval_ns": 3600 * SECOND,
    "node.byte_quotas.windows": 11,
    "node.byte_quotas.window_ns": SECOND,
    "node.mutation_quotas.windows": 11,
    "node.mutation_quotas.window_ns": SECOND,
    "storage.segment_bytes": 1024 * MIB,
    "storage.partition_segment_bytes": 1024 * MIB,
    "early_listeners": (),
    "principals": DEFAULT_PRINCIPALS,
    "trace_file": None,
    "metrics_address": None,
    "frame_bytes": 100 * MIB,
    "connections": 1000,
    "idle_ns": 600 * SECOND,
    "controller_peers": PeerSecurity(),
    "broker_peers": PeerSecurity(),
    "failed_login_delay_ms": 100,
    "unused_keys": (),
}
"""The fields without a key that determines the field, of every node."""


def compare_fields(random: Random, pairs: Mapping[str, str], expected: Fields) -> None:
    """Read the pairs from a text, and compare each field.

    Raises:
        DifferenceError: a field differs, or the node refuses the text.
    """
    config = attempt(ConfigError, parse_server_properties, written(random, pairs))
    same("a read server.properties", type(config).__name__, _NAME if _is_read(config) else config)
    found = dict(_fields(config, ""))
    every = {
        **DEFAULTS,
        "node.static_configs": tuple(sorted((key, pairs[key].strip()) for key in pairs)),
        **expected,
    }
    same("the names of the fields", sorted(found), sorted(every))
    for path, value in every.items():
        same(path, found[path], value)


def compare_refusal(random: Random, pairs: Mapping[str, str], *causes: object) -> None:
    """Read the pairs from a text, and compare what the refusal names.

    Raises:
        DifferenceError: the node takes the text, or does not name a cause.
    """
    what = f"a server.properties with {' and '.join(map(repr, causes))}"
    text = refused(what, ConfigError, parse_server_properties, written(random, pairs))
    named(what, text, *causes)


_NAME: Final = "ServerConfig"


def _is_read(config: object) -> bool:
    return isinstance(config, ServerConfig)


def _fields(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield the fields of a configuration with their paths."""
    if not isinstance(value, NESTED):
        yield path, value
        return
    assert isinstance(value, Struct)
    for name in value.__struct_fields__:
        yield from _fields(getattr(value, name), f"{path}.{name}" if path else name)
