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
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.drawn_batches import draw_log
from kraftproof.cluster.simulated.differential.messages import reference_bytes
from kraftproof.cluster.simulated.differential.reference_batches import (
    CRC_FROM,
    HEADER_BYTES,
    PREFIX_BYTES,
    ReferenceBatch,
    ReferenceRecord,
    parse_fields,
    parse_records,
)
from kraftproof.cluster.simulated.differential.reference_codec import varint_bytes
from kraftproof.node.wire.codec import decode_response
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.fetched_records import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftproof.node.wire.messages.generated import fetch_response
from kraftproof.node.wire.records import batches, control_records, metadata_records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.control import ControlRecord, SnapshotFooter
from kraftproof.node.wire.records.metadata import NoOpRecord
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
    _compare_scans(data, ends, log, random)
    _compare_fetch(data, tuple(log), random)
    compare_wrong_batches(random)
    _compare_unknown(random)
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


def _compare_scans(data: bytes, ends: list[int], log: list[Batch], random: Random) -> None:
    """Scan a segment, whole, cut, continued by zeros and damaged."""
    begins = [0, *ends]
    kept = random.randrange(len(data) + 1)
    zeros = bytes(random.choice((0, 1, 11, 12, 13, 100)))
    for part in (data, data[:kept], data + zeros, data[:kept] + zeros):
        # a torn write: the node can't know whether zeros at the end of a batch were written
        expected = _whole_before(part, data, begins)
        _compare_scan(part, begins[: expected + 1], log, is_torn=None)
    for _ in range(DAMAGES):
        damaged, index = bytearray(data), random.randrange(len(log))
        begin, end = begins[index], begins[index + 1]
        at = random.choice((begin + random.randrange(16, end - begin), begin + 16, end - 1))
        damaged[at] ^= 1 << random.randrange(8)
        _compare_scan(bytes(damaged), begins[: index + 1], log, is_torn=end == len(data))
    _compare_lengths(data, begins, log, random)


def _whole_before(part: bytes, data: bytes, begins: list[int]) -> int:
    """Return the number of whole batches, also where zeros happen to continue a cut batch."""
    return sum(part[:end] == data[:end] for end in begins[1:] if end <= len(part))


def _compare_lengths(data: bytes, begins: list[int], log: list[Batch], random: Random) -> None:
    """Damage the length of a batch; sound batches after it show that no write was torn."""
    index = random.randrange(len(log))
    begin, is_last = begins[index], begins[index + 1] == len(data)
    right = begins[index + 1] - begin - PREFIX_BYTES
    for wrong in (right + 1, right - 1, 1 << 30, HEADER_BYTES - PREFIX_BYTES - 1, 0, -1):
        damaged = bytearray(data)
        damaged[begin + 8 : begin + PREFIX_BYTES] = wrong.to_bytes(4, "big", signed=True)
        is_torn = is_last and wrong > right
        if is_last and wrong < right and damaged[-1] == 0:
            continue  # zeros at the end count as unwritten
        _compare_scan(bytes(damaged), begins[: index + 1], log, is_torn=is_torn)
        if wrong == HEADER_BYTES - PREFIX_BYTES - 1:
            one = bytes(damaged)
            text = refused("a short batch", WireError, batches.decode_batches, one)
            named("a short batch", text, f"{HEADER_BYTES - 1} bytes", f"byte {begin}")


def _compare_scan(
    data: bytes, begins: list[int], log: list[Batch], *, is_torn: bool | None
) -> None:
    """Compare a scan that must end at the last of `begins`; None for a cut log."""
    found = list[tuple[int, int, batches.BatchHeader]]()
    error: WireError | None = None
    try:
        found.extend(batches.scan_batches(data))
    except WireError as raised:
        error = raised
    for (position, length, header), begin, batch in zip(found, begins, log, strict=False):
        same("the place of a batch", (position, length), (begin, _length(data, begin)))
        expected = batches.BatchHeader(
            base_offset=batch.base_offset,
            last_offset=batch.base_offset + len(batch.records) - 1,
            epoch=batch.epoch,
            timestamp_ms=batch.timestamp_ms,
            is_control=batch.is_control,
            count=len(batch.records),
        )
        same("the header of a batch", header, expected)
    same(f"batches before byte {begins[-1]}", len(found), len(begins) - 1)
    if error is None:
        same("the end of a scan", begins[-1], len(data))
        return
    what = f"the error at byte {begins[-1]} of {data.hex()}"
    torn = isinstance(error, batches.TornTailError)
    corrupt = isinstance(error, batches.CorruptBatchError)
    same(what, (torn, corrupt), (True, False) if is_torn is None else (is_torn, not is_torn))
    same(what, getattr(error, "position", None), begins[-1])
    named(what, str(error), f"byte {begins[-1]}")


