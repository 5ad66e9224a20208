"""The quorum's requests and envelopes (1, 52 to 55, 58, 59). No tests here.

Only requests that leave the leader where it is. A BeginQuorumEpoch that names another leader of
the current epoch is left out: it ends a real Kafka node ("which is inconsistent with current
leader"), and ours refuses it.
"""

from typing import Any, Final

from msgspec.structs import replace

from kraftproof.node.wire.codec import encode_request, header_versions
from kraftproof.node.wire.headers import RequestHeader, encode_request_header
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    describe_quorum_request,
    end_quorum_epoch_request,
    envelope_request,
    fetch_request,
    fetch_snapshot_request,
    vote_request,
)
from kraftproof.node.wire.principal import ANONYMOUS, encode_principal
from kraftproof.node.wire.types import Uuid
from tests.kafka.differential.brokers import registration
from tests.kafka.differential.case import BROKER, CONTROLLER, Case, Context, every_version
from tests.kafka.differential.clients import named
from tests.kafka.differential.topics import CreateTopicsRequest, topic

TOPIC: Final = "__cluster_metadata"
TOPIC_ID: Final = Uuid((1).to_bytes(16, "big"))
OTHER_CLUSTER: Final = "AAAAAAAAAAAAAAAAAAAAAA"
FetchRequest = fetch_request.FetchRequest
FetchSnapshotRequest = fetch_snapshot_request.FetchSnapshotRequest
VoteRequest = vote_request.VoteRequest
BeginRequest = begin_quorum_epoch_request.BeginQuorumEpochRequest
EndRequest = end_quorum_epoch_request.EndQuorumEpochRequest
DescribeQuorumRequest = describe_quorum_request.DescribeQuorumRequest


def fetch(
    name: str,
    *,
    versions: tuple[int, ...] = (17,),
    epoch_by: int = 0,
    top: Any = None,
    **partition: Any,
) -> Case:
    """Return the case of a Fetch of the metadata log by observer 5."""

    def make(context: Context) -> FetchRequest:
        right = fetch_request.FetchPartition(
            fetch_offset=1 << 40,
            partition_max_bytes=1024,
            current_leader_epoch=context.leader_epoch + epoch_by,
            last_fetched_epoch=context.leader_epoch,
        )
        old = context.version < 15
        request = FetchRequest(
            cluster_id=context.cluster_id,
            replica_id=5 if old else -1,
            replica_state=fetch_request.ReplicaState(replica_id=-1 if old else 5, replica_epoch=-1),
            topics=(
                fetch_request.FetchTopic(
                    topic=TOPIC if context.version < 13 else "",
                    topic_id=TOPIC_ID,
                    partitions=(replace(right, **partition),),
                ),
            ),
        )
        return replace(request, **(top or {}))

    return Case(name=f"fetch: {name}", message=make, versions=versions, to=CONTROLLER)


FETCH: Final = (
    fetch("each version", versions=tuple(range(12, 19))),
    fetch("the wrong cluster", top={"cluster_id": OTHER_CLUSTER}),
    fetch("no cluster", top={"cluster_id": None}),
    fetch("an old epoch", epoch_by=-1),
    fetch("a future epoch", epoch_by=1),
    fetch("last fetched epoch beyond", last_fetched_epoch=1 << 20),
    fetch("last fetched epoch -1", last_fetched_epoch=-1),
    fetch("a negative offset", fetch_offset=-1),
    fetch("another partition", partition=1),
    fetch("the wrong topic", top={
        "topics": (fetch_request.FetchTopic(
            topic_id=Uuid(b"\x09" * 16), partitions=(fetch_request.FetchPartition(),)
        ),)
    }),
    fetch("no topic", top={"topics": ()}),
    fetch("a negative wait", top={"max_wait_ms": -1}),
)  # fmt: skip


def quorum_request(
    name: str, message: Any, versions: tuple[int, ...], to: str = CONTROLLER
) -> Case:
    """Return the case of a request that is made for the leader's epoch."""
    return Case(name=name, message=message, versions=versions, to=to)


def vote(
    name: str, *, versions: tuple[int, ...] = (0,), by: int = 0, cluster: str = "", **fields: Any
) -> Case:
    """Return the case of a Vote that can't be won."""

    def make(context: Context) -> VoteRequest:
        right = vote_request.PartitionData(
            replica_epoch=context.leader_epoch + by,
            replica_id=7,
            last_offset_epoch=0,
            last_offset=1,
        )
        partition = replace(right, **fields)
        return VoteRequest(
            cluster_id=cluster or context.cluster_id,
            voter_id=1 if context.version else -1,
            topics=(vote_request.TopicData(topic_name=TOPIC, partitions=(partition,)),),
        )

    return Case(name=f"vote: {name}", message=make, versions=versions, to=CONTROLLER)


VOTES: Final = (
    vote("each version", versions=(0, 1)),
    vote("the wrong cluster", cluster=OTHER_CLUSTER),
    vote("an old epoch", by=-1),
    vote("a negative offset", last_offset=-1),
    vote("a last epoch beyond", last_offset_epoch=1 << 20),
    vote("partition 3", partition_index=3),
)


