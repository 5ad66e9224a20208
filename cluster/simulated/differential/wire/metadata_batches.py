"""Compare batches of the metadata log, whole, cut and damaged, with the reference."""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import (
    DifferenceError,
    Refusal,
    attempt,
    check,
    named,
    same,
)
from kraftproof.cluster.simulated.differential.wire.batch_scans import compare_scans
from kraftproof.cluster.simulated.differential.wire.drawn_batches import draw_log
from kraftproof.cluster.simulated.differential.wire.messages import reference_bytes
from kraftproof.cluster.simulated.differential.wire.reference_batches import (
    CRC_FROM,
    HEADER_BYTES,
    ReferenceBatch,
    parse_fields,
    parse_records,
)
from kraftproof.cluster.simulated.differential.wire.reference_codec import varint_bytes
from kraftproof.cluster.simulated.differential.wire.wrong_batches import (
    compare_unknown,
    compare_wrong_batches,
)
from kraftproof.node.wire.codec import decode_response
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.fetched_records import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftproof.node.wire.messages.generated import fetch_response
from kraftproof.node.wire.records import batches, control_records, metadata_records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.control import ControlRecord
from kraftproof.node.wire.records.unknown_record import UnknownRecord
from kraftproof.node.wire.records.write_versions import write_version
from kraftproof.node.wire.types import ZERO_UUID, Uuid

CONTROL: Final = 0x20
CONTROL_TYPES: Final = {
    "LeaderChange": 2,
    "SnapshotHeader": 3,
    "SnapshotFooter": 4,
    "KRaftVersion": 5,
    "Voters": 6,
}
"""The numbers of control records (KIP-595, KIP-630, KIP-853)."""
DAMAGES: Final = 8


