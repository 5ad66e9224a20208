"""Hostile bytes: every decoder answers with a message or a WireError, in little memory."""

import contextlib
import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import FrameSplitter
from kraftproof.node.wire.principal import decode_principal
from kraftproof.node.wire.records import batches
from kraftproof.node.wire.records.metadata_records import decode_record, encode_record
from tests.node.wire.kio_messages import random_batch

VERSIONS = [
    (key, version)
    for key, (low, high) in codec.SUPPORTED.items()
    for version in range(low, high + 1)
]
DECODERS = [codec.decode_request, codec.decode_response]


def survives(decode, *arguments) -> None:
    """Decode; a WireError is an answer, any other exception fails the test."""
    with contextlib.suppress(WireError):
        decode(*arguments)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(DECODERS), st.sampled_from(VERSIONS), st.binary(max_size=300))
def test_random_bytes_as_messages(decode, which, data):
    survives(decode, *which, data)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_as_anything_else(data):
    survives(headers.split_request, data)
    survives(headers.split_response, data, 18, 3)
    survives(headers.split_response, data, 1, 12)
    survives(batches.decode_batches, data)
    survives(lambda: list(batches.scan_batches(data)))
    survives(decode_record, data)
    survives(decode_record, b"\x01" + data)
    survives(decode_principal, data)


@pytest.mark.parametrize("which", VERSIONS, ids=lambda which: f"key{which[0]}-v{which[1]}")
def test_huge_lengths_take_no_memory(which):
    # Each of these is the largest count or length there is, in one encoding or the other.
    bodies = [
        b"\x7f\xff\xff\xff" * 8,
        b"\xff\xff\xff\xff\x0f" * 8,
        b"\xff\xff\xff\xff\x07" * 8,
        b"\x00" + b"\xff\xff\xff\xff\x0f" * 8,
        b"\x01" * 4 + b"\xff\xff\xff\xff\x0f" * 8,
        b"\x00\x01a" + b"\x7f\xff\xff\xff" * 8,
        b"\x00" * 12 + b"\x7f\xff\xff\xff" * 8,
    ]
    tracemalloc.start()
    try:
        for body in bodies:
            for decode in DECODERS:
                survives(decode, *which, body)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_huge_array_is_named_in_the_error():
    with pytest.raises(WireError, match="array of 2147483646 elements"):
        codec.decode_request(3, 9, b"\xff\xff\xff\xff\x07")


def test_damaged_batches():
    chance = random.Random(5)
    for _ in range(2000):
        data = bytearray(batches.encode_batch(random_batch(chance)))
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        survives(batches.decode_batches, bytes(data))
        survives(lambda data=bytes(data): list(batches.scan_batches(data)))


def test_damaged_records():
    chance = random.Random(6)
    for _ in range(2000):
        data = bytearray(encode_record(random_batch(chance).records[0]))
        data[chance.randrange(len(data))] = chance.randrange(256)
        survives(decode_record, bytes(data))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=20))
def test_random_bytes_as_frames(chunks):
    splitter = FrameSplitter(limit=64)
    with contextlib.suppress(WireError):
        for chunk in chunks:
            splitter.feed(chunk)
            assert splitter.buffered <= 64 + 4
    assert splitter.buffered <= 64 + 4
