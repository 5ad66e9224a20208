"""Write requests to a leader of the metadata log, and the expected answers."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.quorum.bare_member import batch_of
from kraftproof.cluster.simulated.differential.quorum.fetching_answers import TOPIC, TOPIC_ID
from kraftproof.cluster.simulated.differential.quorum.serving_model import (
    Fetch,
    Given,
    Progress,
    ServingModel,
    SliceOf,
)
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_quorum_request,
    describe_quorum_response,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_response,
)
from kraftproof.node.wire.messages.generated.describe_quorum_response import (
    PartitionData as Described,
)
from kraftproof.node.wire.messages.generated.describe_quorum_response import (
    ReplicaState as DescribedReplica,
)
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.types import Uuid

CLUSTER: Final = "a-cluster"
OTHER_TOPIC: Final = Uuid((2).to_bytes(16, "big"))
NAMED_BY_ID: Final = 13
IN_STATE: Final = 15
WITH_LEADER: Final = 12


def received(message: Message, number: int, version: int) -> Received:
    """Return the arrival of a request."""
    return Received(
        request=number,
        message=message,
        version=version,
        on_controller_listener=True,
        principal=ANONYMOUS,
        client_host="h",
    )


def votes_for(epoch: int) -> Message:
    """Return the answer of a voter that votes for the candidate."""
    partition = vote_response.PartitionData(
        partition_index=0, leader_id=-1, leader_epoch=epoch, vote_granted=True
    )
    topic = vote_response.TopicData(topic_name=TOPIC, partitions=(partition,))
    return vote_response.VoteResponse(topics=(topic,))


def _draw_wrong(random: Random, share: float) -> tuple[str | None, bool, ErrorCode]:
    """Draw the cluster that a request names, whether it names the log, and the error of both."""
    if random.random() >= share:
        return random.choice((CLUSTER, CLUSTER, None, "")), True, ErrorCode.NONE
    if random.random() < 0.4:
        return "other", random.random() < 0.5, ErrorCode.INCONSISTENT_CLUSTER_ID
    return CLUSTER, False, ErrorCode.INVALID_REQUEST


def fetch_request_of(random: Random, asked: Fetch, wrong: float) -> tuple[Message, ErrorCode]:
    """Return a Fetch, and the error of the whole request."""
    cluster, is_log, error = _draw_wrong(random, wrong)
    is_bounded = random.random() < 0.5  # by the partition's maximum, not by that of the request
    partition = fetch_request.FetchPartition(
        partition=0,
        current_leader_epoch=asked.epoch,
        fetch_offset=asked.offset,
        last_fetched_epoch=asked.last_epoch,
        log_start_offset=0,
        partition_max_bytes=asked.most_bytes + (0 if is_bounded else 5),
        high_watermark=asked.watermark,
    )
    name = (TOPIC, TOPIC_ID)
    partitions: tuple[fetch_request.FetchPartition, ...] = (partition,)
    if not is_log:
        wrong_place = fetch_request.FetchPartition(partition=1)
        name, partitions = random.choice(
            (
                (("other", OTHER_TOPIC), partitions),
                (name, ()),
                (name, (partition, partition)),
                (name, (wrong_place,)),
            )
        )
    topic = (
        fetch_request.FetchTopic(topic_id=name[1], partitions=partitions)
        if asked.version >= NAMED_BY_ID
        else fetch_request.FetchTopic(topic=name[0], partitions=partitions)
    )
    in_state = asked.version >= IN_STATE
    state = fetch_request.ReplicaState(replica_id=asked.replica if in_state else 6)
    message = fetch_request.FetchRequest(
        cluster_id=cluster,
        replica_id=6 if in_state else asked.replica,
        replica_state=state,
        max_wait_ms=asked.wait_ms,
        max_bytes=asked.most_bytes + random.choice((0, 9)) * is_bounded,
        topics=(topic,),
    )
    return message, error


def fetch_answer(model: ServingModel, asked: Fetch, given: Given) -> Message:
    """Return the answer to a Fetch."""
    has_leader = asked.version >= WITH_LEADER
    partition = fetch_response.PartitionData(
        partition_index=0,
        error_code=given.error,
        high_watermark=model.stated,
        log_start_offset=model.start[0],
        diverging_epoch=fetch_response.EpochEndOffset(
            epoch=given.diverging[0], end_offset=given.diverging[1]
        ),
        current_leader=fetch_response.LeaderIdAndEpoch(
            leader_id=model.leader if has_leader else -1,
            leader_epoch=model.epoch if has_leader else -1,
        ),
        snapshot_id=fetch_response.SnapshotId(
            end_offset=given.snapshot[0], epoch=given.snapshot[1]
        ),
        records=tuple(batch_of(*batch) for batch in given.batches),
    )
    topic = (
        fetch_response.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=(partition,))
        if asked.version >= NAMED_BY_ID
        else fetch_response.FetchableTopicResponse(topic=TOPIC, partitions=(partition,))
    )
    return fetch_response.FetchResponse(error_code=given.whole_error, responses=(topic,))


def slice_request(random: Random, asked: SliceOf, wrong: float) -> tuple[Message, ErrorCode]:
    """Return a FetchSnapshot, and the error of the whole request."""
    cluster, is_log, error = _draw_wrong(random, wrong)
    partition = fetch_snapshot_request.PartitionSnapshot(
        partition=0 if is_log else 1,
        current_leader_epoch=asked.epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(
            end_offset=asked.snapshot[0], epoch=asked.snapshot[1]
        ),
        position=asked.position,
    )
    topic = fetch_snapshot_request.TopicSnapshot(name=TOPIC, partitions=(partition,))
    message = fetch_snapshot_request.FetchSnapshotRequest(
        cluster_id=cluster,
        replica_id=asked.replica,
        max_bytes=asked.most_bytes,
        topics=(topic,),
    )
    return message, error


def slice_answer(
    model: ServingModel, asked: SliceOf | None, error: ErrorCode, size: int
) -> Message:
    """Return the answer to a FetchSnapshot; None for one that names no log."""
    end, epoch = (-1, -1) if asked is None else asked.snapshot
    partition = fetch_snapshot_response.PartitionSnapshot(
        index=0,
        error_code=error,
        snapshot_id=fetch_snapshot_response.SnapshotId(end_offset=end, epoch=epoch),
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(
            leader_id=model.leader, leader_epoch=model.epoch
        ),
        size=size,
        position=0 if asked is None else asked.position,
    )
    topic = fetch_snapshot_response.TopicSnapshot(name=TOPIC, partitions=(partition,))
    return fetch_snapshot_response.FetchSnapshotResponse(
        error_code=error if asked is None else ErrorCode.NONE, topics=(topic,)
    )


def describe_request(*, is_known: bool) -> Message:
    """Return a DescribeQuorum of the metadata log, or of a partition that does not exist."""
    partition = describe_quorum_request.PartitionData(partition_index=0 if is_known else 1)
    topic = describe_quorum_request.TopicData(topic_name=TOPIC, partitions=(partition,))
    return describe_quorum_request.DescribeQuorumRequest(topics=(topic,))


def describe_answer(model: ServingModel, version: int, now_ms: int, *, is_known: bool) -> Message:
    """Return the answer to a DescribeQuorum."""
    ours = Progress(contact=0, acknowledged=model.end, fetched_ms=now_ms, caught_up_ms=now_ms)
    error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    if not is_known:
        partition = Described(partition_index=1, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    elif not model.is_leader:
        partition = Described(error_code=error, leader_id=-1, leader_epoch=model.epoch)
    else:
        partition = Described(
            leader_id=model.own,
            leader_epoch=model.epoch,
            high_watermark=model.stated,
            current_voters=_described({**model.replicas, model.own: ours}, version),
            observers=_described(model.observers, version),
        )
    topic = describe_quorum_response.TopicData(topic_name=TOPIC, partitions=(partition,))
    nodes = tuple(
        describe_quorum_response.Node(
            node_id=voter,
            listeners=(
                describe_quorum_response.Listener(name="CONTROLLER", host=f"h{voter}", port=voter),
            ),
        )
        for voter in model.voters
    )
    return describe_quorum_response.DescribeQuorumResponse(
        topics=(topic,), nodes=nodes if version > 1 else ()
    )


def _described(replicas: dict[int, Progress], version: int) -> tuple[DescribedReplica, ...]:
    has_times = version > 0
    return tuple(
        DescribedReplica(
            replica_id=replica,
            log_end_offset=one.acknowledged,
            last_fetch_timestamp=one.fetched_ms if has_times else -1,
            last_caught_up_timestamp=one.caught_up_ms if has_times else -1,
        )
        for replica, one in sorted(replicas.items())
    )
