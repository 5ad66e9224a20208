"""Compare the node's readers and writers of primitive types with the reference."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.difference import (
    DifferenceError,
    Refusal,
    attempt,
    check,
    same,
)
from kraftproof.cluster.simulated.differential.wire.error_texts import judge_numbers
from kraftproof.cluster.simulated.differential.wire.reference_codec import (
    ReferenceReader,
    ReferenceWriter,
)
from kraftproof.node.wire import unknown_tags
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer, uuid16
from kraftproof.node.wire.types import Uuid, format_uuid, parse_uuid

Draw = Callable[[Random], Any]
LONG: Final = 130
"""A length whose varint has two bytes."""
TEXTS: Final = ("", "a", "topic-\u00e9", "x" * 126, "x" * 127, "x" * 200)
EDGES: Final = (0, 1, 63, 64, 127, 128, 300, (1 << 14) - 1, 1 << 14, (1 << 31) - 1)
HOSTILE: Final = (
    b"",
    b"\x80",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x1f",
    b"\x80\x80\x80\x80\x80\x80",
    b"\x7f\xff",
    b"\x80\x00",
    b"\xff\xfe\x00\x00",
    b"\xff\xff\xff\xfe",
    b"\x80\x00\x00\x00",
    b"\x00\x00\x00\x02\x01",
    b"\x03\xff\xfe",
    b"\x00\x02\xff\xfe",
    b"\xff" * 9 + b"\x01",
    b"\xff" * 9 + b"\x02",
    b"\x80" * 9 + b"\x01",
    b"\x80" * 10 + b"\x01",
)
"""Lengths, counts and varints at and beyond their limits."""


def _of(values: tuple[Any, ...]) -> Draw:
    return lambda random: random.choice(values)


def _bytes(random: Random) -> bytes:
    return random.randbytes(random.choice((0, 1, 3, 126, 127, LONG)))


def _signed(random: Random) -> int:
    return random.choice((1, -1)) * random.choice(EDGES)


_WRITES: Final[tuple[tuple[str, str, Draw], ...]] = (
    ("uvarint", "uvarint", _of((*EDGES, (1 << 32) - 1))),
    ("varint", "varint", _signed),
    ("varint", "varlong", lambda random: random.randint(-(1 << 63), (1 << 63) - 1)),
    ("string", "string", _of(TEXTS)),
    ("nullable_string", "nullable_string", _of((None, *TEXTS))),
    ("compact_string", "compact_string", _of(TEXTS)),
    ("compact_nullable_string", "compact_nullable_string", _of((None, *TEXTS))),
    ("legacy_bytes", "legacy_bytes", _bytes),
    ("nullable_bytes", "nullable_bytes", lambda r: None if r.random() < 0.3 else _bytes(r)),
    ("compact_bytes", "compact_bytes", _bytes),
    (
        "compact_nullable_bytes",
        "compact_nullable_bytes",
        lambda r: None if r.random() < 0.3 else _bytes(r),
    ),
)
"""The method that writes a type, the method that reads the type, and the values."""
_READS: Final[tuple[tuple[str, tuple[Any, ...]], ...]] = (
    *((read, ()) for _, read, _ in _WRITES),
    ("uuid", ()),
    ("skip_tags", ()),
    *(
        (name, (least_bytes,))
        for name in ("count", "nullable_count", "compact_count", "compact_nullable_count")
        for least_bytes in (1, 4)
    ),
    *(("fixed_array", (code, count)) for code in ("h", "i", "q", "H") for count in (0, 1, 3)),
    *(("take", (size,)) for size in (-1, 0, 1, 5)),
)
"""The methods of a reader with their arguments."""


def compare_primitives(random: Random) -> None:
    """Write and read values of each type, and read cut and hostile bytes.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    for write, read, draw in _WRITES:
        for _ in range(3):
            _compare_value(write, read, draw(random), random)
    for name, arguments in _READS:
        for data in (*random.sample(HOSTILE, 6), random.randbytes(random.randrange(20))):
            compare_reads(name, arguments, data, random.randrange(len(data) + 1))
            compare_reads(name, arguments, data, 0)
    _compare_arrays(random)
    _compare_tags(random)
    _compare_limits(random)
    _compare_uuids(random)


def _compare_value(write: str, read: str, value: Any, random: Random) -> None:  # noqa: ANN401
    ours, theirs = Writer(b"before"), ReferenceWriter(b"before")
    getattr(ours, write)(value)
    getattr(theirs, write)(value)
    same(f"{write} of {value!r}", bytes(ours), bytes(theirs))
    data = bytes(ours[6:])
    for kept in {len(data), len(data) - 1, 0, random.randrange(len(data) + 1)}:
        compare_reads(read, (), data[:kept], 0)
    compare_reads(read, (), bytes(ours) + b"after", 6)


