"""State the first answers of a broker's data plane: who may ask, and what the image has."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kraftproof.cluster.simulated.background.client_batches import NO_PRODUCER, client_batch
from kraftproof.cluster.simulated.differential.data.drawn_rights import GROUP
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.door.led_partition import LedPartition
from kraftproof.cluster.simulated.differential.door.own_answers import Question, topic_error
from kraftproof.cluster.simulated.differential.door.view import GROUPS, LED, OTHER_TOPIC, View
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    CLUSTER_ACTION,
    DELETE,
    DESCRIBE,
    READ,
    TOPIC,
)
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    consumer_group_heartbeat_request,
    delete_records_request,
    describe_log_dirs_request,
    describe_producers_request,
    fetch_request,
    find_coordinator_request,
    list_offsets_request,
    offset_fetch_request,
    offset_for_leader_epoch_request,
    produce_request,
)

GROUP_TOPIC: Final = "__consumer_offsets"
GROUP_NAME: Final = "g"
SEARCHED_MS: Final = 50
FETCH_BYTES: Final = 1 << 20
VERSIONS: Final = {0: (3, 12), 1: (4, 12), 9: (8, 9), 10: (4, 6), 2: (1, 11)}
"""By API key: the versions with topics by name and with lists of groups."""


def _elsewhere(view: View, event: Received, operation: int) -> ErrorCode:
    """Return the error of a request for the other topic, which another broker leads."""
    error = topic_error(view, event, operation, OTHER_TOPIC)
    return error or ErrorCode.NOT_LEADER_OR_FOLLOWER


def _delete_records(view: View, _: LedPartition) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        found = [part.error_code for topic in answer.topics for part in topic.partitions]
        same("the error of DeleteRecords", found, [int(_elsewhere(view, event, DELETE))])

    module = delete_records_request
    part = module.DeleteRecordsPartition(partition_index=0, offset=0)
    topic = module.DeleteRecordsTopic(name=OTHER_TOPIC, partitions=(part,))
    return module.DeleteRecordsRequest(topics=(topic,), timeout_ms=1), judge


def _epoch_ends(view: View, _: LedPartition) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        error = _elsewhere(view, event, DESCRIBE)
        if view.rights.allows_on_cluster(event, CLUSTER_ACTION):
            is_known = OTHER_TOPIC in view.image.topic_ids
            unknown, elsewhere = (
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
            )
            error = elsewhere if is_known else unknown
        found = [part.error_code for topic in answer.topics for part in topic.partitions]
        same("the error of OffsetForLeaderEpoch", found, [int(error)])

    module = offset_for_leader_epoch_request
    topic = module.OffsetForLeaderTopic(
        topic=OTHER_TOPIC, partitions=(module.OffsetForLeaderPartition(partition=0),)
    )
    return module.OffsetForLeaderEpochRequest(topics=(topic,)), judge


def _producers(view: View, _: LedPartition) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        found = [part.error_code for topic in answer.topics for part in topic.partitions]
        same("the error of DescribeProducers", found, [int(_elsewhere(view, event, READ))])

    module = describe_producers_request
    topic = module.TopicRequest(name=OTHER_TOPIC, partition_indexes=(0,))
    return module.DescribeProducersRequest(topics=(topic,)), judge


def has_groups(view: View) -> bool:
    """Return whether a broker of the image serves groups."""
    return any(
        feature.name == GROUPS
        for broker in view.image.brokers.values()
        for feature in broker.features
    )


def _offsets(view: View, _: LedPartition) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        error = ErrorCode.NOT_COORDINATOR if has_groups(view) else ErrorCode.NONE
        if not view.allows(event, DESCRIBE, GROUP, GROUP_NAME):
            error = ErrorCode.GROUP_AUTHORIZATION_FAILED
        found = [(one.group_id, one.error_code) for one in answer.groups]
        same("the error of OffsetFetch", found, [(GROUP_NAME, int(error))])

    module = offset_fetch_request
    group = module.OffsetFetchRequestGroup(group_id=GROUP_NAME, topics=None)
    return module.OffsetFetchRequest(groups=(group,)), judge


def _heartbeat(view: View, _: LedPartition) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        is_allowed = view.allows(event, READ, GROUP, GROUP_NAME)
        denied, unsupported = ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.UNSUPPORTED_VERSION
        error = unsupported if is_allowed else denied
        same("the error of a member's heartbeat", answer.error_code, int(error))

    module = consumer_group_heartbeat_request
    return module.ConsumerGroupHeartbeatRequest(group_id=GROUP_NAME), judge


def _coordinator(view: View, _: LedPartition) -> Question:
    def judge(event: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        found = [(one.error_code, one.node_id) for one in answer.coordinators]
        own = view.image.brokers.get(view.config.node_id)
        due = (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1)
        if not view.allows(event, DESCRIBE, GROUP, GROUP_NAME):
            due = (ErrorCode.GROUP_AUTHORIZATION_FAILED, -1)
        elif not has_groups(view) and own is not None and not own.fenced:
            due = (ErrorCode.NONE, view.config.node_id)
        same("the coordinator", found, [(int(due[0]), due[1])])

    return find_coordinator_request.FindCoordinatorRequest(
        key_type=0, coordinator_keys=(GROUP_NAME,)
    ), judge


def wants_group_topic(view: View, event: Received) -> bool:
    """Return whether a search for a coordinator creates the topic of groups."""
    is_allowed = view.allows(event, DESCRIBE, GROUP, GROUP_NAME)
    return is_allowed and view.config.creates_internal_topics


def _log_dirs(view: View, led: LedPartition) -> Question:
    def judge(_: Received, answer: Any) -> None:  # noqa: ANN401 - of many classes
        found = [
            (one.log_dir, one.error_code, [topic.name for topic in one.topics])
            for one in answer.results
        ]
        error = ErrorCode.KAFKA_STORAGE_ERROR
        due: list[tuple[str, int, list[str]]] = [
            (path, int(error if directory in view.failed else ErrorCode.NONE), [])
            for path, directory in zip(view.config.log_dir_paths, view.config.log_dirs, strict=True)
        ]
        if led.is_led:
            due[0] = (*due[0][:2], [LED])
        same("the log directories", sorted(found), sorted(due))

    return describe_log_dirs_request.DescribeLogDirsRequest(topics=None), judge


DATA_ANSWERS: Final[Mapping[int, Callable[[View, LedPartition], Question]]] = {
    9: _offsets,
    10: _coordinator,
    21: _delete_records,
    23: _epoch_ends,
    35: _log_dirs,
    61: _producers,
    68: _heartbeat,
}
"""By API key: the requests that are answered at once."""


def produced(acks: int, timeout_ms: int, time_ms: int) -> Message:
    """Return a Produce of a record for the led partition."""
    module = produce_request
    data = client_batch([b"v"], time_ms, NO_PRODUCER)
    part = module.PartitionProduceData(index=0, records=data)
    topic = module.TopicProduceData(name=LED, partition_data=(part,))
    return module.ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=(topic,))


def fetched() -> Message:
    """Return a Fetch of the led partition from its start on."""
    module = fetch_request
    part = module.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=FETCH_BYTES)
    topic = module.FetchTopic(topic=LED, partitions=(part,))
    return module.FetchRequest(topics=(topic,), min_bytes=1, max_bytes=FETCH_BYTES)


def searched() -> Message:
    """Return a ListOffsets of the led partition for a time."""
    module = list_offsets_request
    part = module.ListOffsetsPartition(partition_index=0, timestamp=SEARCHED_MS)
    topic = module.ListOffsetsTopic(name=LED, partitions=(part,))
    return module.ListOffsetsRequest(replica_id=-1, topics=(topic,))


def led_error(view: View, led: LedPartition, event: Received, operation: int) -> ErrorCode:
    """Return the error of a request for the led partition."""
    if not view.allows(event, operation, TOPIC, LED):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return led.error
