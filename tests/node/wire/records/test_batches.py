"""Record batches: golden bytes, an independent reader, damage of every kind."""

import random
import struct
import warnings

import pytest
from crc32c import crc32c

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import batches, recent_batches
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import CorruptBatchError, TornTailError
from kraftproof.node.wire.records.control import (
    KRaftVersion,
    LeaderChange,
    LeaderChangeVoter,
    SnapshotFooter,
    SnapshotHeader,
    Voters,
)
from kraftproof.node.wire.records.control_records import decode_control, encode_control
from kraftproof.node.wire.records.metadata import FeatureLevelRecord, NoOpRecord, TopicRecord
from kraftproof.node.wire.records.metadata_records import encode_record
from kraftproof.node.wire.types import Uuid
from tests.node.wire.kio_messages import random_batch

TOPIC = TopicRecord(name="a", topic_id=Uuid(bytes(range(16))))
BATCH = Batch(base_offset=5, epoch=3, timestamp_ms=1000, records=(NoOpRecord(), TOPIC))
GOLDEN = bytes.fromhex(
    "0000000000000005"  # base offset
    "00000059"  # length of what follows
    "00000003"  # partition leader epoch
    "02"  # magic
    "5b2d786a"  # CRC-32C
    "0000"  # attributes
    "00000001"  # last offset delta
    "00000000000003e8"  # base timestamp
    "00000000000003e8"  # max timestamp
    "ffffffffffffffff" "ffff" "ffffffff"  # no producer id, epoch, sequence
    "00000002"  # records
    "14" "00" "00" "00" "01" "08" "01140000" "00"  # NoOpRecord: null key, four bytes
    "38" "00" "00" "02" "01" "2c" "010200" "0261" "000102030405060708090a0b0c0d0e0f" "00" "00"
)  # fmt: skip


def control_batch(record, base_offset=0):
    return Batch(
        base_offset=base_offset, epoch=3, timestamp_ms=7, is_control=True, records=(record,)
    )


def with_crc(data: bytes) -> bytes:
    """The batch with its checksum made right again."""
    return data[:17] + struct.pack(">I", crc32c(data[21:])) + data[21:]


@pytest.mark.requirement("595-03")
def test_a_batch_has_these_bytes():
    assert batches.encode_batch(BATCH).hex() == GOLDEN.hex()
    assert batches.decode_batches(GOLDEN) == (BATCH,)
    assert (BATCH.last_offset, BATCH.next_offset) == (6, 7)


@pytest.mark.requirement("595-03")
def test_kafka_python_reads_our_batches():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of its own way to read its files
        from kafka.record.memory_records import MemoryRecords

    batch = MemoryRecords(batches.encode_batch(BATCH)).next_batch()
    assert batch.validate_crc()
    assert (batch.base_offset, batch.leader_epoch, batch.producer_id) == (5, 3, -1)
    records = list(batch)
    assert [record.offset for record in records] == [5, 6]
    assert [record.timestamp for record in records] == [1000, 1000]
    assert [record.key for record in records] == [None, None]
    assert [record.value for record in records] == list(map(encode_record, BATCH.records))
    assert not batch.is_control_batch
    change = LeaderChange(leader_id=1, voters=(), granting_voters=())
    control = Batch(base_offset=7, epoch=3, timestamp_ms=1, is_control=True, records=(change,))
    assert MemoryRecords(batches.encode_batch(control)).next_batch().is_control_batch


def test_batches_survive_the_way_there_and_back():
    chance = random.Random(1)
    many = tuple(random_batch(chance) for _ in range(200))
    assert batches.decode_batches(batches.encode_batches(many)) == many


@pytest.mark.parametrize(
    "record",
    [
        LeaderChange(leader_id=2, voters=(LeaderChangeVoter(voter_id=1),)),
        LeaderChange(version=1, leader_id=2, granting_voters=(LeaderChangeVoter(voter_id=1),)),
        SnapshotHeader(last_contained_log_timestamp=99),
        SnapshotFooter(),
        KRaftVersion(k_raft_version=1),
        Voters(),
    ],
    ids=lambda record: type(record).__name__,
)
def test_control_records_survive_the_way_there_and_back(record):
    batch = control_batch(record)
    assert batches.decode_batches(batches.encode_batch(batch)) == (batch,)


