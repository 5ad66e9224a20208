"""Logs, traces and the fold, each on a run that keeps its promise and on one that doesn't."""

import json

import msgspec
import pyarrow as pa
import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.history.tables import operations_table, rows_of
from kraftproof.checkers.kraft import acknowledged, durable, node_logs
from kraftproof.checkers.verdict import NotApplicableError

TOPIC = "T" * 22


def records_table(rows):
    """Rows of (node, offset, epoch, crc, type, fields)."""
    names = table_schema("records").names
    as_rows = [dict(zip(names, (*row[:5], json.dumps(row[5]), None), strict=True)) for row in rows]
    return pa.Table.from_pylist(as_rows, table_schema("records"))


def trace_table(rows):
    """Rows of (seq, node, incarnation, {column: value})."""
    filled = [
        {"seq": seq, "time": seq, "node": node, "incarnation": start, "event": "step"} | columns
        for seq, node, start, columns in rows
    ]
    return pa.Table.from_pylist(filled, table_schema("trace"))


def log(node, *, epochs=(1, 1, 1), first=0):
    return [
        (node, first + i, epoch, 100 + first + i, "NO_OP_RECORD", {})
        for i, epoch in enumerate(epochs)
    ]


def watermarks(by_node):
    return trace_table(
        [(i, node, 1, {"high_watermark": mark}) for i, (node, mark) in enumerate(by_node.items())]
    )


def test_committed_is_what_lies_below_a_nodes_own_watermark():
    committed = node_logs.committed(
        records_table(log(1) + log(2) + log(3)), watermarks({1: 3, 2: 1})
    )
    assert sorted(rows_of(committed, "node", "offset")) == [(1, 0), (1, 1), (1, 2), (2, 0)]


def test_logs_that_differ_above_a_watermark_agree_and_below_it_do_not():
    records = records_table(log(1) + log(2, epochs=(1, 1, 2)))
    apart = node_logs.committed(records, watermarks({1: 3, 2: 2}))
    assert node_logs.logs_agree({"committed": apart}) == []
    below = node_logs.committed(records, watermarks({1: 3, 2: 3}))
    (finding,) = node_logs.logs_agree({"committed": below})
    assert finding.sentence == (
        "node 2 committed another record at offset 2 than node 1;"
        " epoch 1 and CRC 102 on node 1, but epoch 2 and CRC 102 on node 2"
    )


def test_two_leaders_in_one_epoch_are_found():
    def led(pairs):
        rows = [
            (i, n, 1, {"role": "leader", "epoch": e, "run_time": i})
            for i, (n, e) in enumerate(pairs)
        ]
        return node_logs.one_leader({"trace": trace_table(rows)})

    assert led([(1, 1), (2, 2), (1, 3), (1, 3)]) == []
    (finding,) = led([(1, 1), (2, 4), (3, 4)])
    assert finding.fact == "node 3 led epoch 4, which node 2 led, too"
    assert (finding.node, finding.time_ns) == ("3", 2)


def test_an_epoch_that_goes_back_through_a_restart_is_found():
    rows = [
        (0, 1, 1, {"epoch": 4}),
        (1, 1, 1, {}),
        (0, 1, 2, {"epoch": 3}),
        (0, 2, 1, {"epoch": 1}),
    ]
    (finding,) = node_logs.epochs_monotone({"trace": trace_table(rows)})
    assert "the epoch of node 1 went back from 4" in finding.sentence
    assert node_logs.epochs_monotone({"trace": trace_table(rows[:2] + rows[3:])}) == []


def test_an_epoch_begins_anew_on_an_empty_disk_only():
    rows = [
        (0, 1, 1, {"epoch": 4, "log_end": 0}),
        (1, 1, 1, {"epoch": 5, "log_end": 9}),
        (0, 1, 2, {"epoch": 0, "log_end": 0}),
        (1, 1, 2, {"epoch": 3, "log_end": 7}),
    ]
    assert node_logs.epochs_monotone({"trace": trace_table(rows)}) == []
    rows[2] = (0, 1, 2, {"epoch": 0, "log_end": 7})
    (finding,) = node_logs.epochs_monotone({"trace": trace_table(rows)})
    assert "the epoch of node 1 went back from 5" in finding.sentence
    rows[2] = (0, 1, 2, {"epoch": 0, "log_end": 0})
    rows.append((2, 1, 2, {"epoch": 2, "log_end": 7}))
    (finding,) = node_logs.epochs_monotone({"trace": trace_table(rows)})
    assert "went back from 3" in finding.sentence


