"""Tools that list topics, resources, producers and coordinators, page by page.

The invariant DescriptionsAreTrue judges the answers.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import (
    Message,
    consumer_group_heartbeat_request,
    describe_producers_request,
    describe_topic_partitions_request,
    find_coordinator_request,
    list_config_resources_request,
    offset_fetch_request,
)

SHARE: Final = 0.25
"""Share of runs with such tools."""
LABEL: Final = "describers-20558"
"""Source of the draw; by this label the seeds recorded for older mutants have no such tools."""
MAX_WAIT_NS: Final = milliseconds(2_000)
LONGEST_REST_NS: Final = milliseconds(1_500)
NAMES: Final = ("__clean", "__data", "__dated", "__large-1", "__unclean", "no topic", "none")
"""The topics of the other loads, and names that no topic has."""
GROUPS: Final = ("", "group", "g\N{LATIN SMALL LETTER E WITH ACUTE}")
OFFSETS_WITH_GROUPS: Final = 8
"""First version of OffsetFetch with a list of groups."""

Request = tuple[Message, int]
Drawer = Callable[[Random], Request]


async def describe(
    scope: SimulatedScope,
    network: Network,
    random: Random,
    brokers: Sequence[int],
    *,
    has_data: bool,
) -> None:
    """Ask brokers until the run ends; only brokers with a data plane know producers."""
    drawers = _ALWAYS + (_WITH_DATA if has_data else ())
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        message, version = random.choice(drawers)(random)
        try:
            connection = await connect(scope, network, random.choice(brokers), MAX_WAIT_NS)
            await connection.call(message, version, MAX_WAIT_NS)
        except (ConnectionFailed, OutcomeUnknown):
            continue
        connection.close()


def _topics(random: Random) -> Request:
    module = describe_topic_partitions_request
    names = random.sample(NAMES, random.choice((0, 0, 1, 3)))
    cursor = None
    if random.random() < 0.5:
        cursor = module.Cursor(
            topic_name=random.choice((*names, *NAMES)), partition_index=random.choice((0, 0, 1, -1))
        )
    request = module.DescribeTopicPartitionsRequest(
        topics=tuple(module.TopicRequest(name=name) for name in names),
        response_partition_limit=random.choice((-1, 1, 2, 3, 5, 2_000, 3_000)),
        cursor=cursor,
    )
    return (request, 0)


def _resources(random: Random) -> Request:
    module = list_config_resources_request
    kinds = random.choice(((), (), (2,), (4, 8), (16, 32), (32,), (2, 2), (3,)))
    version = random.choice((0, 1, 1))
    if version == 0:
        kinds = ()
    return (module.ListConfigResourcesRequest(resource_types=kinds), version)


def _producers(random: Random) -> Request:
    module = describe_producers_request
    topics = tuple(
        module.TopicRequest(name=name, partition_indexes=tuple(random.sample(range(4), 2)))
        for name in random.sample(NAMES, 2)
    )
    return (module.DescribeProducersRequest(topics=topics), 0)


def _coordinators(random: Random) -> Request:
    version = random.randint(0, 6)
    kind = random.choice((0, 0, 1, 2, 5)) if version >= 1 else 0
    keys = tuple(random.sample(GROUPS, 2)) if version >= 4 else ()
    request = find_coordinator_request.FindCoordinatorRequest(
        key="" if version >= 4 else random.choice(GROUPS),
        key_type=kind,
        coordinator_keys=keys,
    )
    return (request, version)


def _offsets(random: Random) -> Request:
    module, version = offset_fetch_request, random.randint(1, 9)
    indexes = tuple(random.sample(range(5), 2))
    if version < OFFSETS_WITH_GROUPS:
        topic = module.OffsetFetchRequestTopic(name=NAMES[0], partition_indexes=indexes)
        return (module.OffsetFetchRequest(group_id=GROUPS[1], topics=(topic,)), version)
    groups = tuple(
        module.OffsetFetchRequestGroup(
            group_id=group,
            topics=(
                module.OffsetFetchRequestTopics(name=NAMES[1], partition_indexes=indexes),
                module.OffsetFetchRequestTopics(name=NAMES[2], partition_indexes=(0,)),
            ),
        )
        for group in GROUPS[: random.randint(1, 3)]
    )
    return (module.OffsetFetchRequest(groups=groups), version)


def _beat(random: Random) -> Request:
    request = consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest(
        group_id=random.choice(GROUPS), member_id="member"
    )
    return (request, 0)


_ALWAYS: Final[tuple[Drawer, ...]] = (_topics, _topics, _resources)
_WITH_DATA: Final[tuple[Drawer, ...]] = (_producers, _coordinators, _offsets, _beat)
