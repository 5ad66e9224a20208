"""The hosts of a client and of the broker that forwards the client's request (KIP-590)."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.events import RefusedEnvelope
from kraftproof.node.core.gate import refused_at_once
from kraftproof.node.core.metadata.acls import Operation
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.create_topics_request import CreateTopicsRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.messages.generated.metadata_request import MetadataRequest
from kraftproof.node.wire.principal import Principal
from tests.node.core.security.rules import CLUSTER, POLICY, TOPIC, entry, received
from tests.node.core.security.test_authorizer import loaded

ALL, READ, CLUSTER_ACTION = Operation.ALL, Operation.READ, Operation.CLUSTER_ACTION
BOB = Principal(type="User", name="bob")


@pytest.mark.requirement("590-03")
@pytest.mark.parametrize(("host", "is_allowed"), [("10.0.0.7", False), ("10.0.0.8", True)])
def test_an_entry_of_a_host_holds_for_the_forwarding_broker(host, is_allowed) -> None:
    """The client's own host, 10.0.0.7, is no matter for the right to forward."""
    may_forward = entry(CLUSTER_ACTION, "kafka-cluster", kind=CLUSTER, principal="User:bob")
    denial = entry(
        ALL, "kafka-cluster", kind=CLUSTER, principal="User:bob", host="10.0.0.7", denies=True
    )
    authorizer = Authorizer(POLICY, loaded(may_forward, denial), Outbox())
    event = received(CreateTopicsRequest(), forwarded_by=BOB, host="10.0.0.7")
    assert authorizer.allows_forwarder(replace(event, forwarder_host=host)) is is_allowed
    unreadable = RefusedEnvelope(refused_with=ErrorCode.INVALID_REQUEST)
    answer = refused_at_once(authorizer, received(unreadable, BOB, version=0, host=host))
    denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    expected = ErrorCode.INVALID_REQUEST if is_allowed else denied
    assert answer == EnvelopeResponse(error_code=expected)


@pytest.mark.requirement("590-04")
@pytest.mark.parametrize(("host", "is_allowed"), [("10.0.0.7", False), ("10.0.0.8", True)])
def test_an_entry_of_a_host_holds_for_the_client_of_a_broker(host, is_allowed) -> None:
    """The forwarding broker's own host, 10.0.0.7, is no matter for the request itself."""
    denial = entry(ALL, host="10.0.0.7", denies=True)
    authorizer = Authorizer(POLICY, loaded(entry(READ), denial), Outbox())
    sent = received(MetadataRequest(), forwarded_by=BOB, host=host)
    event = replace(sent, forwarder_host="10.0.0.7")
    assert authorizer.allows(event, READ, TOPIC, "t") is is_allowed
