"""Metadata records: every type and version, golden bytes, what is unknown."""

import random
import typing

import msgspec
import pytest
from msgspec.structs import replace

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import metadata
from kraftproof.node.wire.records.metadata import (
    BrokerEndpoint,
    BrokerFeature,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from kraftproof.node.wire.records.metadata_records import (
    SCHEMAS,
    decode_record,
    encode_record,
    read_head,
)
from kraftproof.node.wire.types import Uuid
from scripts.wiregen import records

ROWS = {
    0: 17, 1: 18, 2: 19, 9: 19, 3: 20, 4: 21, 5: 22, 18: 23, 19: 23, 7: 24, 8: 24, 17: 24,
    10: 25, 26: 25, 11: 26, 22: 26, 12: 27, 14: 29, 15: 30, 20: 30, 21: 30, 23: 30, 24: 30,
    25: 30, 27: 30,
}  # fmt: skip
ID = Uuid(bytes(range(16)))
INTEGER_BITS = {"int8": 7, "int16": 15, "uint16": 16, "int32": 31, "int64": 63}


def cases():
    for message in records.load():
        marks = []
        if message.key in ROWS:
            marks = [pytest.mark.requirement(f"631-{ROWS[message.key]}")]
        for version in message.versions:
            yield pytest.param(message, version, marks=marks, id=f"{message.name}-v{version}")


def random_struct(message, name: str, version: int, chance: random.Random):
    """A random instance of a record (or part) with the fields that `version` has."""
    struct = next(struct for struct in message.structs if struct.name == name)
    values = {
        use.name: random_value(message, use, version, chance)
        for use in struct.layouts[version]
        if chance.random() < 0.8
    }
    return getattr(metadata, name)(**values)


def random_value(message, use, version, chance):
    if use.nullable and chance.random() < 0.3:
        return None
    if use.is_array:
        return tuple(random_one(message, use, version, chance) for _ in range(chance.randrange(4)))
    return random_one(message, use, version, chance)


def random_one(message, use, version, chance):
    if use.is_struct:
        return random_struct(message, use.kind, version, chance)
    if use.kind in INTEGER_BITS:
        return chance.getrandbits(INTEGER_BITS[use.kind])
    return {
        "uuid": ID,
        "bool": chance.random() < 0.5,
        "float64": chance.random(),
        "string": chance.choice(["", "name", "é" * 70]),
        "bytes": chance.randbytes(chance.choice([0, 200])),
    }[use.kind]


@pytest.mark.parametrize(("message", "version"), list(cases()))
def test_records_survive_the_way_there_and_back(message, version):
    chance = random.Random(f"{message.name} {version}")
    for _ in range(20):
        record = random_struct(message, message.name, version, chance)
        assert decode_record(encode_record(record, version)) == record


@pytest.mark.requirement("631-14")
@pytest.mark.parametrize(
    ("record", "golden"),
    [
        (metadata.NoOpRecord(), "011400" "00"),
        (metadata.FenceBrokerRecord(id=1, epoch=2), "010700" "00000001" "0000000000000002" "00"),
        (metadata.TopicRecord(name="ab", topic_id=ID), "010200" "036162" f"{ID.hex()}" "00"),
        (metadata.ConfigRecord(resource_type=2, resource_name="t", name="k"),
         "010400" "02" "0274" "026b" "00" "00"),
        (PartitionChangeRecord(partition_id=1, topic_id=ID, leader=3, isr=(3,)),
         f"010501 00000001 {ID.hex()} 02 00 05 02 00000003 01 04 00000003"),
        (PartitionRecord(partition_id=0, topic_id=ID, replicas=(1, 2), isr=(1,), leader=1,
                         leader_epoch=0, partition_epoch=0, directories=(ID, ID)),
         f"010301 00000000 {ID.hex()} 03 00000001 00000002 02 00000001 01 01 00000001 00000000"
         f"00000000 03 {ID.hex()} {ID.hex()} 00"),
        (RegisterBrokerRecord(broker_id=1, incarnation_id=ID, broker_epoch=5,
                              end_points=(BrokerEndpoint(name="E", host="h", port=9092),),
                              features=(BrokerFeature(name="f", max_supported_version=2),)),
         f"010003 00000001 00 {ID.hex()} 0000000000000005 02 0245 0268 2384 0000 00"
         "02 0266 0000 0002 00 00 01 00 00"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_records_have_these_bytes(record, golden):
    assert encode_record(record).hex() == golden.replace(" ", "")


@pytest.mark.requirement("631-15")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("00140000", "frame 0; only 1"),
        ("01060000", "type 6 is unknown"),
        ("010d0000", "type 13 is unknown"),
        ("01140100", "versions 0 to 0, not 1"),
        ("0114000000", "1 bytes after NoOpRecord"),
        ("", "cut off"),
    ],
)
def test_what_is_unknown_is_a_clear_error(value, message):
    with pytest.raises(WireError, match=message):
        decode_record(bytes.fromhex(value))


@pytest.mark.requirement("631-15")
def test_unknown_tagged_fields_are_kept():
    plain = encode_record(metadata.FenceBrokerRecord(id=1, epoch=2))
    fenced = plain[:-1] + b"\x01\x63\x03abc"
    assert decode_record(fenced) == replace(decode_record(plain), unknown_tags=((99, b"abc"),))
    assert encode_record(decode_record(fenced)) == fenced
    change = encode_record(PartitionChangeRecord(topic_id=ID, leader=3))
    tagged = change.removesuffix(b"\x01\x01\x04\0\0\0\3") + b"\x02\x01\x04\0\0\0\3\x7f\x01z"
    assert decode_record(tagged) == replace(decode_record(change), unknown_tags=((127, b"z"),))
    assert encode_record(decode_record(tagged)) == tagged


@pytest.mark.requirement("631-15")
@pytest.mark.parametrize("name", sorted(schema.message.__name__ for schema in SCHEMAS.values()))
def test_each_record_carries_unknown_tagged_fields_in_each_version(name):
    (schema,) = (schema for schema in SCHEMAS.values() if schema.message.__name__ == name)
    tags = tuple((tag, bytes([tag])) for tag in range(50, 50 + 3))
    record = schema.message(unknown_tags=tags)
    assert schema.encoders
    for version in schema.encoders:
        assert decode_record(encode_record(record, version)) == record


def test_more_than_127_unknown_tagged_fields_are_counted_right():
    record = metadata.NoOpRecord(unknown_tags=tuple((tag, b"") for tag in range(300)))
    assert decode_record(encode_record(record)) == record
    change = PartitionChangeRecord(topic_id=ID, leader=3, unknown_tags=record.unknown_tags[20:])
    assert decode_record(encode_record(change)) == change


@pytest.mark.parametrize("count", ["ffffffff0f", "03"])
def test_a_section_that_counts_more_fields_than_its_bytes_hold_is_refused(count):
    with pytest.raises(WireError, match=r"tagged fields in|cut off"):
        decode_record(bytes.fromhex("011400" + count + "630161"))


@pytest.mark.requirement("631-15")
def test_a_known_tagged_field_of_a_wrong_length_is_refused():
    change = encode_record(PartitionChangeRecord(topic_id=ID, leader=3))
    with pytest.raises(WireError, match="tagged field leader"):
        decode_record(change.removesuffix(b"\x04\0\0\0\3") + b"\x05\0\0\0\3\0")


@pytest.mark.requirement("631-28")
def test_drafts_that_never_shipped_do_not_exist():
    assert {6, 13}.isdisjoint(SCHEMAS)


@pytest.mark.requirement("631-15")
def test_a_field_that_the_version_lacks_is_an_error():
    with pytest.raises(WireError, match=r"PartitionRecord.directories is set, and version 0"):
        encode_record(PartitionRecord(topic_id=ID, directories=(ID,)), 0)
    with pytest.raises(WireError, match=r"cordoned_log_dirs is set, and version 3"):
        encode_record(RegisterBrokerRecord(cordoned_log_dirs=(ID,)), 3)


def test_the_union_names_every_record():
    union = typing.get_args(metadata.MetadataRecord)
    assert {record.KEY: record for record in union} == {
        key: schema.message for key, schema in SCHEMAS.items()
    }
    assert all(issubclass(record, msgspec.Struct) for record in union)


@pytest.mark.parametrize(
    ("record", "version"),
    [
        (RegisterBrokerRecord(), 3),
        (RegisterBrokerRecord(cordoned_log_dirs=(ID,)), 4),
        (PartitionRecord(), 1),
        (PartitionRecord(eligible_leader_replicas=(1,)), 2),
        (PartitionRecord(last_known_elr=(1,)), 2),
        (metadata.PartitionChangeRecord(last_known_elr=()), 2),
        (metadata.BrokerRegistrationChangeRecord(cordoned_log_dirs=()), 3),
    ],
    ids=repr,
)
def test_a_record_is_written_in_the_version_that_can_carry_it(record, version):
    data = encode_record(record)
    assert read_head(data) == (record.KEY, version)
    assert decode_record(data) == record
