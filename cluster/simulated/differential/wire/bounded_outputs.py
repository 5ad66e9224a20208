"""Compare the bound of decompressed records, for every codec and each of its framings.

A batch may consist of several members of gzip, blocks of Java's snappy, or frames of zstd. The
bound holds for all of them together, and an output is bounded before the memory is taken. The
comparison lowers the bound of the node while it runs, so that a draw takes little memory.
"""

import gzip
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import compression

BOUNDS: Final = (1, 100, 70_000, 140_000)
"""Bytes of an output; two of them are larger than what the node reads at once."""
MOST_PARTS: Final = 5
MOST_BOMB_PARTS: Final = 64
BOMB_BYTES: Final = 1 << 21
SLACK_BYTES: Final = 1 << 19
"""Memory for the pieces in which the node reads, beside a few copies of the output."""
COPIES: Final = 4
LIBRARY_SHARE: Final = 0.5
"""Share of draws with the codecs of a library whose import is slow."""
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
XERIAL: Final = b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
"""The header of Java's framing of snappy: magic, version, compatible version."""


def compare_bounded_outputs(random: Random) -> None:
    """Decompress outputs at the bound and beyond, and bombs in little memory.

    Raises:
        DifferenceError: an output is refused, accepted, or takes memory beyond the bound.
    """
    bound, has_library = random.choice(BOUNDS), random.random() < LIBRARY_SHARE
    with _bounded_by(bound):
        for size in (bound, bound + 1):
            for name, codec, packed, is_read in _packed(
                size, _split(random, size), has_library=has_library
            ):
                what = f"{size} bytes of {name}, where {bound} may be"
                if size > bound:
                    named(what, refused(what, WireError, _decompress, codec, packed), str(bound))
                elif is_read:
                    same(what, _decompress(codec, packed), bytes(size))
        for name, codec, packed in _bombs(has_library=has_library):
            _compare_memory(f"a bomb of {name}", codec, packed, bound)


@contextmanager
def _bounded_by(bound: int) -> Iterator[None]:
    """Lower the node's bound for a while."""
    usual = compression.LARGEST_BYTES
    vars(compression)["LARGEST_BYTES"] = bound
    try:
        yield
    finally:
        vars(compression)["LARGEST_BYTES"] = usual


def _decompress(codec: int, packed: bytes) -> bytes:
    return bytes(compression.decompress(codec, memoryview(packed)))


def _compare_memory(what: str, codec: int, packed: bytes, bound: int) -> None:
    """Check that a bomb is refused in the memory of a few outputs of the allowed size."""
    tracemalloc.start(1)
    try:
        refused(what, WireError, _decompress, codec, packed)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    check(f"{what} takes {most} bytes, for at most {bound}", most <= COPIES * bound + SLACK_BYTES)


@cache
def _bombs(*, has_library: bool) -> list[tuple[str, int, bytes]]:
    """Return the bombs: each part alone is below the larger bounds."""
    parts = [BOMB_BYTES // MOST_BOMB_PARTS] * MOST_BOMB_PARTS
    packed = _packed(BOMB_BYTES, parts, has_library=has_library)
    return [(name, codec, data) for name, codec, data, _ in packed]


def _packed(
    size: int, parts: Sequence[int], *, has_library: bool
) -> Iterator[tuple[str, int, bytes, bool]]:
    """Return zeros in each codec and framing, and whether all of the parts are read."""
    yield "gzip", GZIP, gzip.compress(bytes(size), mtime=0), True
    members = b"".join(gzip.compress(bytes(part), mtime=0) for part in parts)
    yield "gzip members", GZIP, members, True
    if not has_library:
        return
    import pyarrow  # heavy, and few runs need it

    library: Any = pyarrow

    def pack(codec: str, count: int) -> bytes:
        packed: bytes = library.compress(bytes(count), codec=codec, asbytes=True)
        return packed

    yield "snappy", SNAPPY, pack("snappy", size), True
    blocks = [pack("snappy", part) for part in parts]
    framed = XERIAL + b"".join(len(one).to_bytes(4, "big") + one for one in blocks)
    yield "framed snappy", SNAPPY, framed, True
    yield "lz4", LZ4, pack("lz4", size), True
    yield "zstd", ZSTD, pack("zstd", size), True
    # A node may stop after the first frame, as long as the others are refused beyond the bound.
    yield "zstd frames", ZSTD, b"".join(pack("zstd", part) for part in parts), False


def _split(random: Random, size: int) -> list[int]:
    """Return the sizes of a few parts."""
    cuts = sorted(random.choices(range(size + 1), k=random.randrange(MOST_PARTS)))
    return [end - begin for begin, end in zip([0, *cuts], [*cuts, size], strict=True)]