def _length(data: bytes, begin: int) -> int:
    return PREFIX_BYTES + parse_fields(data[begin:])["length"]


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


def compare_wrong_batches(random: Random) -> None:
    """Read batches that no metadata log has; each must be refused.

    Raises:
        DifferenceError: the node accepts one of them.
    """
    value = metadata_records.encode_record(NoOpRecord())  # NoOp
    record = ReferenceRecord(value=value)
    count = random.randint(1, 3)
    right = ReferenceBatch(base_offset=7, records=(record,) * count)
    same("a right batch", len(batches.decode_batches(right.data)[0].records), count)
    wrong = {
        "magic 0": replace(right, magic=0),
        "magic 1": replace(right, magic=1),
        "gzip": replace(right, attributes=1),
        "codec 4": replace(right, attributes=4),
        "a transaction": replace(right, attributes=0x10),
        "no record": replace(right, count=0, last_offset_delta=-1),
        "a wrong delta": replace(right, last_offset_delta=count),
        "a record too many": replace(right, count=count - 1, last_offset_delta=count - 2),
        "a record too few": replace(right, count=count + 1, last_offset_delta=count),
        "many records": replace(right, count=1 << 30, last_offset_delta=(1 << 30) - 1),
        "a wrong place": replace(right, records=(replace(record, offset_delta=1),) * count),
        "a key": replace(right, records=(replace(record, key=b""),)),
        "rest": replace(right, payload=right.content + b"\0"),
        "no value": replace(right, records=(replace(record, value=None),)),
        "a control record without a key": replace(right, attributes=CONTROL),
        "an unknown control record": replace(
            right, attributes=CONTROL, records=(replace(record, key=b"\0\0\0\x63"),)
        ),
    }
    for what, one in wrong.items():
        refused(what, WireError, batches.decode_batches, one.data)
    empty = Batch(base_offset=3, epoch=0, timestamp_ms=0, records=())
    refused("an empty batch", WireError, batches.encode_batch, empty)
    mixed = Batch(
        base_offset=3,
        epoch=0,
        timestamp_ms=0,
        is_control=random.random() < 0.5,
        records=(NoOpRecord(), SnapshotFooter()),
    )
    refused("a control record among others", WireError, batches.encode_batch, mixed)
    large = Batch(base_offset=1 << 63, epoch=0, timestamp_ms=0, records=right_records(mixed))
    text = refused("an offset too large", WireError, batches.encode_batch, large)
    named("an offset too large", text, 1 << 63)


def right_records(mixed: Batch) -> tuple[Record, ...]:
    """Return the first record of a batch that has another fault."""
    return mixed.records[:1]


def _compare_unknown(random: Random) -> None:
    """Read records of a newer node: such records keep their bytes."""
    body = random.randbytes(5)
    whole = metadata_records.encode_record(NoOpRecord())
    cases = (
        (b"\1" + varint_bytes(999) + b"\0" + body, 999, 0),
        (b"\1\2\x7f" + body, 2, 127),
        (b"\0\2\0" + body, -1, -1),
        (random.choice((b"\0", b"\2")) + whole[1:], -1, -1),
        (b"\1", -1, -1),
        (whole + b"\0", 20, 0),
    )
    for value, number, version in cases:
        batch = ReferenceBatch(records=(ReferenceRecord(value=value),)).data
        record = batches.decode_batches(batch)[0].records[0]
        what = f"the record {value.hex()}"
        if not isinstance(record, UnknownRecord):
            raise DifferenceError(f"{what}: {record} in place of an unknown record")
        same(what, (record.record_type, record.version, record.value), (number, version, value))
        check(f"the reason of {what}", record.reason)
        again = Batch(base_offset=0, epoch=0, timestamp_ms=0, records=(record,))
        same(f"the bytes of {what}", batches.encode_batch(again), batch)
        same(f"the layout of {what}", batches.record_layouts(memoryview(batch))[0].version, version)


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
