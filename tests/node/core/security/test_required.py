"""Every served request with three principals: nothing is done without the right.

The cases are compared with the served requests, so that a new request without a case goes red.
"""

import pytest

from kraftproof.node.core.audit import Audited
from kraftproof.node.core.effects import Forward
from kraftproof.node.core.metadata.acls import CLUSTER_NAME, Operation
from kraftproof.node.core.security.required import ON_BROKERS, ON_CONTROLLERS
from kraftproof.node.core.served import FORWARDED, served_versions
from kraftproof.node.wire import messages as wire
from kraftproof.node.wire.codec import REQUESTS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from tests.node.core.security.guarded_world import BROKER, CONTROLLER, HOST, GuardedWorld, codes_of
from tests.node.core.security.rights_cases import (
    CHANGES,
    DENIALS,
    OF_CLUSTER,
    ON_BROKER,
    ON_CONTROLLER,
    Case,
)
from tests.node.core.security.rules import ADMIN, ALICE, CLUSTER, NOBODY, entry

UNGRANTED = (Operation.UNKNOWN, Operation.ANY, Operation.ALL)


def served(*, on_controller_listener: bool) -> set[type[Message]]:
    keys = served_versions(on_controller_listener=on_controller_listener)
    return {REQUESTS[key].message for key in keys}


def test_each_served_request_has_its_rights_and_its_case() -> None:
    brokers, controllers = served(on_controller_listener=False), served(on_controller_listener=True)
    assert set(ON_BROKERS) == brokers
    assert set(ON_CONTROLLERS) == controllers
    assert {type(case.message) for case in ON_BROKER} == brokers
    envelope = wire.envelope_request.EnvelopeRequest
    assert {type(case.message) for case in ON_CONTROLLER} == controllers - {envelope}
    assert {type(case.message) for case in CHANGES} == set(FORWARDED)


CASES = [
    *(pytest.param(BROKER, case, id=f"broker-{type(case.message).__name__}") for case in ON_BROKER),
    *(
        pytest.param(CONTROLLER, case, id=f"controller-{type(case.message).__name__}")
        for case in ON_CONTROLLER
    ),
]


@pytest.mark.requirement("590-04")
@pytest.mark.parametrize(("node", "case"), CASES)
def test_a_request_needs_its_right(node: int, case: Case) -> None:
    world = GuardedWorld()
    world.grant(entry(Operation.DESCRIBE, "other-topic", principal="User:someone"))
    before = world.digest
    refused = world.do(case.message, NOBODY, at=node, version=case.version)
    if case.error is None:
        assert not codes_of(refused) & DENIALS
    else:
        assert codes_of(refused) & DENIALS == {case.error}, refused
        assert ErrorCode.NONE not in codes_of(refused) - {0} or world.digest == before
        said = [one for one in world.audited() if one.principal == "User:nobody"]
        assert said, "a denial is in the audit log"
        assert not any(one.is_allowed for one in said)
    assert world.digest == before, "nothing is changed without the right"
    if case.entries:
        world.grant(*case.entries)
    allowed = world.do(case.message, ALICE, at=node, version=case.version)
    assert allowed is not None
    assert not codes_of(allowed) & DENIALS, allowed
    still = world.do(case.message, NOBODY, at=node, version=case.version)
    assert (case.error is None) or codes_of(still) & DENIALS


@pytest.mark.parametrize(("node", "case"), CASES)
def test_a_super_user_needs_no_right(node: int, case: Case) -> None:
    world = GuardedWorld()
    answer = world.do(case.message, ADMIN, at=node, version=case.version)
    assert answer is not None
    assert not codes_of(answer) & DENIALS, answer


KEYS_OF_NODES = frozenset({1, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73})
OF_NODES = [case for case in ON_CONTROLLER if case.message.API_KEY in KEYS_OF_NODES]
"""The requests of brokers and controllers."""
OF_ADMINISTRATORS = [case for case in ON_CONTROLLER if case not in OF_NODES and case.error]


@pytest.mark.requirement("631-04")
@pytest.mark.parametrize("case", OF_NODES, ids=lambda case: type(case.message).__name__)
def test_only_a_node_may_send_the_requests_of_nodes(case: Case) -> None:
    world = GuardedWorld()
    others = [each for each in Operation if each not in {*UNGRANTED, Operation.CLUSTER_ACTION}]
    world.grant(*(entry(each, CLUSTER_NAME, kind=CLUSTER) for each in others))
    before = world.digest
    refused = world.do(case.message, ALICE, at=CONTROLLER, version=case.version)
    assert codes_of(refused) & DENIALS == {ErrorCode.CLUSTER_AUTHORIZATION_FAILED}
    assert world.digest == before
    world.grant(entry(Operation.CLUSTER_ACTION, CLUSTER_NAME, kind=CLUSTER))
    assert (
        not codes_of(world.do(case.message, ALICE, at=CONTROLLER, version=case.version)) & DENIALS
    )


