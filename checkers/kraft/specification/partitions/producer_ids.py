"""Judge AllocateProducerIds: each id goes to one broker only (KIP-730)."""

from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.partitions.alter_partition import is_current
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.partitions import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    ProducerIdsRecord,
)

BLOCK: Final = 1000
LARGEST: Final = (1 << 63) - 1


def wrong_allocation(
    image: Image, request: AllocateProducerIdsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of AllocateProducerIds, or None."""
    if not is_current(image, request.broker_id, request.broker_epoch):
        return "a stale broker has got producer ids" if written else None
    if image.next_producer_id > LARGEST - BLOCK:
        return "a block beyond the largest producer id was written" if written else None
    right = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=image.next_producer_id + BLOCK,
    )
    return None if tuple(written) == (right,) else f"{list(written)} was written, not {right}"


def wrong_allocation_answer(
    image: Image, request: AllocateProducerIdsRequest, answer: AllocateProducerIdsResponse
) -> str | None:
    """Return why an answer to AllocateProducerIds is wrong, or None."""
    if not is_current(image, request.broker_id, request.broker_epoch):
        is_right = answer.error_code == Code.STALE_BROKER_EPOCH
        return None if is_right else f"{code_name(answer.error_code)}, not STALE_BROKER_EPOCH"
    if image.next_producer_id > LARGEST - BLOCK:
        is_right = answer.error_code == Code.UNKNOWN_SERVER_ERROR
        return None if is_right else f"{answer} is answered, but no block is left"
    right = AllocateProducerIdsResponse(
        producer_id_start=image.next_producer_id, producer_id_len=BLOCK
    )
    return None if answer == right else f"{answer} is answered, not {right}"
