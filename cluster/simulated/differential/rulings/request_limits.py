"""Compare the limit of a request with Kafka's: a request may change 10,000 things (KAFKA-14996).

A request of exactly as many is carried out. A request of one more is refused as a whole with
POLICY_VIOLATION, and writes nothing. Clients of a run ask for a few.
"""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple

from kraftproof.cluster.simulated.differential.bare_data_plane import registered
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.node.core.controller.configs.alter import alter_configs, incremental_alter_configs
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.creation import create_partitions
from kraftproof.node.core.controller.partitions.elections import elect_leaders
from kraftproof.node.core.controller.partitions.reassignment import alter_partition_reassignments
from kraftproof.node.core.controller.quotas import alter_client_quotas
from kraftproof.node.core.controller.security.acls import create_acls, delete_acls
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_request,
    alter_configs_request,
    alter_partition_reassignments_request,
    create_acls_request,
    create_partitions_request,
    delete_acls_request,
    elect_leaders_request,
    incremental_alter_configs_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

MOST: Final = 10_000
BEYOND: Final = (0, 1)
"""The sizes of requests, from the largest one."""
TOPIC, GROUP, CLUSTER = 2, 32, 4
LITERAL, ALLOW, READ, ANY = 3, 3, 3, 1
TOPIC_ID: Final = Uuid(b"topic of limits ")
Decide = Callable[[MetadataImage, Any, Random], Outcome]


class Kind(NamedTuple):
    """A request with a limit."""

    asked: Callable[[int], Message]
    """Returns the request for a number of changes."""
    decide: Decide
    writes: bool = True
    """Whether each change has a record; the others name what does not exist."""


def compare_request_limits(random: Random) -> None:
    """Ask for about as many changes as a request may have.

    Raises:
        DifferenceError: a request is refused that is small enough, or another one is carried out.
    """
    kind, count = random.choice(KINDS), MOST + random.choice(BEYOND)
    message = kind.asked(count)
    outcome = kind.decide(_image(), message, random)
    codes, what = error_codes(outcome.reply), f"{count} changes of a {type(message).__name__}"
    if count > MOST:
        same(f"the errors of {what}", codes, {ErrorCode.POLICY_VIOLATION})
        same(f"the records of {what}", outcome.records, ())
        return
    check(f"{what} are few enough", codes is None or ErrorCode.POLICY_VIOLATION not in codes)
    same(f"the number of records of {what}", len(outcome.records), count if kind.writes else 0)


@cache
def _image() -> MetadataImage:
    """Return an image with a broker, a topic, and entries for three principals."""
    partition = records.PartitionRecord(
        partition_id=0, topic_id=TOPIC_ID, replicas=(1,), isr=(1,), leader=1
    )
    sizes = {"User:a": MOST - 1, "User:b": 1, "User:c": 1}
    entries = [
        records.AccessControlEntryRecord(
            id=Uuid(bytes([place]) * 8 + number.to_bytes(8, "big")),
            resource_type=TOPIC,
            resource_name=f"t{number}",
            pattern_type=LITERAL,
            principal=principal,
            host="*",
            operation=READ,
            permission_type=ALLOW,
        )
        for place, (principal, size) in enumerate(sizes.items(), 1)
        for number in range(size)
    ]
    written = (
        registered(1, (Uuid(b"d" * 16),)),
        records.TopicRecord(name="t", topic_id=TOPIC_ID),
        partition,
        *entries,
    )
    return apply_all(EMPTY_IMAGE, written)


def _quotas(count: int) -> Message:
    module = alter_client_quotas_request
    return module.AlterClientQuotasRequest(
        entries=tuple(
            module.EntryData(
                entity=(module.EntityData(entity_type="user", entity_name=f"u{number}"),),
                ops=(module.OpData(key="producer_byte_rate", value=1024.0, remove=False),),
            )
            for number in range(count)
        )
    )


def _entries(count: int) -> Message:
    module = create_acls_request
    return module.CreateAclsRequest(
        creations=tuple(
            module.AclCreation(
                resource_type=TOPIC,
                resource_name=f"new{number}",
                resource_pattern_type=LITERAL,
                principal="User:a",
                host="*",
                operation=READ,
                permission_type=ALLOW,
            )
            for number in range(count)
        )
    )


def _filters(count: int) -> Message:
    """Return filters that select a number of the entries of the image."""
    module = delete_acls_request
    principals = ("User:a", "User:b", "User:c")[: 2 + count - MOST]
    return module.DeleteAclsRequest(
        filters=tuple(
            module.DeleteAclsFilter(
                resource_type_filter=ANY,
                resource_name_filter=None,
                pattern_type_filter=ANY,
                principal_filter=principal,
                host_filter=None,
                operation=ANY,
                permission_type=ANY,
            )
            for principal in (*principals, "User:a")
        )
    )


def _configs(module: Any, name: str) -> Callable[[int], Message]:  # noqa: ANN401 - one of two
    """Return a change of a configuration of many groups; both modules have the same names."""

    def asked(count: int) -> Message:
        config = module.AlterableConfig(name="consumer.session.timeout.ms", value="46000")
        message: Message = getattr(module, name)(
            resources=tuple(
                module.AlterConfigsResource(
                    resource_type=GROUP, resource_name=f"g{number}", configs=(config,)
                )
                for number in range(count)
            )
        )
        return message

    return asked


def _growth(count: int) -> Message:
    module = create_partitions_request
    topic = module.CreatePartitionsTopic(name="t", count=1 + count, assignments=None)
    return module.CreatePartitionsRequest(topics=(topic,), timeout_ms=1_000)


def _elections(count: int) -> Message:
    module = elect_leaders_request
    topics = tuple(
        module.TopicPartitions(topic=name, partitions=tuple(range(size)))
        for name, size in (("absent", count - 1), ("other", 1))
    )
    return module.ElectLeadersRequest(topic_partitions=topics)


def _moves(count: int) -> Message:
    module = alter_partition_reassignments_request
    return module.AlterPartitionReassignmentsRequest(
        topics=(
            module.ReassignableTopic(
                name="absent",
                partitions=tuple(
                    module.ReassignablePartition(partition_index=number, replicas=(1,))
                    for number in range(count)
                ),
            ),
        )
    )


def _of_image(decide: Callable[[MetadataImage, Any], Outcome]) -> Decide:
    return lambda image, request, _: decide(image, request)


KINDS: Final = (
    Kind(_quotas, _of_image(alter_client_quotas)),
    Kind(
        _entries,
        lambda image, request, random: create_acls(image, request, random, has_authorizer=True),
    ),
    Kind(_filters, lambda image, request, _: delete_acls(image, request, has_authorizer=True)),
    Kind(
        _configs(incremental_alter_configs_request, "IncrementalAlterConfigsRequest"),
        _of_image(incremental_alter_configs),
    ),
    Kind(_configs(alter_configs_request, "AlterConfigsRequest"), _of_image(alter_configs)),
    Kind(_growth, create_partitions),
    Kind(_elections, _of_image(elect_leaders), writes=False),
    Kind(_moves, _of_image(alter_partition_reassignments), writes=False),
)
