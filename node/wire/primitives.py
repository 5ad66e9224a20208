"""Reader and Writer of the protocol's primitive types (KIP-482 for the compact ones).

Every length is checked against the bytes that remain before anything is allocated, and an
array's count against the fewest bytes that so many elements can take. Not here: messages;
their codec is generated on top of these.
"""

import struct
from functools import lru_cache
from typing import Any

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.types import UUID_BYTES, Uuid

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_MAX_INT16 = 0x7FFF
_MAX_UVARINT = 0xFFFF_FFFF
_VARINT_BITS = 32
_VARLONG_BITS = 64


def uuid16(uuid: Uuid) -> Uuid:
    """The uuid itself; struct would pad or cut one of a wrong length in silence.

    Raises:
        WireError: if it has not 16 bytes.
    """
    if len(uuid) != UUID_BYTES:
        raise WireError(f"a uuid has 16 bytes, not {len(uuid)}")
    return uuid


@lru_cache(maxsize=256)
def _numbers(code: str, count: int) -> struct.Struct:
    """The layout of an array of fixed-width numbers; most arrays are of few lengths."""
    return struct.Struct(f">{count}{code}")


def _text(data: memoryview) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise WireError(f"a string that is not UTF-8: {error.reason}") from error


class Writer(bytearray):
    """A growing buffer with a method for each variable-length type.

    Runs of fixed-width fields are packed by the generated codec in one go and added with `+=`.
    """

    __slots__ = ()

    def uvarint(self, value: int) -> None:
        """An unsigned varint."""
        while value > 0x7F:
            self.append(value & 0x7F | 0x80)
            value >>= 7
        self.append(value)

    def varint(self, value: int) -> None:
        """A signed (zig-zag) varint or varlong."""
        folded = value << 1 if value >= 0 else (-value << 1) - 1
        if folded < 0x80:
            self.append(folded)  # most are this short
        else:
            self.uvarint(folded)

    def array_count(self, value: int) -> None:
        """The count of a legacy array."""
        self.extend(_INT32.pack(value))

    def string(self, value: str) -> None:
        """A legacy string."""
        encoded = value.encode()
        if len(encoded) > _MAX_INT16:
            raise WireError(f"a string of {len(encoded)} bytes; at most {_MAX_INT16} fit")
        self.extend(_INT16.pack(len(encoded)))
        self.extend(encoded)

    def nullable_string(self, value: str | None) -> None:
        """A legacy nullable string."""
        if value is None:
            self.extend(b"\xff\xff")
        else:
            self.string(value)

    def compact_string(self, value: str) -> None:
        """A compact string."""
        self.compact_bytes(value.encode())

    def compact_nullable_string(self, value: str | None) -> None:
        """A compact nullable string."""
        if value is None:
            self.append(0)
        else:
            self.compact_bytes(value.encode())

    def legacy_bytes(self, value: bytes) -> None:
        """Legacy bytes."""
        self.extend(_INT32.pack(len(value)))
        self.extend(value)

    def nullable_bytes(self, value: bytes | None) -> None:
        """Legacy nullable bytes."""
        if value is None:
            self.extend(b"\xff\xff\xff\xff")
        else:
            self.legacy_bytes(value)

    def compact_bytes(self, value: bytes) -> None:
        """Compact bytes."""
        size = len(value) + 1
        if size < 0x80:
            self.append(size)
        else:
            self.uvarint(size)
        self.extend(value)

    def compact_nullable_bytes(self, value: bytes | None) -> None:
        """Compact nullable bytes."""
        if value is None:
            self.append(0)
        else:
            self.compact_bytes(value)

    def fixed_array(self, code: str, values: tuple[Any, ...]) -> None:
        """The elements of an array of fixed-width numbers, without its count."""
        self.extend(_numbers(code, len(values)).pack(*values))


