"""Draw frames: well-formed requests in every served version, and frames that are half right."""

import struct
from collections.abc import Callable
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.systems.reference.requests.case import Expects
from kraftproof.cluster.systems.reference.requests.harm import is_harmless, read_payload
from kraftproof.cluster.systems.reference.requests.messages import draw_message
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary, draw_text
from kraftproof.node.core.served import FORWARDABLE, served_versions
from kraftproof.node.wire.codec import (
    REQUESTS,
    SUPPORTED,
    decode_request,
    encode_request,
    header_versions,
)
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.headers import RequestHeader, encode_request_header
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    delete_topics_request,
    describe_configs_request,
    envelope_request,
    metadata_request,
    produce_request,
)
from kraftproof.node.wire.principal import ANONYMOUS, encode_principal

WHOLE_SHARE: Final = 0.65
"""Share of well-formed requests among all frames."""
TOPICS_SHARE: Final = 0.4
"""Share of requests about topics, whose fields mean most, among the well-formed ones."""
ABOUT_TOPICS: Final = frozenset(
    one.API_KEY
    for one in (
        create_topics_request.CreateTopicsRequest,
        delete_topics_request.DeleteTopicsRequest,
        describe_configs_request.DescribeConfigsRequest,
        envelope_request.EnvelopeRequest,
        metadata_request.MetadataRequest,
    )
)
"""The requests about topics, and the Envelope that forwards them."""
API_VERSIONS: Final = 18
ENVELOPE: Final = 58
FLEXIBLE_HEADER: Final = 2
HOST: Final = bytes([127, 0, 0, 1])
SIZE: Final = struct.Struct(">i")
START: Final = struct.Struct(">hhi")
COUNTS: Final = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\xff\xff\xff\xff\x0f")
"""Counts of arrays, lengths and varints beyond every limit."""
SERVED: Final = {
    is_controller: served_versions(on_controller_listener=is_controller)
    for is_controller in (False, True)
}


class Frame(Struct, frozen=True, kw_only=True):
    """A frame, or the beginning of one."""

    data: bytes
    expects: Expects
    about: str
    within_ms: int | None = 0


class Listener(Struct, frozen=True, kw_only=True):
    """The listener that a frame goes to."""

    is_controller: bool
    vocabulary: Vocabulary


def draw_frame(listener: Listener, random: Random) -> Frame:
    """Return a frame for a listener: a whole request, or a half-right one."""
    if random.random() < WHOLE_SHARE:
        return draw_whole(listener, random)
    return random.choice(_WRONGS)(listener, random)


def draw_whole(listener: Listener, random: Random) -> Frame:
    """Return a well-formed request in a version that the listener serves."""
    served = SERVED[listener.is_controller]
    while True:
        is_about_topics = random.random() < TOPICS_SHARE
        api_key = random.choice(
            [key for key in served if key in ABOUT_TOPICS or not is_about_topics]
        )
        version = random.randint(*served[api_key])
        if api_key == ENVELOPE:
            return _envelope(listener, random)
        message = draw_message(api_key, version, listener.vocabulary, random)
        if message is not None:
            return Frame(
                data=framed(payload_of(message, version, random)),
                expects=_expected(message, Expects.ANSWER),
                about=f"{type(message).__name__} v{version}",
                within_ms=_allowed_ms(message),
            )


def draw_incomplete(listener: Listener, random: Random) -> Frame:
    """Return the beginning of a frame whose rest never comes."""
    data = draw_whole(listener, random).data
    return Frame(
        data=data[: random.randrange(1, len(data))],
        expects=Expects.NOTHING,
        about="the beginning of a frame",
    )


def framed(payload: bytes) -> bytes:
    """Return a payload with its size before it."""
    return SIZE.pack(len(payload)) + payload


def payload_of(message: Message, version: int, random: Random) -> bytes:
    """Return header and body of a request; some have a client id, and unknown tagged fields."""
    api_key = message.API_KEY
    correlation_id = random.randint(-(1 << 31), (1 << 31) - 1)
    client_id = None if random.random() < 0.5 else draw_text(random)
    header = RequestHeader(
        api_key=api_key, version=version, correlation_id=correlation_id, client_id=client_id
    )
    header_version, _ = header_versions(api_key, version)
    head, body = encode_request_header(header, header_version), encode_request(message, version)
    if header_version == FLEXIBLE_HEADER and random.random() < 0.1:
        head = head[:-1] + _tags(random)
        tagged = body[:-1] + _tags(random)
        if body[-1:] == b"\0" and _reads(api_key, version, tagged) == message:
            body = tagged
    return head + body


def _tags(random: Random) -> bytes:
    """Return a section of tagged fields that no version of the protocol has."""
    count = random.choice((1, 2, 20))
    fields = (bytes([100 + tag, 3]) + random.randbytes(3) for tag in range(count))
    return bytes([count]) + b"".join(fields)


def _reads(api_key: int, version: int, body: bytes) -> Message | None:
    try:
        return decode_request(api_key, version, body)
    except WireError:
        return None


def _expected(message: Message | None, usual: Expects) -> Expects:
    """Return `usual`, but nothing for a Produce with acks=0, which is never answered."""
    is_silent = isinstance(message, produce_request.ProduceRequest) and message.acks == 0
    return Expects.NOTHING if is_silent else usual


def _allowed_ms(message: Message) -> int | None:
    """Return the time that a request gives its node; None if nobody waits that long."""
    if isinstance(message, envelope_request.EnvelopeRequest):
        inner = read_payload(message.request_data)
        return 0 if inner is None else _allowed_ms(inner)
    named = getattr(message, "timeout_ms", getattr(message, "max_wait_ms", 0))
    return max(int(named), 0) if named <= MOST_AWAITED_MS else None


