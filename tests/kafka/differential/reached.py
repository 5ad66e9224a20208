"""What clients reach (1, 2, 3, 21, 75): listeners, directories, and names given twice. No tests."""

from typing import Any, Final

from kraftproof.node.wire.messages import (
    assign_replicas_to_dirs_request,
    delete_records_request,
    describe_topic_partitions_request,
    fetch_request,
    list_offsets_request,
    metadata_request,
)
from kraftproof.node.wire.types import ZERO_UUID
from tests.kafka.differential.batches import FENCED_BROKER, parts
from tests.kafka.differential.brokers import an_id, heartbeat, register, registration, unregister
from tests.kafka.differential.case import CONTROLLER, Case, Context, every_version
from tests.kafka.differential.data import BY_ID, GOOD, UNKNOWN_ID
from tests.kafka.differential.topics import create, topic

MetadataRequest = metadata_request.MetadataRequest
Asked = metadata_request.MetadataRequestTopic
Pages = describe_topic_partitions_request.DescribeTopicPartitionsRequest

TOPIC: Final = "reached"
ANOTHER: Final = "reached-too"
FENCED, ELSEWHERE, HALF = 21, 22, 23
"""Brokers: fenced, without the listener of the clients, and with two directories."""
BAD: Final = an_id(2300)
"""A directory of broker HALF that fails."""
BROKERS: Final = (FENCED_BROKER, FENCED, ELSEWHERE, HALF)
DRAWN: Final = frozenset({"throttle_time_ms"})


def described(name: str, *, is_settled: bool = False) -> tuple[Case, ...]:
    """Return the cases of each listing of the topic."""
    asked = MetadataRequest(topics=(Asked(name=TOPIC),), allow_auto_topic_creation=True)
    later = MetadataRequest(topics=(Asked(name=TOPIC),), allow_auto_topic_creation=False)
    pages = Pages(topics=(describe_topic_partitions_request.TopicRequest(name=TOPIC),))
    return (
        Case(
            name=f"reached: metadata {name}",
            message=lambda context: asked if context.version < 4 else later,
            versions=every_version(MetadataRequest),
            is_settled=is_settled,
        ),
        Case(name=f"reached: pages {name}", message=pages, versions=(0,)),
    )


def assign(context: Context) -> assign_replicas_to_dirs_request.AssignReplicasToDirsRequest:
    """Return the request that puts partitions of the topic into the directory that fails."""
    module = assign_replicas_to_dirs_request
    named = module.TopicData(
        topic_id=context.topic_id(TOPIC),
        partitions=(
            module.PartitionData(partition_index=4),
            module.PartitionData(partition_index=5),
        ),
    )
    return module.AssignReplicasToDirsRequest(
        broker_id=HALF,
        broker_epoch=context.broker_epochs.get(HALF, -1),
        directories=(module.DirectoryData(id=BAD, topics=(named,)),),
    )


def metadata(name: str, *asked: tuple[str | None, str | None]) -> Case:
    """Return the case of a Metadata of pairs: the name, and the topic whose id is given."""

    def make(context: Context) -> MetadataRequest:
        topics = tuple(
            Asked(
                name=own,
                topic_id=ZERO_UUID if of is None else context.topic_ids.get(of, UNKNOWN_ID),
            )
            for own, of in asked
        )
        return MetadataRequest(topics=topics, allow_auto_topic_creation=False)

    return Case(name=f"reached: {name}", message=make, versions=(12, 13))


def fetch(name: str, *asked: tuple[str, tuple[tuple[int, int], ...]]) -> Case:
    """Return the case of a Fetch of topics, each with pairs of partition and offset."""

    def make(context: Context) -> fetch_request.FetchRequest:
        has_id = context.version >= BY_ID
        topics = tuple(
            fetch_request.FetchTopic(
                topic="" if has_id else to,
                topic_id=context.topic_ids.get(to, UNKNOWN_ID) if has_id else ZERO_UUID,
                partitions=tuple(
                    fetch_request.FetchPartition(
                        partition=index, fetch_offset=offset, partition_max_bytes=1 << 20
                    )
                    for index, offset in pairs
                ),
            )
            for to, pairs in asked
        )
        return fetch_request.FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics)

    return Case(name=f"twice: fetch {name}", message=make, versions=(4, 12, 13))


