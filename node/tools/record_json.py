"""Records as JSON, as Kafka's dump-log prints them (KIP-631, kafka-dump-log).

camelCase names, uuids in base64, tagged fields left out while they are at their default. Not:
bytes; the version printed is the one that the record is written in.
"""

import base64
from typing import Final, get_type_hints

import msgspec

from node.wire.messages.batch import Record
from node.wire.messages.control import ControlRecord, LeaderChange, LeaderChangeVoter
from node.wire.messages.metadata import (
    WRITE_VERSIONS,
    AbortTransactionRecord,
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from node.wire.types import UUID_BYTES, Uuid, format_uuid

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
    # Version 0, which is what is written, has no directory ids.
    LeaderChangeVoter: frozenset({"voter_directory_id"}),
}
_UUID_FIELDS: Final[dict[type, frozenset[str]]] = {}


def type_name(record: Record) -> str:
    """Return the type as dump-log names it: TOPIC_RECORD; LEADER_CHANGE for a control record."""
    return "".join(
        f"_{letter}" if letter.isupper() else letter.upper() for letter in type(record).__name__
    ).lstrip("_")


def record_version(record: Record) -> int:
    """Return the version that this record is written in."""
    return 0 if isinstance(record, ControlRecord) else WRITE_VERSIONS.get(record.KEY, 0)


def record_data(record: Record) -> dict[str, object]:
    """Return the fields of a record, ready to be dumped as JSON."""
    data = _struct(record)
    return {"version": 0, **data} if isinstance(record, LeaderChange) else data


def _struct(value: msgspec.Struct) -> dict[str, object]:
    kind = type(value)
    tagged = _TAGGED.get(kind, frozenset())
    found: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        content = getattr(value, field.name)
        if field.name in tagged and content == field.default:
            continue
        found[_camel(field.name)] = _plain(content, is_uuid=field.name in _uuid_fields(kind))
    return found


def _plain(value: object, *, is_uuid: bool) -> object:
    match value:
        case msgspec.Struct():
            return _struct(value)
        case tuple():
            return [_plain(member, is_uuid=is_uuid) for member in value]
        case bytes():
            if is_uuid and len(value) == UUID_BYTES:
                return format_uuid(Uuid(value))
            return base64.b64encode(value).decode()
        case _:
            return value


def _uuid_fields(kind: type) -> frozenset[str]:
    known = _UUID_FIELDS.get(kind)
    if known is None:
        hints = get_type_hints(kind)
        known = frozenset(name for name, hint in hints.items() if "Uuid" in str(hint))
        _UUID_FIELDS[kind] = known
    return known


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
