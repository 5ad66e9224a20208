"""Build the answer to Fetch from the readable ranges of its partitions."""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.broker.data.access import endpoint_of, leader_in
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.partition.epoch_cache import EpochEndOffset
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_response
from kraftproof.node.wire.types import ZERO_UUID, Uuid

TOPIC_IDS_FROM: Final = 13
_LEADERS_FROM: Final = 12
"""The first version of Fetch whose answers name the current leader."""
_ENDPOINTS_FROM: Final = 16
_LOG_STARTS_FROM: Final = 5
_UNKNOWN: Final = Offset(-1)
_NO_LEADER: Final = fetch_response.LeaderIdAndEpoch()
_NOT_DIVERGING: Final = fetch_response.EpochEndOffset()
_MOVED: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
    }
)


AskedTopic = tuple[str, Uuid]
"""The name and the id of a topic as in the request."""


class FetchPart(Struct, kw_only=True):
    """A partition of a Fetch."""

    topic_index: int
    partition_index: int
    """The places in the request's lists."""
    asked: fetch_request.FetchPartition
    log: LogId | None
    error: ErrorCode


class PartRead(Struct):
    """The readable range of a partition, an error or a divergence."""

    part: FetchPart
    error: ErrorCode = ErrorCode.NONE
    diverging: EpochEndOffset | None = None
    high_watermark: Offset = _UNKNOWN
    start_offset: Offset = _UNKNOWN
    end_offset: Offset = _UNKNOWN
    size: int = 0
    """The estimated bytes of the range."""


def fetch_answer(
    image: MetadataImage,
    listener: str,
    version: int,
    topics: list[AskedTopic],
    reads: list[PartRead],
) -> fetch_response.FetchResponse:
    """Return the answer without batches, in the order of the request."""
    partitions: list[list[fetch_response.PartitionData]] = [[] for _ in topics]
    leaders: dict[NodeId, None] = {}
    for read in reads:
        partitions[read.part.topic_index].append(_partition(image, version, read, leaders))
    has_id = version >= TOPIC_IDS_FROM
    responses = tuple(
        fetch_response.FetchableTopicResponse(
            topic="" if has_id else name,
            topic_id=topic_id if has_id else ZERO_UUID,
            partitions=tuple(found),
        )
        for (name, topic_id), found in zip(topics, partitions, strict=True)
    )
    endpoints = _endpoints(image, listener, leaders) if version >= _ENDPOINTS_FROM else ()
    return fetch_response.FetchResponse(responses=responses, node_endpoints=endpoints)


def _partition(
    image: MetadataImage, version: int, read: PartRead, leaders: dict[NodeId, None]
) -> fetch_response.PartitionData:
    current = _NO_LEADER
    if read.error in _MOVED and version >= _LEADERS_FROM and read.part.log is not None:
        known = leader_in(image, read.part.log)
        if known is not None:
            leaders[known[0]] = None
            current = fetch_response.LeaderIdAndEpoch(leader_id=known[0], leader_epoch=known[1])
    diverging = _NOT_DIVERGING
    if read.diverging is not None:
        diverging = fetch_response.EpochEndOffset(
            epoch=read.diverging.epoch, end_offset=read.diverging.end_offset
        )
    is_readable = read.error is ErrorCode.NONE
    high_watermark = read.high_watermark if is_readable else _UNKNOWN
    has_log_start = version >= _LOG_STARTS_FROM and is_readable
    return fetch_response.PartitionData(
        partition_index=read.part.asked.partition,
        error_code=read.error,
        high_watermark=high_watermark,
        last_stable_offset=high_watermark,
        aborted_transactions=None,
        records=b"",
        log_start_offset=read.start_offset if has_log_start else -1,
        diverging_epoch=diverging,
        current_leader=current,
    )


def _endpoints(
    image: MetadataImage, listener: str, leaders: dict[NodeId, None]
) -> tuple[fetch_response.NodeEndpoint, ...]:
    found = [(node, endpoint_of(image, node, listener)) for node in leaders]
    return tuple(
        fetch_response.NodeEndpoint(
            node_id=node, host=endpoint[0], port=endpoint[1], rack=endpoint[2]
        )
        for node, endpoint in found
        if endpoint is not None
    )
