"""Read and write the protocol's primitive types (KIP-482 for the compact types).

Every length is checked against the remaining bytes before any allocation, and an array's count
against the minimum size of its elements. The generated codec of messages uses this module.
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
    """Return the uuid; struct would pad or cut a wrong length silently.

    Raises:
        WireError: the uuid has not 16 bytes.
    """
    if len(uuid) != UUID_BYTES:
        raise WireError(f"a uuid has 16 bytes, not {len(uuid)}")
    return uuid


@lru_cache(maxsize=256)
def _numbers(code: str, count: int) -> struct.Struct:
    """Return the layout of an array of fixed-width numbers; few lengths are common."""
    return struct.Struct(f">{count}{code}")


def _text(data: memoryview) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise WireError(f"a string that is not UTF-8: {error.reason}") from error


class Writer(bytearray):
    """A growing buffer with a method for each variable-length type.

    The generated codec packs a run of fixed-width fields at once and appends the bytes by `+=`.
    """

    __slots__ = ()

    def uvarint(self, value: int) -> None:
        """Write an unsigned varint."""
        while value > 0x7F:
            self.append(value & 0x7F | 0x80)
            value >>= 7
        self.append(value)

    def varint(self, value: int) -> None:
        """Write a signed (zig-zag) varint or varlong."""
        folded = value << 1 if value >= 0 else (-value << 1) - 1
        if folded < 0x80:
            self.append(folded)  # the common case
        else:
            self.uvarint(folded)

    def array_count(self, value: int) -> None:
        """Write the count of a legacy array."""
        self.extend(_INT32.pack(value))

    def string(self, value: str) -> None:
        """Write a legacy string."""
        encoded = value.encode()
        if len(encoded) > _MAX_INT16:
            raise WireError(f"a string of {len(encoded)} bytes; at most {_MAX_INT16} fit")
        self.extend(_INT16.pack(len(encoded)))
        self.extend(encoded)

    def nullable_string(self, value: str | None) -> None:
        """Write a legacy nullable string."""
        if value is None:
            self.extend(b"\xff\xff")
        else:
            self.string(value)

    def compact_string(self, value: str) -> None:
        """Write a compact string."""
        self.compact_bytes(value.encode())

    def compact_nullable_string(self, value: str | None) -> None:
        """Write a compact nullable string."""
        if value is None:
            self.append(0)
        else:
            self.compact_bytes(value.encode())

    def legacy_bytes(self, value: bytes) -> None:
        """Write legacy bytes."""
        self.extend(_INT32.pack(len(value)))
        self.extend(value)

    def nullable_bytes(self, value: bytes | None) -> None:
        """Write legacy nullable bytes."""
        if value is None:
            self.extend(b"\xff\xff\xff\xff")
        else:
            self.legacy_bytes(value)

    def compact_bytes(self, value: bytes) -> None:
        """Write compact bytes."""
        size = len(value) + 1
        if size < 0x80:
            self.append(size)
        else:
            self.uvarint(size)
        self.extend(value)

    def compact_nullable_bytes(self, value: bytes | None) -> None:
        """Write compact nullable bytes."""
        if value is None:
            self.append(0)
        else:
            self.compact_bytes(value)

    def fixed_array(self, code: str, values: tuple[Any, ...]) -> None:
        """Write the elements of an array of fixed-width numbers, without the count."""
        self.extend(_numbers(code, len(values)).pack(*values))


class Reader:
    """A cursor over a message's bytes; a read past the end raises WireError."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes | memoryview, position: int = 0) -> None:
        self.data = memoryview(data)
        self.position = position
        self.end = len(self.data)

    @property
    def remaining(self) -> int:
        """Return the number of unread bytes."""
        return self.end - self.position

    def take(self, size: int) -> memoryview:
        """Return the next `size` bytes without a copy."""
        start = self.position
        stop = start + size
        if size < 0 or stop > self.end:
            raise WireError(f"a length of {size} at byte {start}, where {self.end - start} remain")
        self.position = stop
        return self.data[start:stop]

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        """Read a run of fixed-width fields."""
        start = self.position
        try:
            fields = layout.unpack_from(self.data, start)
        except struct.error:
            problem = f"{layout.size} bytes expected at byte {start}, of {self.end}"
            raise WireError(problem) from None
        self.position = start + layout.size
        return fields

    def uvarint(self) -> int:
        """Read an unsigned varint of at most 32 bits."""
        position = self.position
        if position < self.end:
            byte: int = self.data[position]
            if byte < 0x80:
                self.position = position + 1  # the common case
                return byte
        value = self._varint_bits(_VARINT_BITS)
        if value > _MAX_UVARINT:
            raise WireError(f"a varint of more than 32 bits before byte {self.position}")
        return value

    def varint(self) -> int:
        """Read a signed (zig-zag) varint of at most 32 bits."""
        value = self.uvarint()
        return value >> 1 ^ -(value & 1)

    def varlong(self) -> int:
        """Read a signed (zig-zag) varint of at most 64 bits."""
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

    def _compact(self) -> memoryview:
        """Return the bytes behind a compact length, which counts itself."""
        start = self.position
        if start < self.end:
            stop = start + self.data[start]
            if start < stop < start + 0x80 and stop <= self.end:
                self.position = stop  # the common case: the length is one byte
                return self.data[start + 1 : stop]
        return self.take(self.uvarint() - 1)

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
        """Read the count of a legacy array whose elements have at least `least_bytes` each."""
        return self._bounded(self.unpack(_INT32)[0], least_bytes)

    def nullable_count(self, least_bytes: int) -> int:
        """Read a count like `count`, or -1 for null."""
        count: int = self.unpack(_INT32)[0]
        return count if count == -1 else self._bounded(count, least_bytes)

    def compact_count(self, least_bytes: int) -> int:
        """Read the count of a compact array."""
        count = self.uvarint() - 1
        return count if count == 0 else self._bounded(count, least_bytes)

    def compact_nullable_count(self, least_bytes: int) -> int:
        """Read a count like `compact_count`, or -1 for null."""
        count = self.uvarint() - 1
        return count if count == -1 else self._bounded(count, least_bytes)

    def string(self) -> str:
        """Read a legacy string."""
        return _text(self.take(self.unpack(_INT16)[0]))

    def nullable_string(self) -> str | None:
        """Read a legacy nullable string."""
        size: int = self.unpack(_INT16)[0]
        return None if size == -1 else _text(self.take(size))

    def compact_string(self) -> str:
        """Read a compact string."""
        return _text(self._compact())

    def compact_nullable_string(self) -> str | None:
        """Read a compact nullable string."""
        size = self.uvarint() - 1
        return None if size == -1 else _text(self.take(size))

    def legacy_bytes(self) -> bytes:
        """Read legacy bytes."""
        return self.take(self.unpack(_INT32)[0]).tobytes()

    def nullable_bytes(self) -> bytes | None:
        """Read legacy nullable bytes."""
        size: int = self.unpack(_INT32)[0]
        return None if size == -1 else self.take(size).tobytes()

    def compact_bytes(self) -> bytes:
        """Read compact bytes."""
        return self._compact().tobytes()

    def compact_nullable_bytes(self) -> bytes | None:
        """Read compact nullable bytes."""
        size = self.uvarint() - 1
        return None if size == -1 else self.take(size).tobytes()

    def uuid(self) -> Uuid:
        """Read a uuid."""
        return Uuid(self.take(UUID_BYTES).tobytes())

    def fixed_array(self, code: str, count: int) -> tuple[Any, ...]:
        """Read `count` fixed-width numbers; the count is already checked."""
        return self.unpack(_numbers(code, count)) if count else ()

    def skip_tags(self) -> None:
        """Skip a section of unknown tagged fields (KIP-482)."""
        for _ in range(self.uvarint()):
            self.uvarint()
            self.take(self.uvarint())

    def finish_tag(self, end: int, name: str) -> None:
        """Check that the tagged field `name` has exactly its announced length."""
        if self.position != end:
            raise WireError(f"tagged field {name} ends at byte {self.position}, announced {end}")