def compare_reads(name: str, arguments: tuple[Any, ...], data: bytes, position: int) -> None:
    """Read a type from a position of any bytes, and compare value, position and refusal.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    ours, theirs = Reader(data, position), ReferenceReader(data, position)
    found = attempt(WireError, _read, ours, name, arguments)
    expected = attempt(WireError, _read, theirs, name, arguments)
    what = f"{name}{arguments} at byte {position} of {data.hex()}"
    if isinstance(found, Refusal) or isinstance(expected, Refusal):
        same(what, type(found), type(expected))
        if isinstance(found, Refusal):
            judge_numbers(found.text, len(data))
        return
    same(what, found, expected)
    same(f"the position after {what}", (ours.position, ours.remaining), _place(theirs))


def _place(reader: ReferenceReader) -> tuple[int, int]:
    return reader.position, reader.remaining


def _read(reader: Reader | ReferenceReader, name: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
    value = getattr(reader, name)(*arguments)
    return bytes(value) if isinstance(value, memoryview) else value


def _compare_arrays(random: Random) -> None:
    for code, bits in (("h", 15), ("i", 31), ("q", 63)):
        values = tuple(
            random.randint(-(1 << bits), (1 << bits) - 1) for _ in range(random.randrange(5))
        )
        ours, theirs = Writer(), ReferenceWriter()
        ours.array_count(len(values))
        ours.fixed_array(code, values)
        theirs.array_count(len(values))
        theirs.fixed_array(code, values)
        same(f"an array {values}", bytes(ours), bytes(theirs))


def _compare_tags(random: Random) -> None:
    """Write, read and skip unknown tagged fields, also where their count is too large."""
    tags = tuple(
        (random.choice(EDGES[:7]), _bytes(random)) for _ in range(random.choice((0, 1, 3)))
    )
    theirs = ReferenceWriter()
    theirs.uvarint(len(tags))
    for tag, content in tags:
        theirs.uvarint(tag)
        theirs.uvarint(len(content))
        theirs.extend(content)
    ours = Writer()
    ours.uvarint(len(tags))
    unknown_tags.write_tags(ours, tags)
    same(f"tagged fields {tags}", bytes(ours), bytes(theirs))
    data = bytes(theirs)
    reader = Reader(data + b"after")
    same(f"tagged fields in {data.hex()}", unknown_tags.read_tags(reader), tags)
    same(f"the position after tagged fields in {data.hex()}", reader.position, len(data))
    for kept in {len(data) - 1, random.randrange(len(data))}:
        compare_reads("skip_tags", (), data[:kept], 0)
        cut = Reader(data[:kept])
        if not isinstance(attempt(WireError, unknown_tags.read_tags, cut), Refusal):
            raise DifferenceError(f"tagged fields read from {data[:kept].hex()}, which is cut off")
    short = Reader(b"\x02\x00\x00\x00")
    found = attempt(WireError, unknown_tags.read_tags, short)
    check("two empty fields in three bytes", isinstance(found, Refusal))
    same("one empty field", unknown_tags.read_tags(Reader(b"\x01\x00\x00")), ((0, b""),))


def _compare_limits(random: Random) -> None:
    """Write the longest legacy string, and a string of a byte more; end tagged fields."""
    for length in ((1 << 15) - 1, 1 << 15):
        found = attempt(WireError, Writer().string, "x" * length)
        same(f"a string of {length} bytes", isinstance(found, Refusal), length >= 1 << 15)
        if isinstance(found, Refusal):
            check("the length in the error", f"{length} bytes" in found.text)
    data, end = random.randbytes(8), random.randrange(9)
    reader = Reader(data, end)
    reader.finish_tag(end, "field")
    for wrong in (end - 1, end + 1):
        found = attempt(WireError, reader.finish_tag, wrong, "field")
        check(f"a tagged field that ends at {end}, not {wrong}", isinstance(found, Refusal))
        if isinstance(found, Refusal):
            numbers = f"byte {end}, announced {wrong}"
            check("the numbers in the error", numbers in found.text)


def _compare_uuids(random: Random) -> None:
    """Write a uuid as text, and read texts and lengths that no uuid has."""
    uuid = Uuid(random.choice((bytes(16), b"\xff" * 16, random.randbytes(16))))
    text = format_uuid(uuid)
    same(f"the text of {uuid.hex()}", _decoded(text), uuid)
    same(f"the uuid of {text}", parse_uuid(text), uuid)
    for wrong in (text[1:], text + "A", text + "==", f"{text[:10]}+{text[11:]}", f"{text}\n", ""):
        found = attempt(WireError, parse_uuid, wrong)
        check(f"the uuid of {wrong!r} is refused", isinstance(found, Refusal))
    same("a uuid of 16 bytes", uuid16(uuid), uuid)
    for length in (0, 15, 17):
        found = attempt(WireError, uuid16, Uuid(bytes(length)))
        check(f"a uuid of {length} bytes is refused", isinstance(found, Refusal))


def _decoded(text: str) -> bytes:
    """Return the bytes of 22 characters of URL-safe base64, digit by digit."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    number = 0
    for character in text:
        number = number * 64 + alphabet.index(character)
    return (number >> 4).to_bytes(17, "big")[1:] if len(text) == 22 else b""
