"""Frames: four bytes of size, then the payload (the protocol guide's "Request / Response").

No socket here: bytes go in as they come, whole payloads come out.
"""

import struct
from typing import Final

from kraftproof.node.wire.errors import WireError

MAX_FRAME_BYTES: Final = 100 * 1024 * 1024
_SIZE: Final = struct.Struct(">i")


def frame(*parts: bytes) -> bytes:
    """One frame around the parts of a payload."""
    return b"".join((_SIZE.pack(sum(map(len, parts))), *parts))


class FrameSplitter:
    """Cuts a stream of bytes into payloads.

    A size that is negative or above the limit is refused as soon as its four bytes are there,
    so that a hostile peer makes us hold no more than it has sent.
    """

    __slots__ = ("_buffer", "_limit")

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._buffer = bytearray()
        self._limit = limit

    @property
    def buffered(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that `data` completes.

        Raises:
            WireError: if a frame announces a negative size, or one above the limit.
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
