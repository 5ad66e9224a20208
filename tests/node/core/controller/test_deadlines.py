"""Each wait of a request ends at its deadline, whatever it waits for."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.controller.topics import MAX_RECORDS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from tests.node.core.controller.desk import Desk, creation, deletion, registration, unregistration

CLIENT_MS = 5
REQUEST_NS = Desk().config.timeouts.request_ns


def wait_until(desk, time_ns):
    """Let time pass as the node does: a tick only when the controller wants one."""
    for _ in range(100):
        deadline = desk.controller.deadline()
        if deadline is None or deadline > time_ns:
            break
        desk.tick(max(deadline, desk.monotonic))
    desk.monotonic = time_ns
    return [(reply.request, errors(reply.message)) for reply in desk.replies()]


def errors(answer):
    results = getattr(answer, "topics", None) or getattr(answer, "responses", None) or (answer,)
    return {result.error_code for result in results}


def looked_up():
    """Return a request whose answer waits for the read barrier."""
    return replace(creation("t", validate_only=True), timeout_ms=CLIENT_MS)


@pytest.mark.parametrize("is_in_flight", [False, True], ids=["first", "behind another's record"])
def test_an_answer_that_waits_for_the_read_barrier_ends_with_request_timed_out(is_in_flight):
    desk = Desk.active(brokers=1)
    if is_in_flight:
        desk.send(creation("u", validate_only=True))
    request = desk.send(looked_up())
    assert wait_until(desk, milliseconds(CLIENT_MS) - 1) == []
    assert wait_until(desk, milliseconds(CLIENT_MS)) == [(request, {ErrorCode.REQUEST_TIMED_OUT})]
    assert request not in [reply.request for reply in desk.commit() + desk.commit()]


def test_a_request_that_names_no_time_ends_within_the_request_time_out():
    desk = Desk.active(brokers=1)
    written = desk.send(registration(2))
    refused = desk.send(unregistration(7))
    assert wait_until(desk, REQUEST_NS - 1) == []
    assert wait_until(desk, REQUEST_NS) == [
        (written, {ErrorCode.REQUEST_TIMED_OUT}),
        (refused, {ErrorCode.REQUEST_TIMED_OUT}),
    ]


@pytest.mark.requirement("590-05")
def test_a_request_that_waits_for_a_claim_was_not_tried_and_says_so():
    desk = Desk()
    desk.raft.elect()
    desk.advance()
    changed = desk.send(replace(creation("t"), timeout_ms=CLIENT_MS))
    forwarded = desk.send(replace(deletion("t"), timeout_ms=CLIENT_MS), forwarded=True)
    registered = desk.send(registration(1))
    assert wait_until(desk, milliseconds(CLIENT_MS) - 1) == []
    desk.tick(milliseconds(CLIENT_MS))
    first, second = desk.replies()
    assert (first.request, errors(first.message)) == (changed, {ErrorCode.NOT_CONTROLLER})
    assert second.request == forwarded
    assert second.message == EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    assert wait_until(desk, REQUEST_NS) == [(registered, {ErrorCode.NOT_CONTROLLER})]
    desk.commit()
    assert "t" not in desk.image.topic_ids


def test_a_claim_does_not_renew_the_time_of_what_waited_for_it():
    desk = Desk()
    desk.raft.elect()
    desk.advance()
    request = desk.send(replace(creation("t"), timeout_ms=CLIENT_MS))
    wait_until(desk, milliseconds(CLIENT_MS) - 1)
    desk.commit(up_to=desk.raft.log.end_offset)
    assert desk.controller.is_active
    desk.tick(milliseconds(CLIENT_MS))
    assert [reply.request for reply in desk.replies()] == [request]


def test_a_request_behind_a_large_batch_ends_at_its_deadline():
    desk = Desk.active(brokers=1)
    desk.send(creation("large", partitions=MAX_RECORDS - 1))
    request = desk.send(replace(creation("t"), timeout_ms=CLIENT_MS))
    desk.tick(milliseconds(CLIENT_MS))
    [reply] = desk.replies()
    assert (reply.request, errors(reply.message)) == (request, {ErrorCode.REQUEST_TIMED_OUT})
    wait_until(desk, milliseconds(CLIENT_MS))
    desk.commit()
    assert sorted(desk.image.topic_ids) == ["large"]
