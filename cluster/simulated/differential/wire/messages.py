"""Compare bodies of requests and responses, whole, cut and damaged, with the reference."""

from random import Random
from typing import Any, Final, cast

from kraftproof.cluster.simulated.differential.difference import (
    Refusal,
    attempt,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.wire.drawn_entities import draw_entity
from kraftproof.cluster.simulated.differential.wire.error_texts import judge_numbers
from kraftproof.cluster.simulated.differential.wire.reference_codec import (
    ReferenceReader,
    ReferenceWriter,
)
from kraftproof.node.wire import codec
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.vote_request import VoteRequest
from kraftproof.node.wire.schema import Schema

COUNT: Final = 16
"""Number of drawn messages."""
TRIES: Final = 20
API_VERSIONS: Final = 18
UNKNOWN_API: Final = 998


def compare_messages(random: Random) -> None:
    """Write and read drawn messages in drawn versions.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    for _ in range(COUNT):
        is_request = random.random() < 0.5
        schemas = codec.REQUESTS if is_request else codec.RESPONSES
        schema = schemas[random.choice(sorted(schemas))]
        version = random.randint(schema.min_version, schema.max_version)
        drawn = _draw(schema, version, random)
        if drawn is not None:
            _compare_body(schema, version, drawn, random, is_request=is_request)
    _compare_versions(random)


def _draw(schema: Schema, version: int, random: Random) -> Message | None:
    """Return a message that the version can carry; None if none was drawn."""
    for _ in range(TRIES):
        message = draw_entity(schema.message, random)
        if not isinstance(attempt(WireError, schema.encode, message, version), Refusal):
            return cast("Message", message)
    return None


def reference_bytes(schema: Schema, version: int, message: Any) -> bytes:  # noqa: ANN401
    """Return the body of a message as the reference writes it."""
    writer = ReferenceWriter()
    schema.encoders[version](message, cast("Any", writer))
    return bytes(writer)


def reference_message(schema: Schema, version: int, data: bytes) -> Any:  # noqa: ANN401
    """Return the message at the start of a body as the reference reads it, and the rest.

    Raises:
        WireError: the bytes are no message.
    """
    reader = ReferenceReader(data)
    return schema.decoders[version](cast("Any", reader)), reader.remaining


def _compare_body(
    schema: Schema, version: int, message: Message, random: Random, *, is_request: bool
) -> None:
    what = f"{schema.message.__name__} v{version}"
    encode = codec.encode_request if is_request else codec.encode_response
    data = encode(message, version)
    same(f"the bytes of {what}", data.hex(), reference_bytes(schema, version, message).hex())
    for damaged in (data, *_damaged(data, random)):
        compare_decoding(schema, version, damaged, is_request=is_request)


def _damaged(data: bytes, random: Random) -> list[bytes]:
    """Return the body cut at places, longer than before, and with changed bytes."""
    found = [data[: random.randrange(len(data))] for _ in range(4) if data]
    found += [data[:-1], data + b"\0", data + random.randbytes(3)]
    for _ in range(4 if data else 0):
        changed = bytearray(data)
        changed[random.randrange(len(data))] = random.choice((0, 1, 127, 128, 255))
        found.append(bytes(changed))
    return found


def compare_decoding(schema: Schema, version: int, data: bytes, *, is_request: bool) -> None:
    """Read a body with the codec and with the reference.

    Trailing bytes of a request are ignored, and those of a response are refused.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    what = f"{schema.message.__name__} v{version} of {data.hex()}"
    decode = codec.decode_request if is_request else codec.decode_response
    found = attempt(WireError, decode, schema.key, version, data)
    expected = attempt(WireError, reference_message, schema, version, data)
    is_refused = isinstance(expected, Refusal)
    if not isinstance(expected, Refusal):
        message, rest = expected
        is_refused = bool(rest) and not is_request
        if is_refused and isinstance(found, Refusal):
            named(what, found.text, f"{rest} bytes after")
        if not is_refused and not isinstance(found, Refusal):
            same(what, found, message)
    elif isinstance(found, Refusal):
        judge_numbers(found.text, len(data))
    same(f"{what} is refused", isinstance(found, Refusal), is_refused)


def _compare_versions(random: Random) -> None:
    """Ask for the versions of headers, and for APIs and versions that do not exist."""
    same("the APIs of requests and responses", sorted(codec.REQUESTS), sorted(codec.RESPONSES))
    for key, schema in codec.REQUESTS.items():
        same(
            f"versions of API {key}", codec.SUPPORTED[key], (schema.min_version, schema.max_version)
        )
        for version in range(schema.min_version, schema.max_version + 1):
            is_flexible = version >= schema.flexible_from
            same(f"API {key} v{version} is flexible", schema.is_flexible(version), is_flexible)
            expected = (2, 0 if key == API_VERSIONS else 1) if is_flexible else (1, 0)
            same(f"headers of API {key} v{version}", codec.header_versions(key, version), expected)
    key = random.choice(sorted(codec.REQUESTS))
    schema, unknown = codec.REQUESTS[key], random.choice((-1, codec.SUPPORTED[key][1] + 1))
    message, name = draw_entity(schema.message, random), schema.message.__name__
    span = f"{schema.min_version} to {schema.max_version}, not {unknown}"
    texts = (
        refused(name, WireError, codec.encode_request, message, unknown),
        refused(name, WireError, codec.decode_request, key, unknown, bytes(50)),
        refused(name, WireError, schema.encode, message, unknown),
    )
    for text in texts:
        named(f"version {unknown} of {name}", text, name, span)
    texts = (
        refused("API 998", WireError, codec.decode_request, UNKNOWN_API, 0, b""),
        refused("API 998", WireError, codec.decode_response, UNKNOWN_API, 0, b""),
        refused("API 998", WireError, codec.header_versions, UNKNOWN_API, 0),
    )
    for text in texts:
        named("an unknown API", text, UNKNOWN_API)
    large = VoteRequest(voter_id=1 << 31)
    text = refused("a number too large", WireError, codec.encode_request, large, 1)
    named("a number too large", text, "VoteRequest version 1")
