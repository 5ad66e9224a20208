"""Batches are decompressed as Kafka reads the batches, in bounded memory."""

import random
import resource
from pathlib import Path

import pyarrow
import pytest

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import compression
from kraftproof.node.wire.records.compression import Compression


def compressed(data: bytes, codec: str) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, codec) as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("block", [64, 70_000, 5_000_000])
def test_a_frame_of_lz4_may_have_many_blocks(block):
    """Java's frames have a flag for each of their fields, and blocks that are not compressed."""
    chance = random.Random(block)
    data = chance.randbytes(block) + bytes(block)
    whole = compressed(data, "lz4")
    assert compression.decompress(3, memoryview(whole + b"other bytes")) == data


@pytest.mark.parametrize(
    "frame",
    [
        "04224d187c4048000000000000002b120000008f7265636f72647320080028506f726473202c2f83620000000002248966",
        "04224d18604082120000008f7265636f72647320080028506f7264732000000000",
    ],
    ids=["sizes and checksums", "neither"],
)
def test_the_fields_of_a_frame_of_lz4_are_counted(frame):
    """The program lz4 wrote these frames of the same text."""
    whole = bytes.fromhex(frame)
    assert compression.decompress(3, memoryview(whole + whole)) == b"records " * 9


def mapped_bytes() -> int:
    """Return the size of the address space of this process."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()


@pytest.mark.parametrize("codec", [Compression.LZ4, Compression.ZSTD])
def test_damaged_batches_leave_no_memory_behind(codec: Compression) -> None:
    """Each of them cost 64 MiB of address space, until a node could start no more process."""
    whole = compressed(b"records " * 9, codec.name.lower())
    damaged = [whole[:-3], whole[:9], bytes(20), whole[:12] + b"\xff" * 30]
    before = 0
    for number in range(100):
        for data in damaged:
            with pytest.raises(WireError, match="damaged"):
                compression.decompress(codec, memoryview(data))
        before = before or mapped_bytes()
        assert mapped_bytes() - before < compression.LARGEST_BYTES, number
