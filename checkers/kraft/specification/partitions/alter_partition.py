"""Judge AlterPartition: the ISR that a leader proposes (KIP-497, KIP-903; 497-03 to 06).

The order of the checks is fixed, since a leader acts on the error code.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.ids import Id, show
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.partitions.change import after_change
from kraftproof.checkers.kraft.specification.partitions.compare import wrong_partitions
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.partitions import (
    AlteredPartition,
    AlterPartitionRequest,
    AlterPartitionResponse,
    Proposal,
)

Decided = tuple[Id, Proposal, Code, Partition | None]
"""The topic, the proposal, the right error, and the partition after the proposal."""


def is_current(image: Image, broker_id: int, epoch: int) -> bool:
    """Return whether a request names the registered epoch of its broker."""
    broker = image.brokers.get(broker_id)
    return broker is not None and broker.epoch == epoch


def _decide(image: Image, request: AlterPartitionRequest) -> Iterator[Decided]:
    """Yield the right result of each proposal, each after the proposals before."""
    changed: dict[PartitionKey, Partition] = {}
    for topic in request.topics:
        known = image.topics.get(topic.topic_id)
        for proposal in topic.partitions:
            index = proposal.partition_index
            if known is None:
                yield topic.topic_id, proposal, Code.UNKNOWN_TOPIC_ID, None
                continue
            key = (topic.topic_id, index)
            was = changed.get(key) or known.partitions.get(index)
            code = _code(image, request.broker_id, was, proposal)
            now = was
            if was is not None and code == Code.NONE:
                isr = tuple(member.broker_id for member in proposal.members)
                state = proposal.leader_recovery_state
                wanted = replace(was, isr=isr, recovery_state=state)
                now = changed[key] = after_change(image, was, wanted)
                if now.leader != request.broker_id:
                    code = Code.NEW_LEADER_ELECTED
            yield topic.topic_id, proposal, code, now


def _code(image: Image, caller: int, was: Partition | None, proposal: Proposal) -> Code:
    if was is None:
        return Code.UNKNOWN_TOPIC_OR_PARTITION
    asked = proposal.leader_epoch, proposal.partition_epoch
    if asked[0] > was.leader_epoch or asked[1] > was.partition_epoch:
        return Code.NOT_CONTROLLER
    if asked[0] != was.leader_epoch:
        return Code.FENCED_LEADER_EPOCH
    if was.leader != caller:
        return Code.INVALID_REQUEST
    if asked[1] != was.partition_epoch:
        return Code.INVALID_UPDATE_VERSION
    isr = [member.broker_id for member in proposal.members]
    is_set = len(isr) == len(set(isr)) and caller in isr and not set(isr) - set(was.replicas)
    state = proposal.leader_recovery_state
    if not is_set or state not in {0, 1}:
        return Code.INVALID_REQUEST
    if state == 1 and (len(isr) > 1 or was.recovery_state == 0):
        return Code.INVALID_REQUEST
    for member in proposal.members:
        known = member.broker_epoch == -1 or is_current(
            image, member.broker_id, member.broker_epoch
        )
        if not known or not image.may_lead(member.broker_id):
            return Code.INELIGIBLE_REPLICA
    return Code.NONE


def wrong_alterations(
    image: Image, request: AlterPartitionRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of AlterPartition, or None."""
    if not is_current(image, request.broker_id, request.broker_epoch):
        return "a stale broker has changed partitions" if written else None
    expected = {
        (topic_id, proposal.partition_index): now
        for topic_id, proposal, code, now in _decide(image, request)
        if now is not None and code in {Code.NONE, Code.NEW_LEADER_ELECTED}
    }
    return wrong_partitions(image, written, expected)


def wrong_alteration_answer(
    image: Image, request: AlterPartitionRequest, answer: AlterPartitionResponse
) -> str | None:
    """Return why an answer to AlterPartition is wrong, or None."""
    if not is_current(image, request.broker_id, request.broker_epoch):
        is_right = answer.error_code == Code.STALE_BROKER_EPOCH
        return None if is_right else f"{code_name(answer.error_code)}, not STALE_BROKER_EPOCH"
    if answer.error_code != Code.NONE:
        return f"{code_name(answer.error_code)} to a broker of the current epoch"
    expected = list(_decide(image, request))
    found = [(topic.topic_id, result) for topic in answer.topics for result in topic.partitions]
    if len(found) != len(expected):
        return f"{len(found)} results for {len(expected)} proposals"
    for (topic_id, result), (asked_id, proposal, code, now) in zip(found, expected, strict=True):
        name = f"partition {proposal.partition_index} of {show(asked_id)}"
        if (topic_id, result.partition_index) != (asked_id, proposal.partition_index):
            return f"{name}: the result is of partition {result.partition_index}"
        if result.error_code != code:
            return f"{name}: {code_name(result.error_code)}, not {code.name}"
        if code == Code.NONE and now is not None and not _shows(result, now):
            return f"{name}: {result} is answered, {now} is true"
    return None


def _shows(result: AlteredPartition, now: Partition) -> bool:
    return (
        result.leader_id == now.leader
        and result.leader_epoch == now.leader_epoch
        and result.isr == now.isr
        and result.leader_recovery_state == now.recovery_state
        and result.partition_epoch == now.partition_epoch
    )
