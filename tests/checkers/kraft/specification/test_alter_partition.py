"""AlterPartition and AllocateProducerIds of the specification: right results, and wrong ones."""

import pytest
from msgspec.structs import replace

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.errors import Code
from kraftproof.checkers.kraft.specification.partitions.likely import likely_requests
from kraftproof.checkers.kraft.specification.rows import partitions
from kraftproof.checkers.kraft.specification.rows.clients import (
    AlterPartitionReassignmentsRequest,
    ReassignedTopic,
    Reassignment,
)
from tests.checkers.kraft.specification.cluster import (
    IMAGE,
    NEW,
    OLD,
    changed,
    directory,
    image,
    moved,
    wrong_answer,
    wrong_records,
)

SHRUNK = image(moved(0, isr=(1,)))
"""Broker 1 leads partition 0 alone; broker 2 follows."""


def asked(*isr, caller=1, index=0, topic_id=OLD, leader_epoch=0, partition_epoch=1, state=0):
    proposal = partitions.Proposal(
        partition_index=index,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
        leader_recovery_state=state,
        new_isr_with_epochs=tuple(
            one if isinstance(one, partitions.Member) else partitions.Member(broker_id=one)
            for one in isr
        ),
    )
    return partitions.AlterPartitionRequest(
        broker_id=caller,
        broker_epoch=caller,
        topics=(partitions.ProposedTopic(topic_id=topic_id, partitions=(proposal,)),),
    )


def answered(code=Code.NONE, *, index=0, topic_id=OLD, **state):
    result = partitions.AlteredPartition(partition_index=index, error_code=code, **state)
    return partitions.AlterPartitionResponse(
        topics=(partitions.AlteredTopic(topic_id=topic_id, partitions=(result,)),)
    )


GREW = answered(leader_id=1, isr=(1, 2), partition_epoch=2)


