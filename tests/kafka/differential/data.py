"""Produce, Fetch and the requests about a partition's log (0 to 2, 10, 21 to 23). No tests here."""

from collections.abc import Callable
from typing import Any, Final

from crc32c import crc32c

from kraftproof.cluster.systems.kafka.records import Producer, batch_of
from kraftproof.node.wire.messages import (
    consumer_group_heartbeat_request,
    delete_records_request,
    describe_log_dirs_request,
    describe_producers_request,
    fetch_request,
    find_coordinator_request,
    init_producer_id_request,
    list_offsets_request,
    offset_fetch_request,
    offset_for_leader_epoch_request,
    produce_request,
)
from kraftproof.node.wire.types import Uuid
from tests.kafka.differential.case import Case, Context, every_version
from tests.kafka.differential.topics import create, topic

ProduceRequest = produce_request.ProduceRequest
FetchRequest = fetch_request.FetchRequest
ListOffsetsRequest = list_offsets_request.ListOffsetsRequest
EpochRequest = offset_for_leader_epoch_request.OffsetForLeaderEpochRequest
DeleteRecordsRequest = delete_records_request.DeleteRecordsRequest
DescribeProducersRequest = describe_producers_request.DescribeProducersRequest
HeartbeatRequest = consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest
OffsetFetchRequest = offset_fetch_request.OffsetFetchRequest
InitProducerIdRequest = init_producer_id_request.InitProducerIdRequest
FindCoordinatorRequest = find_coordinator_request.FindCoordinatorRequest

TOPIC: Final = "records"
BY_ID: Final = 13
"""The version from which Produce and Fetch name topics by id."""
STABLE_INIT: Final = tuple(range(6))
WITHOUT_ID: Final = Producer(producer_id=-1, epoch=-1, sequence=-1)
GOOD: Final = batch_of(b"value", 1_700_000_000_000, WITHOUT_ID)
IDEMPOTENT: Final = batch_of(
    b"value", 1_700_000_000_000, Producer(producer_id=4000, epoch=0, sequence=0)
)
CORRUPT: Final = GOOD[:-2] + bytes((GOOD[-2] ^ 1,)) + GOOD[-1:]


def with_codec(codec: int) -> bytes:
    """Return the good batch with another codec in its attributes, and the CRC of that."""
    covered = GOOD[21:22] + bytes((codec,)) + GOOD[23:]
    return GOOD[:17] + crc32c(covered).to_bytes(4, "big") + covered


UNKNOWN_ID: Final = Uuid(b"\x07" * 16)
OFFSETS: Final = frozenset({"base_offset", "high_watermark", "last_stable_offset", "records"})


def produce(
    name: str,
    records: bytes | None = GOOD,
    *,
    acks: int = 1,
    to: str = TOPIC,
    index: int = 0,
    versions: tuple[int, ...] = (12,),
    is_settled: bool = False,
) -> Case:
    """Return the case of a Produce to one partition."""

    def make(context: Context) -> ProduceRequest:
        by_id = context.version >= BY_ID
        data = produce_request.TopicProduceData(
            name="" if by_id else to,
            topic_id=context.topic_ids.get(to, UNKNOWN_ID) if by_id else Uuid(bytes(16)),
            partition_data=(produce_request.PartitionProduceData(index=index, records=records),),
        )
        return ProduceRequest(acks=acks, timeout_ms=5_000, topic_data=(data,))

    return Case(
        name=f"produce: {name}",
        message=make,
        versions=versions,
        drawn=OFFSETS,
        is_settled=is_settled,
    )