class Reader:
    """A cursor over a message's bytes; reads past the end are a WireError."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes | memoryview, position: int = 0) -> None:
        self.data = memoryview(data)
        self.position = position
        self.end = len(self.data)

    @property
    def remaining(self) -> int:
        """How many bytes have not been read."""
        return self.end - self.position

    def take(self, size: int) -> memoryview:
        """The next `size` bytes, not copied."""
        start = self.position
        stop = start + size
        if size < 0 or stop > self.end:
            raise WireError(f"a length of {size} at byte {start}, where {self.end - start} remain")
        self.position = stop
        return self.data[start:stop]

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        """A run of fixed-width fields."""
        start = self.position
        try:
            fields = layout.unpack_from(self.data, start)
        except struct.error:
            problem = f"{layout.size} bytes expected at byte {start}, of {self.end}"
            raise WireError(problem) from None
        self.position = start + layout.size
        return fields

    def uvarint(self) -> int:
        """An unsigned varint of at most 32 bits."""
        position = self.position
        if position < self.end:
            byte: int = self.data[position]
            if byte < 0x80:
                self.position = position + 1  # most are this short
                return byte
        value = self._varint_bits(_VARINT_BITS)
        if value > _MAX_UVARINT:
            raise WireError(f"a varint of more than 32 bits before byte {self.position}")
        return value

    def varint(self) -> int:
        """A signed (zig-zag) varint of at most 32 bits."""
        value = self.uvarint()
        return value >> 1 ^ -(value & 1)

    def varlong(self) -> int:
        """A signed (zig-zag) varint of at most 64 bits."""
        value = self._varint_bits(_VARLONG_BITS)
        if value >> _VARLONG_BITS:
            raise WireError(f"a varlong of more than 64 bits before byte {self.position}")
        return value >> 1 ^ -(value & 1)

    def _varint_bits(self, bits: int) -> int:
        data = self.data
        position = self.position
        end = self.end
        value = 0
        for shift in range(0, bits, 7):
            if position >= end:
                raise WireError(f"a varint cut off at byte {end}")
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.position = position
                return value
        raise WireError(f"a varint without an end at byte {self.position}")

    def _bounded(self, count: int, least_bytes: int) -> int:
        if count < 0:
            raise WireError(f"a null or negative count before byte {self.position}")
        if count * least_bytes > self.end - self.position:
            raise WireError(
                f"an array of {count} elements before byte {self.position}, "
                f"where {self.end - self.position} bytes remain"
            )
        return count

    def count(self, least_bytes: int) -> int:
        """The count of a legacy array whose elements take at least `least_bytes` each."""
        return self._bounded(self.unpack(_INT32)[0], least_bytes)

    def nullable_count(self, least_bytes: int) -> int:
        """As `count`, and -1 for null."""
        count: int = self.unpack(_INT32)[0]
        return count if count == -1 else self._bounded(count, least_bytes)

    def compact_count(self, least_bytes: int) -> int:
        """The count of a compact array."""
        count = self.uvarint() - 1
        return count if count == 0 else self._bounded(count, least_bytes)

    def compact_nullable_count(self, least_bytes: int) -> int:
        """As `compact_count`, and -1 for null."""
        count = self.uvarint() - 1
        return count if count == -1 else self._bounded(count, least_bytes)

    def string(self) -> str:
        """A legacy string."""
        return _text(self.take(self.unpack(_INT16)[0]))

    def nullable_string(self) -> str | None:
        """A legacy nullable string."""
        size: int = self.unpack(_INT16)[0]
        return None if size == -1 else _text(self.take(size))

    def compact_string(self) -> str:
        """A compact string."""
        return _text(self.take(self.uvarint() - 1))

    def compact_nullable_string(self) -> str | None:
        """A compact nullable string."""
        size = self.uvarint() - 1
        return None if size == -1 else _text(self.take(size))

    def legacy_bytes(self) -> bytes:
        """Legacy bytes."""
        return self.take(self.unpack(_INT32)[0]).tobytes()

    def nullable_bytes(self) -> bytes | None:
        """Legacy nullable bytes."""
        size: int = self.unpack(_INT32)[0]
        return None if size == -1 else self.take(size).tobytes()

    def compact_bytes(self) -> bytes:
        """Compact bytes."""
        return self.take(self.uvarint() - 1).tobytes()

    def compact_nullable_bytes(self) -> bytes | None:
        """Compact nullable bytes."""
        size = self.uvarint() - 1
        return None if size == -1 else self.take(size).tobytes()

    def uuid(self) -> Uuid:
        """A uuid."""
        return Uuid(self.take(UUID_BYTES).tobytes())

    def fixed_array(self, code: str, count: int) -> tuple[Any, ...]:
        """`count` fixed-width numbers; the count has been checked already."""
        return self.unpack(_numbers(code, count)) if count else ()

    def skip_tags(self) -> None:
        """Skip a section of tagged fields, all of them unknown (KIP-482)."""
        for _ in range(self.uvarint()):
            self.uvarint()
            self.take(self.uvarint())

    def finish_tag(self, end: int, name: str) -> None:
        """Check that the tagged field `name` took exactly its announced bytes."""
        if self.position != end:
            raise WireError(f"tagged field {name} ends at byte {self.position}, announced {end}")
