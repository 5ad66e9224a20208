"""A node that has not loaded its image refuses so that clients ask again (KIP-801)."""

import pytest

from kraftproof.node.core.effects import EndRequest, Reply
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    api_versions_response,
    create_topics_request,
    describe_acls_request,
    describe_acls_response,
    describe_quorum_request,
    describe_quorum_response,
    envelope_response,
    metadata_request,
)
from kraftproof.node.wire.principal import Principal
from tests.node.core.security.guarded_world import BROKER, CONTROLLER, HOST, NODE, GuardedWorld
from tests.node.core.security.rules import ADMIN

BOB = Principal(type="User", name="bob")


@pytest.fixture
def world() -> GuardedWorld:
    """Two nodes that have just started again, with empty disks."""
    world = GuardedWorld()
    for node_id in (CONTROLLER, BROKER):
        world.kill(node_id)
        world.add(node_id, is_broker=node_id == BROKER)
    return world


def ask(
    world: GuardedWorld,
    message: Message,
    principal: Principal = BOB,
    *,
    at: int = BROKER,
    by: Principal | None = None,
) -> Message | EndRequest:
    event = Received(
        request=7_000_000,
        message=message,
        version=message.MAX_VERSION,
        on_controller_listener=at == CONTROLLER,
        principal=principal,
        client_host=HOST,
        forwarded_by=by,
    )
    for effect in world.nodes[at].step(event, world.instant):
        if isinstance(effect, EndRequest):
            return effect
        if isinstance(effect, Reply) and effect.request == event.request:
            return effect.message
    raise AssertionError("no answer")


def test_whole_requests_time_out(world: GuardedWorld) -> None:
    answer = ask(world, describe_acls_request.DescribeAclsRequest())
    assert isinstance(answer, describe_acls_response.DescribeAclsResponse)
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    answer = ask(world, describe_quorum_request.DescribeQuorumRequest(), at=CONTROLLER)
    assert isinstance(answer, describe_quorum_response.DescribeQuorumResponse)
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT


def test_a_request_without_an_error_for_the_whole_ends_the_connection(world: GuardedWorld) -> None:
    answer = ask(world, metadata_request.MetadataRequest(topics=None))
    assert isinstance(answer, EndRequest)
    assert answer.closes_connection


@pytest.mark.requirement("590-03")
def test_the_envelope_of_an_unknown_broker_goes_to_another_controller(world: GuardedWorld) -> None:
    request = create_topics_request.CreateTopicsRequest()
    answer = ask(world, request, ADMIN, at=CONTROLLER, by=BOB)
    assert answer == envelope_response.EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)


def test_super_users_and_requests_without_rights_are_served(world: GuardedWorld) -> None:
    request = api_versions_request.ApiVersionsRequest(
        client_software_name="a", client_software_version="1"
    )
    answer = ask(world, request)
    assert isinstance(answer, api_versions_response.ApiVersionsResponse)
    assert answer.error_code == ErrorCode.NONE
    everything = describe_acls_request.DescribeAclsRequest(
        resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
    )
    answer = ask(world, everything, NODE)
    assert isinstance(answer, describe_acls_response.DescribeAclsResponse)
    assert answer.error_code == ErrorCode.NONE
