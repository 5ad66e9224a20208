"""Compare answers about coordinators, groups and producer ids with the model of a broker."""

from typing import Final

from kraftproof.cluster.simulated.differential.data.asking import Asking
from kraftproof.cluster.simulated.differential.data.drawn_broker import (
    FEATURES,
    INTERNAL,
    NOBODY,
)
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    GROUP,
    TRANSACTIONAL_ID,
)
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    CLUSTER_ACTION,
    DESCRIBE,
    READ,
)
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    consumer_group_heartbeat_request,
    consumer_group_heartbeat_response,
    find_coordinator_request,
    find_coordinator_response,
    offset_fetch_request,
    offset_fetch_response,
)

GROUPS, TRANSACTIONS, SHARES = range(3)
LISTS_FROM, NAMED_FROM, LISTS_OF_GROUPS_FROM, WHOLE_ERRORS_FROM = 4, 2, 8, 2
KEYS: Final = ("g", "gh", "t", "tu", "", "\U0001f980 crab", "a long key" * 9)
RETRY_MS, PATIENCE_MS = 50, 2_000
Found = tuple[object, ...]


def find_coordinators(asking: Asking) -> None:
    """Ask for coordinators, and compare the answers.

    Raises:
        DifferenceError: an answer is not the one of the model.
    """
    module, random = find_coordinator_request, asking.random
    keys = tuple(random.choices(KEYS, k=random.randint(1, 3)))
    kind = random.choice((GROUPS, GROUPS, TRANSACTIONS, SHARES, 3))
    request = module.FindCoordinatorRequest(key=keys[0], key_type=kind, coordinator_keys=keys)
    event = asking.event(request)
    response = find_coordinator_response.FindCoordinatorResponse
    found = asking.answer(asking.rig.ask(event), response)
    if event.version >= LISTS_FROM:
        shown = [
            (one.key, one.error_code, one.node_id, one.host, one.port) for one in found.coordinators
        ]
        same(
            "the coordinators",
            shown,
            [(key, *_coordinator(asking, event, kind, key)) for key in keys],
        )
        reasons = [bool(one.error_message) for one in found.coordinators]
        same("the reasons", reasons, [bool(one.error_code) for one in found.coordinators])
        return
    shown_one = (found.error_code, found.node_id, found.host, found.port)
    same("the coordinator", shown_one, _coordinator(asking, event, kind, keys[0]))
    has_reason = bool(found.error_code) and event.version >= 1
    same("the coordinator's reason", bool(found.error_message), has_reason)