def test_a_watermark_may_start_anew_after_a_restart_but_not_go_back():
    rows = [(0, 1, 1, {"high_watermark": 9}), (0, 1, 2, {"high_watermark": 2})]
    assert node_logs.watermark_monotone({"trace": trace_table(rows)}) == []
    back = [*rows, (1, 1, 2, {"high_watermark": 1})]
    (finding,) = node_logs.watermark_monotone({"trace": trace_table(back)})
    assert "the high watermark of node 1 went back from 2" in finding.sentence


def test_unequal_images_at_one_offset_are_found():
    def images(*digests):
        rows = [
            (i, i, 1, {"image_offset": 7, "image_digest": digest})
            for i, digest in enumerate(digests)
        ]
        return node_logs.images_agree({"trace": trace_table(rows)})

    assert images("aa", "aa", None) == []
    (finding,) = images("aa", "bb")
    assert finding.fact == "the image at offset 7 was another on node 1 than on node 0"
    assert finding.reason == "its digest is aa on node 0, but bb on node 1"


def test_an_image_that_goes_back_is_found():
    rows = [(0, 1, 1, {"image_offset": 9}), (0, 1, 2, {"image_offset": 2})]
    assert node_logs.images_monotone({"trace": trace_table(rows)}) == []
    back = [*rows, (1, 1, 2, {"image_offset": 1})]
    (finding,) = node_logs.images_monotone({"trace": trace_table(back)})
    assert "the image of node 1 went back from 2" in finding.sentence


def test_a_log_with_a_gap_or_an_epoch_that_goes_back_is_found():
    def disorder(rows):
        return len(node_logs.log_in_order({"committed": records_table(rows)}))

    assert disorder(log(1, epochs=(1, 1, 3)) + log(2, first=7)) == 0
    assert disorder(log(1) + log(1, first=4)) == 1
    assert disorder(log(1, epochs=(2, 1))) == 1
    assert disorder(log(1) + log(1, first=2)) == 1


def led(*rows):
    """Rows of (node, epoch, role, log end, high watermark)."""
    return trace_table(
        [
            (i, node, 1, {"epoch": epoch, "role": role, "log_end": end, "high_watermark": mark})
            for i, (node, epoch, role, end, mark) in enumerate(rows)
        ]
    )


def test_a_leader_without_what_was_committed_is_found():
    before = [(1, 1, "leader", 9, 0), (1, 1, "leader", 9, 9), (2, 1, "follower", 5, 4)]
    good = led(*before, (3, 2, "leader", 9, 0), (3, 2, "leader", 10, 10))
    assert durable.leader_complete({"trace": good}) == []
    (finding,) = durable.leader_complete({"trace": led(*before, (2, 2, "leader", 5, 4))})
    assert finding.sentence == (
        "node 2 began to lead epoch 2 with a log that ends at 5; node 1 had reported the high"
        " watermark 9 by epoch 1, so records below it were committed that the leader lacks"
    )


def test_committed_records_that_are_overwritten_or_nowhere_are_found():
    def kept(rows, trace):
        tables = {"committed": records_table(rows), "trace": trace}
        return [finding.sentence for finding in durable.committed_kept(tables)]

    trace = led((1, 1, "leader", 3, 3), (2, 2, "leader", 5, 0))
    assert kept(log(1) + log(2, epochs=(1, 1, 1, 2)), trace) == []
    assert kept(log(1, first=1) + log(2, first=2, epochs=(1,)), trace) == []
    (overwritten,) = kept(log(2, epochs=(1, 1, 2)), trace)
    assert "node 2 has a record of epoch 2 at offset 2" in overwritten
    (lost,) = kept(log(2, epochs=(1, 1)), trace)
    assert "offset 2 is in no node's committed log" in lost


def test_what_a_snapshot_has_taken_the_place_of_is_not_lost():
    """Node 2 was away while the others cut their logs, and is away still."""

    def kept(rows):
        trace = led((1, 1, "leader", 9, 9), (2, 1, "follower", 3, 2))
        return durable.committed_kept({"committed": records_table(rows), "trace": trace})

    assert kept(log(1, first=6) + log(2, epochs=(1, 1))) == []
    (lost,) = kept(log(1, first=6, epochs=(1, 1)) + log(2, epochs=(1, 1)))
    assert "offset 8 is in no node's committed log" in lost.sentence


