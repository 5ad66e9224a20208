"""Build the answer to Produce from the results of its partitions (KIP-467, KIP-951)."""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.broker.data.access import endpoint_of, leader_in
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.partition.validation import Refusal
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import produce_request, produce_response
from kraftproof.node.wire.types import ZERO_UUID

TOPIC_IDS_FROM: Final = 13
LEADERS_FROM: Final = 10
"""The first version of Produce whose answers name the current leader (KIP-951)."""
_RECORD_ERRORS_FROM: Final = 8
_LOG_STARTS_FROM: Final = 5
_NO_OFFSET: Final = Offset(-1)
_WITHOUT_LOG_START: Final = frozenset(
    {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
    }
)
"""The errors of an append whose answers name no log start offset, as in Kafka."""


class Appended(Struct, kw_only=True):
    """The result for one partition of a request."""

    topic: int
    """The place of the topic in the request."""
    index: int
    log: LogId | None
    error: ErrorCode = ErrorCode.NONE
    refusal: Refusal | None = None
    base_offset: Offset = _NO_OFFSET
    required_offset: Offset = _NO_OFFSET
    """The high watermark at which the batch is acknowledged."""
    append_time_ms: int = -1
    log_start: Offset = _NO_OFFSET
    is_open: bool = False
    """Whether the batch waits for acknowledgements."""


def produce_answer(
    image: MetadataImage,
    listener: str,
    request: produce_request.ProduceRequest,
    results: list[Appended],
    version: int,
    throttle_ms: int = 0,
) -> produce_response.ProduceResponse:
    """Return the answer with the results in the order of the request."""
    by_topic: list[list[produce_response.PartitionProduceResponse]] = [
        [] for _ in request.topic_data
    ]
    leaders: dict[NodeId, None] = {}
    for result in results:
        moved_to = _leader_after(image, result, version)
        if moved_to.leader_id >= 0:
            leaders[NodeId(moved_to.leader_id)] = None
        by_topic[result.topic].append(_partition(result, version, moved_to))
    has_id = version >= TOPIC_IDS_FROM
    responses = tuple(
        produce_response.TopicProduceResponse(
            partition_responses=tuple(partitions),
            name="" if has_id else topic.name,
            topic_id=topic.topic_id if has_id else ZERO_UUID,
        )
        for topic, partitions in zip(request.topic_data, by_topic, strict=True)
    )
    return produce_response.ProduceResponse(
        responses=responses,
        throttle_time_ms=throttle_ms,
        node_endpoints=_endpoints(image, listener, leaders),
    )


def _leader_after(
    image: MetadataImage, result: Appended, version: int
) -> produce_response.LeaderIdAndEpoch:
    """Return the leader to which the client should turn after NOT_LEADER_OR_FOLLOWER."""
    is_moved = result.error is ErrorCode.NOT_LEADER_OR_FOLLOWER and version >= LEADERS_FROM
    known = leader_in(image, result.log) if is_moved and result.log is not None else None
    if known is None:
        return produce_response.LeaderIdAndEpoch()
    return produce_response.LeaderIdAndEpoch(leader_id=known[0], leader_epoch=known[1])


def _partition(
    result: Appended, version: int, moved_to: produce_response.LeaderIdAndEpoch
) -> produce_response.PartitionProduceResponse:
    refusal = result.refusal if version >= _RECORD_ERRORS_FROM else None
    is_error = result.error is not ErrorCode.NONE
    records = () if refusal is None else refusal.records
    has_log_start = version >= _LOG_STARTS_FROM and result.error not in _WITHOUT_LOG_START
    return produce_response.PartitionProduceResponse(
        index=result.index,
        error_code=result.error,
        base_offset=_NO_OFFSET if is_error else result.base_offset,
        log_append_time_ms=-1 if is_error else result.append_time_ms,
        log_start_offset=result.log_start if has_log_start else _NO_OFFSET,
        record_errors=tuple(
            produce_response.BatchIndexAndErrorMessage(
                batch_index=record.index, batch_index_error_message=record.message
            )
            for record in records
        ),
        error_message=None if refusal is None else refusal.message,
        current_leader=moved_to,
    )


def _endpoints(
    image: MetadataImage, listener: str, leaders: dict[NodeId, None]
) -> tuple[produce_response.NodeEndpoint, ...]:
    found = [(node, endpoint_of(image, node, listener)) for node in leaders]
    return tuple(
        produce_response.NodeEndpoint(
            node_id=node, host=endpoint[0], port=endpoint[1], rack=endpoint[2]
        )
        for node, endpoint in found
        if endpoint is not None
    )