MOST_AWAITED_MS: Final = 5_000
"""The longest time that a request names and that a client waits."""


def _envelope(listener: Listener, random: Random) -> Frame:
    """Return an Envelope: around a request of a client, around another request, around bytes."""
    api_key = random.choice(sorted(FORWARDABLE) if random.random() < 0.8 else sorted(SUPPORTED))
    version = random.randint(*SUPPORTED[api_key])
    message = None
    if api_key != ENVELOPE:
        message = draw_message(api_key, version, listener.vocabulary, random)
    content = random.randbytes(20) if message is None else payload_of(message, version, random)
    if random.random() < 0.2:
        content = content[: random.randrange(len(content))]
    principal = encode_principal(ANONYMOUS)
    envelope = envelope_request.EnvelopeRequest(
        request_data=content,
        request_principal=random.choice((principal, principal, principal, None, b"", b"\1x")),
        client_host_address=random.choice((HOST, HOST, HOST, bytes(16), b"", b"abc")),
    )
    return Frame(
        data=framed(payload_of(envelope, 0, random)),
        expects=Expects.ANSWER,
        about=f"Envelope around {type(message).__name__} v{version}",
        within_ms=0 if message is None else _allowed_ms(message),
    )


def _wrong(payload: bytes, about: str, listener: Listener, random: Random) -> Frame:
    message = read_payload(payload)
    if message is not None and not is_harmless(message, listener.vocabulary):
        return draw_whole(listener, random)
    return Frame(
        data=framed(payload),
        expects=_expected(message, Expects.EITHER),
        about=about,
        within_ms=0 if message is None else _allowed_ms(message),
    )


def _payload(listener: Listener, random: Random) -> tuple[bytes, str]:
    whole = draw_whole(listener, random)
    return whole.data[SIZE.size :], whole.about


def _cut_off(listener: Listener, random: Random) -> Frame:
    payload, about = _payload(listener, random)
    short = payload[: random.randrange(len(payload))]
    return _wrong(short, f"{about}, {len(short)} bytes of {len(payload)}", listener, random)


def _byte_changed(listener: Listener, random: Random) -> Frame:
    payload, about = _payload(listener, random)
    changed = bytearray(payload)
    for _ in range(random.choice((1, 1, 2, 8))):
        changed[random.randrange(len(changed))] = random.choice((0, 1, 127, 128, 255))
    return _wrong(bytes(changed), f"{about}, bytes changed", listener, random)


def _huge_count(listener: Listener, random: Random) -> Frame:
    payload, about = _payload(listener, random)
    at, count = random.randrange(START.size, len(payload) + 1), random.choice(COUNTS)
    changed = payload[:at] + count + payload[at + len(count) :]
    return _wrong(changed, f"{about}, a huge count at byte {at}", listener, random)


def _longer(listener: Listener, random: Random) -> Frame:
    payload, about = _payload(listener, random)
    return _wrong(payload + random.randbytes(9), f"{about}, bytes appended", listener, random)


def _other_body(listener: Listener, random: Random) -> Frame:
    payload, about = _payload(listener, random)
    other, _ = _payload(listener, random)
    mixed = payload[: START.size + 2] + other[START.size + 2 :]
    return _wrong(mixed, f"{about}, the body of another request", listener, random)


def _nested_tags(listener: Listener, random: Random) -> Frame:
    payload, about = _payload(listener, random)
    tags = b"\xff\xff\xff\xff\x0f" * random.choice((1, 5, 500))
    return _wrong(payload[:-1] + tags, f"{about}, tagged fields without end", listener, random)


def _unknown_api(listener: Listener, random: Random) -> Frame:
    payload, _ = _payload(listener, random)
    api_key = random.choice((-1, 999, 0, 32_767, *SUPPORTED))
    return _wrong(struct.pack(">h", api_key) + payload[2:], f"API key {api_key}", listener, random)


def _unknown_version(listener: Listener, random: Random) -> Frame:
    """Return a request of a version that nobody knows; ApiVersions must be answered (KIP-511)."""
    served = SERVED[listener.is_controller]
    api_key = API_VERSIONS if random.random() < 0.5 else random.choice(list(served))
    version = random.choice((-1, served[api_key][1] + 1, 32_767, -32_768))
    correlation_id = random.randint(-(1 << 31), (1 << 31) - 1)
    payload = START.pack(api_key, version, correlation_id) + random.randbytes(20)
    return Frame(
        data=framed(payload),
        expects=Expects.ANSWER if api_key == API_VERSIONS else Expects.EITHER,
        about=f"{REQUESTS[api_key].message.__name__} in unknown version {version}",
    )


def _wrong_size(listener: Listener, random: Random) -> Frame:
    """Return a frame that announces a size which no frame may have, or more than follows."""
    payload, about = _payload(listener, random)
    size = random.choice((-1, -(1 << 31), (1 << 31) - 1, 200 << 20))
    data = SIZE.pack(size) + payload
    return Frame(data=data, expects=Expects.EITHER, about=f"{about}, announced as {size} bytes")


def _garbage(listener: Listener, random: Random) -> Frame:
    payload = random.randbytes(random.choice((0, 1, 7, 8, 30, 200)))
    return _wrong(payload, "random bytes", listener, random)


_WRONGS: Final[tuple[Callable[[Listener, Random], Frame], ...]] = (
    _cut_off,
    _byte_changed,
    _huge_count,
    _longer,
    _other_body,
    _nested_tags,
    _unknown_api,
    _unknown_version,
    _unknown_version,
    _wrong_size,
    _garbage,
)
