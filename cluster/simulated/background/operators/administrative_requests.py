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
from kraftproof.cluster.simulated.background.operators.entry_requests import (
    create_entries,
    delete_entries,
    describe_entries,
)
from kraftproof.cluster.simulated.background.operators.moving_partitions import (
    draw_of_partitions,
)
from kraftproof.cluster.simulated.background.operators.users_and_quotas import (
    draw_credentials,
    draw_quotas,
    draw_token_request,
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
    create_topics_request,
    delete_topics_request,
    incremental_alter_configs_request,
)

NAMES: Final = ("__admin-0", "__admin-1", "__admin-2")
"""The topics that exist most of the time."""
NAMED_SHARE: Final = 0.75
"""Share of names in a drawn request that become names of these topics."""
KEPT_SHARE: Final = 0.7
"""Share of drawn deletions that are left out, since other requests need the topics."""
AT_CONTROLLER_SHARE: Final = 0.2
"""Share of the requests of clients that go to a controller."""
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
    at_controller = random.random() < AT_CONTROLLER_SHARE
    if image is not None and random.random() < OF_PARTITIONS_SHARE:
        asked = draw_of_partitions(random, NAMES, image)
        return None if asked is None else _in_version(asked, random, at_controller=at_controller)
    message = random.choice(_DRAWERS)(random, vocabulary)
    is_deletion = isinstance(message, delete_topics_request.DeleteTopicsRequest)
    if is_deletion and random.random() < KEPT_SHARE:
        return None
    return _in_version(_with_names(message, random), random, at_controller=at_controller)


OF_CONTROLLERS_SHARE: Final = 0.25
"""Share of requests that only controllers serve."""
OF_PARTITIONS_SHARE: Final = 0.3
"""Share of the others that are about the partitions of a topic as they are."""


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
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, str):
            if _is_name(part, field) and random.random() < NAMED_SHARE:
                changes[field] = random.choice(NAMES)
        elif isinstance(value, tuple | Struct):
            changes[field] = _with_names(value, random)
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


_DRAWERS: Final[tuple[Drawer, ...]] = (
    topics.create_topics,
    topics.delete_topics,
    *(config_changes.incremental, config_changes.legacy) * 3,
    *(_lists,) * 2,
    *(partitions.reassignments, partitions.growth, partitions.elections) * 2,
    partitions.listing,
    *(acls.create, acls.delete),
    *(create_entries, create_entries, describe_entries, describe_entries, delete_entries),
    *(quotas.alteration, draw_quotas, draw_quotas),
    *(draw_credentials, draw_token_request),
    *(UPDATES,) * 2,
)
