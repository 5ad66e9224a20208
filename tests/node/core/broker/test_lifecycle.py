"""The broker's life: states, registration, heartbeats, shutdown."""

import pytest

from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.broker.lifecycle import TRANSITIONS, BrokerState, Transition, after
from kraftproof.node.core.controller.brokers import METADATA_VERSION
from kraftproof.node.core.effects import Exit, OpenClientListeners
from kraftproof.node.core.metadata.changes import set_feature
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftproof.node.wire.messages.generated.broker_heartbeat_response import (
    BrokerHeartbeatResponse,
)
from kraftproof.node.wire.messages.generated.broker_registration_request import (
    BrokerRegistrationRequest,
)
from kraftproof.node.wire.messages.generated.broker_registration_response import (
    BrokerRegistrationResponse,
)
from tests.node.core.broker.bench import TIMEOUTS, Bench, exits

EPOCH = 42


def registered(bench: Bench) -> None:
    sent = bench.next_send()
    assert isinstance(sent.message, BrokerRegistrationRequest)
    bench.answer(sent, BrokerRegistrationResponse(broker_epoch=EPOCH))


def running() -> Bench:
    bench = Bench()
    registered(bench)
    bench.see(EPOCH + 1)
    bench.answer(bench.next_send(), BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False))
    assert bench.broker.state is BrokerState.RUNNING
    return bench


def test_broker_that_lacks_a_feature_of_the_cluster_names_it() -> None:
    bench = Bench()
    bench.committed.image = set_feature(EMPTY_IMAGE, METADATA_VERSION, 31)
    answer = BrokerRegistrationResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    end = bench.exit(answer)
    assert end.reason.endswith(
        "UNSUPPORTED_VERSION: the cluster has metadata.version 31, "
        "and this node supports metadata.version 7 to 30 alone"
    )


@pytest.mark.requirement("631-58")
@pytest.mark.requirement("631-59")
def test_states_have_released_numbers_and_no_other_transitions() -> None:
    assert [state.value for state in BrokerState] == [0, 1, 2, 3, 6, 7]
    allowed = {(start.value, end.value) for (start, _), end in TRANSITIONS.items()}
    assert allowed == {(0, 1), (1, 2), (2, 3), (1, 6), (2, 6), (3, 6), (6, 7)}
    for state in BrokerState:
        for transition in Transition:
            if (state, transition) not in TRANSITIONS:
                with pytest.raises(AssertionError, match="impossible"):
                    after(state, transition)


@pytest.mark.requirement("631-46")
@pytest.mark.requirement("631-55")
@pytest.mark.requirement("631-56")
@pytest.mark.requirement("631-57")
def test_broker_registers_catches_up_opens_its_listeners_and_asks_to_be_unfenced() -> None:
    bench = Bench()
    assert bench.broker.state is BrokerState.STARTING
    sent = bench.next_send()
    request = sent.message
    assert (sent.destination, request.broker_id, request.cluster_id) == (101, 1, "a-cluster")
    assert [(entry.name, entry.port) for entry in request.listeners] == [("CLIENT", 9001)]
    assert (request.incarnation_id, request.rack) == (bench.config.incarnation, "r1")
    bench.answer(sent, BrokerRegistrationResponse(broker_epoch=EPOCH))
    heartbeat = bench.next_send()
    assert heartbeat.message.want_fence
    assert bench.see(EPOCH) == []
    assert bench.broker.state is BrokerState.STARTING
    assert bench.see(EPOCH + 1) == [OpenClientListeners()]
    assert bench.broker.state is BrokerState.RECOVERY
    bench.answer(heartbeat, BrokerHeartbeatResponse(is_fenced=True))
    assert bench.broker.state is BrokerState.RECOVERY
    wants = bench.next_send()
    assert wants.message == BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=EPOCH, current_metadata_offset=EPOCH
    )
    bench.answer(wants, BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False))
    assert bench.broker.state is BrokerState.RUNNING


@pytest.mark.requirement("631-46")
@pytest.mark.requirement("631-47")
def test_heartbeats_come_every_interval() -> None:
    bench = running()
    start = bench.monotonic
    for number in range(1, 4):
        sent = bench.next_send()
        assert bench.monotonic == start + number * TIMEOUTS.heartbeat_interval_ns
        bench.answer(sent, BrokerHeartbeatResponse(is_fenced=False))