def fetch(
    name: str,
    *,
    to: str = TOPIC,
    versions: tuple[int, ...] = (12,),
    partition: int = 0,
    **fields: Any,
) -> Case:
    """Return the case of a consumer's Fetch of one partition, which does not wait."""

    def make(context: Context) -> FetchRequest:
        by_id = context.version >= BY_ID
        asked = fetch_request.FetchPartition(
            **{"partition": partition, "partition_max_bytes": 1 << 20, **fields}
        )
        named = fetch_request.FetchTopic(
            topic="" if by_id else to,
            topic_id=context.topic_ids.get(to, UNKNOWN_ID) if by_id else Uuid(bytes(16)),
            partitions=(asked,),
        )
        return FetchRequest(max_wait_ms=0, min_bytes=0, topics=(named,))

    return Case(name=f"consume: {name}", message=make, versions=versions, drawn=OFFSETS)


def offsets(
    name: str, timestamp: int, *, to: str = TOPIC, versions: tuple[int, ...] = (7,), **fields: Any
) -> Case:
    """Return the case of a ListOffsets of one partition."""
    asked = list_offsets_request.ListOffsetsPartition(**{"timestamp": timestamp, **fields})
    named = list_offsets_request.ListOffsetsTopic(name=to, partitions=(asked,))
    message = ListOffsetsRequest(replica_id=-1, topics=(named,))
    return Case(
        name=f"offsets: {name}", message=message, versions=versions, drawn=frozenset({"offset"})
    )


def epochs(name: str, leader_epoch: int, *, to: str = TOPIC, **fields: Any) -> Case:
    """Return the case of an OffsetForLeaderEpoch of one partition."""
    asked = offset_for_leader_epoch_request.OffsetForLeaderPartition(
        leader_epoch=leader_epoch, **fields
    )
    named = offset_for_leader_epoch_request.OffsetForLeaderTopic(topic=to, partitions=(asked,))
    return Case(
        name=f"epochs: {name}",
        message=EpochRequest(topics=(named,), replica_id=-1),
        versions=every_version(EpochRequest),
        drawn=frozenset({"end_offset"}),
    )


def producers(name: str, index: int, *, to: str = TOPIC) -> Case:
    """Return the case of a DescribeProducers of one partition."""
    named = describe_producers_request.TopicRequest(name=to, partition_indexes=(index,))
    return Case(
        name=f"producers of a partition: {name}",
        message=DescribeProducersRequest(topics=(named,)),
        versions=every_version(DescribeProducersRequest),
    )


def delete_records(name: str, offset: int, *, to: str = TOPIC, index: int = 0) -> Case:
    """Return the case of a DeleteRecords of one partition."""
    asked = delete_records_request.DeleteRecordsPartition(partition_index=index, offset=offset)
    named = delete_records_request.DeleteRecordsTopic(name=to, partitions=(asked,))
    return Case(
        name=f"delete records: {name}",
        message=DeleteRecordsRequest(topics=(named,), timeout_ms=5_000),
        versions=every_version(DeleteRecordsRequest),
    )


def committed(context: Context) -> OffsetFetchRequest:
    """Return an OffsetFetch of one partition."""
    module = offset_fetch_request
    if context.version < 8:
        named = module.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=(0,))
        return OffsetFetchRequest(group_id="one", topics=(named,))
    by_id = module.OffsetFetchRequestTopics(
        name=TOPIC, topic_id=context.topic_id(TOPIC), partition_indexes=(0,)
    )
    group = module.OffsetFetchRequestGroup(group_id="one", topics=(by_id,))
    return OffsetFetchRequest(groups=(group,))


def coordinator(key_type: int) -> Callable[[Context], FindCoordinatorRequest]:
    """Return the maker of a FindCoordinator of one key."""

    def make(context: Context) -> FindCoordinatorRequest:
        if context.version < 4:
            return FindCoordinatorRequest(key="one", key_type=key_type if context.version else 0)
        return FindCoordinatorRequest(key_type=key_type, coordinator_keys=("one",))

    return make


