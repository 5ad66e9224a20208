"""ElectLeaders, unclean elections, and what fencing does where they are allowed."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import elect_leaders_request
from tests.node.core.controller.configs.asking import TOPIC, incremental, resource
from tests.node.core.controller.desk import Desk
from tests.node.core.controller.partitions.asking import (
    alter,
    cluster,
    fence,
    leave,
    partition,
    unfence,
)
from tests.node.core.controller.partitions.requests import allow_unclean, codes, election

pytestmark = pytest.mark.requirement("497-13")
UNCLEAN = "unclean.leader.election.enable"


def led(desk: Desk, index: int = 0):
    now = partition(desk, index)
    return now.leader, now.isr, now.recovery_state


def leaderless() -> Desk:
    """Replicas 1, 2, 3: only 1 was in sync, and 1 is fenced."""
    desk = cluster((1, 2, 3))
    for broker_id in (2, 3, 1):
        fence(desk, broker_id)
    unfence(desk, 2)
    assert led(desk) == (-1, (1,), 0)
    return desk


def test_the_preferred_replica_leads_again_where_it_is_in_sync() -> None:
    desk = cluster((1, 2), (2, 1), (1, 2))
    fence(desk, 1)
    unfence(desk, 1)
    assert led(desk)[0] == 2
    assert codes(desk.ask(election(0, 1, 7))) == [
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    alter(desk, 2, 1, caller=2)
    epoch = partition(desk).leader_epoch
    assert codes(desk.ask(election(0, 0))) == [ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED]
    assert (led(desk), partition(desk).leader_epoch) == ((1, (2, 1), 0), epoch + 1)
    assert codes(desk.ask(election(0, name="x"))) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_an_election_of_all_leaves_out_what_needs_none() -> None:
    desk = cluster((1, 2), (2, 1), (1, 2))
    fence(desk, 1)
    unfence(desk, 1)
    alter(desk, 2, 1, caller=2, index=2)
    (topic,) = desk.ask(election()).replica_election_results
    found = {one.partition_id: one.error_code for one in topic.partition_result}
    assert found == {0: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, 2: ErrorCode.NONE}
    fine = cluster((1, 2))
    assert fine.ask(election()).replica_election_results == ()


def test_an_unclean_election_by_request_needs_no_configuration() -> None:
    desk = leaderless()
    epoch = partition(desk).leader_epoch
    assert codes(desk.ask(election(0))) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    assert codes(desk.ask(election(0, unclean=True))) == [ErrorCode.NONE]
    assert (led(desk), partition(desk).leader_epoch) == ((2, (2,), 1), epoch + 1)
    assert codes(desk.ask(election(0, unclean=True))) == [ErrorCode.ELECTION_NOT_NEEDED]
    assert alter(desk, 2, caller=2, leader_recovery_state=0).error_code == ErrorCode.NONE
    assert led(desk) == (2, (2,), 0)


def test_an_unclean_election_needs_a_live_replica() -> None:
    desk = cluster((1, 2))
    for broker_id in (2, 1):
        fence(desk, broker_id)
    request = election(0, unclean=True)
    assert codes(desk.ask(request)) == [ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE]


@pytest.mark.parametrize("kind", [2, -1])
def test_an_unknown_election_is_refused_as_a_whole(kind: int) -> None:
    request = elect_leaders_request.ElectLeadersRequest(election_type=kind)
    assert cluster((1,)).ask(request).error_code == ErrorCode.INVALID_REQUEST


def test_a_request_of_too_many_partitions_is_refused() -> None:
    desk = cluster((1,))
    answer = desk.ask(election(*range(10_001)))
    assert answer.error_code == ErrorCode.POLICY_VIOLATION


def test_the_configuration_elects_at_once_when_it_is_switched_on() -> None:
    desk = leaderless()
    change = incremental(resource(TOPIC, "t", (UNCLEAN, "true")), validate_only=True)
    desk.ask(change)
    assert led(desk)[0] == -1
    desk.ask(incremental(resource(TOPIC, "t", (UNCLEAN, "true"))))
    assert led(desk) == (2, (2,), 1)


def test_the_values_of_all_brokers_hold_for_topics_without_their_own() -> None:
    for own, leader in ((None, 2), ("false", -1)):
        desk = leaderless()
        if own is not None:
            desk.ask(incremental(resource(TOPIC, "t", (UNCLEAN, own))))
        desk.ask(incremental(resource(4, "", (UNCLEAN, "true"))))
        assert led(desk)[0] == leader


@pytest.mark.requirement("631-53")
def test_fencing_elects_from_outside_the_isr_only_where_that_is_allowed() -> None:
    for is_allowed in (False, True):
        desk = cluster((1, 2))
        fence(desk, 2)
        unfence(desk, 2)
        if is_allowed:
            allow_unclean(desk)
        fence(desk, 1)
        assert led(desk) == ((2, (2,), 1) if is_allowed else (-1, (1,), 0))


@pytest.mark.requirement("631-54")
def test_unfencing_elects_from_outside_the_isr_only_where_that_is_allowed() -> None:
    for is_allowed in (False, True):
        desk = cluster((1, 2))
        for broker_id in (2, 1):
            fence(desk, broker_id)
        if is_allowed:
            allow_unclean(desk)
        unfence(desk, 2)
        assert led(desk) == ((2, (2,), 1) if is_allowed else (-1, (1,), 0))


@pytest.mark.requirement("631-61")
def test_a_broker_that_shuts_down_is_elected_by_no_request() -> None:
    desk = cluster((1, 2), (2, 1))
    leave(desk, 1)
    assert codes(desk.ask(election(0))) == [ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE]
    assert led(desk) == (2, (2,), 0)