def test_a_control_key_is_version_then_type():
    assert encode_control(LeaderChange(leader_id=1))[0] == b"\0\0\0\2"
    assert encode_control(SnapshotHeader())[0] == b"\0\0\0\3"
    assert encode_control(SnapshotFooter()) == (b"\0\0\0\4", b"\0\0\0")


@pytest.mark.parametrize(
    ("key", "message"),
    [(None, "without a key"), (b"\0\0\0\1", "type 1 is unknown"), (b"\0\0", "expected")],
)
def test_a_foreign_control_record_is_refused(key, message):
    with pytest.raises(WireError, match=message):
        decode_control(None if key is None else memoryview(key), memoryview(b"\0\0\0"))


@pytest.mark.requirement("595-03")
@pytest.mark.parametrize("magic", [0, 1, 3])
def test_other_magics_are_refused(magic):
    data = GOLDEN[:16] + bytes([magic]) + GOLDEN[17:]
    with pytest.raises(WireError, match=f"magic {magic}"):
        batches.decode_batches(data)


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (22, 0x01, "compressed"),
        (22, 0x10, "transactional"),
        (26, 9, "up to delta 9"),
        (60, 9, "counts 9 records"),
        (64, 1, "out of order"),
    ],
)
def test_a_batch_that_is_not_ours_is_refused(position, value, message):
    data = with_crc(GOLDEN[:position] + bytes([value]) + GOLDEN[position + 1 :])
    with pytest.raises(WireError, match=message):
        batches.decode_batches(data)


def test_a_count_above_what_the_bytes_can_hold_is_refused_before_reading():
    last_delta, count = struct.pack(">i", 2**31 - 2), struct.pack(">i", 2**31 - 1)
    data = with_crc(GOLDEN[:23] + last_delta + GOLDEN[27:57] + count + GOLDEN[61:])
    with pytest.raises(WireError, match="2147483647 records in"):
        batches.decode_batches(data)


def test_a_flipped_bit_anywhere_behind_the_crc_is_noticed():
    for position in range(21, len(GOLDEN)):
        data = bytearray(GOLDEN)
        data[position] ^= 0x40
        with pytest.raises(WireError, match="CRC"):
            batches.decode_batches(bytes(data))


def test_a_partial_last_batch_is_dropped_only_where_it_may_be():
    assert SIZE > batches.HEADER_BYTES
    for cut in range(1, SIZE):
        data = GOLDEN + GOLDEN[:cut]
        assert batches.decode_batches(data, allow_partial=True) == (BATCH,)
        with pytest.raises(WireError, match="incomplete"):
            batches.decode_batches(data)


def test_what_no_batch_can_hold_is_refused():
    with pytest.raises(WireError, match="no record"):
        batches.encode_batch(Batch(base_offset=0, epoch=0, timestamp_ms=0, records=()))
    with pytest.raises(WireError, match="LeaderChange is a control record"):
        batches.encode_batch(
            Batch(base_offset=0, epoch=0, timestamp_ms=0, records=(LeaderChange(),))
        )
    with pytest.raises(WireError, match="TopicRecord is no control record"):
        batches.encode_batch(control_batch(TOPIC))
    with pytest.raises(WireError, match="offset 9"):
        batches.encode_batch(
            Batch(base_offset=9, epoch=2**31, timestamp_ms=0, records=(NoOpRecord(),))
        )


def scanned(data: bytes) -> tuple[list[tuple[int, int]], type | None, int]:
    """What a scan yields, how it ends, and where."""
    found = []
    try:
        for position, length, header in batches.scan_batches(data):
            assert header.count == 2
            found.append((position, length))
    except (TornTailError, CorruptBatchError) as error:
        return found, type(error), error.position
    return found, None, len(data)


SIZE = len(GOLDEN)


