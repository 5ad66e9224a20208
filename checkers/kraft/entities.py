"""The state after the metadata log: every entity, from the records as JSON alone (KIP-631).

The checkers' own telling of "Record Schemas", of which the node shares no line. An entity is kept
as (kind, owner, name) -> its value; fields at zero, empty or null count as left out, since a tagged
field is left out at its default. The order of records is not checked here; a change of an absent
entity has no effect.

Between BeginTransaction and EndTransaction the entities stay as they were before, and an
AbortTransaction drops all that lies between (KIP-868).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from kraftproof.checkers.kraft.entity_store import EntityStore, Fields
from kraftproof.checkers.kraft.metadata_transactions import ABORT, BEGIN, END
from kraftproof.checkers.verdict import NotApplicableError

UNCHANGED_LEADER: Final = -2
NO_CHANGE: Final = -1
TOPIC_RESOURCE: Final = 2
_REPLACED: Final = (
    "isr",
    "replicas",
    "removingReplicas",
    "addingReplicas",
    "directories",
    "eligibleLeaderReplicas",
    "lastKnownElr",
)
"""The lists of a PartitionChangeRecord that replace the old lists unless null."""


class UnknownRecordError(ValueError):
    """A record of a type whose meaning is not known here."""


class Entities(EntityStore):
    """The entities after some records."""

    __slots__ = ()

    def apply(self, kind: str, fields: Fields) -> None:
        """Take one record.

        Args: kind: the type of the record, TOPIC_RECORD.
            fields: as in the table `records`.

        Raises: UnknownRecordError: the type is unknown.
        """
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise UnknownRecordError(f"records of type {kind} are not known")
        handler(self, fields)


@contextmanager
def known_records() -> Iterator[None]:
    """Make a check that meets a record of an unknown type not applicable."""
    try:
        yield
    except UnknownRecordError as error:
        raise NotApplicableError(str(error)) from error


def held_by(snapshot: str) -> Entities:
    """The entities of a snapshot, from `entities` in the table `snapshots`.

    Raises:
        UnknownRecordError: it has a record of a type that is not known.
    """
    entities = Entities()
    for kind, fields in msgspec.json.decode(snapshot, type=list[tuple[str, dict[str, Any]]]):
        entities.apply(kind, fields)
    return entities


def decoded(text: str) -> Fields:
    """The fields of a record's JSON, bare or as the `data` of kraft-dump-log's payload."""
    value = msgspec.json.decode(text, type=dict[str, Any])
    fields: Fields = value.get("data", value)
    return fields


def _whole(fields: Fields) -> Fields:
    """Fields without values that a version or a default may omit."""
    return {name: value for name, value in fields.items() if value}


def _nothing(entities: Entities, fields: Fields) -> None:
    del entities, fields


def _register(entities: Entities, fields: Fields) -> None:
    entities.drop("broker", fields["brokerId"])
    entities.owned("broker", fields["brokerId"]).update(_whole(fields))


def _unregister(entities: Entities, fields: Fields) -> None:
    entities.drop("broker", fields["brokerId"])


def _fence(entities: Entities, fields: Fields) -> None:
    _switch(entities.found("broker", fields["id"]), "fenced", 1)


def _unfence(entities: Entities, fields: Fields) -> None:
    _switch(entities.found("broker", fields["id"]), "fenced", -1)


def _change_registration(entities: Entities, fields: Fields) -> None:
    broker = entities.found("broker", fields["brokerId"])
    for name in ("fenced", "inControlledShutdown"):
        _switch(broker, name, fields.get(name, 0))
    if broker is not None and fields.get("logDirs"):
        broker["logDirs"] = fields["logDirs"]
    cordoned = fields.get("cordonedLogDirs")
    if broker is not None and cordoned is not None:
        broker.pop("cordonedLogDirs", None)
        broker.update(_whole({"cordonedLogDirs": cordoned}))


def _switch(broker: Fields | None, name: str, change: int) -> None:
    if broker is None or change == 0:
        return
    if change > 0:
        broker[name] = True
    else:
        broker.pop(name, None)


def _topic(entities: Entities, fields: Fields) -> None:
    entities.owned("topic", fields["topicId"])["name"] = fields["name"]


def _remove_topic(entities: Entities, fields: Fields) -> None:
    topic = entities.found("topic", fields["topicId"])
    if topic is not None:
        entities.drop("config", _resource(TOPIC_RESOURCE, topic["name"]))
    entities.drop("topic", fields["topicId"])
    entities.drop("partition", fields["topicId"])


def _partition(entities: Entities, fields: Fields) -> None:
    partitions = entities.owned("partition", fields["topicId"])
    partitions[str(fields["partitionId"])] = _whole(fields)


def _change_partition(entities: Entities, fields: Fields) -> None:
    partitions = entities.found("partition", fields["topicId"]) or {}
    was = partitions.get(str(fields["partitionId"]))
    if was is None:
        return
    now = was | {name: fields[name] for name in _REPLACED if fields.get(name) is not None}
    if fields.get("leader", UNCHANGED_LEADER) != UNCHANGED_LEADER:
        now |= {"leader": fields["leader"], "leaderEpoch": was.get("leaderEpoch", 0) + 1}
    if fields.get("leaderRecoveryState", NO_CHANGE) != NO_CHANGE:
        now["leaderRecoveryState"] = fields["leaderRecoveryState"]
    now["partitionEpoch"] = was.get("partitionEpoch", 0) + 1
    partitions[str(fields["partitionId"])] = _whole(now)


def _clear_elr(entities: Entities, fields: Fields) -> None:
    """Clear the eligible leader replicas of the record's topic, or of all topics (KIP-966)."""
    for topic_id, topic in entities.newest_owners("topic").items():
        if fields["topicName"] not in {"", topic["name"]}:
            continue
        for partition in (entities.found("partition", topic_id) or {}).values():
            for name in ("eligibleLeaderReplicas", "lastKnownElr"):
                partition.pop(name, None)