def _coordinator(asking: Asking, event: Received, kind: int, key: str) -> Found:
    """Return error, node, host and port."""
    broker, rights = asking.broker, asking.rights
    if kind not in {GROUPS, TRANSACTIONS, SHARES}:
        return _no_coordinator(ErrorCode.INVALID_REQUEST)
    if kind == SHARES and not rights.allows_on_cluster(event, CLUSTER_ACTION):
        return _no_coordinator(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    if kind == GROUPS and not rights.allows(event, DESCRIBE, GROUP, key):
        return _no_coordinator(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if kind == TRANSACTIONS and not rights.allows(event, DESCRIBE, TRANSACTIONAL_ID, key):
        return _no_coordinator(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    topic, feature = INTERNAL[kind], FEATURES[kind]
    if not any(feature in named for named in broker.features.values()):
        if kind == SHARES or (kind == GROUPS and event.version < NAMED_FROM):
            return _no_coordinator(ErrorCode.UNSUPPORTED_VERSION)
        return _at(asking, broker.own, event.listener)
    if topic not in broker.ids:
        return _no_coordinator(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    place = _hash(key) % len(broker.partitions[topic])
    leader = broker.partitions[topic][place].leader
    if leader != NOBODY and feature not in broker.features[leader]:
        return _no_coordinator(ErrorCode.UNSUPPORTED_VERSION)
    return _at(asking, leader, event.listener)


def _at(asking: Asking, node: int, listener: str) -> Found:
    endpoints = asking.broker.endpoints([node], listener)
    if not endpoints:
        return _no_coordinator(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return (ErrorCode.NONE, *endpoints[0][:3])


def _no_coordinator(error: ErrorCode) -> Found:
    return (error, -1, "", -1)


def _hash(key: str) -> int:
    """Return the positive hash code of a Java string, as the sum of its definition."""
    data = key.encode("utf-16-be")
    units = [256 * data[at] + data[at + 1] for at in range(0, len(data), 2)]
    return sum(one * pow(31, power, 1 << 31) for power, one in enumerate(reversed(units))) % (
        1 << 31
    )


def fetch_offsets(asking: Asking) -> None:
    """Ask for committed offsets of groups; nobody has committed any.

    Raises:
        DifferenceError: an answer is not the one of the model.
    """
    module, random = offset_fetch_request, asking.random
    groups = random.choices(("g", "gh", "other"), k=random.randint(1, 3))
    topics = None if random.random() < 0.2 else asking.draw_topics()
    of_groups = tuple(
        module.OffsetFetchRequestGroup(
            group_id=group,
            topics=None
            if topics is None
            else tuple(
                module.OffsetFetchRequestTopics(
                    name=name, topic_id=asking.id_of(name), partition_indexes=tuple(indexes)
                )
                for name, indexes in topics
            ),
        )
        for group in groups
    )
    request = module.OffsetFetchRequest(
        group_id=groups[0],
        groups=of_groups,
        topics=None
        if topics is None
        else tuple(
            module.OffsetFetchRequestTopic(name=name, partition_indexes=tuple(indexes))
            for name, indexes in topics
        ),
    )
    event = asking.event(request)
    response = offset_fetch_response.OffsetFetchResponse
    found = asking.answer(asking.rig.ask(event), response)
    asked = [(name, index) for name, indexes in topics or () for index in indexes]
    if event.version >= LISTS_OF_GROUPS_FROM:
        for group, one in zip(of_groups, found.groups, strict=True):
            error = _group_error(asking, event, group.group_id)
            same("a group of OffsetFetch", (one.group_id, one.error_code), (group.group_id, error))
            of_topics = [(topic.name, topic.topic_id) for topic in group.topics or ()]
            same(
                "the topics of a group",
                [(topic.name, topic.topic_id) for topic in one.topics],
                [] if error else of_topics,
            )
            parts = [(of.name, each) for of in one.topics for each in of.partitions]
            _compare_nothing(parts, [] if error else asked, ErrorCode.NONE)
        return
    error = _group_error(asking, event, groups[0])
    is_whole = event.version >= WHOLE_ERRORS_FROM
    same("the error of OffsetFetch", found.error_code, error)
    of_version = [(topic.name, each) for topic in found.topics for each in topic.partitions]
    _compare_nothing(of_version, [] if error and is_whole else asked, error)


def _compare_nothing(
    found: list[tuple[str, offset_fetch_response.OffsetFetchResponsePartition]]
    | list[tuple[str, offset_fetch_response.OffsetFetchResponsePartitions]],
    asked: list[tuple[str, int]],
    error: ErrorCode,
) -> None:
    shown = [
        (name, one.partition_index, one.committed_offset, one.metadata, one.error_code)
        for name, one in found
    ]
    same("committed offsets", shown, [(*place, -1, "", error) for place in asked])


def _group_error(asking: Asking, event: Received, group: str) -> ErrorCode:
    if not asking.rights.allows(event, DESCRIBE, GROUP, group):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    has_groups = any(FEATURES[GROUPS] in named for named in asking.broker.features.values())
    return ErrorCode.NOT_COORDINATOR if has_groups else ErrorCode.NONE


def join_group(asking: Asking) -> None:
    """Send the heartbeat of a member, which a broker without groups refuses.

    Raises:
        DifferenceError: the answer is not the one of the model.
    """
    group = asking.random.choice(("g", "gh", "other"))
    module = consumer_group_heartbeat_request
    event = asking.event(module.ConsumerGroupHeartbeatRequest(group_id=group))
    response = consumer_group_heartbeat_response.ConsumerGroupHeartbeatResponse
    found = asking.answer(asking.rig.ask(event), response)
    may = asking.rights.allows(event, READ, GROUP, group)
    refused, denied = ErrorCode.UNSUPPORTED_VERSION, ErrorCode.GROUP_AUTHORIZATION_FAILED
    same("the error of a member", found.error_code, refused if may else denied)
    same("the reason for a member", found.error_message is not None, may)
