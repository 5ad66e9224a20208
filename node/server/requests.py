"""One request on a connection: from its frame to a message, and from an answer to a frame.

Not: sockets and order (node/server/connection.py), nor what the answer is (the core).
"""

import struct
from typing import Final

from msgspec import Struct

from kraftproof.node.core.served import served_versions
from kraftproof.node.server.envelope import Opened, Refusal, open_request, wrap_response
from kraftproof.node.server.principals import principal_builder
from kraftproof.node.wire.codec import decode_request, encode_response, header_versions
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.headers import RequestHeader, encode_response_header, split_request
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
)
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.schema import Message

_START: Final = struct.Struct(">hhi")
_API_VERSIONS: Final = ApiVersionsRequest.API_KEY
_SERVED: Final = {
    is_controller: served_versions(on_controller_listener=is_controller)
    for is_controller in (False, True)
}
"""Per kind of listener: the API keys served there and their versions (631-03)."""


class Request(Struct, frozen=True, kw_only=True):
    """A decoded request and what its answer has to look like."""

    header: RequestHeader
    message: Message
    content: Opened | Refusal | None = None
    """The content of an Envelope, or the reason why it is refused; None for any other request."""


def parse_request(payload: bytes, *, on_controller_listener: bool) -> Request | bytes:
    """Return the request of a frame, or the finished answer to one of an unknown version.

    Raises:
        WireError: no request, or one that this listener does not serve.
    """
    if len(payload) < _START.size:
        raise WireError(f"a request of {len(payload)} bytes")
    api_key, version, correlation_id = _START.unpack_from(payload)
    served = _SERVED[on_controller_listener]
    if api_key not in served:
        raise WireError(f"api key {api_key} is not served on this listener")
    smallest, largest = served[api_key]
    if not smallest <= version <= largest:
        if api_key == _API_VERSIONS:
            return _unsupported_api_versions(correlation_id, smallest, largest)
        raise WireError(f"api key {api_key} has no version {version}")
    header, body = split_request(payload)
    message = decode_request(api_key, version, body)
    content = None
    if isinstance(message, EnvelopeRequest):
        content = open_request(message, principal_builder())
    return Request(header=header, message=message, content=content)


def answer_frame(request: Request, message: Message, opened: Opened | None) -> bytes:
    """Return the frame of an answer; that to an envelope's content goes back in an envelope.

    Raises:
        WireError: the message does not fit the version asked in.
    """
    outer = message if opened is None else wrap_response(opened, message)
    header = request.header
    _, response_version = header_versions(header.api_key, header.version)
    return frame(
        encode_response_header(header.correlation_id, response_version),
        encode_response(outer, header.version),
    )


def _unsupported_api_versions(correlation_id: int, smallest: int, largest: int) -> bytes:
    """Version 0 with error 35 and the versions that would do: how clients step down (KIP-511)."""
    only = ApiVersion(api_key=_API_VERSIONS, min_version=smallest, max_version=largest)
    message = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=(only,))
    return frame(encode_response_header(correlation_id, 0), encode_response(message, 0))
