"""Delivery of messages between processes: as objects in memory, or encoded by the codec.

Most runs pass objects, for speed. In a drawn share of runs each message is encoded and decoded as
on a real connection, including Envelopes, so that a value that the wire cannot carry is found.
Frames and headers of connections exist only on the sockets of the server.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from typing_extensions import override

from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.effects import Forward
from kraftproof.node.server.envelope import (
    Opened,
    open_request,
    open_response,
    wrap_request,
    wrap_response,
)
from kraftproof.node.wire.codec import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import ANONYMOUS, Principal

ENVELOPE_VERSION = 0
HARNESS_HOST = "127.0.0.1"


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
            envelope = self._encode_request(wrap_request(forward), ENVELOPE_VERSION)
            return lambda: _from_envelope(envelope)
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
        opened = _open(wrap_request(forward))
        data = self._encode_response(wrap_response(opened, message), ENVELOPE_VERSION)
        return lambda: _inner_response(data, forward)

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


def _from_envelope(data: bytes) -> Arrived:
    envelope = decode_request(EnvelopeRequest.API_KEY, ENVELOPE_VERSION, data)
    assert isinstance(envelope, EnvelopeRequest), "the key says so"
    opened = _open(envelope)
    return Arrived(
        message=opened.message,
        version=opened.header.version,
        principal=opened.principal,
        client_host=opened.client_host,
        forwarded_by=ANONYMOUS,
        client_id=opened.header.client_id or "",
    )


def _inner_response(data: bytes, forward: Forward) -> Message:
    envelope = decode_response(EnvelopeResponse.API_KEY, ENVELOPE_VERSION, data)
    assert isinstance(envelope, EnvelopeResponse), "the key says so"
    return open_response(envelope, forward)


def _open(envelope: EnvelopeRequest) -> Opened:
    opened = open_request(envelope)
    assert isinstance(opened, Opened), f"a node refused the Envelope of another node as {opened}"
    return opened
