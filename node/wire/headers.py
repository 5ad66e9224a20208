"""Encode and decode headers of requests (versions 0 to 2) and responses (versions 0 and 1).

The API and its version determine the header's version (node.wire.codec). The client id has a legacy
length even in flexible versions (KIP-482, KIP-511).
"""

import struct
from typing import Final

import msgspec

from kraftproof.node.wire import codec
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer

_REQUEST: Final = struct.Struct(">hhi")
_CORRELATION: Final = struct.Struct(">i")
_WITH_CLIENT_ID: Final = 1
_FLEXIBLE_REQUEST: Final = 2
_FLEXIBLE_RESPONSE: Final = 1


class RequestHeader(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The header of a request."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str | None = None


def encode_request_header(header: RequestHeader, header_version: int) -> bytes:
    """Return the bytes of a request's header.

    Raises:
        WireError: a number does not fit.
    """
    writer = Writer()
    try:
        writer += _REQUEST.pack(header.api_key, header.version, header.correlation_id)
    except struct.error as error:
        raise WireError(f"request header {header}: {error}") from error
    if header_version >= _WITH_CLIENT_ID:
        writer.nullable_string(header.client_id)
    if header_version >= _FLEXIBLE_REQUEST:
        writer.append(0)
    return bytes(writer)


def decode_request_header(reader: Reader, header_version: int) -> RequestHeader:
    """Read a request's header.

    Raises:
        WireError: the bytes are no header.
    """
    api_key, version, correlation_id = reader.unpack(_REQUEST)
    client_id = reader.nullable_string() if header_version >= _WITH_CLIENT_ID else None
    if header_version >= _FLEXIBLE_REQUEST:
        reader.skip_tags()
    return RequestHeader(
        api_key=api_key, version=version, correlation_id=correlation_id, client_id=client_id
    )


def encode_response_header(correlation_id: int, header_version: int) -> bytes:
    """Return the bytes of a response's header."""
    return _CORRELATION.pack(correlation_id) + (b"\0" if header_version else b"")


def decode_response_header(reader: Reader, header_version: int) -> int:
    """Read a response's header, and return the correlation id.

    Raises:
        WireError: the bytes are no header.
    """
    correlation_id: int = reader.unpack(_CORRELATION)[0]
    if header_version >= _FLEXIBLE_RESPONSE:
        reader.skip_tags()
    return correlation_id


def split_request(frame: bytes | memoryview) -> tuple[RequestHeader, memoryview]:
    """Return a request's header and its undecoded body.

    Raises:
        WireError: the header is malformed, or names an unknown API.
    """
    api_key, version, _ = Reader(frame).unpack(_REQUEST)
    reader = Reader(frame)
    header = decode_request_header(reader, codec.header_versions(api_key, version)[0])
    return header, reader.take(reader.remaining)


def split_response(frame: bytes | memoryview, api_key: int, version: int) -> tuple[int, memoryview]:
    """Return a response's correlation id and its undecoded body.

    Raises:
        WireError: the header is malformed.
    """
    reader = Reader(frame)
    correlation_id = decode_response_header(reader, codec.header_versions(api_key, version)[1])
    return correlation_id, reader.take(reader.remaining)
