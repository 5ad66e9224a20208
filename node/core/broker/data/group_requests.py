"""Answer the requests of groups that must not be missing: OffsetFetch and ConsumerGroupHeartbeat.

No group has committed offsets here. A consumer with the name of a group asks for committed offsets,
even if the consumer assigns its partitions. With the answer that nothing is committed, the consumer
begins where its configuration says. librdkafka 2.16 crashes if the request is missing among the
versions of the coordinator.

A consumer with group.protocol=consumer joins by a heartbeat. The error UNSUPPORTED_VERSION, which a
Kafka broker without this protocol gives, is final; librdkafka searches for ever for a coordinator
that lacks the request.
"""

from typing import Final

from kraftproof.node.core.broker.data.coordinators import GROUP_FEATURE, has_feature
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import ERRORS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    consumer_group_heartbeat_request,
    consumer_group_heartbeat_response,
    offset_fetch_request,
    offset_fetch_response,
)

Request = offset_fetch_request.OffsetFetchRequest
Response = offset_fetch_response.OffsetFetchResponse
Group = offset_fetch_response.OffsetFetchResponseGroup
Heartbeat = consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest
_NO_GROUPS: Final = "this broker has no groups"
_GROUPS_FROM: Final = 8
"""The first version with a list of groups."""
_WHOLE_ERROR_FROM: Final = 2
"""The first version with an error of the whole answer."""
_NOTHING: Final = -1


def describe_offsets(
    image: MetadataImage, event: Received, request: Request, authorizer: Authorizer | None
) -> Response:
    """Return that nothing is committed, or NOT_COORDINATOR if a broker has groups."""
    if event.version >= _GROUPS_FROM:
        return Response(
            groups=tuple(
                _group(group, _error(image, event, group.group_id, authorizer))
                for group in request.groups
            )
        )
    error = _error(image, event, request.group_id, authorizer)
    is_whole = event.version >= _WHOLE_ERROR_FROM
    topics = () if error is not ErrorCode.NONE and is_whole else request.topics or ()
    return Response(
        error_code=error,
        topics=tuple(
            offset_fetch_response.OffsetFetchResponseTopic(
                name=topic.name,
                partitions=tuple(
                    offset_fetch_response.OffsetFetchResponsePartition(
                        partition_index=index,
                        committed_offset=_NOTHING,
                        metadata="",
                        error_code=error,
                    )
                    for index in topic.partition_indexes
                ),
            )
            for topic in topics
        ),
    )


def refuse_heartbeat(
    event: Received, request: Heartbeat, authorizer: Authorizer | None
) -> consumer_group_heartbeat_response.ConsumerGroupHeartbeatResponse:
    """Return the error of a member: the broker has no groups."""
    is_allowed = authorizer is None or authorizer.allows(
        event, Operation.READ, ResourceKind.GROUP, request.group_id
    )
    error = ErrorCode.UNSUPPORTED_VERSION if is_allowed else ERRORS[ResourceKind.GROUP]
    return consumer_group_heartbeat_response.ConsumerGroupHeartbeatResponse(
        error_code=error, error_message=_NO_GROUPS if is_allowed else None
    )


def _group(asked: offset_fetch_request.OffsetFetchRequestGroup, error: ErrorCode) -> Group:
    topics = () if error is not ErrorCode.NONE else asked.topics or ()
    return Group(
        group_id=asked.group_id,
        error_code=error,
        topics=tuple(
            offset_fetch_response.OffsetFetchResponseTopics(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=tuple(
                    offset_fetch_response.OffsetFetchResponsePartitions(
                        partition_index=index, committed_offset=_NOTHING, metadata=""
                    )
                    for index in topic.partition_indexes
                ),
            )
            for topic in topics
        ),
    )


def _error(
    image: MetadataImage, event: Received, group: str, authorizer: Authorizer | None
) -> ErrorCode:
    if authorizer is not None and not authorizer.allows(
        event, Operation.DESCRIBE, ResourceKind.GROUP, group
    ):
        return ERRORS[ResourceKind.GROUP]
    if any(has_feature(image, node, GROUP_FEATURE) for node in image.brokers):
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.NONE
