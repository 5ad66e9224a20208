"""List the keys of server.properties with an effect, and parse single values (KIP-631).

See known_keys.py for the other keys, and config.py for the combination of keys.
"""

from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.configs.values import InvalidConfigError, read_value, whole_number
from kraftproof.node.storage.java_properties import parse_properties

INT32_MAX: Final = 0x7FFFFFFF
INT64_MAX: Final = 0x7FFFFFFFFFFFFFFF


class ConfigError(Exception):
    """The user's configuration is wrong; the message is a single line."""

    def __init__(self, text: str) -> None:
        """Write line ends of a value as a backslash and a letter, as in the file."""
        super().__init__(text.replace("\n", "\\n").replace("\r", "\\r"))


def integer(key: str, text: str, smallest: int, largest: int = INT32_MAX) -> int:
    """Parse a whole number within bounds; an underscore of Python is no part of a number."""
    value = whole_number(text)
    if value is None or not smallest <= value <= largest:
        raise ConfigError(
            f"{key}={text}: is not valid, a whole number from {smallest} to {largest} is expected"
        )
    return value


def names(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list; blanks around members are removed."""
    return tuple(part for part in (piece.strip() for piece in text.split(",")) if part)


def host_port(key: str, text: str, value: str) -> tuple[str, int]:
    """Parse `host:port`; `value` is the complete value of the key, for the error message."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"{key}={value}: {text!r} is not host:port")
    return host.strip("[]"), int(port)


TIMEOUT_KEYS: Final = {
    "controller.quorum.election.timeout.ms": "election_ns",
    "controller.quorum.election.backoff.max.ms": "election_backoff_max_ns",
    "controller.quorum.fetch.timeout.ms": "fetch_ns",
    "controller.quorum.request.timeout.ms": "request_ns",
    "controller.quorum.retry.backoff.ms": "retry_backoff_ns",
    "controller.quorum.retry.backoff.max.ms": "retry_backoff_max_ns",
    "broker.heartbeat.interval.ms": "heartbeat_interval_ns",
    "broker.session.timeout.ms": "session_ns",
    "initial.broker.registration.timeout.ms": "initial_registration_ns",
    "log.dir.failure.timeout.ms": "directory_failure_ns",
}
"""The keys of time-outs in milliseconds, with their fields in node.core.base.config.Timeouts
(631-81 to 83)."""

REPLICATION_TIME_KEYS: Final = {
    "log.retention.check.interval.ms": "retention_interval_ns",
    "replica.fetch.backoff.ms": "fetch_backoff_ns",
    "replica.high.watermark.checkpoint.interval.ms": "checkpoint_interval_ns",
    "replica.lag.time.max.ms": "lag_ns",
    "request.timeout.ms": "request_timeout_ns",
}
"""The keys of times in milliseconds, with their fields in ReplicationPolicy."""
REPLICATION_NUMBER_KEYS: Final = {
    "producer.id.expiration.ms": "producer_expiration_ms",
    "replica.fetch.max.bytes": "fetch_partition_bytes",
    "replica.fetch.response.max.bytes": "fetch_response_bytes",
    "replica.fetch.wait.max.ms": "fetch_wait_ms",
}
"""The keys of whole numbers, with their fields in ReplicationPolicy."""
TOPIC_DEFAULT_KEYS: Final = {
    "log.cleanup.policy": "cleanup.policy",
    "log.flush.interval.messages": "flush.messages",
    "log.message.timestamp.after.max.ms": "message.timestamp.after.max.ms",
    "log.message.timestamp.before.max.ms": "message.timestamp.before.max.ms",
    "log.message.timestamp.type": "message.timestamp.type",
    "log.retention.bytes": "retention.bytes",
    "log.retention.ms": "retention.ms",
    "log.segment.bytes": "segment.bytes",
    "message.max.bytes": "max.message.bytes",
    "min.insync.replicas": "min.insync.replicas",
}
"""The keys of a broker's defaults for topics, with the topic's names."""
SNAPSHOT_INTERVAL_KEY: Final = "metadata.log.max.snapshot.interval.ms"
SNAPSHOT_BYTES_KEY: Final = "metadata.log.max.record.bytes.between.snapshots"
SNAPSHOT_SLICE_KEY: Final = "metadata.snapshot.fetch.max.bytes"
"""A key of Kraftproof; Kafka has no equivalent."""
SEGMENT_BYTES_KEY: Final = "metadata.log.segment.bytes"

QUOTA_KEYS: Final = (
    "quota.window.num",
    "quota.window.size.seconds",
    "controller.quota.window.num",
    "controller.quota.window.size.seconds",
)
"""The keys of the windows of brokers and of the active controller."""
OTHER_KEYS: Final = frozenset(
    {
        "advertised.listeners",
        "allow.everyone.if.no.acl.found",
        "audit.log.level",
        "authorizer.class.name",
        "auto.create.topics.enable",
        "broker.id",
        "broker.rack",
        "connections.max.idle.ms",
        "controller.listener.names",
        "controller.quorum.bootstrap.servers",
        "controller.quorum.voters",
        "create.topic.policy.class.name",
        "default.replication.factor",
        "early.start.listeners",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
        "log.dir",
        "log.dirs",
        "max.connections",
        SNAPSHOT_BYTES_KEY,
        SNAPSHOT_INTERVAL_KEY,
        SNAPSHOT_SLICE_KEY,
        "metadata.log.dir",
        SEGMENT_BYTES_KEY,
        "metrics.listener",
        "node.id",
        "num.partitions",
        "process.roles",
        "principal.builder.class",
        "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.num.partitions",
        "share.coordinator.state.topic.min.isr",
        "share.coordinator.state.topic.segment.bytes",
        "transaction.state.log.min.isr",
        "transaction.state.log.replication.factor",
        "transaction.state.log.num.partitions",
        "transaction.state.log.segment.bytes",
        "offsets.topic.replication.factor",
        "offsets.topic.num.partitions",
        "offsets.topic.segment.bytes",
        "socket.request.max.bytes",
        "super.users",
        "trace.file",
    }
)

CONVERTED_DEFAULT_KEYS: Final = ("log.retention.hours", "log.retention.minutes")
"""The keys of a broker's defaults for topics in another unit than the topic's."""
USED_KEYS: Final = OTHER_KEYS.union(
    TIMEOUT_KEYS,
    REPLICATION_TIME_KEYS,
    REPLICATION_NUMBER_KEYS,
    TOPIC_DEFAULT_KEYS,
    CONVERTED_DEFAULT_KEYS,
    QUOTA_KEYS,
)
"""All keys with an effect."""

RETIRED_KEYS: Final[Mapping[str, str]] = {
    "control.plane.listener.name": "use controller.listener.names",
    "broker.id.generation.enable": "set node.id, it is never assigned",
}
"""The retired keys of 631-84, each with the reason of the refusal."""


def read_keys(text: str) -> dict[str, str]:
    """Return the pairs of a server.properties; refuse retired keys and illegal defaults.

    Raises:
        ConfigError: a key is retired, or a default for topics is illegal.
    """
    pairs = parse_properties(text)
    for key, value in pairs.items():
        if key in RETIRED_KEYS:
            raise ConfigError(f"{key}={value}: is not supported with KRaft: {RETIRED_KEYS[key]}")
        if key.startswith("zookeeper."):
            raise ConfigError(f"{key}={value}: is not supported with KRaft: remove it")
        if key in TOPIC_DEFAULT_KEYS:
            _check_topic_default(key, value)
        if key in CONVERTED_DEFAULT_KEYS:
            integer(key, value, -1)
    return pairs


def _check_topic_default(key: str, value: str) -> None:
    """Refuse a default that no topic could have."""
    name = TOPIC_DEFAULT_KEYS[key]
    try:
        read_value(name, value)
    except InvalidConfigError as error:
        reason = str(error).partition(": ")[2]
        raise ConfigError(f"{key}={value}: is not valid, {reason}") from error


class Reader:
    """The pairs of a file, read by key."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._pairs = pairs

    def has(self, key: str) -> bool:
        """Return whether the key is set, maybe to an empty value."""
        return key in self._pairs

    def raw(self, key: str) -> str:
        """Return the value of a key that is set; an empty value is a value, too."""
        return self._pairs[key]

    def text(self, key: str) -> str | None:
        """Return the value of an optional key; an empty value counts as absent."""
        return self._pairs.get(key) or None

    def required(self, key: str, example: str) -> str:
        """Return the value of a required key."""
        value = self.text(key)
        if value is None:
            raise ConfigError(f"{key}: is missing; for example {key}={example}")
        return value

    def integer(self, key: str, default: int, smallest: int, largest: int = INT32_MAX) -> int:
        """Return a whole number within bounds, or its default."""
        value = self.text(key)
        return default if value is None else integer(key, value, smallest, largest)
