"""Decompress the records of a batch, for their validation (codecs of KIP-98, KIP-110).

gzip is in the standard library. pyarrow brings snappy, lz4 and zstd, and may be absent on a node;
then the records of these codecs stay opaque. Every output is bounded before the allocation, since
a small batch may expand to gigabytes.
"""

import zlib
from enum import IntEnum
from typing import Any, Final

from kraftproof.node.wire.errors import WireError

LARGEST_BYTES: Final = 64 * 1024 * 1024
"""Maximum size of the records of one batch after decompression."""
_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_PIECE_BYTES: Final = 1 << 14
"""Number of compressed bytes that are handed to zlib at once."""
_READ_BYTES: Final = 1 << 16
"""Number of bytes that are read from pyarrow at once."""
_LZ4_BLOCK_CHECKSUM, _LZ4_CONTENT_SIZE, _LZ4_CONTENT_CHECKSUM, _LZ4_DICTIONARY = 16, 8, 4, 1
"""Flags in the fifth byte of a frame, after the magic."""
_LZ4_SIZE_MASK: Final = 0x7FFF_FFFF
"""The highest bit of the size of a block says that the block is not compressed."""
_XERIAL_MAGIC: Final = b"\x82SNAPPY\0"
_XERIAL_HEADER_BYTES: Final = 16
"""The magic, a version and a compatible version; blocks with their lengths follow."""


class Compression(IntEnum):
    """The codec in the attributes of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class MissingCodecError(Exception):
    """The node has no library for the codec, so the records stay opaque."""


def decompress(codec: int, data: memoryview) -> memoryview:
    """Return the decompressed records.

    Raises:
        MissingCodecError: the node has no library for the codec.
        WireError: the codec is unknown, the data is damaged, or the output is too large.
    """
    match codec:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return memoryview(_gunzip(data))
        case Compression.SNAPPY:
            return memoryview(_unsnap(data))
        case Compression.LZ4:
            return memoryview(_stream("lz4", _lz4_frame(data)))
        case Compression.ZSTD:
            return memoryview(_stream("zstd", data))
        case _:
            raise WireError(f"compression codec {codec} is unknown")


def _gunzip(data: memoryview) -> bytes:
    """Return the output of all members; other bytes after a member are ignored, as in Java."""
    output, position = bytearray(), 0
    while True:
        position = _inflate(data, position, output)
        if bytes(data[position : position + len(_GZIP_MAGIC)]) != _GZIP_MAGIC:
            return bytes(output)


def _inflate(data: memoryview, position: int, output: bytearray) -> int:
    """Append the output of the member at a position, and return the position after the member.

    zlib copies the bytes after the end of a member. Small pieces keep the copies small, also for
    a batch of very many members.
    """
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    while not inflater.eof:
        piece = data[position : position + _PIECE_BYTES]
        if not piece:
            raise WireError("a gzip batch that ends too early")
        try:
            # One byte more than the bound: a limit of 0 means no limit.
            output += inflater.decompress(piece, LARGEST_BYTES + 1 - len(output))
        except zlib.error as error:
            raise WireError(f"a gzip batch that is damaged: {error}") from None
        if len(output) > LARGEST_BYTES:
            raise WireError(f"a gzip batch of more than {LARGEST_BYTES} bytes")
        position += len(piece) - len(inflater.unused_data)
    return position


def _arrow() -> Any:  # noqa: ANN401 - pyarrow has no types
    try:
        import pyarrow
    except ImportError:
        raise MissingCodecError("pyarrow is not installed") from None
    return pyarrow


def _stream(codec: str, data: memoryview) -> bytes:
    """Return the output of a codec with frames.

    `read` of pyarrow loses the memory of its result where the data is damaged.
    """
    arrow, output, piece = _arrow(), bytearray(), bytearray(_READ_BYTES)
    try:
        with arrow.CompressedInputStream(arrow.py_buffer(data), codec) as stream:
            while size := stream.readinto(piece):
                output += memoryview(piece)[:size]
                if len(output) > LARGEST_BYTES:
                    break
    except (OSError, ValueError) as error:
        raise WireError(f"a {codec} batch that is damaged: {_line(error)}") from None
    if len(output) > LARGEST_BYTES:
        raise WireError(f"a {codec} batch of more than {LARGEST_BYTES} bytes")
    return bytes(output)


def _lz4_frame(data: memoryview) -> memoryview:
    """Return the first frame, the only frame that Kafka and its clients read.

    A damaged frame stays whole for the library to refuse.
    """
    flags = data[4] if len(data) > 4 else 0
    position = 7 + 8 * bool(flags & _LZ4_CONTENT_SIZE) + 4 * bool(flags & _LZ4_DICTIONARY)
    while position + 4 <= len(data):
        size = int.from_bytes(data[position : position + 4], "little")
        position += 4
        if not size:
            return data[: position + 4 * bool(flags & _LZ4_CONTENT_CHECKSUM)]
        position += (size & _LZ4_SIZE_MASK) + 4 * bool(flags & _LZ4_BLOCK_CHECKSUM)
    return data


def _unsnap(data: memoryview) -> bytes:
    """Return the output of snappy: one raw block, or the blocks of Java's framing."""
    codec = _arrow().Codec("snappy")
    if bytes(data[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return _unsnap_block(codec, data, LARGEST_BYTES)
    blocks: list[bytes] = []
    room, position = LARGEST_BYTES, _XERIAL_HEADER_BYTES
    while position < len(data):
        length = int.from_bytes(data[position : position + 4], "big", signed=True)
        block = data[position + 4 : position + 4 + length]
        if length < 1 or len(block) < length:
            raise WireError(f"a snappy block of {length} bytes, where {len(block)} remain")
        blocks.append(_unsnap_block(codec, block, room))
        room -= len(blocks[-1])
        position += 4 + length
    return b"".join(blocks)


def _unsnap_block(codec: Any, block: memoryview, room: int) -> bytes:  # noqa: ANN401
    size = _snappy_size(block)
    if size > room:
        raise WireError(f"a snappy batch of more than {LARGEST_BYTES} bytes")
    try:
        return bytes(codec.decompress(block, decompressed_size=size, asbytes=True))
    except (OSError, ValueError) as error:
        raise WireError(f"a snappy batch that is damaged: {_line(error)}") from None


def _snappy_size(block: memoryview) -> int:
    """Return the size of the output, a varint at the begin of a block."""
    value = 0
    for index in range(min(len(block), 5)):
        value |= (block[index] & 0x7F) << (7 * index)
        if block[index] < 0x80:
            return value
    raise WireError("a snappy block without a size")


def _line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
