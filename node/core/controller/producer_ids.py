"""Decide AllocateProducerIds: blocks of ids for idempotent producers (KIP-730).

A block is answered after its record has committed, so that no two brokers ever get the same id.
Ids that a broker has not used before a crash are lost.
"""

from typing import Final

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    allocate_producer_ids_request,
    allocate_producer_ids_response,
)
from kraftproof.node.wire.records import metadata as records

BLOCK: Final = 1000
"""Number of ids in a block, as in Kafka."""
_LARGEST: Final = (1 << 63) - 1


def allocate_producer_ids(
    image: MetadataImage, request: allocate_producer_ids_request.AllocateProducerIdsRequest
) -> Outcome:
    """Give a broker the next block of producer ids."""
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None or broker.epoch != request.broker_epoch:
        return Outcome(reply=refusal(request, ErrorCode.STALE_BROKER_EPOCH))
    first = image.next_producer_id
    if first > _LARGEST - BLOCK:
        return Outcome(reply=refusal(request, ErrorCode.UNKNOWN_SERVER_ERROR))
    record = records.ProducerIdsRecord(
        broker_id=broker.broker_id, broker_epoch=broker.epoch, next_producer_id=first + BLOCK
    )
    reply = allocate_producer_ids_response.AllocateProducerIdsResponse(
        producer_id_start=first, producer_id_len=BLOCK
    )
    return Outcome(reply=reply, records=(record,))