def look_up(name: str, *pairs: tuple[int, int]) -> Case:
    """Return the case of a ListOffsets of pairs of partition and time."""
    module = list_offsets_request
    asked = tuple(
        module.ListOffsetsPartition(partition_index=index, timestamp=time) for index, time in pairs
    )
    named = module.ListOffsetsTopic(name=TOPIC, partitions=asked)
    request = module.ListOffsetsRequest(replica_id=-1, topics=(named,))
    return Case(name=f"twice: look up {name}", message=request, versions=(1, 7, 11))


def delete(name: str, *pairs: tuple[int, int]) -> Case:
    """Return the case of a DeleteRecords of pairs of partition and offset."""
    module = delete_records_request
    asked = tuple(
        module.DeleteRecordsPartition(partition_index=index, offset=offset)
        for index, offset in pairs
    )
    named = module.DeleteRecordsTopic(name=ANOTHER, partitions=asked)
    request = module.DeleteRecordsRequest(topics=(named,), timeout_ms=5_000)
    return Case(name=f"twice: delete {name}", message=request, versions=(2,))


def joining(broker_id: int, **changed: Any) -> tuple[Case, Case]:
    """Return the cases in which a broker registers and gets active."""
    return (
        register(f"broker {broker_id}", broker_id, **changed),
        heartbeat(f"unfences broker {broker_id}", broker_id),
    )


LISTENERS: Final = (
    register(f"broker {FENCED}, which stays fenced", FENCED),
    *joining(ELSEWHERE, listeners=tuple(
        type(one)(name="OTHER", host=one.host, port=one.port)
        for one in registration(ELSEWHERE).listeners
    )),
    *joining(HALF, log_dirs=(BAD, an_id(2301))),
    create("topics that are partly reached", topic(TOPIC, replicas=(
        (1, FENCED), (1, ELSEWHERE), (ELSEWHERE, 1), (ELSEWHERE, FENCED), (HALF, FENCED), (1, HALF),
    )), topic(ANOTHER, replicas=((1,), (1,)))),
    Case(name="reached: directories", message=assign, versions=(0,), to=CONTROLLER),
    *described("before a failed directory", is_settled=True),
    heartbeat(f"a directory of broker {HALF} fails", HALF, offline_log_dirs=(BAD,)),
    *described("after a failed directory", is_settled=True),
)  # fmt: skip
TWICE: Final = (
    metadata("an id beside a name", (None, TOPIC), (ANOTHER, None)),
    metadata("an id beside its name", (None, ANOTHER), (ANOTHER, None)),
    metadata("an id twice", (None, ANOTHER), (None, ANOTHER)),
    metadata("two names with one id", (ANOTHER, ANOTHER), (TOPIC, ANOTHER)),
    metadata("unknown ids and names", (None, "none"), ("none", None), (None, ANOTHER)),
    *(
        parts(f"{number} for the requests that name a partition twice", ((ANOTHER, ((0, GOOD),)),))
        for number in range(4)
    ),
    fetch("a partition", (ANOTHER, ((0, 0), (0, 2)))),
    fetch("a partition, the last outside", (ANOTHER, ((0, 0), (0, 99)))),
    fetch("a partition, the first outside", (ANOTHER, ((0, 99), (0, 0)))),
    fetch("a topic", (ANOTHER, ((0, 0),)), (ANOTHER, ((1, 0),))),
    fetch("a topic around another", (ANOTHER, ((0, 0),)), (TOPIC, ((0, 0),)), (ANOTHER, ((1, 0),))),
    fetch("no partition", (ANOTHER, ())),
    look_up("a partition", (0, -1), (1, -1), (0, -1)),
    look_up("another time", (0, -1), (0, -2)),
    look_up("an unknown time", (0, -77), (0, -77)),
    look_up("an unknown partition", (9, -1), (9, -1)),
    delete("a partition", (0, 1), (0, 2)),
    delete("a partition, the first wrong", (0, 99), (0, 3)),
)  # fmt: skip
REACHED: Final = (
    *LISTENERS,
    *TWICE,
    *(unregister(f"broker {number}", number) for number in BROKERS),
)
