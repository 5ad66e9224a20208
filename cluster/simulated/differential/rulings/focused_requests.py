"""Draw requests that a controller carries out, and such with one mistake, from its image.

The loads of a run draw most requests without knowledge of the image: those name what does not
exist, or are refused for their first mistake. A run also spares the entities of its clients.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.operators.cluster_requests import UPDATES
from kraftproof.cluster.simulated.background.operators.entry_requests import (
    create_entries,
    delete_entries,
)
from kraftproof.cluster.simulated.background.operators.users_and_quotas import draw_credentials
from kraftproof.cluster.simulated.differential.core.deciding_node import VOTERS, DecidingNode
from kraftproof.cluster.simulated.differential.rulings.unclean_elections import (
    allow_unclean_elections,
)
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_request,
    controller_registration_request,
    create_partitions_request,
    incremental_alter_configs_request,
)
from kraftproof.node.wire.types import Uuid

REQUESTS: Final = 60
"""Number of requests of a draw."""
COMPARED_EACH: Final = 10
"""Number of requests after which the levels of features change."""
MOST_PARTITIONS: Final = 12
INT_MAX, LONG_MAX = (1 << 31) - 1, (1 << 63) - 1
BYTES: Final = (1.0, 1024.0, float(LONG_MAX), 2.0**64, 1.5, 1.0 + 1e-6, 2.0 - 1e-7, 3.0 + 2e-6)
ZERO_OR_LESS: Final = (0.0, -1.0, float("nan"))
FRACTIONS: Final = (0.5, 1e300, 200.0)
VALUES: Final = {
    "producer_byte_rate": BYTES,
    "consumer_byte_rate": BYTES,
    "request_percentage": FRACTIONS,
    "controller_mutation_rate": FRACTIONS,
    "connection_creation_rate": (1.0, INT_MAX - 1.0, float(INT_MAX), INT_MAX + 1.0, 1.5),
}
"""Values of each quota, at the limits and near a whole number."""
Parts = tuple[tuple[str, str | None], ...]
"""The types of an entity with their names."""
ENTITIES: Final[tuple[Parts, ...]] = (
    *((("user", "__ann"),), (("user", None),), (("client-id", "__c"),), (("client-id", None),)),
    (("user", "__ann"), ("client-id", "__c")),
    (("client-id", "__c"), ("user", "__ann")),
    (("user", None), ("client-id", None)),
    *((("ip", "10.9.9.9"),), (("ip", "::1"),), (("ip", None),)),
)
WRONG_ENTITIES: Final[tuple[Parts, ...]] = (
    *((), (("user", ""),), (("ip", "no address"),), (("ip", ""),), (("group", "g"),)),
    *((("user", "__ann"), ("user", "__bob")), (("ip", "10.9.9.9"), ("ip", "::1"))),
    (("user", "__ann"), ("ip", "10.9.9.9")),
)
GROUPS: Final = ("__g", "__h")
GROUP: Final = 32


def ask_focused(node: DecidingNode, random: Random, vocabulary: Vocabulary) -> None:
    """Send requests that fit the image, and updates of features between them.

    Raises:
        DifferenceError: the specification does not allow the records or the answer.
    """
    for number in range(REQUESTS):
        message = random.choice(_KINDS)(random, vocabulary, node.image)
        if number % COMPARED_EACH == 0:
            message = UPDATES(random, vocabulary)
        if message is not None:
            node.ask(message, message.MAX_VERSION)
    allow_unclean_elections(node, random)
    node.compare()


def _growth(random: Random, _: Vocabulary, image: MetadataImage) -> Message | None:
    """Return more partitions of topics, placed by the controller or by the client."""
    module, topics = create_partitions_request, list(image.sorted_topics())
    asked = []
    for topic in random.sample(topics, min(len(topics), random.choice((1, 1, 2)))):
        partitions = list(image.partitions_of(topic.topic_id))
        if len(partitions) >= MOST_PARTITIONS or not partitions:
            continue
        added = random.choice((1, 1, 2, 3, 0, -1))
        factor = len(partitions[0].replicas) + random.choice((0, 0, 0, 0, 1))
        asked.append(
            module.CreatePartitionsTopic(
                name=topic.name,
                count=len(partitions) + added,
                assignments=random.choice((None, None, _placed(random, image, added, factor))),
            )
        )
    asked *= random.choice((1, 1, 1, 1, 1, 2))
    if not asked:
        return None
    return module.CreatePartitionsRequest(
        topics=tuple(asked), timeout_ms=1_000, validate_only=random.random() < 0.2
    )


def _placed(
    random: Random, image: MetadataImage, count: int, factor: int
) -> tuple[create_partitions_request.CreatePartitionsAssignment, ...]:
    """Return the brokers of new partitions, at times an unknown one or a broker twice."""
    brokers = [int(one.broker_id) for one in image.sorted_brokers()]
    if random.random() < 0.1:
        brokers.append(99)
    if random.random() < 0.1:
        brokers += brokers[:1]
    size = min(factor, len(brokers))
    return tuple(
        create_partitions_request.CreatePartitionsAssignment(
            broker_ids=tuple(random.sample(brokers, size))
        )
        for _ in range(max(count, 0) + random.choice((0, 0, 0, 0, 0, 1)))
    )


def _quotas(random: Random, _: Vocabulary, image: MetadataImage) -> Message:
    """Return changes of quotas; some values are those of the image."""
    module, entries = alter_client_quotas_request, []
    for _number in range(random.choice((1, 1, 2))):
        parts = random.choice(WRONG_ENTITIES if random.random() < 0.2 else ENTITIES)
        usual = tuple(sorted(parts, key=lambda part: part[0]))
        present = image.quotas.of(usual)
        is_address = any(kind == "ip" for kind, _name in parts)
        keys = [key for key in VALUES if (key == "connection_creation_rate") == is_address]
        keys += [random.choice([*VALUES, "no_quota"])] if random.random() < 0.1 else []
        ops = []
        for key in random.choices(keys, k=random.choice((0, 1, 1, 1, 2))):
            values = (*VALUES.get(key, FRACTIONS), *([present[key]] * 4 if key in present else ()))
            value = random.choice(ZERO_OR_LESS if random.random() < 0.1 else values)
            ops.append(module.OpData(key=key, value=value, remove=random.random() < 0.25))
        entity = tuple(
            module.EntityData(entity_type=kind, entity_name=name) for kind, name in parts
        )
        entries.append(module.EntryData(entity=entity, ops=tuple(ops)))
    return module.AlterClientQuotasRequest(
        entries=tuple(entries), validate_only=random.random() < 0.1
    )


def _controller(random: Random, _: Vocabulary, image: MetadataImage) -> Message:
    """Return the registration of a voter, most of which support the levels of the cluster."""
    module = controller_registration_request
    listeners = tuple(
        module.Listener(name=name, host=f"h-{name}", port=port, security_protocol=port % 4)
        for port, name in enumerate(random.sample(("A", "B", "C"), random.choice((1, 2, 2))), 9_093)
    )
    ranges = {name: (level, level) for name, level in image.features.items()}
    ranges["metadata.version"] = random.choice(((7, 30), (1, 30), (7, 30), (21, 21), (22, 30)))
    if random.random() < 0.3:
        ranges["other"] = (random.choice((0, 1)), 3)
    return module.ControllerRegistrationRequest(
        controller_id=random.choice(VOTERS),
        incarnation_id=Uuid(random.randbytes(16)),
        zk_migration_ready=random.random() < 0.2,
        listeners=listeners if random.random() < 0.9 else (),
        features=tuple(
            module.Feature(name=name, min_supported_version=least, max_supported_version=most)
            for name, (least, most) in ranges.items()
        ),
    )


def _groups(random: Random, _: Vocabulary, __: MetadataImage) -> Message:
    """Return changes of configurations of groups, which may be set before a group exists."""
    module = incremental_alter_configs_request
    resources = []
    for name in random.sample((*GROUPS, ""), random.choice((1, 2))):
        values = random.sample(("45000", "46000", "44999", "60000", "60001", "x"), 2)
        configs = tuple(
            module.AlterableConfig(
                name=key, config_operation=random.choice((0, 0, 0, 1, 2, 4)), value=value
            )
            for key, value in zip(
                random.sample(
                    ("consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"),
                    random.choice((1, 2)),
                ),
                values,
                strict=False,
            )
        )
        resources.append(
            module.AlterConfigsResource(resource_type=GROUP, resource_name=name, configs=configs)
        )
    return module.IncrementalAlterConfigsRequest(
        resources=tuple(resources), validate_only=random.random() < 0.1
    )


def _without_image(drawer: Callable[[Random, Vocabulary], Message]) -> "_Drawer":
    return lambda random, vocabulary, _: drawer(random, vocabulary)


_Drawer = Callable[[Random, Vocabulary, MetadataImage], Message | None]
_KINDS: Final[tuple[_Drawer, ...]] = (
    *(_growth, _growth, _quotas, _quotas, _controller, _groups),
    _without_image(draw_credentials),
    _without_image(create_entries),
    _without_image(delete_entries),
)
