"""Judge the configurations of a new topic (Kafka 4.3.0, TopicConfig).

A value in plain notation is legal or illegal. Other notations, such as a sign or blanks, and
values that depend on a broker's abilities are left open.
"""

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Final


class Legality(Enum):
    """Whether a controller has to take a configuration."""

    LEGAL = auto()
    ILLEGAL = auto()
    OPEN = auto()


_INT: Final = (1 << 31) - 1
_LONG: Final = (1 << 63) - 1
_INTEGERS: Final[Mapping[str, tuple[int, int]]] = {
    "compression.lz4.level": (1, 17),
    "compression.zstd.level": (-131072, 22),
    "delete.retention.ms": (0, _LONG),
    "file.delete.delay.ms": (0, _LONG),
    "flush.messages": (1, _LONG),
    "flush.ms": (0, _LONG),
    "index.interval.bytes": (0, _INT),
    "max.compaction.lag.ms": (1, _LONG),
    "max.message.bytes": (0, _INT),
    "message.timestamp.after.max.ms": (0, _LONG),
    "message.timestamp.before.max.ms": (0, _LONG),
    "min.compaction.lag.ms": (0, _LONG),
    "min.insync.replicas": (1, _INT),
    "retention.bytes": (-_LONG - 1, _LONG),
    "retention.ms": (-1, _LONG),
    "segment.bytes": (1 << 20, _INT),
    "segment.index.bytes": (4, _INT),
    "segment.jitter.ms": (0, _LONG),
    "segment.ms": (1, _LONG),
}
"""The least and the largest value of each whole number."""
_CHOICES: Final[Mapping[str, frozenset[str]]] = {
    "cleanup.policy": frozenset({"compact", "delete", "compact,delete", "delete,compact"}),
    "compression.type": frozenset({"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"}),
    "message.timestamp.type": frozenset({"CreateTime", "LogAppendTime"}),
    "preallocate": frozenset({"true", "false"}),
    "unclean.leader.election.enable": frozenset({"true", "false"}),
}
_OPEN: Final = frozenset(
    {
        "compression.gzip.level",
        "follower.replication.throttled.replicas",
        "internal.segment.bytes",
        "leader.replication.throttled.replicas",
        "local.retention.bytes",
        "local.retention.ms",
        "message.downconversion.enable",
        "message.format.version",
        "message.timestamp.difference.max.ms",
        "min.cleanable.dirty.ratio",
        "remote.log.copy.disable",
        "remote.log.delete.on.disable",
        "remote.storage.enable",
    }
)
"""Configurations of a notation of their own, of remote storage, or of older versions."""
_PLAIN: Final = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_ODD: Final = re.compile(r"[\s\x00-\x20]*[+-]?\d+[\s\x00-\x20]*")
_LAGS: Final = ("min.compaction.lag.ms", "max.compaction.lag.ms")


def legality(name: str, value: str | None) -> Legality:
    """Return whether a configuration with a value is legal by itself."""
    if value is None:
        return Legality.ILLEGAL
    if name in _OPEN:
        return Legality.OPEN
    if name in _CHOICES:
        return _of_choice(_CHOICES[name], value)
    if name in _INTEGERS:
        return _of_integer(*_INTEGERS[name], value)
    return Legality.ILLEGAL


def legality_of_all(settings: Mapping[str, str | None]) -> Legality:
    """Return whether the configurations of a topic are legal together."""
    found = {legality(name, value) for name, value in settings.items()}
    if Legality.ILLEGAL in found:
        return Legality.ILLEGAL
    if Legality.OPEN in found:
        return Legality.OPEN
    lags = [settings.get(name) for name in _LAGS]
    if lags[0] is not None and lags[1] is not None and int(lags[0]) > int(lags[1]):
        return Legality.ILLEGAL
    return Legality.LEGAL


def _of_choice(choices: frozenset[str], value: str) -> Legality:
    if value in choices:
        return Legality.LEGAL
    known = {member for choice in choices for member in choice.split(",")}
    members = {member.strip().lower() for member in value.split(",")}
    is_odd = members <= {member.lower() for member in known} | {""}
    return Legality.OPEN if is_odd else Legality.ILLEGAL


def _of_integer(least: int, most: int, value: str) -> Legality:
    if _PLAIN.fullmatch(value):
        return Legality.LEGAL if least <= int(value) <= most else Legality.ILLEGAL
    return Legality.OPEN if _ODD.fullmatch(value) else Legality.ILLEGAL
