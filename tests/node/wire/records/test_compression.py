"""Kafka and its clients read one frame of a batch that lz4 compressed."""

import random

import pyarrow
import pytest

from kraftproof.node.wire.records import compression


def lz4(data: bytes) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("block", [64, 70_000, 5_000_000])
def test_a_frame_of_lz4_may_have_many_blocks(block):
    """Java's frames have a flag for each of their fields, and blocks that are not compressed."""
    chance = random.Random(block)
    data = chance.randbytes(block) + bytes(block)
    whole = lz4(data)
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
