"""Encode and decode bodies of requests and responses in every supported version.

The functions for each message and version are generated. See node.wire.headers for headers,
node.wire.frames for frames, and KIP-482 for flexible versions.
"""

from collections.abc import Mapping
from typing import Final, cast

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.fetched_records import with_metadata_batches
from kraftproof.node.wire.messages.generated import index
from kraftproof.node.wire.messages.generated.fetch_response import FetchResponse
from kraftproof.node.wire.primitives import Reader
from kraftproof.node.wire.schema import Message, Schema

REQUESTS: Final[Mapping[int, Schema]] = {schema.key: schema for schema in index.REQUESTS}
RESPONSES: Final[Mapping[int, Schema]] = {schema.key: schema for schema in index.RESPONSES}
SUPPORTED: Final[Mapping[int, tuple[int, int]]] = {
    key: (schema.min_version, schema.max_version) for key, schema in sorted(REQUESTS.items())
}
_API_VERSIONS: Final = 18


def encode_request(message: Message, version: int) -> bytes:
    """Return the body of a request.

    Raises:
        WireError: the version does not exist or can't carry the message.
    """
    return _schema(REQUESTS, message.API_KEY).encode(message, version)


def encode_response(message: Message, version: int) -> bytes:
    """Return the body of a response.

    Raises:
        WireError: the version does not exist or can't carry the message.
    """
    return _schema(RESPONSES, message.API_KEY).encode(message, version)


def decode_request(api_key: int, version: int, body: bytes | memoryview) -> Message:
    """Return the request at the start of `body`; trailing bytes, as from librdkafka, are ignored.

    Raises:
        WireError: the bytes are no request of this API and version.
    """
    return cast("Message", _schema(REQUESTS, api_key).decode(Reader(body), version))


def decode_response(api_key: int, version: int, body: bytes | memoryview) -> Message:
    """Return the response in `body`; batches of the metadata log are decoded.

    Raises:
        WireError: the bytes are no response of this API and version, or bytes are left over.
    """
    reader = Reader(body)
    message = _schema(RESPONSES, api_key).decode(reader, version)
    if reader.remaining:
        raise WireError(f"{reader.remaining} bytes after {type(message).__name__} v{version}")
    if isinstance(message, FetchResponse):
        return with_metadata_batches(message)
    return cast("Message", message)


def header_versions(api_key: int, version: int) -> tuple[int, int]:
    """Return the versions of the request's and the response's header.

    The response to ApiVersions always has header version 0, since the client does not know the
    versions yet.

    Raises:
        WireError: the API does not exist.
    """
    if not _schema(REQUESTS, api_key).is_flexible(version):
        return 1, 0
    return 2, 0 if api_key == _API_VERSIONS else 1


def _schema(schemas: Mapping[int, Schema], api_key: int) -> Schema:
    schema = schemas.get(api_key)
    if schema is None:
        raise WireError(f"api key {api_key} is none of {', '.join(map(str, SUPPORTED))}")
    return schema
