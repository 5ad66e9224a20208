"""Bodies of requests and responses, as bytes and back, for every supported version.

The functions that do the work are generated, one a message and version. Not here: headers
(node.wire.headers) and framing (node.wire.frames). KIP-482 says what a flexible version is.
"""

from collections.abc import Mapping
from typing import Final, cast

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.generated import index
from kraftproof.node.wire.primitives import Reader
from kraftproof.node.wire.schema import Message, Schema

REQUESTS: Final[Mapping[int, Schema]] = {schema.key: schema for schema in index.REQUESTS}
RESPONSES: Final[Mapping[int, Schema]] = {schema.key: schema for schema in index.RESPONSES}
SUPPORTED: Final[Mapping[int, tuple[int, int]]] = {
    key: (schema.min_version, schema.max_version) for key, schema in sorted(REQUESTS.items())
}
_API_VERSIONS: Final = 18


def encode_request(message: Message, version: int) -> bytes:
    """The body of a request.

    Raises:
        WireError: if the version does not exist or can't carry the message.
    """
    return _schema(REQUESTS, message.API_KEY).encode(message, version)


def encode_response(message: Message, version: int) -> bytes:
    """The body of a response.

    Raises:
        WireError: if the version does not exist or can't carry the message.
    """
    return _schema(RESPONSES, message.API_KEY).encode(message, version)


def decode_request(api_key: int, version: int, body: bytes | memoryview) -> Message:
    """The request that `body` begins with; librdkafka sends bytes after it, which are ignored.

    Raises:
        WireError: if the bytes are no such request.
    """
    return cast("Message", _schema(REQUESTS, api_key).decode(Reader(body), version))


def decode_response(api_key: int, version: int, body: bytes | memoryview) -> Message:
    """The response that `body` is.

    Raises:
        WireError: if the bytes are no such response, or there are more of them.
    """
    reader = Reader(body)
    message = _schema(RESPONSES, api_key).decode(reader, version)
    if reader.remaining:
        raise WireError(f"{reader.remaining} bytes after {type(message).__name__} v{version}")
    return cast("Message", message)


def header_versions(api_key: int, version: int) -> tuple[int, int]:
    """The versions of the request's and the response's header.

    An answer to ApiVersions has header version 0 always: whoever asks knows no version yet.

    Raises:
        WireError: if there is no such API.
    """
    if not _schema(REQUESTS, api_key).is_flexible(version):
        return 1, 0
    return 2, 0 if api_key == _API_VERSIONS else 1


def _schema(schemas: Mapping[int, Schema], api_key: int) -> Schema:
    schema = schemas.get(api_key)
    if schema is None:
        raise WireError(f"api key {api_key} is none of {', '.join(map(str, SUPPORTED))}")
    return schema