def begin(
    name: str, *, versions: tuple[int, ...] = (0,), by: int = 0, cluster: str = "", leader: int = 7
) -> Case:
    """Return the case of a BeginQuorumEpoch by a node that does not lead."""

    def make(context: Context) -> BeginRequest:
        partition = begin_quorum_epoch_request.PartitionData(
            leader_id=leader, leader_epoch=context.leader_epoch + by
        )
        return BeginRequest(
            cluster_id=cluster or context.cluster_id,
            voter_id=1 if context.version else -1,
            topics=(
                begin_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,)),
            ),
        )

    return Case(name=f"begin: {name}", message=make, versions=versions, to=CONTROLLER)


def end(
    name: str, *, versions: tuple[int, ...] = (0,), by: int = 0, cluster: str = "", leader: int = 7
) -> Case:
    """Return the case of an EndQuorumEpoch by a node that does not lead."""

    def make(context: Context) -> EndRequest:
        partition = end_quorum_epoch_request.PartitionData(
            leader_id=leader, leader_epoch=context.leader_epoch + by
        )
        return EndRequest(
            cluster_id=cluster or context.cluster_id,
            topics=(end_quorum_epoch_request.TopicData(topic_name=TOPIC, partitions=(partition,)),),
        )

    return Case(name=f"end: {name}", message=make, versions=versions, to=CONTROLLER)


EPOCHS: Final = (
    begin("an old epoch", versions=(0, 1), by=-1),
    begin("the wrong cluster", cluster=OTHER_CLUSTER, by=-1),
    begin("no leader of an old epoch", by=-1, leader=-1),
    end("an old epoch", versions=(0, 1), by=-1),
    end("the wrong cluster", cluster=OTHER_CLUSTER, by=-1),
    end("an unknown leader of an old epoch", by=-1, leader=99),
)


def describe(name: str, topic_name: str, *partitions: int, to: str = BROKER) -> Case:
    """Return the case of a DescribeQuorum."""
    request = DescribeQuorumRequest(
        topics=(
            describe_quorum_request.TopicData(
                topic_name=topic_name,
                partitions=tuple(
                    describe_quorum_request.PartitionData(partition_index=index)
                    for index in partitions
                ),
            ),
        )
    )
    versions = every_version(DescribeQuorumRequest)
    return Case(name=f"quorum: {name}", message=request, versions=versions, to=to)


DESCRIBING: Final = (
    describe("the broker", TOPIC, 0),
    describe("the controller", TOPIC, 0, to=CONTROLLER),
    describe("another topic", "other", 0, to=CONTROLLER),
    describe("another partition", TOPIC, 1, to=CONTROLLER),
    describe("two partitions", TOPIC, 0, 1, to=CONTROLLER),
)


def snapshot(name: str, *, cluster: str = "", by: int = 0, **fields: Any) -> Case:
    """Return the case of a FetchSnapshot by observer 5."""

    def make(context: Context) -> FetchSnapshotRequest:
        right = fetch_snapshot_request.PartitionSnapshot(
            current_leader_epoch=context.leader_epoch + by,
            snapshot_id=fetch_snapshot_request.SnapshotId(end_offset=1 << 40, epoch=1),
        )
        partition = replace(right, **fields)
        return FetchSnapshotRequest(
            cluster_id=cluster or context.cluster_id,
            replica_id=5,
            topics=(fetch_snapshot_request.TopicSnapshot(name=TOPIC, partitions=(partition,)),),
        )

    return Case(name=f"snapshot: {name}", message=make, versions=(0, 1), to=CONTROLLER)


SNAPSHOTS: Final = (
    snapshot("one that is not there"),
    snapshot("the wrong cluster", cluster=OTHER_CLUSTER),
    snapshot("an old epoch", by=-1),
    snapshot("a future epoch", by=1),
    snapshot("another partition", partition=2),
    snapshot("a negative position", position=-1),
)


def envelope(
    name: str,
    inner: Message,
    version: int,
    *,
    principal: bytes = encode_principal(ANONYMOUS),
    address: bytes = b"\x7f\0\0\1",
    data: bytes | None = None,
) -> Case:
    """Return the case of a request in an envelope, or of other bytes in its place."""
    header_version, _ = header_versions(inner.API_KEY, version)
    header = RequestHeader(api_key=inner.API_KEY, version=version, correlation_id=0)
    whole = encode_request_header(header, header_version) + encode_request(inner, version)
    request = envelope_request.EnvelopeRequest(
        request_data=whole if data is None else data,
        request_principal=principal,
        client_host_address=address,
    )
    return Case(name=f"envelope: {name}", message=request, versions=(0,), to=CONTROLLER)


A_TOPIC: Final = CreateTopicsRequest(topics=(topic("one"),), timeout_ms=20_000)

ENVELOPES: Final = (
    envelope("a request that may be forwarded", A_TOPIC, 7),
    envelope("an address of 3 bytes", A_TOPIC, 7, address=b"\x7f\0\0"),
    envelope("no principal", A_TOPIC, 7, principal=b""),
    envelope("a principal of version 9", A_TOPIC, 7, principal=b"\0\x09"),
    envelope("no request", A_TOPIC, 7, data=b""),
    envelope("half a request", A_TOPIC, 7, data=b"\0\x13\0\x07\0\0"),
    envelope("a request that may not be forwarded", named("one"), 12),
    envelope("a registration", registration(4), 4),
)
