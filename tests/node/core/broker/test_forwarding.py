"""What a broker passes on, and what it never sends twice (KIP-590)."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import EndRequest, Forward, Reply
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftproof.node.wire.messages.generated.broker_registration_request import (
    BrokerRegistrationRequest,
)
from kraftproof.node.wire.messages.generated.create_topics_request import (
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftproof.node.wire.messages.generated.create_topics_response import CreateTopicsResponse
from kraftproof.node.wire.messages.generated.delete_topics_request import (
    DeleteTopicsRequest,
    DeleteTopicState,
)
from kraftproof.node.wire.messages.generated.describe_quorum_request import DescribeQuorumRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.messages.generated.unregister_broker_request import (
    UnregisterBrokerRequest,
)
from tests.node.core.broker.bench import ALICE, TIMEOUTS, Bench

TWO = CreateTopicsRequest(topics=(CreatableTopic(name="a"), CreatableTopic(name="b")), timeout_ms=1)
PATIENCE_NS = 1_000_000
REFUSED = EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)


def forwarded(effects) -> Forward:
    [forward] = [effect for effect in effects if isinstance(effect, Forward)]
    return forward


def forward_later(bench: Bench) -> Forward:
    for _ in range(1000):
        found = [effect for effect in bench.due() if isinstance(effect, Forward)]
        if found:
            return found[0]
    raise AssertionError("nothing was forwarded")


@pytest.mark.requirement("590-10")
@pytest.mark.parametrize(
    "message",
    [TWO, DeleteTopicsRequest(), UnregisterBrokerRequest(broker_id=3), DescribeQuorumRequest()],
    ids=lambda message: type(message).__name__,
)
def test_change_goes_to_the_controller_in_its_version_with_its_principal(message) -> None:
    bench = Bench()
    forward = forwarded(bench.receive(message, version=5))
    assert (forward.destination, forward.message, forward.version) == (101, message, 5)
    assert (forward.principal, forward.client_host) == (ALICE, "10.0.0.1")


def forwardable_versions():
    """Each API of both listeners that writes, in each version that a broker advertises."""
    served = served_versions(on_controller_listener=False)
    for message in (CreateTopicsRequest, DeleteTopicsRequest, UnregisterBrokerRequest):
        oldest, newest = served[message.API_KEY]
        for version in range(oldest, newest + 1):
            yield pytest.param(message, version, id=f"{message.__name__}-v{version}")


@pytest.mark.requirement("590-11")
@pytest.mark.parametrize(("message", "version"), list(forwardable_versions()))
def test_no_version_of_a_request_is_for_controllers_only(message, version) -> None:
    bench = Bench()
    assert forwarded(bench.receive(message(), version=version)).version == version


@pytest.mark.requirement("590-11")
def test_brokers_advertise_every_version_that_controllers_serve() -> None:
    brokers = served_versions(on_controller_listener=False)
    controllers = served_versions(on_controller_listener=True)
    own = {1}  # Fetch is another request on a broker: of topics, not of the metadata log
    shared = (brokers.keys() & controllers.keys()) - own
    assert {19, 20, 55, 64} <= shared
    assert {key: brokers[key] for key in shared} == {key: controllers[key] for key in shared}


@pytest.mark.requirement("590-08")
def test_inner_answer_is_passed_on_unread() -> None:
    bench = Bench()
    inner = CreateTopicsResponse(throttle_time_ms=9)
    forward = forwarded(bench.receive(TWO))
    assert bench.answer(forward, inner) == [Reply(request=1, message=inner)]


@pytest.mark.requirement("590-05")
def test_not_controller_is_tried_again_elsewhere_until_it_works() -> None:
    bench = Bench()
    forward = forwarded(bench.receive(TWO))
    for _ in range(5):
        assert bench.answer(forward, REFUSED) == []
        forward = forward_later(bench)
    bench.answer(forward, REFUSED)
    bench.raft.leader = 102
    bench.advance()
    at = bench.monotonic
    again = forward_later(bench)
    assert (again.destination, bench.monotonic) == (102, at)
    [reply] = bench.answer(again, CreateTopicsResponse())
    assert reply.request == 1


@pytest.mark.requirement("590-05")
def test_lost_answer_is_never_sent_again_and_every_result_is_unknown() -> None:
    bench = Bench()
    [reply] = bench.answer(forwarded(bench.receive(TWO)), None)
    assert [(topic.name, topic.error_code) for topic in reply.message.topics] == [
        ("a", ErrorCode.REQUEST_TIMED_OUT),
        ("b", ErrorCode.REQUEST_TIMED_OUT),
    ]
    sent = []
    for _ in range(50):
        sent += [effect for effect in bench.due() if isinstance(effect, Forward)]
        if bench.monotonic > PATIENCE_NS or bench.broker.deadline() is None:
            break
    assert sent == []


@pytest.mark.requirement("590-05")
@pytest.mark.parametrize(
    ("client_ms", "waits_ms"), [(1, 0.9), (5_000, 4_500), (30_000, 29_000), (600_000, 599_000)]
)
def test_a_forwarded_request_keeps_its_clients_deadline(client_ms: int, waits_ms: float) -> None:
    bench = Bench()
    forward = forwarded(bench.receive(replace(TWO, timeout_ms=client_ms)))
    assert forward.timeout_ns == waits_ms * 1_000_000
    assert forward.connect_ns == min(forward.timeout_ns, TIMEOUTS.request_ns)
    assert forward.message.timeout_ms == max(1, int(waits_ms)), "what is left for the controller"


def test_a_forwarded_request_without_a_deadline_has_the_brokers() -> None:
    forward = forwarded(Bench().receive(UnregisterBrokerRequest(broker_id=3)))
    assert forward.timeout_ns == TIMEOUTS.request_ns


@pytest.mark.parametrize("leader", [NO_NODE, 101])
def test_client_learns_for_sure_that_nothing_was_done_when_its_time_is_up(leader) -> None:
    bench = Bench()
    bench.raft.leader = leader
    bench.advance()
    effects = bench.receive(DeleteTopicsRequest(topics=(DeleteTopicState(name="a"),)))
    replies = []
    for _ in range(2000):
        for effect in effects:
            if isinstance(effect, Forward):
                bench.answer(effect, REFUSED)
        replies += [effect for effect in effects if isinstance(effect, Reply)]
        if replies:
            break
        effects = bench.due()
    [reply] = replies
    [result] = reply.message.responses
    assert (result.name, result.error_code) == ("a", ErrorCode.NOT_CONTROLLER)
    assert bench.monotonic == TIMEOUTS.request_ns


@pytest.mark.requirement("590-05")
def test_client_hears_that_no_controller_was_found_within_its_own_time() -> None:
    bench = Bench()
    bench.raft.leader = NO_NODE
    bench.advance()
    replies = [effect for effect in bench.receive(TWO) if isinstance(effect, Reply)]
    for _ in range(100_000):
        if replies:
            break
        replies = [effect for effect in bench.due() if isinstance(effect, Reply)]
    assert {topic.error_code for topic in replies[0].message.topics} == {ErrorCode.NOT_CONTROLLER}
    assert bench.monotonic == PATIENCE_NS * 9 // 10


@pytest.mark.requirement("590-07")
@pytest.mark.parametrize(
    ("envelope", "client"),
    [
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_refused_envelope_is_not_the_clients_fault(envelope, client) -> None:
    bench = Bench()
    forward = forwarded(bench.receive(UnregisterBrokerRequest(broker_id=3)))
    [reply] = bench.answer(forward, EnvelopeResponse(error_code=envelope))
    assert reply.message.error_code == client


def test_a_version_that_the_controller_lacks_ends_the_connection_of_the_client() -> None:
    bench = Bench()
    forward = forwarded(bench.receive(UnregisterBrokerRequest(broker_id=3)))
    refused = EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    [ended] = bench.answer(forward, refused)
    assert ended == EndRequest(request=1, closes_connection=True)


@pytest.mark.requirement("631-10")
@pytest.mark.parametrize("message", [BrokerRegistrationRequest(), BrokerHeartbeatRequest()])
def test_broker_is_no_controller(message) -> None:
    assert Bench().ask(message).error_code == ErrorCode.NOT_CONTROLLER