def test_a_sound_segment_is_scanned_to_its_end():
    assert scanned(GOLDEN * 3) == ([(0, SIZE), (SIZE, SIZE), (2 * SIZE, SIZE)], None, 3 * SIZE)
    assert scanned(b"") == ([], None, 0)


def test_a_write_cut_off_at_any_byte_is_a_torn_tail():
    assert SIZE > batches.HEADER_BYTES
    for cut in range(1, SIZE):
        assert scanned(GOLDEN + GOLDEN[:cut]) == ([(0, SIZE)], TornTailError, SIZE)


@pytest.mark.parametrize("zeros", [1, 11, 12, 61, 5000])
def test_space_that_was_never_written_is_a_torn_tail(zeros):
    assert scanned(GOLDEN + bytes(zeros)) == ([(0, SIZE)], TornTailError, SIZE)


def test_a_last_batch_of_the_right_length_with_pages_missing_is_a_torn_tail():
    damaged = GOLDEN[:40] + bytes(SIZE - 40)
    assert scanned(GOLDEN + damaged) == ([(0, SIZE)], TornTailError, SIZE)


@pytest.mark.parametrize("zeros", [1, 100, 5000])
def test_a_write_cut_off_at_any_byte_and_zeros_after_it_are_a_torn_tail(zeros):
    size = len(GOLDEN.rstrip(b"\0"))
    assert size > batches.HEADER_BYTES
    for cut in range(1, size):
        assert scanned(GOLDEN + GOLDEN[:cut] + bytes(zeros))[1:] == (TornTailError, SIZE), cut


def test_a_flipped_bit_in_the_middle_is_corruption_wherever_it_is():
    # The base offset (0-7) and the epoch (12-15) are outside of Kafka's checksum.
    for position in [*range(8, 12), *range(16, SIZE)]:
        data = bytearray(GOLDEN * 3)
        data[SIZE + position] ^= 0x04
        assert scanned(bytes(data)) == ([(0, SIZE)], CorruptBatchError, SIZE), position


def test_a_record_of_another_type_is_not_equal():
    other = Batch(
        base_offset=5,
        epoch=3,
        timestamp_ms=1000,
        records=(NoOpRecord(), FeatureLevelRecord(name="a")),
    )
    assert batches.encode_batch(other) != GOLDEN


def test_a_batch_is_encoded_once_for_all_that_need_its_bytes():
    batch = Batch(base_offset=7, epoch=2, timestamp_ms=5, records=BATCH.records)
    same = Batch(base_offset=7, epoch=2, timestamp_ms=5, records=BATCH.records)
    other = Batch(base_offset=8, epoch=2, timestamp_ms=5, records=BATCH.records)
    data = batches.encode_batch(batch)
    assert batches.encode_batch(batch) is data
    assert batches.encode_batch(same) == data
    assert batches.encode_batch(other) != data


def test_the_bytes_of_what_is_long_ago_are_not_kept(monkeypatch):
    monkeypatch.setattr(recent_batches, "MOST_KEPT", 1)
    first, second = (
        Batch(base_offset=n, epoch=1, timestamp_ms=0, records=BATCH.records) for n in (1, 2)
    )
    data = batches.encode_batch(first)
    batches.encode_batch(second)
    assert batches.encode_batch(first) is not data
    monkeypatch.setattr(recent_batches, "LARGEST_KEPT_BYTES", 10)
    third, fourth = (
        Batch(base_offset=n, epoch=1, timestamp_ms=0, records=BATCH.records) for n in (3, 4)
    )
    large = batches.encode_batch(third)
    assert batches.encode_batch(third) is large
    batches.encode_batch(fourth)
    assert batches.encode_batch(third) is not large


def test_a_replica_writes_the_bytes_that_it_was_sent():
    """Another implementation may say of a batch what ours does not read: its latest timestamp."""
    sent = with_crc(GOLDEN[:42] + b"\xe9" + GOLDEN[43:])
    (batch,) = batches.decode_batches(sent)
    assert batch == BATCH
    assert batches.encode_batch(batch) == sent != batches.encode_batch(BATCH)
