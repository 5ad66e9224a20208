"""Compare answers to Metadata and DescribeCluster with a plain model.

A broker keeps parts of its answers while the cluster changes. In a run, most changes of a broker
come with a change of its partitions, which hides a part that was kept too long.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.brokers.drawn_cluster import (
    LISTENERS,
    NAMES,
    PORT,
    DrawnCluster,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import Endpoint, NodeConfig
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.broker.answers import describe_cluster
from kraftproof.node.core.broker.metadata import MetadataAnswers
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_cluster_request,
    describe_topic_partitions_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.types import ZERO_UUID, Uuid

CHANGES: Final = 25
OWN: Final = 1
View = tuple[str, int]
"""The listener and the version of a request."""
IDS_FROM: Final = 12
LISTENERS_FROM: Final = 6
NEWEST: Final = 13
WRONG_NAMES: Final = ("absent", "no such", "", "..")
LEGAL: Final = ("absent",)
TOPIC_BITS: Final = 3_576
"""READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS."""
CLUSTER_BITS: Final = 8_096
"""CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, both of configurations, and IDEMPOTENT_WRITE."""
NO_BITS: Final = -(1 << 31)
AskedTopic = metadata_request.MetadataRequestTopic
Shown = (
    metadata_response.MetadataResponsePartition
    | describe_topic_partitions_response.DescribeTopicPartitionsResponsePartition
)


def compare_listings(random: Random) -> None:
    """Let a cluster change, and compare a broker's answers after each change.

    Raises:
        DifferenceError: an answer is not the one of the model.
    """
    cluster = DrawnCluster()
    config = replace(
        BARE_BROKER,
        node_id=NodeId(OWN),
        endpoints=tuple(
            Endpoint(name=name, host="h", port=PORT, is_controller=False) for name in LISTENERS
        ),
    )
    answers = MetadataAnswers(config)
    for _ in range(CHANGES):
        cluster.change(random)
        _compare_metadata(random, cluster, answers)
        _compare_cluster(random, cluster, config)


def event_of(message: Message, version: int, listener: str) -> Received:
    """Return a request of a client."""
    return Received(
        request=1,
        message=message,
        version=version,
        on_controller_listener=False,
        principal=ANONYMOUS,
        client_host="h",
        listener=listener,
    )


def _brokers(cluster: DrawnCluster, listener: str, *, fenced_too: bool) -> list[tuple[object, ...]]:
    """Return the brokers that a client of a listener sees."""
    return [
        (number, cluster.host(number, listener), PORT + number, broker.rack, broker.fenced)
        for number, broker in sorted(cluster.brokers.items())
        if listener in broker.listeners and (fenced_too or not broker.fenced)
    ]


def _compare_contact(controller: int, cluster: DrawnCluster, listener: str) -> None:
    seen = [each[0] for each in _brokers(cluster, listener, fenced_too=False)]
    check("the controller of an answer is an active broker", controller in (seen or [NO_NODE]))


# Metadata


def _compare_metadata(random: Random, cluster: DrawnCluster, answers: MetadataAnswers) -> None:
    listener, version = (
        random.choice(LISTENERS),
        random.choice((0, 1, LISTENERS_FROM - 1, LISTENERS_FROM, IDS_FROM - 1, NEWEST)),
    )
    asked = _draw_asked(random, cluster)
    with_topics, with_cluster = random.random() < 0.3, random.random() < 0.3
    request = metadata_request.MetadataRequest(
        topics=asked,
        include_topic_authorized_operations=with_topics,
        include_cluster_authorized_operations=with_cluster,
    )
    said = answers.answer(cluster.image(), request, event_of(request, version, listener), None)
    same(
        "the brokers of Metadata",
        [(one.node_id, one.host, one.port, one.rack, False) for one in said.brokers],
        _brokers(cluster, listener, fenced_too=False),
    )
    _compare_contact(said.controller_id, cluster, listener)
    bits = CLUSTER_BITS if with_cluster else NO_BITS
    found = (said.cluster_id, said.cluster_authorized_operations, said.error_code)
    same("the cluster of Metadata", found, ("c", bits, ErrorCode.NONE))
    view, by_id = (listener, version), [each for each in asked or () if each.topic_id != ZERO_UUID]
    shown = [_shown_topic(topic) for topic in said.topics]
    if asked is None or (version == 0 and not asked):
        due = [
            _topic(cluster, name, view, with_operations=with_topics) for name in sorted(cluster.ids)
        ]
    else:
        due = [
            _asked_topic(cluster, each, view, with_operations=with_topics)
            for each in dict.fromkeys(by_id or asked)
        ]
        if version < IDS_FROM and any(_has_id(each) for each in asked):
            due = [_refusal(each, ErrorCode.INVALID_REQUEST, each.name or "") for each in asked]
    same("the topics of Metadata", shown, due)


def _draw_asked(random: Random, cluster: DrawnCluster) -> tuple[AskedTopic, ...] | None:
    if random.random() < 0.4:
        return None
    ids = [*cluster.ids.values(), Uuid(bytes(15) + b"\1")]
    by_name = [AskedTopic(name=name) for name in (*NAMES, *WRONG_NAMES)]
    by_id = [AskedTopic(name=None, topic_id=each) for each in ids]
    pool = random.choice((by_name, by_name, [*by_name, *by_id], by_id))
    return tuple(random.choices(pool, k=random.randint(0, 4)))


def _has_id(asked: AskedTopic) -> bool:
    return asked.name is None or asked.topic_id != ZERO_UUID


def _refusal(asked: AskedTopic, error: ErrorCode, name: str | None) -> tuple[object, ...]:
    return (error, name, asked.topic_id, False, NO_BITS, [])


def _asked_topic(
    cluster: DrawnCluster, asked: AskedTopic, view: View, *, with_operations: bool
) -> tuple[object, ...]:
    names = {key: name for name, key in cluster.ids.items()}
    if asked.name is None:
        if asked.topic_id not in names:
            return _refusal(asked, ErrorCode.UNKNOWN_TOPIC_ID, None)
        return _topic(cluster, names[asked.topic_id], view, with_operations=with_operations)
    if asked.name in cluster.ids:
        return _topic(cluster, asked.name, view, with_operations=with_operations)
    is_legal = asked.name in (*NAMES, *LEGAL)
    unknown, invalid = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION
    return _refusal(asked, unknown if is_legal else invalid, asked.name)


def _topic(
    cluster: DrawnCluster, name: str, view: View, *, with_operations: bool
) -> tuple[object, ...]:
    return (
        ErrorCode.NONE,
        name,
        cluster.ids[name],
        name == "__consumer_offsets",
        TOPIC_BITS if with_operations else NO_BITS,
        [partition_of(cluster, name, index, *view) for index in sorted(cluster.topics[name])],
    )


def partition_of(
    cluster: DrawnCluster, name: str, index: int, listener: str, version: int
) -> tuple[object, ...]:
    """Return the fields of a partition that every listing shows."""
    one = cluster.topics[name][index]
    listed = [node for node in cluster.brokers if listener in cluster.brokers[node].listeners]
    online = [node for node in cluster.active if node in listed]
    lost = [node for node in one.replicas if node in online and cluster.has_lost(one, node)]
    offline = tuple(node for node in one.replicas if node not in online or node in lost)
    replicas, isr = one.replicas, one.isr
    if version == 0:
        replicas = tuple(node for node in replicas if node in online)
        isr = tuple(node for node in isr if node in online)
    leader, error = one.leader, ErrorCode.NONE
    if leader not in listed:
        is_known = version >= LISTENERS_FROM and leader in cluster.brokers
        leader = NO_NODE
        error = ErrorCode.LISTENER_NOT_FOUND if is_known else ErrorCode.LEADER_NOT_AVAILABLE
    elif replicas != one.replicas or isr != one.isr:
        error = ErrorCode.REPLICA_NOT_AVAILABLE
    return (index, error, leader, one.epoch, replicas, isr, offline)


def _shown_topic(topic: metadata_response.MetadataResponseTopic) -> tuple[object, ...]:
    return (
        topic.error_code,
        topic.name,
        topic.topic_id,
        topic.is_internal,
        topic.topic_authorized_operations,
        [shown_partition(each) for each in topic.partitions],
    )


def shown_partition(one: Shown) -> tuple[object, ...]:
    """Return the same fields of an answer."""
    return (
        one.partition_index,
        one.error_code,
        one.leader_id,
        one.leader_epoch,
        one.replica_nodes,
        one.isr_nodes,
        one.offline_replicas,
    )


# DescribeCluster


def _compare_cluster(random: Random, cluster: DrawnCluster, config: NodeConfig) -> None:
    listener, fenced_too = random.choice(LISTENERS), random.random() < 0.5
    request = describe_cluster_request.DescribeClusterRequest(include_fenced_brokers=fenced_too)
    said = describe_cluster(
        config,
        cluster.image(),
        NodeId(9),
        request,
        on_controller_listener=False,
        listener=listener,
        operations=7,
    )
    same(
        "the brokers of DescribeCluster",
        [(one.broker_id, one.host, one.port, one.rack, one.is_fenced) for one in said.brokers],
        _brokers(cluster, listener, fenced_too=fenced_too),
    )
    _compare_contact(said.controller_id, cluster, listener)
    found = (said.cluster_id, said.cluster_authorized_operations, said.endpoint_type)
    same("the cluster of DescribeCluster", found, ("c", 7, 1))
