"""Read batches and records that a metadata log never has, or that only newer nodes write."""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import (
    DifferenceError,
    check,
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.wire.reference_batches import (
    ReferenceBatch,
    ReferenceRecord,
)
from kraftproof.cluster.simulated.differential.wire.reference_codec import varint_bytes
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import batches, metadata_records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.control import SnapshotFooter
from kraftproof.node.wire.records.metadata import NoOpRecord
from kraftproof.node.wire.records.unknown_record import UnknownRecord

CONTROL: Final = 0x20


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


def compare_unknown(random: Random) -> None:
    """Read records of a newer node: such records keep their bytes.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
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
