"""Build frames of LZ4 with any checksums, apart from a library (lz4_Frame_format.md, xxHash).

The blocks are not compressed, as a writer may leave them.
"""

from random import Random
from typing import Final

from msgspec import Struct

MAGIC: Final = b"\x04\x22\x4d\x18"
VERSION: Final = 1 << 6
INDEPENDENT_BLOCKS, BLOCK_CHECKSUM, CONTENT_SIZE, CONTENT_CHECKSUM = 1 << 5, 16, 8, 4
LARGEST_BLOCK: Final = 4 << 4
"""Blocks have at most 64 KiB."""
UNCOMPRESSED: Final = 1 << 31
_PRIMES: Final = (2_654_435_761, 2_246_822_519, 3_266_489_917, 668_265_263, 374_761_393)
_MASK: Final = (1 << 32) - 1


class Lz4Frame(Struct, frozen=True, kw_only=True):
    """A frame: blocks, each maybe with a checksum, and the fields that a writer may leave out."""

    blocks: tuple[bytes, ...]
    has_block_checksums: bool
    has_size: bool
    has_checksum: bool

    @property
    def content(self) -> bytes:
        """Return the content of the blocks."""
        return b"".join(self.blocks)

    @property
    def data(self) -> bytes:
        """Return the bytes of the frame."""
        flags = VERSION | INDEPENDENT_BLOCKS
        flags |= BLOCK_CHECKSUM * self.has_block_checksums
        flags |= CONTENT_SIZE * self.has_size | CONTENT_CHECKSUM * self.has_checksum
        head = bytes((flags, LARGEST_BLOCK))
        if self.has_size:
            head += len(self.content).to_bytes(8, "little")
        parts = [MAGIC, head, bytes((_xxh32(head) >> 8 & 0xFF,))]
        for block in self.blocks:
            parts += [(len(block) | UNCOMPRESSED).to_bytes(4, "little"), block]
            if self.has_block_checksums:
                parts.append(_checksum(block))
        parts.append(bytes(4))
        if self.has_checksum:
            parts.append(_checksum(self.content))
        return b"".join(parts)


def draw_frame(random: Random) -> Lz4Frame:
    """Return a frame of one to three blocks."""
    return Lz4Frame(
        blocks=tuple(random.randbytes(random.randint(1, 40)) for _ in range(random.randint(1, 3))),
        has_block_checksums=random.random() < 0.5,
        has_size=random.random() < 0.5,
        has_checksum=random.random() < 0.5,
    )


def _checksum(data: bytes) -> bytes:
    return _xxh32(data).to_bytes(4, "little")


def _xxh32(data: bytes) -> int:
    """Return the hash of xxHash with 32 bits and the seed 0."""
    first, second, third, fourth, fifth = _PRIMES
    at, total = 0, fifth
    if len(data) >= 16:
        lanes = [(first + second) & _MASK, second, 0, -first & _MASK]
        while at + 16 <= len(data):
            for lane in range(4):
                word = int.from_bytes(data[at : at + 4], "little")
                lanes[lane] = _rotated(lanes[lane] + word * second, 13) * first & _MASK
                at += 4
        total = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
    total += len(data)
    while at + 4 <= len(data):
        word = int.from_bytes(data[at : at + 4], "little")
        total, at = _rotated(total + word * third, 17) * fourth, at + 4
    for byte in data[at:]:
        total = _rotated(total + byte * fifth, 11) * first
    total &= _MASK
    total = (total ^ total >> 15) * second & _MASK
    total = (total ^ total >> 13) * third & _MASK
    return total ^ total >> 16


def _rotated(value: int, by: int) -> int:
    value &= _MASK
    return (value << by | value >> 32 - by) & _MASK