@pytest.mark.requirement("631-47")
@pytest.mark.parametrize(
    "answer", [None, BrokerHeartbeatResponse(error_code=ErrorCode.NOT_CONTROLLER)]
)
def test_lost_or_refused_heartbeat_is_tried_at_the_new_controller(answer) -> None:
    bench = running()
    sent = bench.next_send()
    at = bench.monotonic
    bench.answer(sent, answer)
    bench.raft.leader = 102
    again = bench.next_send()
    assert again.destination == 102
    assert at < bench.monotonic <= at + TIMEOUTS.retry_backoff_max_ns


@pytest.mark.requirement("631-47")
def test_new_controller_is_asked_without_waiting_for_the_old_ones_answer() -> None:
    bench = running()
    old = bench.next_send()
    bench.raft.leader = 102
    bench.advance()
    new = bench.next_send()
    assert new.destination == 102
    bench.answer(old, BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    bench.answer(new, BrokerHeartbeatResponse(is_fenced=False))
    assert bench.next_send().message.broker_epoch == EPOCH


@pytest.mark.requirement("631-47")
def test_failed_heartbeat_goes_to_a_new_controller_as_soon_as_it_is_known() -> None:
    bench = running()
    for _ in range(4):
        bench.answer(bench.next_send(), None)
    at = bench.monotonic
    bench.raft.leader = NO_NODE
    bench.advance()
    bench.raft.leader = 102
    bench.advance()
    assert (bench.next_send().destination, bench.monotonic) == (102, at)


@pytest.mark.requirement("631-46")
def test_new_controller_does_not_hurry_a_heartbeat_that_is_not_due() -> None:
    bench = running()
    at = bench.monotonic
    bench.raft.leader = 102
    bench.advance()
    assert bench.next_send().destination == 102
    assert bench.monotonic == at + TIMEOUTS.heartbeat_interval_ns


@pytest.mark.requirement("631-45")
@pytest.mark.parametrize("leader", [NO_NODE, 101])
def test_broker_that_cannot_register_in_time_exits_and_says_why(leader) -> None:
    bench = Bench()
    bench.raft.leader = leader
    answer = BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    end = bench.exit(answer)
    assert bench.monotonic == TIMEOUTS.initial_registration_ns
    assert end.status == 1
    assert "initial.broker.registration.timeout.ms" in end.reason
    wanted = "no controller is known" if leader == NO_NODE else "DUPLICATE_BROKER_REGISTRATION"
    assert wanted in end.reason
    assert bench.broker.deadline() is None
    assert bench.tick() == []


def test_broker_whose_epoch_became_stale_registers_again() -> None:
    bench = running()
    stale = BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    bench.answer(bench.next_send(), stale)
    sent = bench.next_send()
    assert isinstance(sent.message, BrokerRegistrationRequest)
    bench.answer(sent, BrokerRegistrationResponse(broker_epoch=EPOCH + 9))
    heartbeat = bench.next_send().message
    assert (heartbeat.broker_epoch, heartbeat.want_fence) == (EPOCH + 9, False)


def test_fenced_running_broker_goes_on() -> None:
    bench = running()
    bench.answer(bench.next_send(), BrokerHeartbeatResponse(is_fenced=True))
    assert bench.broker.state is BrokerState.RUNNING


@pytest.mark.requirement("631-46")
@pytest.mark.requirement("631-58")
@pytest.mark.requirement("631-60")
def test_broker_stops_only_when_its_shutdown_is_granted() -> None:
    bench = running()
    bench.broker.stop(bench.now)
    assert bench.broker.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    first = bench.next_send()
    assert first.message.want_shut_down
    assert exits(bench.answer(first, BrokerHeartbeatResponse(is_fenced=False))) == []
    bench.broker.stop(bench.now)
    effects = bench.answer(bench.next_send(), BrokerHeartbeatResponse(should_shut_down=True))
    assert effects == [Exit(status=0, reason="the controlled shutdown has finished")]
    assert bench.broker.state is BrokerState.SHUTTING_DOWN
    assert bench.broker.deadline() is None


def test_shutdown_that_nobody_grants_ends_within_a_session() -> None:
    bench = running()
    bench.broker.stop(bench.now)
    start = bench.monotonic
    end = bench.exit(None)
    assert bench.monotonic == start + TIMEOUTS.session_ns
    assert end.status == 0


def test_broker_without_registration_stops_at_once() -> None:
    bench = Bench()
    bench.broker.stop(bench.now)
    assert exits(bench.advance())[0].status == 0
    assert bench.broker.state is BrokerState.SHUTTING_DOWN


def test_unregistered_broker_does_not_wait_for_a_grant() -> None:
    bench = running()
    bench.broker.stop(bench.now)
    stale = BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    assert exits(bench.answer(bench.next_send(), stale))[0].status == 0
