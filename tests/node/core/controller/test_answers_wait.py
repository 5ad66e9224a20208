"""Which answer waits for what: commits, the read barrier, a claim, a lost leadership."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.controller.active import ActiveController
from kraftproof.node.core.controller.barrier import Answer, ReadBarrier
from kraftproof.node.core.controller.decisions import DECISIONS
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.served import FORWARDABLE, FORWARDED, served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.describe_quorum_request import DescribeQuorumRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.records.metadata import TopicRecord
from tests.node.core.controller.desk import (
    Desk,
    creation,
    deletion,
    heartbeat,
    incarnation_id,
    registration,
    unregistration,
)


@pytest.mark.requirement("595-30")
@pytest.mark.requirement("631-11")
def test_change_is_answered_only_after_its_records_commit() -> None:
    desk = Desk.active(brokers=1)
    before = desk.raft.log.end_offset
    request = desk.send(creation("t"))
    end = desk.raft.log.end_offset
    assert end == before + 2
    assert desk.commit(up_to=end - 1) == []
    assert [reply.request for reply in desk.commit(up_to=end)] == [request]


@pytest.mark.requirement("631-12")
def test_changes_in_flight_build_on_each_other_and_stay_unseen() -> None:
    desk = Desk.active(brokers=1)
    first, second = desk.send(creation("t")), desk.send(creation("t"))
    assert "t" not in desk.image.topic_ids
    assert desk.replies() == []
    replies = desk.commit()
    assert [reply.request for reply in replies] == [first, second]
    errors = [reply.message.topics[0].error_code for reply in replies]
    assert errors == [ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS]


def test_answer_without_records_waits_for_a_no_op_appended_after_it() -> None:
    desk = Desk.active(brokers=1)
    no_ops = desk.no_ops()
    request = desk.send(creation("t", validate_only=True))
    assert desk.no_ops() == no_ops + 1
    assert desk.replies() == []
    assert [reply.request for reply in desk.commit()] == [request]


def test_answer_that_comes_while_a_barrier_is_in_flight_waits_for_the_next() -> None:
    desk = Desk.active(brokers=1)
    no_ops = desk.no_ops()
    first = desk.send(creation("t", validate_only=True))
    later = [desk.send(creation(name, validate_only=True)) for name in ("u", "v")]
    assert desk.no_ops() == no_ops + 1
    assert [reply.request for reply in desk.commit()] == [first]
    assert desk.no_ops() == no_ops + 2
    assert [reply.request for reply in desk.commit()] == later
    assert desk.no_ops() == no_ops + 2


def test_any_record_appended_after_the_answer_is_a_barrier() -> None:
    desk = Desk.active(brokers=1)
    first = desk.send(creation("t", validate_only=True))
    waits = desk.send(creation("u", validate_only=True))
    no_ops = desk.no_ops()
    writes = desk.send(creation("v"))
    assert [reply.request for reply in desk.commit()] == [first, waits, writes]
    assert desk.no_ops() == no_ops


def test_the_only_voter_answers_without_a_record_after_the_records_before() -> None:
    desk = Desk.active(brokers=1)
    desk.raft.is_only_voter = True
    no_ops = desk.no_ops()
    writes = desk.send(creation("t"))
    refused = desk.send(creation("t"))
    assert desk.replies() == []
    assert [reply.request for reply in desk.commit()] == [writes, refused]
    looked_up = desk.send(creation("u", validate_only=True))
    assert [reply.request for reply in desk.commit()] == [looked_up]
    assert desk.no_ops() == no_ops


def test_barrier_alone() -> None:
    barrier = ReadBarrier()
    assert not barrier.needs_record()
    answer = Answer(request=None, reply=None)
    barrier.wait(answer)
    assert barrier.needs_record()
    assert barrier.take() == [answer]
    barrier.raised(5)
    barrier.wait(answer)
    assert not barrier.needs_record()
    barrier.committed(5)
    assert not barrier.needs_record()
    barrier.committed(6)
    assert barrier.needs_record()


@pytest.mark.requirement("631-10")
@pytest.mark.parametrize(
    "message",
    [creation("t"), deletion("t"), registration(1), heartbeat(1, 1), unregistration(1)],
    ids=lambda message: type(message).__name__,
)
def test_standby_answers_not_controller(message) -> None:
    desk = Desk()
    answer = desk.ask(message)
    assert _errors(answer) == {ErrorCode.NOT_CONTROLLER}


@pytest.mark.requirement("590-05")
def test_standby_tells_a_forwarding_broker_in_the_envelope() -> None:
    answer = Desk().ask(creation("t"), forwarded=True)
    assert answer == EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)


def test_new_leader_answers_nothing_before_its_leader_change_commits() -> None:
    desk = Desk()
    desk.raft.elect()
    desk.advance()
    request = desk.send(registration(1))
    assert desk.replies() == []
    assert not desk.controller.is_active
    assert desk.commit() == []
    assert desk.controller.is_active
    assert [reply.request for reply in desk.commit()] == [request]


def test_request_that_waits_for_the_claim_is_refused_when_the_election_was_in_vain() -> None:
    desk = Desk()
    desk.raft.elect()
    desk.advance()
    desk.send(creation("t"), forwarded=True)
    desk.lose()
    [reply] = desk.replies()
    assert reply.message == EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)


@pytest.mark.requirement("631-13")
def test_lost_leadership_leaves_written_requests_unknown_and_others_refused() -> None:
    desk = Desk.active(brokers=1)
    committed, image = desk.raft.log.end_offset, desk.image
    written = desk.send(creation("t", "t2"), forwarded=True)
    looked = desk.send(creation("u", validate_only=True), forwarded=True)
    desk.send(creation("w", validate_only=True))
    desk.lose(cut_to=committed)
    replies = {reply.request: reply.message for reply in desk.replies()}
    assert _errors(replies[written]) == {ErrorCode.REQUEST_TIMED_OUT}
    assert len(replies[written].topics) == 2
    assert replies[looked] == EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    assert _errors(replies[looked + 1]) == {ErrorCode.NOT_CONTROLLER}
    assert desk.image is image
    assert not desk.committed._staged


@pytest.mark.requirement("631-13")
def test_what_failed_to_commit_leaves_no_trace_after_the_next_claim() -> None:
    desk = Desk.active(brokers=1)
    committed = desk.raft.log.end_offset
    desk.send(creation("t"))
    desk.lose(cut_to=committed)
    desk.win()
    assert desk.ask(creation("t")).topics[0].error_code == ErrorCode.NONE


@pytest.mark.requirement("631-13")
def test_another_leaders_batch_at_an_offered_offset_is_read_not_taken_for_ours() -> None:
    desk = Desk.active(brokers=1)
    committed = desk.raft.log.end_offset
    desk.send(creation("t", validate_only=True))
    desk.raft.is_leader = False
    desk.raft.log.truncate(committed)
    desk.raft.epoch += 1
    desk.raft.replicate((TopicRecord(name="theirs", topic_id=incarnation_id(9)),))
    desk.commit()
    assert sorted(desk.image.topic_ids) == ["theirs"]


@pytest.mark.requirement("631-13")
def test_leader_of_a_later_epoch_starts_over() -> None:
    desk = Desk.active(brokers=1)
    desk.send(creation("t"))
    desk.raft.elect()
    desk.advance()
    [reply] = desk.replies()
    assert _errors(reply.message) == {ErrorCode.REQUEST_TIMED_OUT}
    desk.commit()
    assert desk.ask(creation("t")).topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


@pytest.mark.requirement("631-09")
def test_standby_takes_over_with_the_image_it_replayed() -> None:
    first, second = Desk.active(brokers=2), Desk()
    first.ask(creation("t"))
    for batch in first.raft.log.read(0, 1 << 40):
        second.raft.log.append(batch)
    second.raft.epoch = first.raft.epoch
    second.commit()
    assert second.image == first.image
    second.win()
    assert second.ask(creation("t")).topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


@pytest.mark.requirement("590-09")
@pytest.mark.requirement("590-10")
def test_what_the_kip_and_kafka_have_forwarded_is_forwarded_and_no_request_of_a_broker() -> None:
    by_the_kip = {30, 31, 33, 38, 39, 40, 44, 49}
    by_kafka = {19, 20, 37, 43, 45, 46, 51, 55, 57, 64}
    assert by_the_kip | by_kafka == FORWARDABLE


@pytest.mark.requirement("590-10")
def test_all_that_the_controller_decides_can_be_refused_and_nothing_else_is_forwarded() -> None:
    refusable = {request for request in DECISIONS if refusal(request(), ErrorCode.NOT_CONTROLLER)}
    assert refusable == set(DECISIONS)
    assert set(FORWARDED) - set(DECISIONS) == {DescribeQuorumRequest}
    served = served_versions(on_controller_listener=True)
    assert {request.API_KEY for request in DECISIONS} | FORWARDABLE <= set(served)


def test_active_controller_needs_all_committed() -> None:
    desk = Desk()
    desk.raft.elect()
    with pytest.raises(AssertionError, match="committed"):
        ActiveController(
            desk.config,
            desk.raft,
            desk.committed,
            desk.outbox,
            random=None,
            now=desk.now,
        )


def _errors(answer) -> set[int]:
    results = getattr(answer, "topics", None) or getattr(answer, "responses", None) or (answer,)
    return {result.error_code for result in results}


@pytest.mark.requirement("590-05")
def test_a_change_that_does_not_commit_in_its_clients_time_has_an_unknown_fate() -> None:
    desk = Desk.active(brokers=1)
    request = desk.send(replace(creation("t"), timeout_ms=5))
    patient = desk.send(replace(creation("u"), timeout_ms=50))
    desk.monotonic += 5_000_000 - 1
    desk.controller.tick(desk.now)
    assert desk.replies() == []
    desk.monotonic += 1
    desk.controller.tick(desk.now)
    [reply] = desk.replies()
    assert reply.request == request
    assert _errors(reply.message) == {ErrorCode.REQUEST_TIMED_OUT}
    assert [later.request for later in desk.commit()] == [patient]
