"""Delivery of messages between processes: as objects in memory, or encoded by the codec.

Most runs pass objects, for speed. In a drawn share of runs each message is encoded and decoded as
on a real connection, including Envelopes, so that a value that the wire cannot carry is found.
Frames and headers of connections exist only on the sockets of the server.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol, cast

from msgspec import Struct
from typing_extensions import override

from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.effects import Forward
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Slot
from kraftproof.node.server.envelope import Opened
from kraftproof.node.server.peer_frames import ENVELOPE_VERSION, decode_answer, encode_frame
from kraftproof.node.server.pending_requests import (
    PendingRequest,
    RequestReceiver,
    receive_request,
)
from kraftproof.node.server.requests import Request, answer_frame, parse_request
from kraftproof.node.wire.codec import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import ANONYMOUS, Principal

CONTROLLER: Final = Binding(name="CONTROLLER", host="", port=0, is_controller=True)
LENGTH_BYTES: Final = 4
"""Size of the length in front of a frame's content."""
HARNESS_HOST = "127.0.0.1"
BROKER_HOST = "127.0.0.2"
"""The address of the sender of an Envelope, which is not that of the broker's client."""


class Outgoing(Struct, frozen=True, kw_only=True):
    """A request of a sender; a request with `forward` is sent in an Envelope."""

    message: Message
    version: int
    forward: Forward | None = None
    client_id: str = ""
    principal: Principal = ANONYMOUS
    """The sender of a request without `forward`."""
    forwarded_by: Principal | None = None
    """The sender of a forged Envelope around the request."""
    is_secure: bool = False
    """Whether the request goes to the SASL listener of a broker."""


class Arrived(Struct, frozen=True, kw_only=True):
    """A request as received by its server."""

    message: Message
    version: int
    principal: Principal = ANONYMOUS
    client_host: str = HARNESS_HOST
    forwarded_by: Principal | None = None
    client_id: str = ""
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT


class Transport(Protocol):
    """Encoding of messages; each returned function decodes a message at the receiver."""

    @property
    def bytes_passed(self) -> int:
        """Number of bytes encoded so far."""
        ...

    def request(self, outgoing: Outgoing) -> Callable[[], Arrived]:
        """Encode a request, and return the function that decodes it."""
        ...

    def response(self, outgoing: Outgoing, message: Message) -> Callable[[], Message]:
        """Encode the response to a request, and return the function that decodes it."""
        ...


class InMemoryTransport(Transport):
    """Passes messages as objects."""

    __slots__ = ()

    @property
    @override
    def bytes_passed(self) -> int:
        return 0

    @override
    def request(self, outgoing: Outgoing) -> Callable[[], Arrived]:
        forward = outgoing.forward
        if forward is None:
            arrived = _arrived(outgoing, outgoing.message)
        else:
            arrived = Arrived(
                message=outgoing.message,
                version=outgoing.version,
                principal=forward.principal,
                client_host=forward.client_host,
                forwarded_by=ANONYMOUS,
                client_id=forward.client_id,
            )
        return lambda: arrived

    @override
    def response(self, outgoing: Outgoing, message: Message) -> Callable[[], Message]:
        return lambda: message


class CodecTransport(Transport):
    """Passes messages through the codec."""

    __slots__ = ("_bytes_passed",)

    def __init__(self) -> None:
        self._bytes_passed = 0

    @property
    @override
    def bytes_passed(self) -> int:
        return self._bytes_passed

    @override
    def request(self, outgoing: Outgoing) -> Callable[[], Arrived]:
        forward = outgoing.forward
        if forward is not None:
            payload = self._passed(_envelope(forward))
            return lambda: _from_envelope(payload)
        version = outgoing.version
        data = self._encode_request(outgoing.message, version)
        key = outgoing.message.API_KEY
        return lambda: _arrived(outgoing, decode_request(key, version, data))

    @override
    def response(self, outgoing: Outgoing, message: Message) -> Callable[[], Message]:
        forward, version = outgoing.forward, outgoing.version
        if forward is None:
            if isinstance(message, EnvelopeResponse):
                version = ENVELOPE_VERSION  # the answer to a forged Envelope
            data = self._encode_response(message, version)
            return lambda: decode_response(message.API_KEY, version, data)
        request = _parsed(_envelope(forward))
        opened = request.content
        assert isinstance(opened, Opened), "the envelope was opened as it arrived"
        answer = self._passed(answer_frame(request, message, opened)[LENGTH_BYTES:])
        return lambda: _inner_response(answer, forward)

    def _passed(self, payload: bytes) -> bytes:
        self._bytes_passed += len(payload)
        return payload

    def _encode_request(self, message: Message, version: int) -> bytes:
        data = encode_request(message, version)
        self._bytes_passed += len(data)
        return data

    def _encode_response(self, message: Message, version: int) -> bytes:
        data = encode_response(message, version)
        self._bytes_passed += len(data)
        return data


def _arrived(outgoing: Outgoing, message: Message) -> Arrived:
    """Return a request of the harness as received, with the principal of its sender."""
    return Arrived(
        message=message,
        version=outgoing.version,
        principal=outgoing.principal,
        forwarded_by=outgoing.forwarded_by,
        client_id=outgoing.client_id,
    )


def _envelope(forward: Forward) -> bytes:
    """Return the content of the frame that a broker sends."""
    return encode_frame(forward, forward.correlation, "")[LENGTH_BYTES:]


def _parsed(payload: bytes) -> Request:
    request = parse_request(payload, on_controller_listener=True)
    assert isinstance(request, Request), "a node sends a served version of Envelope"
    content = request.content
    assert isinstance(content, Opened), f"a node refused the Envelope of another node as {content}"
    return request


def _from_envelope(payload: bytes) -> Arrived:
    receiver = _Receiver()
    slot = cast("Slot", None)  # the call of the simulated network takes the answer
    receive_request(receiver, CONTROLLER, BROKER_HOST, _parsed(payload), slot)
    assert receiver.arrived is not None, "each request is handed on"
    return receiver.arrived


class _Receiver(RequestReceiver):
    """Takes the request that the server's code hands to the shell."""

    def __init__(self) -> None:
        self.arrived: Arrived | None = None

    @override
    def receive(self, client: PendingRequest, **request: Any) -> None:
        fields = {name: request[name] for name in Arrived.__struct_fields__}
        self.arrived = Arrived(**fields)


def _inner_response(payload: bytes, forward: Forward) -> Message:
    answer = decode_answer(forward, payload)
    assert answer is not None, "a node answers with what the other node reads"
    return answer
