"""The primitive types of Kafka's protocol, read and written in the plainest way (KIP-482).

The methods have the names of node/wire/primitives.py, so that the generated code of messages runs
over both. Nothing here is fast, and nothing is shared with the node but the error.
"""

import struct
from typing import Any

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.types import Uuid


def varint_bytes(value: int) -> bytes:
    """Return an unsigned varint: seven bits a byte, the lowest first."""
    groups = [value & 127]
    while value := value >> 7:
        groups.append(value & 127)
    return bytes([*(group + 128 for group in groups[:-1]), groups[-1]])


def zigzag(value: int) -> int:
    """Return the unsigned form of a signed number: 0, -1, 1, -2 are 0, 1, 2, 3."""
    return 2 * value if value >= 0 else -2 * value - 1


class ReferenceWriter(bytearray):
    """A growing buffer."""

    def uvarint(self, value: int) -> None:
        """Write an unsigned varint."""
        self.extend(varint_bytes(value))

    def varint(self, value: int) -> None:
        """Write a signed varint."""
        self.extend(varint_bytes(zigzag(value)))

    def array_count(self, value: int) -> None:
        """Write the count of a legacy array."""
        self.extend(value.to_bytes(4, "big", signed=True))

    def string(self, value: str) -> None:
        """Write a legacy string."""
        data = value.encode()
        if len(data) >= 1 << 15:
            raise WireError("a string that is too long")
        self.extend(len(data).to_bytes(2, "big") + data)

    def nullable_string(self, value: str | None) -> None:
        """Write a legacy string or null."""
        if value is None:
            self.extend((-1).to_bytes(2, "big", signed=True))
        else:
            self.string(value)

    def compact_string(self, value: str) -> None:
        """Write a compact string."""
        self.compact_bytes(value.encode())

    def compact_nullable_string(self, value: str | None) -> None:
        """Write a compact string or null."""
        self.compact_nullable_bytes(None if value is None else value.encode())

    def legacy_bytes(self, value: bytes) -> None:
        """Write legacy bytes."""
        self.array_count(len(value))
        self.extend(value)

    def nullable_bytes(self, value: bytes | None) -> None:
        """Write legacy bytes or null."""
        if value is None:
            self.array_count(-1)
        else:
            self.legacy_bytes(value)

    def compact_bytes(self, value: bytes) -> None:
        """Write compact bytes."""
        self.uvarint(len(value) + 1)
        self.extend(value)

    def compact_nullable_bytes(self, value: bytes | None) -> None:
        """Write compact bytes or null."""
        if value is None:
            self.uvarint(0)
        else:
            self.compact_bytes(value)

    def fixed_array(self, code: str, values: tuple[Any, ...]) -> None:
        """Write numbers of a fixed width."""
        for value in values:
            self.extend(struct.pack(f">{code}", value))


class ReferenceReader:
    """A cursor over bytes; any read past the end is a WireError."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = memoryview(data)
        self.position = position
        self.end = len(data)

    @property
    def remaining(self) -> int:
        """Return the number of unread bytes."""
        return len(self.data) - self.position

    def take(self, size: int) -> memoryview:
        """Return the next bytes."""
        if not 0 <= size <= self.remaining:
            raise WireError("cut off")
        self.position += size
        return self.data[self.position - size : self.position]

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        """Read fields of a fixed width."""
        return layout.unpack(self.take(layout.size))

    def number(self, size: int) -> int:
        """Read a signed number of a fixed width."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def uvarint(self) -> int:
        """Read an unsigned varint of at most 32 bits."""
        return self._bits(32)

    def varint(self) -> int:
        """Read a signed varint of at most 32 bits."""
        return _unfolded(self._bits(32))

    def varlong(self) -> int:
        """Read a signed varint of at most 64 bits."""
        return _unfolded(self._bits(64))

    def _bits(self, bits: int) -> int:
        value = 0
        for index in range(-(-bits // 7)):
            byte: int = self.take(1)[0]
            value += (byte % 128) * 128**index
            if byte < 128:
                if value >= 2**bits:
                    raise WireError("too large")
                return int(value)
        raise WireError("endless")

    def _counted(self, count: int, least_bytes: int, *, is_nullable: bool) -> int:
        if count == -1 and is_nullable:
            return -1
        if count < 0 or count * least_bytes > self.remaining:
            raise WireError("an impossible count")
        return count

    def count(self, least_bytes: int) -> int:
        """Read the count of a legacy array."""
        return self._counted(self.number(4), least_bytes, is_nullable=False)

    def nullable_count(self, least_bytes: int) -> int:
        """Read the count of a legacy array, or -1 for null."""
        return self._counted(self.number(4), least_bytes, is_nullable=True)

    def compact_count(self, least_bytes: int) -> int:
        """Read the count of a compact array."""
        return self._counted(self.uvarint() - 1, least_bytes, is_nullable=False)

    def compact_nullable_count(self, least_bytes: int) -> int:
        """Read the count of a compact array, or -1 for null."""
        return self._counted(self.uvarint() - 1, least_bytes, is_nullable=True)

    def string(self) -> str:
        """Read a legacy string."""
        return _text(self.take(self.number(2)))

    def nullable_string(self) -> str | None:
        """Read a legacy string or null."""
        size = self.number(2)
        return None if size == -1 else _text(self.take(size))

    def compact_string(self) -> str:
        """Read a compact string."""
        return _text(self.take(self.uvarint() - 1))

    def compact_nullable_string(self) -> str | None:
        """Read a compact string or null."""
        size = self.uvarint()
        return None if size == 0 else _text(self.take(size - 1))

    def legacy_bytes(self) -> bytes:
        """Read legacy bytes."""
        return bytes(self.take(self.number(4)))

    def nullable_bytes(self) -> bytes | None:
        """Read legacy bytes or null."""
        size = self.number(4)
        return None if size == -1 else bytes(self.take(size))

    def compact_bytes(self) -> bytes:
        """Read compact bytes."""
        return bytes(self.take(self.uvarint() - 1))

    def compact_nullable_bytes(self) -> bytes | None:
        """Read compact bytes or null."""
        size = self.uvarint()
        return None if size == 0 else bytes(self.take(size - 1))

    def uuid(self) -> Uuid:
        """Read a uuid."""
        return Uuid(bytes(self.take(16)))

    def fixed_array(self, code: str, count: int) -> tuple[Any, ...]:
        """Read numbers of a fixed width."""
        return tuple(self.unpack(struct.Struct(f">{code}"))[0] for _ in range(count))

    def skip_tags(self) -> None:
        """Skip tagged fields."""
        for _ in range(self.uvarint()):
            self.uvarint()
            self.take(self.uvarint())

    def finish_tag(self, end: int, name: str) -> None:
        """Check the end of a tagged field."""
        if self.position != end:
            raise WireError(f"{name} has another length")


def _unfolded(value: int) -> int:
    return value // 2 if value % 2 == 0 else -(value + 1) // 2


def _text(data: memoryview) -> str:
    try:
        return bytes(data).decode()
    except UnicodeDecodeError as error:
        raise WireError("no text") from error
