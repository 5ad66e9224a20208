"""Bytes of the committed batches, on logs that are the same and on logs that are not."""

import base64
import struct

import pyarrow as pa
import pytest

from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.kraft.log_bytes import logs_identical
from kraftproof.checkers.verdict import NotApplicableError
from kraftproof.cluster.systems.kafka.stored_batches import batches, framed

RECORDS_AT = 61


def batch(base, count=1, text=b"records"):
    """Return the bytes of a batch of `count` records at an offset."""
    head = struct.pack(">ibIhi", 1, 2, 0xCAFE, 0, count - 1)
    rest = head + struct.pack(">qqqhii", 5, 5, -1, -1, -1, count) + text
    return struct.pack(">qi", base, len(rest)) + rest


def changed(data, place):
    return data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :]


LOG = (batch(0), batch(1, 2), batch(3))


def found(logs, watermarks):
    """Return the sentences about logs, by node a sequence of batches."""
    rows = [
        {
            "node": node,
            "base_offset": struct.unpack_from(">q", data)[0],
            "next_offset": struct.unpack_from(">q", data)[0]
            + struct.unpack_from(">i", data, 23)[0]
            + 1,
            "data": base64.b64encode(data).decode(),
        }
        for node, log in logs.items()
        for data in log
    ]
    trace = [
        {"seq": 0, "time": 0, "node": node, "incarnation": 0, "event": "step"}
        | {"high_watermark": mark}
        for node, mark in watermarks.items()
    ]
    tables = {
        "batches": pa.Table.from_pylist(rows, table_schema("batches")),
        "trace": pa.Table.from_pylist(trace, table_schema("trace")),
    }
    return [(one.sentence, one.node, one.log_offset) for one in logs_identical(tables)]


def test_equal_logs_are_identical_and_what_is_not_committed_may_differ():
    logs = {1: LOG, 2: LOG, 3: (*LOG[:2], changed(LOG[2], RECORDS_AT))}
    assert found(logs, {1: 4, 2: 4, 3: 3}) == []


@pytest.mark.parametrize(
    ("place", "part"),
    [
        (12, "the leader epoch"),
        (16, "the magic"),
        (20, "the CRC"),
        (21, "the attributes"),
        (RECORDS_AT, "the records"),
        (RECORDS_AT + 6, "the records"),
    ],
)
def test_a_changed_byte_of_a_node_is_named_with_its_part_of_the_batch(place, part):
    other = changed(LOG[1], place)
    expected = (
        "the committed batch at offset 1 has other bytes on node 2; "
        f"byte {place} of the batch, in {part}, is 0x{other[place]:02x} on node 2, "
        f"but 0x{LOG[1][place]:02x} on node 1"
    )
    logs = {1: LOG, 2: (LOG[0], other, LOG[2]), 3: LOG}
    assert found(logs, {1: 4, 2: 4, 3: 4}) == [(expected, "2", 1)]


def test_a_missing_batch_another_length_and_an_extra_batch_are_named():
    logs = {
        1: LOG,
        2: (LOG[0], LOG[2]),
        3: (LOG[0], batch(1, 2, b"longer records"), LOG[2]),
        4: LOG,
    }
    marks = dict.fromkeys(logs, 4)
    assert found(logs, marks) == [
        (
            "the log of node 2 has no batch at offset 1; node 1 has a batch there, below the high "
            "watermark of all nodes",
            "2",
            1,
        ),
        (
            "the committed batch at offset 1 has other bytes on node 3; it is 75 bytes long, but "
            "68 on node 1",
            "3",
            1,
        ),
    ]
    split = {1: LOG, 2: LOG, 3: (LOG[0], batch(1), batch(2), LOG[2])}
    (first,) = found(split, dict.fromkeys(split, 4))
    assert first[1:] == ("3", 1)
    extra = {1: (LOG[0], LOG[2]), 2: (LOG[0], LOG[2]), 3: LOG}
    (first,) = found(extra, dict.fromkeys(extra, 4))
    assert first[0].startswith("the log of node 3 has a batch at offset 1; node 1 has none there")


def test_a_log_may_begin_after_a_snapshot_but_may_not_end_early():
    assert found({1: LOG, 2: LOG[1:], 3: LOG}, {1: 4, 2: 4, 3: 4}) == []
    ((sentence, *_),) = found({1: LOG, 2: LOG[:2], 3: LOG}, {1: 4, 2: 4, 3: 4})
    assert sentence.startswith("the log of node 2 has no batch at offset 3")


def test_a_single_log_proves_nothing():
    with pytest.raises(NotApplicableError):
        found({1: LOG}, {1: 4, 2: 4})


def test_a_segment_is_framed_up_to_the_end_of_its_last_whole_batch(tmp_path):
    whole = b"".join(LOG)
    assert [bytes(one) for one in framed(whole + LOG[0][:-1])] == list(LOG)
    assert [bytes(one) for one in framed(whole + bytes(64))] == list(LOG)
    folder = tmp_path / "data" / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    (folder / "00000000000000000000.log").write_bytes(changed(whole, len(whole) - 1))
    rows = batches(tmp_path, 7)
    assert [(row["node"], row["base_offset"], row["next_offset"]) for row in rows] == [
        (7, 0, 1),
        (7, 1, 3),
        (7, 3, 4),
    ]
    assert base64.b64decode(str(rows[2]["data"])) == changed(LOG[2], len(LOG[2]) - 1)
