"""The leader's state machine of KIP-497: each state, each answer."""

import pytest

from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.core.partition.isr import (
    ACTIONS,
    AnswerKind,
    IsrAnswer,
    IsrState,
    Phase,
    committed_isr,
    kind_of,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.types import Uuid

TOPIC = Uuid(b"t" * 16)
STAYS_PENDING = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_UPDATE_VERSION,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.NEW_LEADER_ELECTED,
)
SENT_AGAIN = (
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.UNSUPPORTED_VERSION,
    999,
)


def partition(isr, partition_epoch, leader_epoch=4):
    return Partition(
        topic_id=TOPIC,
        index=0,
        replicas=(1, 2, 3),
        isr=isr,
        leader=1,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
    )


def state() -> IsrState:
    return committed_isr(partition((1, 2), 7))


def expanding() -> IsrState:
    return state().expand(3).sent()


def shrinking() -> IsrState:
    return state().shrink(frozenset({2})).sent()


@pytest.mark.requirement("497-08")
def test_a_joiner_counts_from_the_proposal_and_a_leaver_until_its_removal_is_committed():
    assert state().maximal == {1, 2}
    assert expanding().maximal == {1, 2, 3}
    assert expanding().committed == (1, 2)
    assert shrinking().maximal == {1, 2}
    assert shrinking().proposed == (1,)


def test_the_table_has_every_state_and_answer():
    assert set(ACTIONS) == {(phase, kind) for phase in Phase for kind in AnswerKind}


@pytest.mark.parametrize("pending", [expanding(), shrinking()])
@pytest.mark.requirement("497-07")
def test_the_accepted_state_is_that_of_the_answer_not_of_the_wish(pending):
    answer = IsrAnswer(error=0, leader_epoch=4, partition_epoch=8, isr=(2, 1))
    after = pending.answered(pending, answer)
    assert (after.committed, after.partition_epoch) == ((2, 1), 8)
    assert after.phase is Phase.COMMITTED
    assert after.maximal == {1, 2}


@pytest.mark.parametrize("pending", [expanding(), shrinking()])
@pytest.mark.parametrize("answer", [(3, 8), (5, 8), (4, 6)])
def test_an_answer_of_another_leadership_or_an_older_state_changes_nothing(pending, answer):
    leader_epoch, partition_epoch = answer
    old = IsrAnswer(
        error=0, leader_epoch=leader_epoch, partition_epoch=partition_epoch, isr=(1, 2, 3)
    )
    assert pending.answered(pending, old) == pending


@pytest.mark.parametrize("error", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED])
def test_a_proposal_that_was_surely_not_applied_ends(error):
    pending = expanding()
    assert pending.answered(pending, IsrAnswer(error=error)) == state()


@pytest.mark.parametrize("error", STAYS_PENDING)
@pytest.mark.requirement("497-08")
def test_a_proposal_that_may_be_applied_stays_open_until_the_image_is_newer(error):
    pending = expanding()
    assert pending.answered(pending, IsrAnswer(error=error)) == pending
    assert pending.followed(partition((1, 2), 7)) == pending
    assert pending.followed(partition((1, 2), 8)).maximal == {1, 2}
    assert pending.followed(partition((1, 2, 3), 8)).committed == (1, 2, 3)


@pytest.mark.parametrize("error", SENT_AGAIN)
@pytest.mark.requirement("497-11")
def test_a_proposal_without_a_decision_is_sent_again_unchanged(error):
    pending = expanding()
    again = pending.answered(pending, IsrAnswer(error=error))
    assert again.is_unsent
    assert again.sent() == pending
    assert pending.unanswered(pending).is_unsent
    assert pending.unanswered(pending).maximal == {1, 2, 3}


@pytest.mark.requirement("497-11")
def test_one_proposal_is_open_at_a_time():
    with pytest.raises(AssertionError, match="one proposal at a time"):
        expanding().expand(2)
    with pytest.raises(AssertionError, match="one proposal at a time"):
        shrinking().shrink(frozenset({2}))


def test_a_late_answer_to_an_earlier_proposal_leaves_the_later_one_open():
    """The image overtook the first answer, and the leader has proposed again since."""
    first = expanding()
    later = first.followed(partition((1, 2, 3), 8)).shrink(frozenset({2})).sent()
    late = IsrAnswer(error=0, leader_epoch=4, partition_epoch=8, isr=(1, 2, 3))
    assert later.answered(first, late) == later
    assert later.answered(first, IsrAnswer(error=ErrorCode.INELIGIBLE_REPLICA)) == later
    assert later.unanswered(first) == later


def test_an_answer_before_the_record_is_not_undone_by_the_old_image():
    pending = expanding()
    answer = IsrAnswer(error=0, leader_epoch=4, partition_epoch=8, isr=(1, 2, 3))
    adopted = pending.answered(pending, answer)
    assert adopted.followed(partition((1, 2), 7)) == adopted
    assert adopted.followed(partition((1, 2, 3), 8)) == adopted


def test_unknown_errors_decide_nothing():
    assert kind_of(12345) is AnswerKind.NOT_DECIDED
