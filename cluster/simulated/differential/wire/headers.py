"""Compare headers, frames, principals and the metadata batches of a Fetch with the reference."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import (
    Refusal,
    attempt,
    check,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.wire.error_texts import judge_numbers
from kraftproof.cluster.simulated.differential.wire.reference_codec import (
    ReferenceWriter,
    varint_bytes,
)
from kraftproof.node.wire import codec, frames, headers, principal
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader

CLIENTS: Final = (None, "", "a", "client-\u00e9", "x" * 300)
FLEXIBLE: Final = 2


def compare_headers(random: Random) -> None:
    """Write and read headers, frames and principals, whole and cut.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    for _ in range(3):
        _compare_request(random)
        _compare_response(random)
    _compare_frames(random)
    _compare_principals(random)


def _compare_request(random: Random) -> None:
    key = random.choice(sorted(codec.REQUESTS))
    version = random.randint(*codec.SUPPORTED[key])
    number, client = random.randint(-(1 << 31), (1 << 31) - 1), random.choice(CLIENTS)
    is_flexible = version >= codec.REQUESTS[key].flexible_from
    header = headers.RequestHeader(
        api_key=key, version=version, correlation_id=number, client_id=client
    )
    expected = ReferenceWriter()
    expected.fixed_array("h", (key, version))
    expected.fixed_array("i", (number,))
    same(f"{header} v0", headers.encode_request_header(header, 0), bytes(expected))
    expected.nullable_string(client)
    same(f"{header} v1", headers.encode_request_header(header, 1), bytes(expected))
    same(f"{header} v2", headers.encode_request_header(header, FLEXIBLE), bytes(expected) + b"\0")
    bare = headers.decode_request_header(Reader(bytes(expected)), 0)
    same("a header of version 0", (bare.api_key, bare.client_id), (key, None))
    body, tags = random.randbytes(random.randrange(9)), _tags(random) if is_flexible else b""
    data = bytes(expected) + tags
    found_header, found_body = headers.split_request(data + body)
    same(f"the header in {data.hex()}", found_header, header)
    same(f"the body after {data.hex()}", bytes(found_body), body)
    for kept in {0, 7, len(data) - 1, random.randrange(len(data))}:
        cut = data[:kept]
        text = refused(cut.hex(), WireError, headers.split_request, cut)
        judge_numbers(text, kept)
    large = headers.RequestHeader(api_key=1 << 15, version=0, correlation_id=0)
    text = refused("a large key", WireError, headers.encode_request_header, large, 1)
    named("a large key", text, 1 << 15)


def _compare_response(random: Random) -> None:
    key = random.choice((18, *sorted(codec.RESPONSES)))
    version = random.randint(*codec.SUPPORTED[key])
    number = random.randint(-(1 << 31), (1 << 31) - 1)
    has_tags = version >= codec.RESPONSES[key].flexible_from and key != 18
    plain = number.to_bytes(4, "big", signed=True)
    for header_version, expected in ((0, plain), (1, plain + b"\0")):
        found = headers.encode_response_header(number, header_version)
        same(f"the header of an answer, version {header_version}", found, expected)
    data, body = plain + (_tags(random) if has_tags else b""), random.randbytes(random.randrange(9))
    found_number, found_body = headers.split_response(data + body, key, version)
    same(f"the number of an answer {data.hex()}", found_number, number)
    same(f"the body of an answer {data.hex()}", bytes(found_body), body)
    for kept in {0, 3, len(data) - 1}:
        cut = data[:kept]
        refused(cut.hex(), WireError, headers.split_response, cut, key, version)


def _tags(random: Random) -> bytes:
    """Return a section of unknown tagged fields."""
    count = random.choice((0, 0, 1, 2))
    fields = (random.randbytes(random.choice((0, 3, 130))) for _ in range(count))
    content = b"".join(
        varint_bytes(number) + varint_bytes(len(field)) + field
        for number, field in enumerate(fields, 130)
    )
    return varint_bytes(count) + content


def _compare_frames(random: Random) -> None:
    """Split a stream at drawn places, with sizes up to the limit and beyond."""
    limit = random.choice((1, 20, 300))
    sizes = [random.choice((0, 1, limit, random.randint(0, limit))) for _ in range(5)]
    payloads = [random.randbytes(size) for size in sizes]
    stream = b"".join(len(one).to_bytes(4, "big") + one for one in payloads)
    same("a frame", b"".join(frames.frame(one[:3], one[3:]) for one in payloads), stream)
    splitter, found, position = frames.FrameSplitter(limit), list[bytes](), 0
    while position < len(stream):
        step = random.choice((1, 3, 4, 5, len(stream)))
        found += splitter.feed(stream[position : position + step])
        position = min(position + step, len(stream))
        whole = _whole_frames(stream[:position])
        same(f"frames in {position} bytes", found, [data for data, _ in whole])
        left = position - (whole[-1][1] if whole else 0)
        same(f"buffered of {position} bytes", splitter.buffered, left)
    for size in (limit + 1, -1, -(1 << 31)):
        wrong = size.to_bytes(4, "big", signed=True)
        one = frames.FrameSplitter(limit)
        text = refused(f"a frame of {size}", WireError, one.feed, wrong)
        named("the limit of a frame", text, f"{size} bytes", f"0 to {limit}")
        same("bytes kept after a wrong size", one.buffered, 0)
    splitter.limit_to(limit + 1)
    same("a frame of a raised limit", splitter.feed((limit + 1).to_bytes(4, "big")), [])
    same("the largest frame", frames.MAX_FRAME_BYTES, 104_857_600)


def _whole_frames(stream: bytes) -> list[tuple[bytes, int]]:
    """Return each whole payload with the position after it."""
    found, position = list[tuple[bytes, int]](), 0
    while position + 4 <= len(stream):
        end = position + 4 + int.from_bytes(stream[position : position + 4], "big")
        if end > len(stream):
            break
        found.append((stream[position + 4 : end], end))
        position = end
    return found


def _compare_principals(random: Random) -> None:
    """Write and read the principal of a forwarded request (KIP-590)."""
    kind, name = random.choice(("User", "", "x" * 200)), random.choice(("alice", "\u00e9", ""))
    has_token = random.random() < 0.5
    one = principal.Principal(type=kind, name=name, token_authenticated=has_token)
    expected = ReferenceWriter(b"\0\0")
    expected.compact_string(kind)
    expected.compact_string(name)
    expected.extend(bytes([has_token, 0]))
    builder = principal.DEFAULT_PRINCIPALS
    context = principal.AuthenticationContext(principal=one, client_host="h", listener="l")
    same("a built principal", builder.build(context), one)
    same(f"the bytes of {one}", builder.serialize(one), bytes(expected))
    same(f"the principal of {bytes(expected).hex()}", builder.deserialize(bytes(expected)), one)
    plain = principal.Principal(type="User", name="ANONYMOUS", token_authenticated=False)
    same("the principal without authentication", principal.ANONYMOUS, plain)
    for wrong in (bytes(expected)[:-1], b"", b"\0\1" + bytes(expected)[2:]):
        found = attempt(WireError, builder.deserialize, wrong)
        check(f"a principal {wrong.hex()} is refused", isinstance(found, Refusal))
