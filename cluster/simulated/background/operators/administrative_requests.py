"""Draw requests of administrators: about topics that exist, configurations, users and quotas.

The requests of cluster/systems/reference/requests get the names of the administrators' topics.
Requests at a limit, and requests that those modules draw by their fields only, are drawn here. See
cluster_requests.py for requests about brokers, controllers and features.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

import msgspec
from msgspec import Struct

from kraftproof.cluster.simulated.background.operators.cluster_requests import (
    OF_CONTROLLERS,
    UPDATES,
)
from kraftproof.cluster.systems.reference.requests import (
    acls,
    config_changes,
    partitions,
    quotas,
    topics,
)
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.codec import encode_request
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_request,
    alter_user_scram_credentials_request,
    create_delegation_token_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    expire_delegation_token_request,
    incremental_alter_configs_request,
    renew_delegation_token_request,
)

NAMES: Final = ("__admin-0", "__admin-1", "__admin-2")
"""The topics that exist most of the time."""
NAMED_SHARE: Final = 0.75
"""Share of names in a drawn request that become names of these topics."""
KEPT_SHARE: Final = 0.7
"""Share of drawn deletions that are left out, since other requests need the topics."""
AT_CONTROLLER_SHARE: Final = 0.2
"""Share of the requests of clients that go to a controller."""
USERS: Final = ("__ann", "__bob", "__eve")
"""Users of credentials; nobody logs in as one of them."""
LONG_MAX, INT_MAX = (1 << 63) - 1, (1 << 31) - 1
MOST_RECORDS: Final = 10_000
"""Maximum number of records of a request."""
MOST_PARTITIONS: Final = 12
"""Maximum number of partitions of a topic."""
TIMEOUT_MS: Final = 2_000
SERVED: Final = {
    is_controller: served_versions(on_controller_listener=is_controller)
    for is_controller in (False, True)
}
_NAMED: Final = {
    ("DeleteTopicState", "name"),
    ("CreatePartitionsTopic", "name"),
    ("TopicPartitions", "topic"),
    ("ReassignableTopic", "name"),
    ("ListPartitionReassignmentsTopics", "name"),
}
"""Parts of messages and their fields with the name of a topic."""


class Asked(Struct, frozen=True, kw_only=True):
    """A request in a version, and who gets the request."""

    message: Message
    version: int
    at_controller: bool = False
    """Whether a controller is asked, and no broker."""


Drawer = Callable[[Random, Vocabulary], Message]


def topics_to_create(random: Random, vocabulary: Vocabulary) -> Asked:
    """Return the creation of the topics, each with some settings."""
    module = create_topics_request
    made = tuple(
        module.CreatableTopic(
            name=name,
            num_partitions=random.choice((1, 2, 3)),
            replication_factor=random.randint(1, min(3, len(vocabulary.brokers))),
            configs=tuple(
                module.CreatableTopicConfig(name=key, value=value)
                for key, value in random.sample(_SETTINGS, random.choice((0, 1, 2)))
            ),
        )
        for name in NAMES
    )
    request = module.CreateTopicsRequest(topics=made, timeout_ms=TIMEOUT_MS)
    return Asked(message=request, version=7)


_SETTINGS: Final = (
    ("retention.ms", "100000"),
    ("cleanup.policy", "compact"),
    ("min.insync.replicas", "1"),
    ("follower.replication.throttled.replicas", "0:1"),
)


def draw_request(
    random: Random, vocabulary: Vocabulary, image: MetadataImage | None
) -> Asked | None:
    """Return a request in a served version; None if the draw has none.

    The image, of any node, tells what brokers and partitions there are.
    """
    if random.random() < OF_CONTROLLERS_SHARE:
        if image is None:
            return None
        drawn = random.choice(OF_CONTROLLERS)(random, vocabulary, image)
        return None if drawn is None else _in_version(drawn, random, at_controller=True)
    message = random.choice(_DRAWERS)(random, vocabulary)
    is_deletion = isinstance(message, delete_topics_request.DeleteTopicsRequest)
    if is_deletion and random.random() < KEPT_SHARE:
        return None
    at_controller = random.random() < AT_CONTROLLER_SHARE
    return _in_version(_with_names(message, random), random, at_controller=at_controller)


OF_CONTROLLERS_SHARE: Final = 0.25
"""Share of requests that only controllers serve."""


def _in_version(message: Message, random: Random, *, at_controller: bool) -> Asked | None:
    served = SERVED[at_controller].get(message.API_KEY)
    if served is None:
        return None
    for version in (random.randint(*served), served[1]):
        try:
            encode_request(message, version)
        except WireError:
            continue
        return Asked(message=message, version=version, at_controller=at_controller)
    return None


def _with_names(part: Any, random: Random) -> Any:  # noqa: ANN401 - any part of a message
    """Return a message, in which most names of topics are those of the administrators."""
    if isinstance(part, tuple):
        return tuple(_with_names(one, random) for one in part)
    if not isinstance(part, Struct):
        return part
    changes: dict[str, Any] = {}
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, str):
            if _is_name(part, field.name) and random.random() < NAMED_SHARE:
                changes[field.name] = random.choice(NAMES)
        elif isinstance(value, tuple | Struct):
            changes[field.name] = _with_names(value, random)
    return msgspec.structs.replace(part, **changes) if changes else part


def _is_name(part: Struct, field: str) -> bool:
    """Return whether a field holds the name of a topic."""
    if field == "resource_name":
        return getattr(part, "resource_type", 0) == config_changes.TOPIC
    return (type(part).__name__, field) in _NAMED


# Topics and configurations


def _lists(random: Random, _: Vocabulary) -> Message:
    """Return changes of lists of a topic, which may have a value already."""
    module = incremental_alter_configs_request
    name, members = random.choice(_LISTS)
    operation = random.choice((0, 2, 2, 3, 3, 1))
    value = ",".join(random.sample(members, random.choice((1, 1, 2))))
    change = module.AlterableConfig(
        name=name, config_operation=operation, value=None if operation == 1 else value
    )
    resource = module.AlterConfigsResource(
        resource_type=config_changes.TOPIC, resource_name=NAMES[0], configs=(change,)
    )
    return module.IncrementalAlterConfigsRequest(resources=(resource,))


_LISTS: Final = (
    ("cleanup.policy", ("compact", "delete")),
    ("follower.replication.throttled.replicas", ("0:1", "1:2", "2:3")),
)


def _growth(random: Random, _: Vocabulary) -> Message:
    """Return a few more partitions of a topic, while its partitions may be moving."""
    module = create_partitions_request
    topic = module.CreatePartitionsTopic(name=NAMES[0], count=random.randint(2, MOST_PARTITIONS))
    return module.CreatePartitionsRequest(
        topics=(topic,), timeout_ms=TIMEOUT_MS, validate_only=random.random() < 0.3
    )


# Quotas


def _quotas(random: Random, _: Vocabulary) -> Message:
    """Return quotas with values at the limits, of entities that name no client of a run."""
    module = alter_client_quotas_request
    kind, name, key, values = random.choice(_QUOTAS)
    ops = [
        module.OpData(key=key, value=value, remove=random.random() < 0.2)
        for value in random.sample(values, random.choice((1, 1, 1, 2)))
    ]
    if random.random() < 0.01:
        count = random.choice((MOST_RECORDS, MOST_RECORDS + 1))
        entries = tuple(
            module.EntryData(
                entity=(module.EntityData(entity_type="user", entity_name=f"__user-{number}"),),
                ops=(module.OpData(key="producer_byte_rate", value=1e9),),
            )
            for number in range(count)
        )
        return module.AlterClientQuotasRequest(entries=entries, validate_only=True)
    parts = [module.EntityData(entity_type=kind, entity_name=name)]
    if random.random() < 0.15:
        other = random.choice(("user", "client-id", "ip"))
        parts.append(module.EntityData(entity_type=other, entity_name="__nobody"))
    entry = module.EntryData(entity=tuple(parts), ops=tuple(ops))
    return module.AlterClientQuotasRequest(
        entries=(entry,) * random.choice((1, 1, 1, 1, 2)), validate_only=random.random() < 0.2
    )


_BYTES: Final = (1.0, float(INT_MAX), float(LONG_MAX), 2.0**63, 2.0**64, 0.0, -1.0, 1.5, 1024.0)
_CONNECTIONS: Final = (1.0, INT_MAX - 1.0, float(INT_MAX), INT_MAX + 1.0, 0.0, 1.5, 1024.0)
_QUOTAS: Final = (
    ("user", "__nobody", "producer_byte_rate", _BYTES),
    ("client-id", "__nobody", "consumer_byte_rate", _BYTES),
    ("user", "__nobody", "request_percentage", (0.5, 200.0, 0.0, 1e300)),
    ("user", "__nobody", "connection_creation_rate", (1.0,) * 2),
    ("user", "__nobody", "controller_mutation_rate", (0.25, 0.0, -0.5)),
    ("ip", "10.9.9.9", "connection_creation_rate", _CONNECTIONS),
    ("ip", "::1", "connection_creation_rate", _CONNECTIONS),
    ("ip", "no address", "connection_creation_rate", _CONNECTIONS),
    ("ip", "10.9.9.9", "producer_byte_rate", (1.0,) * 2),
)


# Users and tokens


def _credentials(random: Random, _: Vocabulary) -> Message:
    module = alter_user_scram_credentials_request
    deletions = [
        module.ScramCredentialDeletion(name=random.choice(USERS), mechanism=_mechanism(random))
        for _ in range(random.choice((0, 0, 1, 2)))
    ]
    upsertions = [
        module.ScramCredentialUpsertion(
            name=random.choice((*USERS * 3, "")),
            mechanism=_mechanism(random),
            iterations=random.choice((4096, 4096, 8192, 16384, 4095, 16385, 0)),
            salt=random.randbytes(random.choice((12, 16, 16, 11, 0))),
            salted_password=random.randbytes(random.choice((32, 64, 32, 0))),
        )
        for _ in range(random.choice((0, 1, 1, 2)))
    ]
    return module.AlterUserScramCredentialsRequest(
        deletions=tuple(deletions), upsertions=tuple(upsertions)
    )


def _mechanism(random: Random) -> int:
    return random.choice((1, 1, 2, 2, 0, 3))


def _token(random: Random, _: Vocabulary) -> Message:
    match random.randrange(4):
        case 0 | 1:
            module = create_delegation_token_request
            renewers = tuple(
                module.CreatableRenewers(
                    principal_type=random.choice(("User", "User", "Group")),
                    principal_name=random.choice(USERS),
                )
                for _ in range(random.choice((0, 1, 2)))
            )
            return module.CreateDelegationTokenRequest(
                renewers=renewers, max_lifetime_ms=random.choice((-1, 0, 1, 5_000, LONG_MAX))
            )
        case 2:
            return renew_delegation_token_request.RenewDelegationTokenRequest(
                hmac=random.randbytes(64), renew_period_ms=random.choice((-1, 0, 1_000))
            )
        case _:
            return expire_delegation_token_request.ExpireDelegationTokenRequest(
                hmac=random.randbytes(64), expiry_time_period_ms=random.choice((-1, 0, 1_000))
            )


_DRAWERS: Final[tuple[Drawer, ...]] = (
    topics.create_topics,
    topics.delete_topics,
    *(config_changes.incremental, config_changes.legacy) * 3,
    *(_lists,) * 2,
    *(partitions.reassignments, partitions.growth, partitions.elections) * 2,
    *(partitions.listing, _growth),
    *(acls.create, acls.delete),
    *(quotas.alteration, _quotas, _quotas),
    *(_credentials, _token),
    *(UPDATES,) * 2,
)
