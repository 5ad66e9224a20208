"""Compare the keys of whole numbers: unit, bounds, default, and the field of each.

The table is from docs/configuration.md, and from the KIPs that define the keys. A time of 0, where
Kafka allows one, would be a loop without a pause, so that most times begin at 1 here.
"""

from random import Random
from typing import Final, NamedTuple

from kraftproof.cluster.simulated.differential.properties.drawn_node import DrawnNode, draw_node
from kraftproof.cluster.simulated.differential.properties.expected import (
    MS,
    SECOND,
    compare_fields,
    compare_refusal,
)

SHORT, INT, LONG = 32_767, 2_147_483_647, 9_223_372_036_854_775_807
MOST_PARTITIONS: Final = 1 << 30


class Number(NamedTuple):
    """A key of a whole number."""

    key: str
    path: str
    unit: int = 1
    """The value of the field for a value of 1."""
    least: int = 1
    most: int = INT


_TIMEOUTS: Final = (
    ("controller.quorum.election.timeout.ms", "election_ns"),
    ("controller.quorum.election.backoff.max.ms", "election_backoff_max_ns"),
    ("controller.quorum.fetch.timeout.ms", "fetch_ns"),
    ("controller.quorum.request.timeout.ms", "request_ns"),
    ("controller.quorum.retry.backoff.ms", "retry_backoff_ns"),
    ("controller.quorum.retry.backoff.max.ms", "retry_backoff_max_ns"),
    ("broker.heartbeat.interval.ms", "heartbeat_interval_ns"),
    ("broker.session.timeout.ms", "session_ns"),
    ("initial.broker.registration.timeout.ms", "initial_registration_ns"),
    ("log.dir.failure.timeout.ms", "directory_failure_ns"),
)
_REPLICATION: Final = (
    ("replica.lag.time.max.ms", "lag_ns", MS),
    ("replica.fetch.wait.max.ms", "fetch_wait_ms", 1),
    ("replica.fetch.max.bytes", "fetch_partition_bytes", 1),
    ("replica.fetch.response.max.bytes", "fetch_response_bytes", 1),
    ("replica.fetch.backoff.ms", "fetch_backoff_ns", MS),
    ("request.timeout.ms", "request_timeout_ns", MS),
    ("replica.high.watermark.checkpoint.interval.ms", "checkpoint_interval_ns", MS),
    ("log.retention.check.interval.ms", "retention_interval_ns", MS),
    ("producer.id.expiration.ms", "producer_expiration_ms", 1),
)
_INTERNAL: Final = (
    ("offsets.topic", "group"),
    ("transaction.state.log", "transaction"),
    ("share.coordinator.state.topic", "share"),
)
NUMBERS: Final = (
    *(Number(key, f"node.timeouts.{field}", MS) for key, field in _TIMEOUTS),
    *(Number(key, f"node.replication.{field}", unit) for key, field, unit in _REPLICATION),
    *(
        Number(f"{key}.{last}", f"node.internal_topics.{field}_{name}", 1, 1, most)
        for key, field in _INTERNAL
        for last, name, most in (
            ("num.partitions", "partitions", MOST_PARTITIONS),
            ("replication.factor", "factor", SHORT),
            ("segment.bytes", "segment_bytes", INT),
        )
    ),
    *(
        Number(f"{key}.min.isr", f"node.internal_topics.{field}_min_isr", 1, 1, SHORT)
        for key, field in _INTERNAL[1:]
    ),
    Number(
        "metadata.log.max.record.bytes.between.snapshots", "node.snapshots.bytes_between"
    )._replace(most=LONG),
    Number("metadata.log.max.snapshot.interval.ms", "node.snapshots.interval_ns", MS, 0),
    Number("metadata.snapshot.fetch.max.bytes", "node.snapshots.slice_bytes"),
    Number("metadata.log.segment.bytes", "storage.segment_bytes", 1, 1024),
    Number("delegation.token.max.lifetime.ms", "node.tokens.max_lifetime_ms", 1, 1, LONG),
    Number("delegation.token.expiry.time.ms", "node.tokens.default_lifetime_ms", 1, 1, LONG),
    Number(
        *("delegation.token.expiry.check.interval.ms", "node.tokens.sweep_interval_ns"), MS, 1, LONG
    ),
    Number("quota.window.num", "node.byte_quotas.windows"),
    Number("quota.window.size.seconds", "node.byte_quotas.window_ns", SECOND),
    Number("controller.quota.window.num", "node.mutation_quotas.windows"),
    Number("controller.quota.window.size.seconds", "node.mutation_quotas.window_ns", SECOND),
    Number("num.partitions", "node.default_partitions"),
    Number("default.replication.factor", "node.default_replication_factor", 1, 1, SHORT),
    Number("socket.request.max.bytes", "frame_bytes", 1, 1024),
    Number("max.connections", "connections"),
    Number("connection.failed.authentication.delay.ms", "failed_login_delay_ms", 1, 0),
    Number("connections.max.idle.ms", "idle_ns", MS, -1),
)
REFUSED: Final = 20
"""Number of keys with a wrong value in a draw."""
NO_NUMBERS: Final = ("x", "1\n2", "1.0", "0x10", "1e3", "--1", "1 000", "1_000", "9" * 30, "10s")
"""Texts that Kafka does not read as whole numbers."""


def compare_numbers(random: Random) -> None:
    """Read numbers at and within their bounds, and then some that are refused.

    Raises:
        DifferenceError: a field has another value, or a value is taken or refused wrongly.
    """
    node = draw_node(random)
    pairs, fields = {**node.pairs}, {**node.fields}
    for number in random.sample(NUMBERS, random.choice((4, 20, len(NUMBERS)))):
        value = _draw(random, number)
        pairs[number.key] = _text(random, value)
        fields[number.path] = _field(number, value)
    if random.random() < 0.1:
        pairs[
            random.choice([one.key for one in NUMBERS if one.key not in pairs] or ["log.dir"])
        ] = ""
    compare_fields(random, pairs, fields)
    for number in random.sample(NUMBERS, REFUSED):
        _refuse(random, node, number)


def _draw(random: Random, number: Number) -> int:
    value = random.choice((number.least, number.least + 1, number.most - 1, number.most))
    if random.random() < 0.3:
        value = random.randint(number.least, number.most)
    return value


def _text(random: Random, value: int) -> str:
    sign = "+" if value >= 0 and random.random() < 0.1 else ""
    zeros = "00" if value >= 0 and random.random() < 0.1 else ""
    return f"{sign}{zeros}{value}"


def _field(number: Number, value: int) -> int | None:
    """Return the field of a value; connections may be idle for ever, or for a millisecond."""
    if number.path == "idle_ns":
        return None if value < 0 else max(value, 1) * MS
    return value * number.unit


def _refuse(random: Random, node: DrawnNode, number: Number) -> None:
    beyond = (str(number.least - 1), str(number.most + 1), str(-number.most), str(number.most * 10))
    text = random.choice((*beyond[:2], random.choice((*beyond[2:], *NO_NUMBERS))))
    pairs = {**node.pairs, number.key: text}
    shown = text.replace("\n", "\\n")
    compare_refusal(random, pairs, f"{number.key}={shown}:", number.least, number.most)