def _config(entities: Entities, fields: Fields) -> None:
    resource = _resource(fields["resourceType"], fields["resourceName"])
    values = entities.owned("config", resource)
    if fields.get("value") is None:
        values.pop(fields["name"], None)
    else:
        values[fields["name"]] = fields["value"]


def _resource(kind: int, name: str) -> str:
    return f"{kind} {name}"


def _feature(entities: Entities, fields: Fields) -> None:
    entities.drop("feature", fields["name"])
    if fields["featureLevel"]:
        entities.owned("feature", fields["name"])["level"] = fields["featureLevel"]


def _quota(entities: Entities, fields: Fields) -> None:
    named = ((one["entityType"], one.get("entityName")) for one in fields["entity"])
    entity = sorted(named, key=lambda part: str(part[0]))
    values = entities.owned("quota", msgspec.json.encode(entity).decode())
    if fields.get("remove"):
        values.pop(fields["key"], None)
    else:
        values[fields["key"]] = fields["value"]


def _kept(kind: str, *named: str) -> "_Handler":
    """Store a record as its entity, under the fields that name the entity."""

    def keep(entities: Entities, fields: Fields) -> None:
        owner = " ".join(str(fields[name]) for name in named)
        entities.drop(kind, owner)
        entities.owned(kind, owner)["record"] = _whole(fields)

    return keep


def _gone(kind: str, *named: str) -> "_Handler":
    """Remove the entity that a record ends."""

    def end(entities: Entities, fields: Fields) -> None:
        entities.drop(kind, " ".join(str(fields[name]) for name in named))

    return end


_Handler = Callable[[Entities, Fields], None]
_CONTROL: Final = (
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "K_RAFT_VERSION",
    "VOTERS",
)
"""The quorum's own records: nothing of the metadata."""
_HANDLERS: Final[Mapping[str, _Handler]] = {
    **dict.fromkeys((*_CONTROL, "NO_OP_RECORD"), _nothing),
    "REGISTER_BROKER_RECORD": _register,
    "UNREGISTER_BROKER_RECORD": _unregister,
    "FENCE_BROKER_RECORD": _fence,
    "UNFENCE_BROKER_RECORD": _unfence,
    "BROKER_REGISTRATION_CHANGE_RECORD": _change_registration,
    "TOPIC_RECORD": _topic,
    "REMOVE_TOPIC_RECORD": _remove_topic,
    "PARTITION_RECORD": _partition,
    "PARTITION_CHANGE_RECORD": _change_partition,
    "CONFIG_RECORD": _config,
    "FEATURE_LEVEL_RECORD": _feature,
    "CLEAR_ELR_RECORD": _clear_elr,
    BEGIN: lambda entities, _: entities.begin(),
    END: lambda entities, _: entities.end(),
    ABORT: lambda entities, _: entities.abort(),
    "CLIENT_QUOTA_RECORD": _quota,
    "PRODUCER_IDS_RECORD": _kept("producer ids"),
    "ZK_MIGRATION_STATE_RECORD": _kept("zk migration"),
    "REGISTER_CONTROLLER_RECORD": _kept("controller", "controllerId"),
    "ACCESS_CONTROL_ENTRY_RECORD": _kept("acl", "id"),
    "REMOVE_ACCESS_CONTROL_ENTRY_RECORD": _gone("acl", "id"),
    "USER_SCRAM_CREDENTIAL_RECORD": _kept("scram", "name", "mechanism"),
    "REMOVE_USER_SCRAM_CREDENTIAL_RECORD": _gone("scram", "name", "mechanism"),
    "DELEGATION_TOKEN_RECORD": _kept("token", "tokenId"),
    "REMOVE_DELEGATION_TOKEN_RECORD": _gone("token", "tokenId"),
}
