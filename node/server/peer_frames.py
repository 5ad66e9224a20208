"""Encode requests to other nodes as frames, and decode the answers; an Envelope is opened."""

from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.server.envelope import open_response, wrap_request
from kraftproof.node.server.principals import principal_builder
from kraftproof.node.wire.codec import decode_response, encode_request, header_versions
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.headers import RequestHeader, encode_request_header, split_response
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.schema import Message

ENVELOPE_VERSION = 0


def encode_frame(request: Send | Forward, correlation_id: int, client_id: str) -> bytes:
    """Return the frame of a request."""
    message: Message
    if isinstance(request, Forward):
        message, version = wrap_request(request, principal_builder()), ENVELOPE_VERSION
    else:
        message, version = request.message, request.version
    header = RequestHeader(
        api_key=message.API_KEY,
        version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    header_version, _ = header_versions(header.api_key, version)
    return frame(encode_request_header(header, header_version), encode_request(message, version))


def decode_answer(request: Send | Forward, payload: bytes) -> Message | None:
    """Return the answer to the request, or None if the bytes are anything else."""
    try:
        if not isinstance(request, Forward):
            return _response(payload, request.message.API_KEY, request.version)
        envelope = _response(payload, EnvelopeRequest.API_KEY, ENVELOPE_VERSION)
        assert isinstance(envelope, EnvelopeResponse), "the key says so"
        return open_response(envelope, request)
    except WireError:
        return None


def _response(payload: bytes, api_key: int, version: int) -> Message:
    _, body = split_response(payload, api_key, version)
    return decode_response(api_key, version, body)
