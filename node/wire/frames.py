"""Split a byte stream into frames: a size of four bytes, then the payload.

The format is "Request / Response" in the protocol guide.
"""

import struct
from typing import Final

from kraftproof.node.wire.errors import WireError

MAX_FRAME_BYTES: Final = 100 * 1024 * 1024
_SIZE: Final = struct.Struct(">i")


def frame(*parts: bytes) -> bytes:
    """Return a frame around the parts of a payload."""
    return b"".join((_SIZE.pack(sum(map(len, parts))), *parts))


class FrameSplitter:
    """Split a stream of bytes into payloads.

    A size that is negative or above the limit is refused as soon as its four bytes have arrived, so
    that a hostile peer cannot make the node allocate memory.
    """

    __slots__ = ("_buffer", "_limit")

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._buffer = bytearray()
        self._limit = limit

    @property
    def buffered(self) -> int:
        """Return the number of bytes that wait for the rest of their frame."""
        return len(self._buffer)

    def limit_to(self, limit: int) -> None:
        """Set the limit of later frames; a login ends with a larger limit."""
        self._limit = limit

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads completed by `data`.

        Raises:
            WireError: a frame announces a negative size, or a size above the limit.
        """
        buffer = self._buffer
        buffer += data
        payloads: list[bytes] = []
        position = 0
        while len(buffer) - position >= _SIZE.size:
            size: int = _SIZE.unpack_from(buffer, position)[0]
            if not 0 <= size <= self._limit:
                buffer.clear()
                raise WireError(f"a frame of {size} bytes; 0 to {self._limit} are allowed")
            end = position + _SIZE.size + size
            if end > len(buffer):
                break
            payloads.append(bytes(memoryview(buffer)[position + _SIZE.size : end]))
            position = end
        del buffer[:position]
        return payloads