def test_a_proposal_and_its_answer():
    request, written = asked(1, 2), moved(0, isr=(1, 2))
    assert wrong_records(request, written, before=SHRUNK) is None
    assert wrong_answer(request, [written], GREW, before=SHRUNK) is None
    assert "not" in wrong_records(request, before=SHRUNK)
    for wrong in (moved(0, isr=(2, 1)), moved(0, isr=(1, 2), leader=1), moved(1, isr=(2,))):
        assert wrong_records(request, wrong, before=SHRUNK) is not None
    for wrong in (
        answered(Code.INVALID_REQUEST),
        answered(leader_id=1, isr=(1, 2), partition_epoch=1),
        answered(leader_id=1, isr=(1,), partition_epoch=2),
        replace(GREW, topics=()),
        replace(GREW, error_code=Code.STALE_BROKER_EPOCH),
    ):
        assert wrong_answer(request, [written], wrong, before=SHRUNK) is not None


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (asked(1, leader_epoch=1), Code.NOT_CONTROLLER),
        (asked(1, partition_epoch=2), Code.NOT_CONTROLLER),
        (asked(1, leader_epoch=-1), Code.FENCED_LEADER_EPOCH),
        (asked(1, caller=2), Code.INVALID_REQUEST),
        (asked(1, partition_epoch=0), Code.INVALID_UPDATE_VERSION),
        (asked(1, 3), Code.INVALID_REQUEST),
        (asked(1, state=1), Code.INVALID_REQUEST),
        (asked(1, partitions.Member(broker_id=2, broker_epoch=7)), Code.INELIGIBLE_REPLICA),
        (asked(1, topic_id=NEW), Code.UNKNOWN_TOPIC_ID),
        (asked(1, index=9), Code.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_a_refusal_has_one_right_code(request_, code):
    (topic,) = request_.topics
    named = {"topic_id": topic.topic_id, "index": topic.partitions[0].partition_index}
    assert wrong_records(request_, before=SHRUNK) is None
    assert wrong_answer(request_, (), answered(code, **named), before=SHRUNK) is None
    other = Code.NONE if code == Code.POLICY_VIOLATION else Code.POLICY_VIOLATION
    assert wrong_answer(request_, (), answered(other, **named), before=SHRUNK) is not None
    assert wrong_records(request_, moved(0, isr=(1, 2)), before=SHRUNK) is not None


def test_a_fenced_broker_enters_no_isr():
    fenced = image(changed(2, fenced=1), moved(1, isr=(3,), leader=3), before=SHRUNK)
    assert wrong_records(asked(1, 2), moved(0, isr=(1, 2)), before=fenced) is not None
    answer = answered(Code.INELIGIBLE_REPLICA)
    assert wrong_answer(asked(1, 2), (), answer, before=fenced) is None


def test_a_completed_reassignment_tells_the_old_leader_of_the_new():
    change = rows.PartitionChangeRecord(
        partition_id=0,
        topic_id=OLD,
        replicas=(2, 1),
        removing_replicas=(1,),
        directories=(directory(2), directory(1)),
    )
    moving = image(change, before=SHRUNK)
    done = rows.PartitionChangeRecord(
        partition_id=0,
        topic_id=OLD,
        replicas=(2,),
        removing_replicas=(),
        isr=(2,),
        leader=2,
        directories=(directory(2),),
    )
    request = asked(1, 2, partition_epoch=2)
    assert wrong_records(request, done, before=moving) is None
    assert wrong_records(request, moved(0, isr=(1, 2)), before=moving) is not None
    assert wrong_answer(request, [done], answered(Code.NEW_LEADER_ELECTED), before=moving) is None
    assert wrong_answer(request, [done], GREW, before=moving) is not None
    guessed = likely_requests(moving, (done,))[0]
    assert wrong_records(guessed, done, before=moving) is None


def test_a_request_is_guessed_from_records():
    written = moved(0, isr=(1, 2))
    assert wrong_records(likely_requests(SHRUNK, (written,))[0], written, before=SHRUNK) is None
    foreign = moved(0, isr=(1, 3))
    assert wrong_records(likely_requests(SHRUNK, (foreign,))[0], foreign, before=SHRUNK)
    both = (moved(0, isr=(1,)), moved(1, isr=(2,)))
    assert not any(
        isinstance(one, partitions.AlterPartitionRequest) for one in likely_requests(IMAGE, both)
    ), "two leaders"


def reassigned(replicas, *, adding=(), removing=(), leader=-2):
    return rows.PartitionChangeRecord(
        partition_id=0,
        topic_id=OLD,
        replicas=replicas,
        adding_replicas=adding,
        removing_replicas=removing,
        leader=leader,
        directories=tuple(map(directory, replicas)),
    )


def wishes(*targets):
    """Return a request that names partition 0 once for each target; None cancels."""
    return AlterPartitionReassignmentsRequest(
        topics=tuple(
            ReassignedTopic(
                name="old.topic", partitions=(Reassignment(partition_index=0, replicas=target),)
            )
            for target in targets
        )
    )


MOVED = reassigned((1, 3, 2), adding=(3,), removing=(2,))
TURNED = reassigned((2, 3, 1), adding=(3,), removing=(1,))
CANCELLED = reassigned((1, 2), leader=1)
SHRUNK_TO_2 = rows.PartitionChangeRecord(
    partition_id=0, topic_id=OLD, replicas=(2,), isr=(2,), leader=2, directories=(directory(2),)
)


@pytest.mark.parametrize(
    ("before", "targets", "written"),
    [
        (IMAGE, ((1, 3), None), (MOVED, CANCELLED)),
        (IMAGE, ((1, 3), (2, 3)), (MOVED, TURNED)),
        (IMAGE, ((1, 3), (2, 3), None), (MOVED, TURNED, reassigned((2, 1), leader=1))),
        (image(MOVED), (None, (2,)), (CANCELLED, SHRUNK_TO_2)),
    ],
)
def test_a_request_that_names_a_partition_again_is_guessed(before, targets, written):
    """Each change is compared with the state that the change before has left."""
    assert wrong_records(wishes(*targets), *written, before=before) is None
    guesses = likely_requests(before, written)
    assert None in [wrong_records(one, *written, before=before) for one in guesses]
    wrong = (*written[:-1], replace(written[-1], directories=(directory(9),) * 3))
    guesses = likely_requests(before, wrong)
    assert None not in [wrong_records(one, *wrong, before=before) for one in guesses]


def test_a_block_of_producer_ids():
    request = partitions.AllocateProducerIdsRequest(broker_id=1, broker_epoch=1)
    record = partitions.ProducerIdsRecord(broker_id=1, broker_epoch=1, next_producer_id=1000)
    answer = partitions.AllocateProducerIdsResponse(producer_id_start=0, producer_id_len=1000)
    assert likely_requests(IMAGE, (record,)) == [request]
    assert wrong_records(request, record) is None
    assert wrong_answer(request, [record], answer) is None
    assert wrong_records(request) is not None
    assert wrong_records(request, replace(record, next_producer_id=2000)) is not None
    assert wrong_records(request, replace(record, broker_id=2)) is not None
    assert wrong_answer(request, [record], replace(answer, producer_id_start=1)) is not None
    with pytest.raises(ValueError, match="became"):
        image(record, record)


def test_a_stale_broker_gets_nothing():
    request = partitions.AllocateProducerIdsRequest(broker_id=1, broker_epoch=2)
    record = partitions.ProducerIdsRecord(broker_id=1, broker_epoch=2, next_producer_id=1000)
    stale = partitions.AllocateProducerIdsResponse(error_code=Code.STALE_BROKER_EPOCH)
    assert wrong_records(request, record) is not None
    assert wrong_answer(request, (), stale) is None
    assert wrong_answer(request, (), replace(stale, error_code=Code.NONE)) is not None
    proposal = replace(asked(1), broker_epoch=2)
    refused = partitions.AlterPartitionResponse(error_code=Code.STALE_BROKER_EPOCH)
    assert wrong_records(proposal, moved(0, isr=(1,))) is not None
    assert wrong_answer(proposal, (), refused) is None
    assert wrong_answer(proposal, (), GREW) is not None