def compare_metadata_batches(random: Random) -> None:
    """Write, read, cut and damage a short log.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    log = draw_log(random)
    parts = [batches.encode_batch(batch) for batch in log]
    for batch, data in zip(log, parts, strict=True):
        _compare_bytes(batch, data)
    data = b"".join(parts)
    same("several batches", batches.encode_batches(log), data)
    same("a records field", batches.encode_records(tuple(log)), data)
    same("a records field of bytes", batches.encode_records(data), data)
    found = batches.decode_batches(data)
    same("the batches of a log", found, tuple(log))
    same("received bytes", batches.encode_batches(found), data)
    same("batches of another log", [batches.encode_batch(one) for one in log], parts)
    ends = [sum(map(len, parts[: count + 1])) for count in range(len(parts))]
    _compare_cuts(data, ends, tuple(log), random)
    compare_scans(data, ends, log, random)
    _compare_fetch(data, tuple(log), random)
    compare_wrong_batches(random)
    compare_unknown(random)
    _compare_repeated(log, random)


def _compare_bytes(batch: Batch, data: bytes) -> None:
    """Compare the header and each record of a batch with the batch in memory."""
    fields, count = parse_fields(data), len(batch.records)
    covered = data[CRC_FROM:]
    expected = replace(
        ReferenceBatch(),
        base_offset=batch.base_offset,
        epoch=batch.epoch,
        attributes=CONTROL if batch.is_control else 0,
        base_timestamp_ms=batch.timestamp_ms,
        max_timestamp_ms=batch.timestamp_ms,
        last_offset_delta=count - 1,
        count=count,
        payload=covered[HEADER_BYTES - CRC_FROM :],
    )
    same(f"the header {fields} of a batch", data.hex(), expected.data.hex())
    same("the last offset", batch.last_offset, batch.base_offset + count - 1)
    same("the next offset", batch.next_offset, batch.base_offset + count)
    records = parse_records(covered[HEADER_BYTES - CRC_FROM :], count)
    level = 21 if batch.level is None else batch.level.level
    layouts = batches.record_layouts(memoryview(data))
    for delta, record in enumerate(batch.records):
        key, value, version = _parts(record, level)
        same(f"record {delta} of a batch", records[delta], (0, delta, key, value))
        sizes = (-1 if key is None else len(key), len(value), version)
        layout = layouts[delta]
        same("a layout", (layout.key_bytes, layout.value_bytes, layout.version), sizes)


def _parts(record: Record, level: int) -> tuple[bytes | None, bytes, int]:
    """Return key, value and version of a record."""
    if isinstance(record, UnknownRecord):
        return None, record.value, record.version
    if isinstance(record, ControlRecord):
        number = CONTROL_TYPES[type(record).__name__]
        key = b"\0\0" + number.to_bytes(2, "big")
        schema = control_records.SCHEMAS[number]
        return key, reference_bytes(schema, record.version, record), record.version
    version = write_version(record, level)
    head = varint_bytes(1) + varint_bytes(record.KEY) + varint_bytes(version)
    schema = metadata_records.SCHEMAS[record.KEY]
    return None, head + reference_bytes(schema, version, record), version


def _compare_cuts(data: bytes, ends: list[int], log: tuple[Batch, ...], random: Random) -> None:
    """Read a part of the bytes, as a Fetch answer may end anywhere."""
    begins = [0, *ends]
    near = [min(begin + size, len(data)) for begin in begins for size in (11, 12, 13, 60, 61)]
    for kept in {*ends, *random.sample(near, 4), random.randrange(len(data))}:
        whole = sum(end <= kept for end in ends)
        part = data[:kept]
        found = attempt(WireError, batches.decode_batches, part, allow_partial=True)
        same(f"{kept} bytes of a log", found, log[:whole])
        strict = attempt(WireError, batches.decode_batches, part)
        if kept in begins:
            same(f"{kept} bytes of whole batches", strict, log[:whole])
        elif isinstance(strict, Refusal):
            named("a cut log", strict.text, f"byte {begins[whole]}")
        else:
            raise DifferenceError(f"{kept} bytes of a log with ends {ends} count as whole")


def _compare_fetch(data: bytes, log: tuple[Batch, ...], random: Random) -> None:
    """Read Fetch answers: batches of the metadata log are decoded, others stay bytes."""
    is_metadata, version = random.random() < 0.5, random.choice((12, 13, 17))
    name = METADATA_TOPIC if is_metadata else "other"
    topic_id = METADATA_TOPIC_ID if is_metadata else Uuid(bytes(15) + b"\2")
    same("the names of the metadata log", (METADATA_TOPIC, METADATA_TOPIC_ID[-2:]), _METADATA)
    partitions = (
        fetch_response.PartitionData(records=data),
        fetch_response.PartitionData(records=None),
    )
    topic = fetch_response.FetchableTopicResponse(
        topic=name if version < 13 else "",
        topic_id=topic_id if version >= 13 else ZERO_UUID,
        partitions=partitions,
    )
    schema = fetch_response.FETCH_RESPONSE
    plain = fetch_response.FetchResponse(responses=(topic,))
    found = decode_response(1, version, reference_bytes(schema, version, plain))
    assert isinstance(found, fetch_response.FetchResponse), "the key says so"
    records = [partition.records for partition in found.responses[0].partitions]
    expected = log if is_metadata else data
    same(f"records of {name} in a Fetch v{version}", records[0], expected)
    check("no records in a Fetch", not records[1])


_METADATA: Final = ("__cluster_metadata", b"\0\1")


def _compare_repeated(log: list[Batch], random: Random) -> None:
    """Encode batches again: a leader's batch is encoded once for its disk and each replica."""
    size = random.choice((0, 1 << 17))
    large = UnknownRecord(value=bytes(size))
    others = [
        Batch(base_offset=number, epoch=0, timestamp_ms=0, records=(large,)) for number in range(2)
    ]
    for batch in (log[-1], *others):
        check("bytes that are encoded once", batches.encode_batch(batch) is _again(batch))
    for batch in others:
        offset = int.from_bytes(batches.encode_batch(batch)[:8], "big")
        same("the bytes of one of two batches", offset, batch.base_offset)


def _again(batch: Batch) -> bytes:
    return batches.encode_batch(batch)
