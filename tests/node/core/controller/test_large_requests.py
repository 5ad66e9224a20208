"""A large request keeps nobody waiting: it is applied a part a step, and shows all at once."""

import pytest

from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.controller.topics import MAX_RECORDS
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.slices import RECORDS_A_STEP, RECORDS_AT_ONCE
from kraftproof.node.wire.errors import ErrorCode
from tests.node.core.controller.desk import (
    SESSION_NS,
    Desk,
    creation,
    deletion,
    heartbeat,
    registration,
)

LARGE = MAX_RECORDS - 1
"""The most partitions that one request may create: with the topic's, so many records."""


class Counting:
    """`apply_batch` that notes how many records each call took."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, image, batch):
        self.sizes.append(len(batch.records))
        return apply_batch(image, batch)


@pytest.fixture
def desk() -> Desk:
    desk = Desk.active()
    desk.epochs = {broker_id: desk.join(broker_id) for broker_id in (1, 2, 3)}
    return desk


def ticks_until_idle(desk: Desk) -> int:
    count = 0
    while desk.controller.deadline() == 0:
        desk.tick(desk.monotonic)
        count += 1
    return count


def test_a_large_request_is_applied_over_several_steps(desk: Desk) -> None:
    counting = desk.committed._apply = Counting()
    desk.send(creation("t", partitions=LARGE, factor=3))
    parts = MAX_RECORDS // RECORDS_A_STEP
    assert ticks_until_idle(desk) == parts
    assert sum(counting.sizes) == MAX_RECORDS
    assert counting.sizes[:parts] == [RECORDS_AT_ONCE] + [RECORDS_A_STEP] * (parts - 1)


def test_removals_of_large_topics_are_applied_one_a_step(desk: Desk) -> None:
    names = ("t", "u", "v")
    for name in names:
        desk.ask(creation(name, partitions=LARGE, factor=3))
        ticks_until_idle(desk)
    counting = desk.committed._apply = Counting()
    desk.send(deletion(*names))
    assert ticks_until_idle(desk) == len(names) - 1
    assert counting.sizes == [1] * len(names)
    follower, log = CommittedImage(counting := Counting()), desk.raft.log
    while follower.offset < log.end_offset:
        follower.advance(log, log.end_offset)
    assert counting.sizes[-len(names) :] == [1] * len(names)
    desk.commit()
    assert follower.image == desk.image
    assert not desk.image.topics


def test_what_waited_for_a_new_leader_is_decided_a_request_a_step() -> None:
    desk = Desk.active()
    epochs = {broker_id: desk.join(broker_id) for broker_id in (1, 2, 3)}
    desk.lose()
    desk.raft.elect()
    desk.advance()
    beats = [desk.send(heartbeat(broker_id, epoch)) for broker_id, epoch in epochs.items()]
    creations = [
        desk.send(creation(f"t{number}", partitions=RECORDS_A_STEP // 2)) for number in range(4)
    ]
    begun = desk.raft.log.end_offset
    counting = desk.committed._apply = Counting()
    desk.commit()
    assert desk.raft.log.end_offset - begun <= RECORDS_A_STEP
    answered = {reply.request for reply in desk.commit()}
    assert {*beats, creations[0]} <= answered
    assert not set(creations[1:]) & answered
    ticks = ticks_until_idle(desk)
    assert ticks == len(creations) - 1
    assert {reply.request for reply in desk.commit()} == set(creations[1:])
    assert max(counting.sizes) <= RECORDS_A_STEP


def test_heartbeats_are_answered_meanwhile_and_changes_wait_for_their_turn(desk: Desk) -> None:
    create = desk.send(creation("t", partitions=LARGE, factor=3))
    beat = desk.send(heartbeat(1, desk.epochs[1]))
    again = desk.send(creation("t"))
    other = desk.send(creation("u"))
    leaving = desk.send(heartbeat(2, desk.epochs[2], want_shut_down=True))
    end = desk.raft.log.end_offset
    answers = {reply.request: reply.message for reply in desk.commit(end)}
    assert not answers[beat].is_fenced
    assert answers[create].topics[0].error_code == ErrorCode.NONE
    assert not {again, other, leaving} & answers.keys()
    ticks_until_idle(desk)
    answers = {reply.request: reply.message for reply in desk.commit() + desk.commit()}
    assert answers[again].topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert answers[other].topics[0].error_code == ErrorCode.NONE
    assert not answers[leaving].should_shut_down


def test_nobody_sees_a_part_of_it(desk: Desk) -> None:
    desk.send(creation("t", partitions=LARGE, factor=3))
    log, follower = desk.raft.log, CommittedImage()
    counts = []
    while follower.offset < log.end_offset:
        follower.advance(log, log.end_offset)
        topics = follower.image.sorted_topics()
        counts.append(sum(len(follower.image.partitions_of(t.topic_id)) for t in topics))
    assert set(counts) == {0, LARGE}
    assert follower.is_behind is False
    assert len(counts) >= MAX_RECORDS // RECORDS_A_STEP
    ticks_until_idle(desk)
    desk.commit()
    assert follower.image == desk.image


def test_a_follower_applies_no_more_records_a_step(desk: Desk) -> None:
    for number in range(30):
        desk.ask(creation(f"t{number}", partitions=99))
    counting = Counting()
    follower, log = CommittedImage(counting), desk.raft.log
    begun = 0
    while follower.offset < log.end_offset:
        follower.advance(log, log.end_offset)
        assert sum(counting.sizes[begun:]) <= RECORDS_A_STEP
        assert follower.is_behind is (follower.offset < log.end_offset)
        begun = len(counting.sizes)
    assert follower.image == desk.image


def test_a_lost_leadership_refuses_what_waited_as_never_tried(desk: Desk) -> None:
    create = desk.send(creation("t", partitions=LARGE))
    other = desk.send(creation("u"))
    desk.lose()
    answers = {reply.request: reply.message for reply in desk.replies()}
    assert answers[create].topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert answers[other].topics[0].error_code == ErrorCode.NOT_CONTROLLER


def test_brokers_of_many_partitions_are_fenced_one_after_the_other(desk: Desk) -> None:
    desk.ask(creation("t", partitions=2 * RECORDS_A_STEP, factor=3))
    ticks_until_idle(desk)
    counting = desk.committed._apply = Counting()
    desk.monotonic += SESSION_NS
    desk.tick(desk.monotonic)
    ticks_until_idle(desk)
    desk.commit()
    assert all(desk.image.brokers[broker_id].fenced for broker_id in (1, 2, 3))
    assert max(counting.sizes) <= RECORDS_A_STEP
    [topic] = desk.image.sorted_topics()
    assert {p.leader for p in desk.image.partitions_of(topic.topic_id)} == {-1}


def test_a_broker_that_comes_back_before_its_turn_is_not_fenced(desk: Desk) -> None:
    desk.ask(creation("t", partitions=2 * RECORDS_A_STEP, factor=3))
    ticks_until_idle(desk)
    desk.monotonic += SESSION_NS
    desk.tick(desk.monotonic)
    desk.send(heartbeat(3, desk.epochs[3]))
    ticks_until_idle(desk)
    desk.commit()
    assert [desk.image.brokers[n].fenced for n in (1, 2, 3)] == [True, True, False]


def test_a_registration_that_waits_gets_the_offset_of_its_own_record(desk: Desk) -> None:
    desk.send(creation("t", partitions=LARGE))
    request = desk.send(registration(9))
    ticks_until_idle(desk)
    replies = desk.commit() + desk.commit()
    [answer] = [reply.message for reply in replies if reply.request == request]
    assert desk.image.brokers[9].epoch == answer.broker_epoch
    [batch] = desk.raft.log.batches(Offset(answer.broker_epoch), desk.raft.log.end_offset)
    assert batch.base_offset == answer.broker_epoch


@pytest.mark.parametrize("is_there", [False, True])
def test_a_deletion_names_at_most_as_many_topics_as_a_request_may_write_records(
    desk: Desk, is_there: bool
) -> None:
    if is_there:
        desk.ask(creation("t-0", partitions=1, factor=3))
    names = [f"t-{number}" for number in range(MAX_RECORDS + 1)]
    refused = desk.ask(deletion(*names))
    assert {one.error_code for one in refused.responses} == {ErrorCode.POLICY_VIOLATION}
    assert [one.name for one in refused.responses] == names
    assert "10001 topics: 10000 are the most" in refused.responses[0].error_message
    assert ("t-0" in desk.image.topic_ids) == is_there
    answered = desk.ask(deletion(*names[:-1]))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert {one.error_code for one in answered.responses[1:]} == {unknown}
    assert answered.responses[0].error_code == (ErrorCode.NONE if is_there else unknown)
