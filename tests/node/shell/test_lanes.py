"""Requests to peers: each ends once, lost, answered or refused."""

import pytest

from kraftproof.node.core.events import Answered, Unanswered
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from tests.node.shell.effects import ANSWER, SECOND, forward, send
from tests.node.shell.in_memory_ports import Rig

REFUSED = EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)


def ends(rig):
    return [event for event in rig.node.events if isinstance(event, Answered | Unanswered)]


def lost(*correlations):
    return [Unanswered(correlation=correlation) for correlation in correlations]


def answered(correlation, message=ANSWER):
    return Answered(correlation=correlation, message=message)


def asked(*effects):
    rig = Rig()
    rig.start(*effects)
    return rig, rig.peers.made[0]


def test_each_peer_and_kind_of_traffic_has_a_connection_of_its_own():
    rig, _ = asked(send(1), send(2), send(3, is_fetch=True), send(4, destination=2), forward(5))
    assert [made.sent for made in rig.peers.made] == [[0, 1], [0], [0], [0]]
    assert rig.shell.destinations == {1, 2}


def test_an_answer_resumes_its_request():
    rig, connection = asked(send(7), send(8))
    connection.answer(0, ANSWER)
    connection.answer(1, ANSWER)
    assert ends(rig) == [answered(7), answered(8)]


@pytest.mark.requirement("595-57")
def test_a_time_out_is_the_end_of_the_connection_and_of_all_in_flight():
    rig, connection = asked(send(1), send(2, timeout_ns=5 * SECOND))
    rig.timers.wait_until(SECOND - 1)
    assert ends(rig) == []
    rig.timers.wait_until(SECOND)
    assert ends(rig) == lost(1, 2)
    assert connection.is_closed
    rig.step(send(3))
    assert len(rig.peers.made) == 2
    rig.timers.wait_until(10 * SECOND)
    assert ends(rig) == lost(1, 2, 3)


def test_the_shortest_time_out_counts_whatever_was_sent_before():
    rig, _ = asked(send(1, timeout_ns=5 * SECOND), send(2))
    rig.timers.wait_until(SECOND)
    assert ends(rig) == lost(1, 2)


def test_the_time_out_of_an_answered_request_ends_nothing():
    rig, connection = asked(send(1), send(2, timeout_ns=5 * SECOND))
    connection.answer(0, ANSWER)
    rig.timers.wait_until(5 * SECOND - 1)
    assert ends(rig) == [answered(1)]
    rig.timers.wait_until(5 * SECOND)
    assert ends(rig) == [answered(1), *lost(2)]


def test_an_answer_of_an_earlier_connection_resumes_no_later_request():
    rig, earlier = asked(send(1))
    earlier.end()
    rig.step(send(2))
    later = rig.peers.made[1]
    assert later.sent == earlier.sent == [0]
    earlier.answer(0, ANSWER)
    earlier.end()
    assert ends(rig) == lost(1)
    later.answer(0, ANSWER)
    assert ends(rig) == [*lost(1), answered(2)]


@pytest.mark.parametrize(("correlation_id", "message"), [(1, ANSWER), (0, None)])
def test_bytes_that_answer_no_request_are_the_end_of_the_connection(correlation_id, message):
    rig, connection = asked(send(1))
    connection.is_established = True
    connection.answer(correlation_id, message)
    assert ends(rig) == lost(1)
    assert connection.is_closed


@pytest.mark.requirement("590-05")
def test_a_forward_is_refused_if_no_connection_was_ever_established():
    rig, connection = asked(forward(1))
    connection.end()
    assert ends(rig) == [answered(1, REFUSED)]


@pytest.mark.requirement("590-05")
def test_a_forward_that_may_have_left_is_lost():
    rig, connection = asked(forward(1))
    connection.is_established = True
    connection.end()
    assert ends(rig) == lost(1)


def test_a_send_that_never_left_is_lost_all_the_same():
    rig, connection = asked(send(1))
    connection.end()
    assert ends(rig) == lost(1)


@pytest.mark.parametrize("is_established", [False, True])
def test_a_forward_waits_for_a_connection_no_longer_than_its_bound(is_established):
    rig, connection = asked(forward(1))
    rig.timers.wait_until(SECOND // 2)
    connection.is_established = is_established
    rig.timers.wait_until(SECOND)
    assert ends(rig) == ([] if is_established else [answered(1, REFUSED)])


def test_the_bound_of_one_connection_does_not_end_the_next():
    rig, connection = asked(forward(1))
    connection.end()
    rig.step(forward(2, connect_ns=3 * SECOND))
    rig.timers.wait_until(SECOND)
    assert ends(rig) == [answered(1, REFUSED)]


def test_a_node_that_ends_hears_of_no_request():
    rig, connection = asked(send(1), forward(2))
    rig.shell.close()
    assert connection.is_closed
    rig.timers.wait_until(10 * SECOND)
    assert ends(rig) == []


def test_the_two_listeners_of_a_node_are_two_peers():
    rig = Rig()
    rig.start(send(1), send(2, is_to_broker=True), send(3), send(4, is_to_broker=True))
    assert rig.peers.targets == [(1, False), (1, True)]
    assert rig.peers.made[1].sent == [0, 1]
