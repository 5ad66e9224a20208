"""The ends of logs that answers show: high watermarks, ends for consumers, acknowledged batches."""

from collections.abc import Iterator
from typing import Final

from kraftproof.cluster.simulated.invariants.partitions.replicas import ACKS_ALL, Replicas
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import (
    Message,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.records.raw_batch import parse_batches
from kraftproof.node.wire.types import ZERO_UUID

LATEST: Final = -1
NO_REPLICA: Final = -1
Shown = tuple[LogId, int]


class ShownEnds(Replicas):
    """An invariant of the ends that a broker shows, all of which are committed."""

    def _shown_by(self, event: Received, message: Message) -> Iterator[Shown]:
        """Yield logs and ends of an answer of a broker."""
        match event.message, message:
            case _, fetch_response.FetchResponse():
                for log, part in self._fetched(message):
                    yield log, part.high_watermark
            case (
                produce_request.ProduceRequest(acks=acks) as request,
                produce_response.ProduceResponse(),
            ) if acks == ACKS_ALL:
                for log, sent, result in self._results(request, message):
                    if not result.error_code:
                        count = sum(batch.last_offset_delta + 1 for batch in parse_batches(sent))
                        yield log, result.base_offset + count
            case (
                list_offsets_request.ListOffsetsRequest(replica_id=replica) as request,
                list_offsets_response.ListOffsetsResponse(),
            ) if replica == NO_REPLICA:
                yield from self._listed(request, message)
            case _:
                return

    def _listed(
        self,
        request: list_offsets_request.ListOffsetsRequest,
        response: list_offsets_response.ListOffsetsResponse,
    ) -> Iterator[Shown]:
        for topic, answered in zip(request.topics, response.topics, strict=True):
            for asked, part in zip(topic.partitions, answered.partitions, strict=True):
                log = self._log_of(topic.name, ZERO_UUID, asked.partition_index)
                if log is not None and asked.timestamp == LATEST and not part.error_code:
                    yield log, part.offset