@pytest.mark.requirement("631-04")
@pytest.mark.parametrize("case", OF_ADMINISTRATORS, ids=lambda case: type(case.message).__name__)
def test_the_right_of_a_node_is_no_right_to_administer(case: Case) -> None:
    """Kafka 4.3 serves direct requests of administrators by their own right (KIP-919)."""
    world = GuardedWorld()
    world.grant(entry(Operation.CLUSTER_ACTION, CLUSTER_NAME, kind=CLUSTER))
    before = world.digest
    refused = world.do(case.message, ALICE, at=CONTROLLER, version=case.version)
    assert codes_of(refused) & DENIALS == {case.error}
    assert world.digest == before


@pytest.mark.requirement("631-62")
def test_a_broker_is_unregistered_with_the_right_to_alter_the_cluster_only() -> None:
    world = GuardedWorld()
    request = wire.unregister_broker_request.UnregisterBrokerRequest(broker_id=99)
    assert request.API_KEY == 64
    others = [each for each in Operation if each not in {*UNGRANTED, Operation.ALTER}]
    world.grant(*(entry(each, CLUSTER_NAME, kind=CLUSTER) for each in others))
    for node in (BROKER, CONTROLLER):
        assert codes_of(world.do(request, ALICE, at=node)) == {OF_CLUSTER}
    world.grant(entry(Operation.ALTER, CLUSTER_NAME, kind=CLUSTER))
    for node in (BROKER, CONTROLLER):
        assert codes_of(world.do(request, ALICE, at=node)) == {ErrorCode.NONE}


@pytest.mark.requirement("590-03")
@pytest.mark.parametrize("case", CHANGES, ids=lambda case: type(case.message).__name__)
def test_who_poses_as_a_broker_changes_nothing(case: Case) -> None:
    world = GuardedWorld()
    before = world.digest
    answer = world.do(case.message, ADMIN, at=CONTROLLER, forwarded_by=NOBODY)
    assert isinstance(answer, EnvelopeResponse)
    assert (answer.error_code, answer.response_data) == (OF_CLUSTER, None)
    assert world.digest == before
    if case.error is None:
        return  # the content decides, by the owner of a token: see test_tokens.py
    # A broker with the right brings a principal without a right: the content is refused.
    world.grant(entry(Operation.CLUSTER_ACTION, CLUSTER_NAME, kind=CLUSTER))
    before = world.digest
    inner = world.do(case.message, NOBODY, at=CONTROLLER, forwarded_by=ALICE)
    assert not isinstance(inner, EnvelopeResponse)
    assert case.error in codes_of(inner)
    assert world.digest == before
    # The right to forward is no right of the client.
    assert case.error in codes_of(world.do(case.message, ALICE, at=CONTROLLER, forwarded_by=ALICE))
    assert not codes_of(world.do(case.message, ADMIN, at=CONTROLLER, forwarded_by=ALICE)) & DENIALS


FORWARDED_AT_ONCE = [case for case in CHANGES if "Token" not in type(case.message).__name__]
"""Without the requests about tokens, which a broker refuses on PLAINTEXT before it forwards."""


@pytest.mark.requirement("590-18")
@pytest.mark.parametrize("case", FORWARDED_AT_ONCE, ids=lambda case: type(case.message).__name__)
def test_the_controller_alone_judges_and_logs_a_forwarded_request(case: Case) -> None:
    world = GuardedWorld()
    world.effects.clear()
    world.do(case.message, NOBODY, at=BROKER, version=case.version)
    logged = [
        (node, one.principal, one.host)
        for node, one in world.effects
        if isinstance(one, Audited) and one.principal == "User:nobody"
    ]
    assert {node for node, _, _ in logged} == {CONTROLLER}
    assert {host for _, _, host in logged} == {HOST}, "the address is that of the client"


@pytest.mark.requirement("590-09")
@pytest.mark.parametrize("case", FORWARDED_AT_ONCE, ids=lambda case: type(case.message).__name__)
def test_brokers_forward_in_every_advertised_version(case: Case) -> None:
    message = case.message
    oldest, newest = served_versions(on_controller_listener=False)[message.API_KEY]
    world = GuardedWorld(policy=None)
    versions = range(oldest, newest + 1)
    assert versions
    found = []
    for version in versions:
        world.effects.clear()
        world.do(message, ADMIN, at=BROKER, version=version, by_ms=300)
        found += [
            (effect.version, type(effect.message), effect.principal)
            for node, effect in world.effects
            if node == BROKER and isinstance(effect, Forward)
        ]
    assert found == [(version, type(message), ADMIN) for version in versions]


def test_without_an_authorizer_everybody_may_do_everything() -> None:
    world = GuardedWorld(policy=None)
    for node, cases in ((BROKER, ON_BROKER), (CONTROLLER, ON_CONTROLLER)):
        for case in cases:
            if type(case.message) is wire.unregister_broker_request.UnregisterBrokerRequest:
                continue
            answer = world.do(case.message, NOBODY, at=node, version=case.version)
            assert not codes_of(answer) & DENIALS, case.message
    assert world.audited() == []
