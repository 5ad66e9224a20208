"""Envelopes: what goes in comes out, and what is refused says why (KIP-590)."""

from typing import Any

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward
from kraftproof.node.core.events import Received
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Slot
from kraftproof.node.server.envelope import (
    Opened,
    Refusal,
    open_request,
    open_response,
    wrap_request,
    wrap_response,
)
from kraftproof.node.server.pending_requests import (
    ClientReplies,
    PendingRequest,
    RequestReceiver,
    receive_request,
)
from kraftproof.node.server.requests import Request
from kraftproof.node.shell.request_table import RequestTable
from kraftproof.node.wire.codec import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.headers import RequestHeader, encode_request_header
from kraftproof.node.wire.messages.generated.create_topics_request import (
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftproof.node.wire.messages.generated.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.messages.generated.unregister_broker_request import (
    UnregisterBrokerRequest,
)
from kraftproof.node.wire.messages.generated.unregister_broker_response import (
    UnregisterBrokerResponse,
)
from kraftproof.node.wire.principal import ANONYMOUS, Principal, encode_principal

ALICE = Principal(type="User", name="alice")
REQUEST = CreateTopicsRequest(
    topics=(CreatableTopic(name="a", num_partitions=1, replication_factor=3),), timeout_ms=100
)


def forward(version: int = 7, host: str = "10.0.0.9") -> Forward:
    return Forward(
        destination=NodeId(1),
        correlation=5,
        message=REQUEST,
        version=version,
        principal=ALICE,
        client_host=host,
        timeout_ns=1,
        connect_ns=1,
        client_id="a client",
        client_correlation=77,
    )


def through_the_wire(envelope: EnvelopeRequest) -> EnvelopeRequest:
    decoded = decode_request(envelope.API_KEY, 0, encode_request(envelope, 0))
    assert isinstance(decoded, EnvelopeRequest)
    return decoded


@pytest.mark.requirement("590-01")
@pytest.mark.parametrize("version", range(2, 8))
@pytest.mark.parametrize("host", ["10.0.0.9", "::1"])
def test_a_request_comes_out_as_it_went_in(version: int, host: str) -> None:
    opened = open_request(through_the_wire(wrap_request(forward(version, host))))
    assert isinstance(opened, Opened)
    assert opened.message == REQUEST
    assert (opened.principal, opened.client_host) == (ALICE, host)
    assert opened.header.version == version


@pytest.mark.requirement("590-01")
def test_the_shell_gets_what_an_envelope_held_and_who_vouches_for_its_principal() -> None:
    table = RequestTable(ClientReplies(lambda *_: None))
    received: list[Received] = []

    class Receiver(RequestReceiver):
        def receive(self, client: PendingRequest, **request: Any) -> None:
            received.append(table.receive(client, **request))

    envelope = wrap_request(forward())
    header = RequestHeader(api_key=envelope.API_KEY, version=0, correlation_id=8)
    binding = Binding(name="C", host="", port=1, is_controller=True)
    outer = Request(header=header, message=envelope, content=open_request(envelope))
    receive_request(Receiver(), binding, "10.0.0.4", outer, Slot(None))
    (event,) = received
    assert (event.message, event.version) == (REQUEST, 7)
    assert (event.principal, event.client_host) == (ALICE, "10.0.0.9")
    assert (event.forwarded_by, event.forwarder_host) == (ANONYMOUS, "10.0.0.4")
    assert (event.client_id, event.correlation_id) == ("a client", 77)
    assert event.on_controller_listener


@pytest.mark.requirement("590-02")
@pytest.mark.requirement("590-08")
@pytest.mark.parametrize("version", range(2, 8))
def test_an_answer_comes_out_as_it_went_in(version: int) -> None:
    opened = open_request(wrap_request(forward(version)))
    assert isinstance(opened, Opened)
    result = CreatableTopicResult(name="a", error_code=ErrorCode.TOPIC_ALREADY_EXISTS)
    answer = CreateTopicsResponse(topics=(result,))
    envelope = wrap_response(opened, answer)
    assert envelope.error_code == 0, "inner errors stay inside"
    decoded = decode_response(envelope.API_KEY, 0, encode_response(envelope, 0))
    assert isinstance(decoded, EnvelopeResponse)
    inner = open_response(decoded, forward(version))
    assert isinstance(inner, CreateTopicsResponse)
    assert inner.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


@pytest.mark.requirement("590-02")
def test_an_error_of_a_whole_inner_answer_stays_inside() -> None:
    request = UnregisterBrokerRequest(broker_id=3)
    effect = replace(forward(), message=request, version=0)
    opened = open_request(wrap_request(effect))
    assert isinstance(opened, Opened)
    denied = UnregisterBrokerResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    envelope = wrap_response(opened, denied)
    assert envelope.error_code == ErrorCode.NONE
    assert open_response(envelope, effect) == denied


@pytest.mark.requirement("590-08")
def test_an_inner_answer_has_the_clients_correlation_id() -> None:
    opened = open_request(wrap_request(forward()))
    assert isinstance(opened, Opened)
    envelope = wrap_response(opened, CreateTopicsResponse())
    assert int.from_bytes(envelope.response_data[:4], "big") == 77
    other = replace(envelope, response_data=bytes(4) + envelope.response_data[4:])
    with pytest.raises(WireError, match="correlation id 0, the request 77"):
        open_response(other, forward())


def test_a_refusal_of_the_envelope_itself_is_passed_on() -> None:
    opened = open_request(wrap_request(forward()))
    assert isinstance(opened, Opened)
    refusal = EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    assert wrap_response(opened, refusal) is refusal
    assert open_response(refusal, forward()) is refusal


def inner(api_key: int, version: int, body: bytes, header_version: int = 2) -> bytes:
    header = RequestHeader(api_key=api_key, version=version, correlation_id=1)
    return encode_request_header(header, header_version) + body


@pytest.mark.requirement("590-06")
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"request_data": b""}, ErrorCode.UNSUPPORTED_VERSION),
        ({"request_data": b"\0\x13"}, ErrorCode.UNSUPPORTED_VERSION),
        ({"request_data": inner(19, 99, b"")}, ErrorCode.UNSUPPORTED_VERSION),
        ({"request_data": inner(19, 7, b"\xff\xff\xff\xff\x0f")}, ErrorCode.UNSUPPORTED_VERSION),
        ({"request_data": inner(999, 0, b"")}, ErrorCode.UNSUPPORTED_VERSION),
        ({"request_data": inner(18, 0, b"", 1)}, ErrorCode.INVALID_REQUEST),
        ({"request_principal": b""}, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"request_principal": None}, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"request_principal": b"\0\x09abc"}, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"client_host_address": b"123"}, ErrorCode.INVALID_REQUEST),
        ({"client_host_address": b""}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_an_envelope_is_refused_for(
    changes: dict[str, bytes | None], error: ErrorCode
) -> None:
    good = wrap_request(forward())
    fields: dict[str, bytes | None] = {
        "request_data": good.request_data,
        "request_principal": good.request_principal,
        "client_host_address": good.client_host_address,
        **changes,
    }
    data, address = fields["request_data"], fields["client_host_address"]
    assert data is not None
    assert address is not None
    envelope = EnvelopeRequest(
        request_data=data,
        request_principal=fields["request_principal"],
        client_host_address=address,
    )
    assert open_request(envelope) == Refusal(error)


@pytest.mark.requirement("590-06")
def test_an_envelope_in_an_envelope_is_refused() -> None:
    nested = wrap_request(forward())
    envelope = EnvelopeRequest(
        request_data=inner(58, 0, encode_request(nested, 0)),
        request_principal=encode_principal(ALICE),
        client_host_address=bytes(4),
    )
    assert open_request(envelope) == Refusal(ErrorCode.INVALID_REQUEST)


def test_an_answer_that_is_none_is_a_wire_error() -> None:
    for data in (None, b"", b"\0\0\0\0\xff"):
        with pytest.raises(WireError):
            open_response(EnvelopeResponse(response_data=data), forward())
