"""Draw a request of any API in any version from its class: field by field, by name or by type.

The generated classes know the fields and their types. A value that does not fit into a version is
drawn again, and a request is returned as the version carries it.
"""

import types
import typing
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, Final

import msgspec

from kraftproof.cluster.systems.reference.requests import (
    acls,
    config_changes,
    partitions,
    quotas,
    topics,
)
from kraftproof.cluster.systems.reference.requests.harm import tame
from kraftproof.cluster.systems.reference.requests.vocabulary import (
    FOREIGN_CLUSTER,
    Vocabulary,
    draw_broker,
    draw_name,
    draw_number,
    draw_text,
    draw_timeout_ms,
    draw_uuid,
)
from kraftproof.node.wire.codec import REQUESTS, decode_request, encode_request
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_request,
    alter_configs_request,
    alter_partition_reassignments_request,
    create_acls_request,
    create_partitions_request,
    create_topics_request,
    delete_acls_request,
    delete_topics_request,
    describe_acls_request,
    describe_client_quotas_request,
    elect_leaders_request,
    incremental_alter_configs_request,
    list_partition_reassignments_request,
    metadata_request,
)
from kraftproof.node.wire.types import Uuid

Drawer = Callable[[Random, Vocabulary], Any]
METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_TOPIC_ID: Final = Uuid(bytes(15) + b"\1")
KEPT_SHARE: Final = 0.15
"""Share of the fields that keep their defaults."""
LENGTHS: Final = (0, 1, 1, 1, 2, 3, 20)
"""Lengths of arrays."""
TRIES: Final = 20


def draw_message(
    api_key: int, version: int, vocabulary: Vocabulary, random: Random
) -> Message | None:
    """Return a request of an API in a version; None if no drawn request fits into the version."""
    message_type = REQUESTS[api_key].message
    draw = _WHOLE.get(message_type) or _drawer(message_type)
    for _ in range(TRIES):
        message = tame(draw(random, vocabulary), vocabulary, random)
        try:
            body = encode_request(message, version)
        except WireError:
            continue
        try:
            return decode_request(api_key, version, body)
        except WireError:
            return message  # written but not readable: the node's refusal will show it
    return None


_WHOLE: Final[dict[type, Drawer]] = {
    alter_client_quotas_request.AlterClientQuotasRequest: quotas.alteration,
    describe_client_quotas_request.DescribeClientQuotasRequest: quotas.question,
    alter_configs_request.AlterConfigsRequest: config_changes.legacy,
    alter_partition_reassignments_request.AlterPartitionReassignmentsRequest: (
        partitions.reassignments
    ),
    create_acls_request.CreateAclsRequest: acls.create,
    create_partitions_request.CreatePartitionsRequest: partitions.growth,
    delete_acls_request.DeleteAclsRequest: acls.delete,
    describe_acls_request.DescribeAclsRequest: acls.describe,
    elect_leaders_request.ElectLeadersRequest: partitions.elections,
    list_partition_reassignments_request.ListPartitionReassignmentsRequest: partitions.listing,
    create_topics_request.CreateTopicsRequest: topics.create_topics,
    delete_topics_request.DeleteTopicsRequest: topics.delete_topics,
    incremental_alter_configs_request.IncrementalAlterConfigsRequest: config_changes.incremental,
    metadata_request.MetadataRequest: topics.metadata,
}
"""The requests about topics and configurations, drawn as a whole."""


def _cluster_id(random: Random, vocabulary: Vocabulary) -> str:
    drawn = random.random()
    if drawn < 0.5:
        return vocabulary.cluster_id
    return FOREIGN_CLUSTER if drawn < 0.8 else draw_text(random)


def _resource(random: Random, vocabulary: Vocabulary) -> str:
    del vocabulary
    return topics.name_of_resource(random)


def _quorum_topic(random: Random, vocabulary: Vocabulary) -> str:
    del vocabulary
    return METADATA_TOPIC if random.random() < 0.7 else draw_name(random)


def _quorum_topic_id(random: Random, vocabulary: Vocabulary) -> Uuid:
    return METADATA_TOPIC_ID if random.random() < 0.6 else draw_uuid(random, vocabulary)


def _timeout_ms(random: Random, vocabulary: Vocabulary) -> int:
    del vocabulary
    return draw_timeout_ms(random)


def _resource_type(random: Random, vocabulary: Vocabulary) -> int:
    del vocabulary
    return 2 if random.random() < 0.8 else draw_number(random)


def _endpoint_type(random: Random, vocabulary: Vocabulary) -> int:
    del vocabulary
    return random.choice((1, 1, 2, draw_number(random)))


def _offset(random: Random, vocabulary: Vocabulary) -> int:
    del vocabulary
    return draw_number(random) if random.random() < 0.4 else random.randrange(100)


_BY_NAME: Final[dict[str, Drawer]] = {
    "cluster_id": _cluster_id,
    "resource_name": _resource,
    "resource_type": _resource_type,
    "topic_name": _quorum_topic,
    "topic": _quorum_topic,
    "topic_id": _quorum_topic_id,
    "max_wait_ms": _timeout_ms,
    "endpoint_type": _endpoint_type,
    "broker_id": draw_broker,
    "fetch_offset": _offset,
    "end_offset": _offset,
    "position": _offset,
}
"""The fields whose name says more than their type."""


@cache
def _drawer(kind: type) -> Drawer:
    """Return the function that draws an instance of a message or of a part of one."""
    hints = typing.get_type_hints(kind)
    fields = [(name, _BY_NAME.get(name) or _of_type(hints[name])) for name in _field_names(kind)]

    def draw(random: Random, vocabulary: Vocabulary) -> object:
        return kind(
            **{
                name: field(random, vocabulary)
                for name, field in fields
                if random.random() >= KEPT_SHARE
            }
        )

    return draw


def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(kind))


def _of_type(hint: object) -> Drawer:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        whole = _of_type(arguments[0])
        return lambda random, words: None if random.random() < 0.3 else whole(random, words)
    if origin is tuple:
        one = _of_type(arguments[0])
        return lambda random, words: tuple(
            one(random, words) for _ in range(random.choice(LENGTHS))
        )
    if getattr(hint, "__supertype__", None) is bytes:
        return draw_uuid
    return _PLAIN.get(hint) or _drawer(hint)


_PLAIN: Final[dict[Any, Drawer]] = {
    bool: lambda random, _: random.random() < 0.5,
    int: lambda random, _: draw_number(random),
    str: lambda random, _: draw_text(random),
    bytes: lambda random, _: random.randbytes(random.choice((0, 1, 4, 16, 40))),
}