def log_dirs(name: str, *asked: tuple[str, int]) -> Case:
    """Return the case of a DescribeLogDirs of partitions."""
    module = describe_log_dirs_request
    topics = tuple(
        module.DescribableLogDirTopic(topic=topic, partitions=(index,)) for topic, index in asked
    )
    return Case(
        name=f"log dirs: {name}",
        message=module.DescribeLogDirsRequest(topics=topics),
        versions=every_version(module.DescribeLogDirsRequest),
        drawn=frozenset({"log_dir", "total_bytes", "usable_bytes"}),
    )


PRODUCING: Final = (
    create("records", topic(TOPIC, replicas=((1,),))),
    produce("each version", versions=every_version(ProduceRequest), is_settled=True),
    produce("acks all", acks=-1),
    produce("acks 5", acks=5),
    produce("a corrupt batch", CORRUPT),
    produce("of an idempotent producer", IDEMPOTENT),
    produce("an unknown codec", with_codec(5), versions=(6, 7, 12)),
    produce("the largest codec", with_codec(7)),
    produce("gzip that is no gzip", with_codec(1)),
    produce("zstd that is no zstd", with_codec(4), versions=(6, 12)),
    produce("half a batch", GOOD[:40]),
    produce("two batches", GOOD + GOOD),
    produce("no bytes", b""),
    produce("no records", None),
    produce("an unknown topic", to="no-such-topic"),
    produce("an unknown partition", index=7),
)
READING: Final = (
    fetch("each version", versions=every_version(FetchRequest)),
    fetch("beyond the end", fetch_offset=1 << 30),
    fetch("a negative offset", fetch_offset=-1),
    fetch("an unknown topic", to="no-such-topic"),
    fetch("an unknown partition", partition=7),
    fetch("a future epoch", current_leader_epoch=1 << 20),
    offsets("the latest, each version", -1, versions=every_version(ListOffsetsRequest)),
    offsets("the earliest", -2),
    offsets("the largest timestamp", -3),
    offsets("a time", 1_600_000_000_000),
    offsets("a time of no record", 1_900_000_000_000),
    offsets("an unknown negative time", -77),
    offsets("an unknown negative time of an unknown topic", -77, to="no-such-topic"),
    offsets("an unknown topic", -1, to="no-such-topic"),
    offsets("an unknown partition", -1, partition_index=7),
    offsets("a future epoch", -1, current_leader_epoch=1 << 20),
    epochs("the first", 0),
    epochs("a later one", 9),
    epochs("an unknown topic", 0, to="no-such-topic"),
    epochs("an unknown partition", 0, partition=7),
    producers("a partition", 0),
    producers("an unknown partition", 7),
    producers("an unknown topic", 0, to="no-such-topic"),
    log_dirs("a partition", (TOPIC, 0)),
    log_dirs("unknown ones", (TOPIC, 7), ("no-such-topic", 0)),
    log_dirs("none"),
    delete_records("below the begin", -7),
    delete_records("beyond the end", 1 << 30),
    delete_records("the first", 1),
    delete_records("an unknown topic", 1, to="no-such-topic"),
    delete_records("an unknown partition", 1, index=7),
)
PRODUCERS: Final = (
    Case(
        name="producers: each version",
        message=InitProducerIdRequest(transaction_timeout_ms=60_000),
        versions=STABLE_INIT,
        drawn=frozenset({"producer_id", "producer_epoch", "error_code"}),
    ),
    Case(
        name="coordinators: of groups",
        message=coordinator(0),
        versions=every_version(FindCoordinatorRequest),
    ),
    Case(
        name="groups: committed offsets",
        message=committed,
        versions=every_version(OffsetFetchRequest),
    ),
    Case(
        name="groups: a heartbeat",
        message=HeartbeatRequest(
            group_id="one",
            member_id="member",
            rebalance_timeout_ms=5_000,
            subscribed_topic_names=(TOPIC,),
        ),
        versions=every_version(HeartbeatRequest),
    ),
    Case(
        name="coordinators: an unknown kind",
        message=coordinator(9),
        versions=tuple(range(1, FindCoordinatorRequest.MAX_VERSION + 1)),
    ),
)
