"""Compare the records of produced batches, in every codec, with the reference."""

import gzip
import zlib
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import (
    Refusal,
    attempt,
    check,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.wire.lz4_frames import draw_frame
from kraftproof.cluster.simulated.differential.wire.raw_batches import draw_raw, draw_record
from kraftproof.cluster.simulated.differential.wire.reference_batches import ReferenceBatch
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import compression, raw_batch, raw_records

GZIP: Final = 1
LOG_APPEND_TIME: Final = 0x08
"""The attribute of a batch whose records all have the newest time of the header."""
SNAPPY: Final = 2
LZ4: Final = 3
LIBRARY: Final = {2: "snappy", 3: "lz4", 4: "zstd"}
LIBRARY_SHARE: Final = 0.25
"""Share of comparisons with the codecs of a library whose import is slow."""
XERIAL: Final = b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
"""The header of Java's framing of snappy: magic, version, compatible version."""


def compare_raw_records(random: Random) -> None:
    """Read records of right and wrong batches.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    for _ in range(3):
        one = draw_raw(random)
        _compare_views(one, one)
    _compare_wrong(random)
    _compare_codecs(random)


def _compare_views(one: ReferenceBatch, sent: ReferenceBatch) -> None:
    """Compare the records of a batch as sent, maybe compressed."""
    found = raw_records.read_records(raw_batch.parse_batch(sent.data))
    times = [one.base_timestamp_ms + record.timestamp_delta for record in one.records]
    if sent.attributes & LOG_APPEND_TIME:
        times = [sent.max_timestamp_ms] * len(times)
    expected = [
        (time, record.key is not None) for time, record in zip(times, one.records, strict=True)
    ]
    views = None if found is None else [(view.timestamp_ms, view.has_key) for view in found]
    same(f"the records of codec {sent.attributes & 7}", views, expected)


def _compare_wrong(random: Random) -> None:
    one, record = draw_raw(random), draw_record(random)
    one = replace(one, records=(*one.records[:1], record), last_offset_delta=1)
    headers = len(record.headers)
    last = {
        "a record too few": replace(one, count=3, last_offset_delta=2),
        "a record too many": replace(one, count=1),
        "many records": replace(one, count=1 << 30, last_offset_delta=1 << 30),
        "rest after the last record": replace(one, payload=one.content + b"\0"),
        "a cut record": replace(one, payload=one.content[:-1]),
        "no byte": replace(one, payload=b""),
    }
    for what, wrong in (
        ("a wrong place", replace(record, offset_delta=random.choice((0, 2, -1)))),
        ("a header too few", replace(record, header_count=headers + 1)),
        ("a header too many", replace(record, headers=((b"", None),), header_count=0)),
        ("many headers", replace(record, header_count=1 << 20)),
        ("negative headers", replace(record, header_count=-1)),
        ("rest in a record", replace(record, rest=b"\0")),
    ):
        last[what] = replace(one, records=(one.records[0], wrong))
    for what, batch in last.items():
        parsed = raw_batch.parse_batch(batch.data)
        refused(what, WireError, raw_records.read_records, parsed)
    parsed = raw_batch.parse_batch(last["rest after the last record"].data)
    text = refused("rest", WireError, raw_records.read_records, parsed)
    named("rest", text, "1 bytes after")


def _compare_codecs(random: Random) -> None:
    one = draw_raw(random)
    content = one.content
    gzipped = gzip.compress(content, mtime=0)
    _compare_views(one, replace(one, attributes=GZIP, payload=gzipped))
    if random.random() < LIBRARY_SHARE:
        # a repetition whose distance needs the largest window of gzip
        far = (block := random.randbytes(30_000)) + block[:100]
        same("a wide window", bytes(_decompress(GZIP, gzip.compress(far, mtime=0))), far)
    for what, payload in (
        ("cut gzip", gzipped[:-1]),
        ("half gzip", gzipped[: len(gzipped) // 2]),
        ("no gzip", b""),
        ("damaged gzip", b"\0" + gzipped[1:]),
        ("zlib in place of gzip", zlib.compress(content)),
    ):
        _refused_payload(what, GZIP, payload)
    for codec in (5, 6, 7):
        _refused_payload("an unknown codec", codec, content, str(codec))
    same("no codec", bytes(_decompress(0, content)), content)
    same("the limit of a batch", compression.LARGEST_BYTES, 64 << 20)
    if random.random() < LIBRARY_SHARE:
        _compare_library(one, random)


def _decompress(codec: int, payload: bytes) -> memoryview:
    return compression.decompress(codec, memoryview(payload))


def _refused_payload(what: str, codec: int, payload: bytes, *names: str) -> None:
    named(what, refused(what, WireError, _decompress, codec, payload), *names)


def _compare_library(one: ReferenceBatch, random: Random) -> None:
    """Compare the codecs of a library, which a node may lack; then the records stay opaque."""
    import pyarrow  # heavy, and few runs need it

    library: Any = pyarrow
    content = one.content * random.choice((1, 3))
    for codec, name in LIBRARY.items():
        packed: bytes = library.compress(content, codec=name, asbytes=True)
        same(f"the output of {name}", bytes(_decompress(codec, packed)), content)
        for what, payload in (
            (f"cut {name}", packed[:-1]),
            (f"no {name}", b"\xff\xff\xff\xff\xff"),
        ):
            _refused_payload(what, codec, payload)
    _compare_frames(random)
    blocks = [content[:100], content[100:], content[:1]]
    packed_blocks = [library.compress(one, codec="snappy", asbytes=True) for one in blocks]
    framed = XERIAL + b"".join(len(one).to_bytes(4, "big") + one for one in packed_blocks)
    same("framed snappy", bytes(_decompress(SNAPPY, framed)), b"".join(blocks))
    same("framed snappy without blocks", bytes(_decompress(SNAPPY, XERIAL)), b"")
    for what, payload in (
        ("a cut block", framed[:-1]),
        ("a block of no byte", XERIAL + bytes(4)),
        ("a negative block", XERIAL + b"\xff\xff\xff\xff" + framed),
        ("a block without a size", XERIAL + b"\0\0\0\6\xff\xff\xff\xff\xff\xff"),
    ):
        _refused_payload(what, SNAPPY, payload)
    _refused_payload("too large", SNAPPY, b"\x81\x80\x80\x20" + bytes(9), "more than 67108864")
    half = b"\xff\xff\xff\x1f"  # a claim of 64 MiB less a byte, in a block that has no such output
    found = attempt(WireError, _decompress, SNAPPY, half + b"\0")
    check("a false claim is refused", isinstance(found, Refusal))
    if isinstance(found, Refusal):
        check("a false claim is damage", "more than" not in found.text)


def _compare_frames(random: Random) -> None:
    """Read frames of LZ4 with and without checksums; what follows the first frame is not read."""
    for _ in range(4):
        one, rest = draw_frame(random), random.choice((b"", b"\xff", draw_frame(random).data))
        same("a frame of lz4", bytes(_decompress(LZ4, one.data + rest)), one.content)
        _refused_payload("a cut frame of lz4", LZ4, one.data[:-1])
        if one.has_block_checksums or one.has_checksum:
            damaged = one.data.replace(one.blocks[-1], bytes(len(one.blocks[-1])))
            if damaged != one.data:
                _refused_payload("a damaged frame of lz4", LZ4, damaged)
