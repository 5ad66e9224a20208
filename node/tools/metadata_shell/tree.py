"""Build the tree of an image: directories are dicts, files are texts.

The paths are those of Kafka 4.3's shell, for example /image/topics/byName/orders/0.
"""

import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Final, TypeAlias

from kraftproof.node.core.metadata.image import MetadataImage, Topic
from kraftproof.node.core.metadata.quotas import QuotaEntity
from kraftproof.node.core.metadata.version import METADATA_VERSION
from kraftproof.node.tools.metadata_shell import entity_text
from kraftproof.node.tools.release_versions import release_version
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import format_uuid

Tree: TypeAlias = "str | dict[str, Tree]"
Folder: TypeAlias = dict[str, Tree]
_RESOURCES: Final = {2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP"}
_MECHANISMS: Final = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_QUOTA_NAMES: Final = {"client-id": "clientId"}


def tree_of(image: MetadataImage, *, offset: int, epoch: int, timestamp_ms: int) -> Folder:
    """Return the root; offset, epoch and time are those of the last record of the image."""
    moment = datetime.datetime.fromtimestamp(timestamp_ms / 1000, tz=datetime.UTC)
    time = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "image": {
            "acls": {"byId": _acls(image)},
            "clientQuotas": _quotas(image),
            "cluster": {"brokers": _brokers(image), "controllers": _controllers(image)},
            "configs": _configs(image),
            "delegationToken": _tokens(image),
            "features": _features(image),
            "producerIds": {"nextProducerId": str(image.next_producer_id)},
            "provenance": f"offset {offset}, epoch {epoch}, time {time}[UTC]",
            "scram": _credentials(image),
            "topics": _topics(image),
        },
        "local": {"version": _version()},
    }


def _version() -> str:
    try:
        return version("kraftproof")
    except PackageNotFoundError:
        return "unknown"


def _acls(image: MetadataImage) -> Folder:
    return {
        format_uuid(record.id): entity_text.acl_text(record)
        for record in image.others.values()
        if isinstance(record, records.AccessControlEntryRecord)
    }


def _quotas(image: MetadataImage) -> Folder:
    return {
        _entity_name(entity): {key: str(value) for key, value in values.items()}
        for entity, values in image.quotas.by_entity.items()
    }


def _entity_name(entity: QuotaEntity) -> str:
    return ",".join(
        f"{_QUOTA_NAMES.get(kind, kind)}({'<default>' if name is None else name})"
        for kind, name in entity
    )


def _brokers(image: MetadataImage) -> Folder:
    return {
        str(broker.broker_id): entity_text.broker_text(broker) for broker in image.brokers.values()
    }


def _controllers(image: MetadataImage) -> Folder:
    return {
        str(record.controller_id): entity_text.controller_text(record)
        for record in image.others.values()
        if isinstance(record, records.RegisterControllerRecord)
    }


def _configs(image: MetadataImage) -> Folder:
    return {
        f"{_RESOURCES.get(kind, kind)}{':' + name if name else ''}": dict(values)
        for (kind, name), values in image.configs.items()
    }


def _tokens(image: MetadataImage) -> Folder:
    return {
        record.token_id: entity_text.token_text(record)
        for record in image.others.values()
        if isinstance(record, records.DelegationTokenRecord)
    }


def _features(image: MetadataImage) -> Folder:
    found: Folder = {
        name: str(level) for name, level in image.features.items() if name != METADATA_VERSION
    }
    if METADATA_VERSION in image.features:
        level = release_version(image.features[METADATA_VERSION])
        found["metadataVersion"] = f"Optional[{level}]"
    return found


def _credentials(image: MetadataImage) -> Folder:
    found: dict[int, Folder] = {mechanism: {} for mechanism in _MECHANISMS}
    for record in image.others.values():
        if isinstance(record, records.UserScramCredentialRecord):
            found.setdefault(record.mechanism, {})[record.name] = entity_text.credential_text(
                record
            )
    return {_MECHANISMS.get(number, str(number)): users for number, users in found.items()}


def _topics(image: MetadataImage) -> Folder:
    topics = [(topic, _topic(image, topic)) for topic in image.topics.values()]
    return {
        "byId": {format_uuid(topic.topic_id): content for topic, content in topics},
        "byName": {topic.name: content for topic, content in topics},
    }


def _topic(image: MetadataImage, topic: Topic) -> Folder:
    partitions: Folder = {
        str(partition.index): entity_text.partition_text(partition)
        for partition in image.partitions_of(topic.topic_id)
    }
    return {**partitions, "id": format_uuid(topic.topic_id), "name": topic.name}