def operation(index, f, asked, answered, key="t", status="ok"):
    return Operation(
        index=index, process=0, f=f, key=key, input=asked, output=answered, status=status,
        invoke_index=2 * index, complete_index=2 * index + 1, invoke_time=0, complete_time=1,
    )  # fmt: skip


CREATED = operation(0, "create", None, {"outcome": "created", "id": TOPIC})
DELETED = operation(1, "delete", {"by": "name"}, {"outcome": "deleted"})
TOPIC_RECORD = ("TOPIC_RECORD", {"name": "t", "topicId": TOPIC})
REMOVE = ("REMOVE_TOPIC_RECORD", {"topicId": TOPIC})


def found_in(find, operations, records, first=0):
    rows = [(1, first + i, 1, i, kind, fields) for i, (kind, fields) in enumerate(records)]
    tables = {"operations": operations_table(operations), "committed": records_table(rows)}
    return [finding.sentence for finding in find(tables)]


@pytest.mark.parametrize(
    ("operations", "records", "wanted"),
    [
        ([CREATED, DELETED], [TOPIC_RECORD, REMOVE], []),
        ([CREATED], [("TOPIC_RECORD", {"type": "TOPIC_RECORD", "data": TOPIC_RECORD[1]})], []),
        ([CREATED], [], [f"topic t ({TOPIC}) was acknowledged; the topic is not in"]),
        ([CREATED, DELETED], [TOPIC_RECORD], ["the deletion of topic t was acknowledged; the"]),
        ([], [TOPIC_RECORD], ["no create can have made the topic"]),
        ([CREATED], [TOPIC_RECORD, REMOVE], ["no delete can have removed"]),
        ([msgspec.structs.replace(CREATED, status="fail")], [TOPIC_RECORD], ["no create can have"]),
        ([msgspec.structs.replace(CREATED, status="info", output=None)], [TOPIC_RECORD], []),
        ([], [("TOPIC_RECORD", {"name": "__internal", "topicId": TOPIC})], []),
    ],
)
def test_topics_told_and_topics_logged(operations, records, wanted):
    found = found_in(acknowledged.topics_in_log, operations, records)
    assert len(found) == len(wanted)
    assert all(part in sentence for part, sentence in zip(wanted, found, strict=True))


def test_logs_that_all_begin_after_a_snapshot_tell_nothing_of_what_was_acknowledged():
    for find in (acknowledged.topics_in_log, acknowledged.registrations_in_log):
        with pytest.raises(NotApplicableError, match="the logs begin at offset 5"):
            found_in(find, [CREATED], [TOPIC_RECORD], first=5)


def test_logs_with_a_gap_that_a_snapshot_fills_tell_nothing_either():
    def tell(first):
        rows = log(1, first=first) + log(2)
        tables = {"operations": operations_table([]), "committed": records_table(rows)}
        return acknowledged.topics_in_log(tables)

    assert tell(3) == []
    with pytest.raises(NotApplicableError, match="offset 3 is in snapshots alone"):
        tell(4)


def registered(epoch):
    return (
        "REGISTER_BROKER_RECORD",
        {"brokerId": 1000, "brokerEpoch": epoch, "incarnationId": "i"},
    )


REGISTERED = operation(
    0, "register", {"incarnation": "i"}, {"outcome": "registered", "epoch": 5}, "1000"
)
UNREGISTERED = operation(1, "unregister", None, {"outcome": "unregistered"}, "1000")
UNREGISTER = ("UNREGISTER_BROKER_RECORD", {"brokerId": 1000, "brokerEpoch": 5})


@pytest.mark.parametrize(
    ("operations", "records", "wanted"),
    [
        ([REGISTERED, UNREGISTERED], [registered(5), UNREGISTER], []),
        ([REGISTERED], [], ["epoch 5 was acknowledged; that epoch is not in the committed log"]),
        ([REGISTERED, UNREGISTERED], [registered(5)], ["epoch 5 is still registered"]),
        (
            [REGISTERED],
            [registered(5), registered(6)],
            ["epoch 6 was committed to the log; no register"],
        ),
        ([], [registered(6)], []),
    ],
)
def test_registrations_told_and_registrations_logged(operations, records, wanted):
    found = found_in(acknowledged.registrations_in_log, operations, records)
    assert len(found) == len(wanted)
    assert all(part in sentence for part, sentence in zip(wanted, found, strict=True))
