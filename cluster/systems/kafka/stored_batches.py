"""Batches of a metadata log as bytes, framed by their lengths only: no byte of a batch is judged.

The framing is that of Kafka's batches: the base offset in 8 bytes, then the number of bytes that
follow in 4. See files.py for decoded records.
"""

import base64
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kraftproof.node.storage.log import DIRECTORY_NAME

_HEAD: Final = struct.Struct(">qi")
_LAST_DELTA: Final = struct.Struct(">i")
_LAST_DELTA_AT: Final = 23
_LEAST_LENGTH: Final = 49
"""Number of bytes that follow the length in a batch without records."""


def batches(directory: Path, node_id: int) -> list[dict[str, object]]:
    """Return each whole batch of a node's metadata log, with its bytes in base64.

    Args:
        directory: The node's files; the log may lie anywhere below.
        node_id: Whose they are.
    """
    return [
        {
            "node": node_id,
            "base_offset": _HEAD.unpack_from(whole)[0],
            "next_offset": _next_offset(whole),
            "data": base64.b64encode(whole).decode(),
        }
        for path in sorted(directory.rglob(f"{DIRECTORY_NAME}/*.log"))
        for whole in framed(path.read_bytes())
    ]


def framed(segment: bytes) -> Iterator[memoryview]:
    """Yield the bytes of each whole batch; a length that no batch has ends the segment."""
    start, rest = 0, memoryview(segment)
    while start + _HEAD.size <= len(rest):
        _, length = _HEAD.unpack_from(rest, start)
        end = start + _HEAD.size + length
        if length < _LEAST_LENGTH or end > len(rest):
            return
        yield rest[start:end]
        start = end


def _next_offset(whole: memoryview) -> int:
    base: int = _HEAD.unpack_from(whole)[0]
    delta: int = _LAST_DELTA.unpack_from(whole, _LAST_DELTA_AT)[0]
    return base + delta + 1
