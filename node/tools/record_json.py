"""Convert records to JSON in the format of Kafka's dump-log (KIP-631, kafka-dump-log).

Names are in camelCase and uuids in base64. Tagged fields with their default value, and fields that
the record's version lacks, are left out.
"""

import base64
from functools import cache
from typing import Final, get_type_hints

import msgspec

from kraftproof.node.wire.records.batch import DEFAULT_LEVEL, Record
from kraftproof.node.wire.records.control import ControlRecord, LeaderChangeVoter
from kraftproof.node.wire.records.metadata import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from kraftproof.node.wire.records.write_versions import version_at
from kraftproof.node.wire.types import UUID_BYTES, Uuid, format_uuid

_TAGGED: Final[dict[type, frozenset[str]]] = {
    RegisterBrokerRecord: frozenset({"log_dirs", "cordoned_log_dirs"}),
    PartitionRecord: frozenset(
        {"leader_recovery_state", "eligible_leader_replicas", "last_known_elr"}
    ),
    PartitionChangeRecord: frozenset(
        {
            "isr",
            "leader",
            "replicas",
            "removing_replicas",
            "adding_replicas",
            "leader_recovery_state",
            "directories",
            "eligible_leader_replicas",
            "last_known_elr",
        }
    ),
    BrokerRegistrationChangeRecord: frozenset(
        {"fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs"}
    ),
    BeginTransactionRecord: frozenset({"name"}),
    AbortTransactionRecord: frozenset({"reason"}),
}
_SINCE: Final[dict[type, dict[str, int]]] = {
    RegisterBrokerRecord: {"in_controlled_shutdown": 1, "is_migrating_zk_broker": 2},
    PartitionRecord: {"directories": 1},
    LeaderChangeVoter: {"voter_directory_id": 1},
}
"""The first version of each untagged field that was added after version 0."""
UNKNOWN_TAGS: Final = "unknown_tags"
_UUID_FIELDS: Final[dict[type, frozenset[str]]] = {}


def type_name(record: Record) -> str:
    """Return the type as in dump-log, such as TOPIC_RECORD; LEADER_CHANGE for a control record."""
    return "".join(
        f"_{letter}" if letter.isupper() else letter.upper() for letter in type(record).__name__
    ).lstrip("_")


def record_data(record: Record, version: int | None = None) -> dict[str, object]:
    """Return the fields of a record for JSON.

    Args:
        record: The record.
        version: The version of the record's encoding; by default the version that the node writes.
    """
    if isinstance(record, ControlRecord):
        return _struct(record, record.version)
    if version is None:
        version = version_at(record.KEY, DEFAULT_LEVEL)
    return _struct(record, version)


def _struct(value: msgspec.Struct, version: int) -> dict[str, object]:
    kind = type(value)
    tagged = _TAGGED.get(kind, frozenset())
    since = _SINCE.get(kind, {})
    found: dict[str, object] = {}
    for field in _fields(kind):
        content = getattr(value, field.name)
        if (field.name in tagged or field.name == UNKNOWN_TAGS) and content == field.default:
            continue
        if version >= since.get(field.name, 0):
            is_uuid = field.name in _uuid_fields(kind)
            found[_camel(field.name)] = _plain(content, version, is_uuid=is_uuid)
    return found


def _plain(value: object, version: int, *, is_uuid: bool) -> object:
    match value:
        case msgspec.Struct():
            return _struct(value, version)
        case tuple():
            return [_plain(member, version, is_uuid=is_uuid) for member in value]
        case bytes():
            if is_uuid and len(value) == UUID_BYTES:
                return format_uuid(Uuid(value))
            return base64.b64encode(value).decode()
        case _:
            return value


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)  # cached, since msgspec reads the annotations at each call


def _uuid_fields(kind: type) -> frozenset[str]:
    known = _UUID_FIELDS.get(kind)
    if known is None:
        hints = get_type_hints(kind)
        known = frozenset(name for name, hint in hints.items() if "Uuid" in str(hint))
        _UUID_FIELDS[kind] = known
    return known


@cache
def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
