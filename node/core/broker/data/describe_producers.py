"""Answer DescribeProducers: the idempotent producers of a partition (KIP-664).

Any replica answers: kafka-transactions find-hanging asks one broker for all of its replicas.

The broker has no transactions, so no producer has a coordinator's epoch or an open transaction.
"""

from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.broker.data.access import find_replica
from kraftproof.node.core.broker.data.rights import denied_topics
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_producers_request, describe_producers_response

Request = describe_producers_request.DescribeProducersRequest
Response = describe_producers_response.DescribeProducersResponse
Topic = describe_producers_response.TopicResponse
Partition = describe_producers_response.PartitionResponse
Producer = describe_producers_response.ProducerState
_NO_COORDINATOR_EPOCH: Final = -1


class ProducersService:
    """The DescribeProducers requests of a broker."""

    __slots__ = ("_authorizer", "_committed", "_replicas")

    def __init__(
        self, replicas: Replicas, committed: CommittedImage, authorizer: Authorizer | None
    ) -> None:
        self._replicas = replicas
        self._committed = committed
        self._authorizer = authorizer

    def describe(self, event: Received, request: Request) -> Response:
        """Return the producers of each partition, or the partition's error."""
        denied = denied_topics(self._authorizer, event, (topic.name for topic in request.topics))
        return Response(
            topics=tuple(
                Topic(
                    name=topic.name,
                    partitions=tuple(
                        _failed(
                            index, ErrorCode.TOPIC_AUTHORIZATION_FAILED, "the topic may not be read"
                        )
                        if topic.name in denied
                        else self._partition(topic.name, index)
                        for index in topic.partition_indexes
                    ),
                )
                for topic in request.topics
            )
        )

    def _partition(self, topic: str, index: int) -> Partition:
        image = self._committed.image
        topic_id = image.topic_ids.get(topic)
        if topic_id is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return _failed(index, error, "there is no such topic")
        found = find_replica(image, self._replicas, LogId(topic_id, index))
        if isinstance(found, ErrorCode):
            return _failed(index, found)
        producers = tuple(
            Producer(
                producer_id=producer_id,
                producer_epoch=batch.epoch,
                last_sequence=batch.last_sequence,
                last_timestamp=batch.timestamp_ms,
                coordinator_epoch=_NO_COORDINATOR_EPOCH,
            )
            for producer_id, batch in found.producers.last_batches()
        )
        return Partition(partition_index=index, active_producers=producers)


def _failed(index: int, error: ErrorCode, reason: str | None = None) -> Partition:
    return Partition(partition_index=index, error_code=error, error_message=reason)
