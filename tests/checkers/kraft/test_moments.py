"""A finding of a node's log or snapshot says when the node passed the offset, and the fault then.

The fault of `write_run` is in force from 3 s to 9 s of a run.
"""

import pytest

from kraftproof.checkers import check_paths, check_run
from kraftproof.checkers.history.tables import read_table, write_table
from kraftproof.checkers.kraft.moments import passed_at
from tests.checkers.kraft.test_node_logs import trace_table
from tests.checkers.spark.test_engines_agree import TOPIC_IDS, TOPIC_LOG, topic_events, write_run

S = 1_000_000_000
OTHER = ("TOPIC_RECORD", {"name": "nobody-asked", "topicId": TOPIC_IDS[1]})
UNDER_FAULT = "at 5.000 s, 2.0 s after clock-bump of node 1 (in force)"
"""Node 2 passes the end of its log at this time, node 1 a second later."""


def trace_rows(last):
    """Both nodes report a high watermark of 0, then the end of the log, then 0 after a restart."""
    told = {"event": "step", "epoch": 1, "time": 0}
    return [
        told | {"node": node, "incarnation": start, "seq": seq, "role": role}
        | {"high_watermark": mark, "run_time": round(at * S)}
        for node, role, later in ((1, "leader", 1), (2, "follower", 0))
        for start, seq, mark, at in ((1, 0, 0, 1), (1, 1, last, 5 + later), (2, 0, 0, 10))
    ]  # fmt: skip


@pytest.fixture
def recorded(tmp_path):
    """Write a run of the topics workload, and change its rows of a table."""

    def write(name="records", change=lambda rows: rows, log=TOPIC_LOG, **more):
        run = write_run(tmp_path / "run", "topics", topic_events(lost=False), log, **more)
        write_table(run / "tables", "trace", trace_rows(len(log)))
        rows = read_table(run / "tables", name).to_pylist()
        write_table(run / "tables", name, change(rows))
        return run

    return write


def findings(run):
    return {one.check: one for one in check_run(run, "inline").findings}


def other_crc(rows):
    return [row | {"batch_crc": 9 * (row["node"] == 2 and row["offset"] == 1)} for row in rows]


def other_epoch(rows):
    return [row | {"epoch": 2 - row["offset"]} if row["node"] == 2 else row for row in rows]


def later_epoch(rows):
    return [row | {"epoch": 7 if row["offset"] == 1 else 1} for row in rows]


def without_last(rows):
    return [row for row in rows if row["offset"] != 1]


@pytest.mark.parametrize(
    ("check", "change", "fact", "at"),
    [
        (
            "kraft/logs-agree",
            other_crc,
            "node 2 committed another record at offset 1 than node 1",
            UNDER_FAULT,
        ),
        (
            "kraft/log-in-order",
            other_epoch,
            "the committed log of node 2 is out of order",
            UNDER_FAULT,
        ),
        (
            "kraft/committed-kept",
            later_epoch,
            "node 2 has a record of epoch 7 at offset 1, which was committed before that epoch",
            UNDER_FAULT,
        ),
        (
            "kraft/committed-kept",
            without_last,
            "committed offset 1 is in no node's committed log",
            UNDER_FAULT,
        ),
    ],
)
def test_a_finding_of_a_log_has_the_time_of_its_offset(recorded, check, change, fact, at):
    found = findings(recorded(change=change))[check]
    assert found.sentence.startswith(f"{fact} {at}; {found.reason}")
    assert (found.log_offset, found.time_ns) == (1, 5 * S)
    assert [one.kind for one in found.faults] == ["clock-bump"]


def test_a_finding_of_a_snapshot_has_the_time_of_its_last_record(recorded):
    found = findings(recorded(held=((), TOPIC_LOG[:1])))
    agree, fold = found["kraft/snapshots-agree"], found["kraft/snapshot-equals-log"]
    assert f"is not node 1's snapshot at 2 of epoch 1 {UNDER_FAULT}; " in agree.sentence
    assert f"result of the log before the snapshot {UNDER_FAULT}; " in fold.sentence


def test_a_torn_snapshot_has_one_too(recorded):
    def torn(rows):
        return [row | {"entities": None} if row["node"] == 1 else row for row in rows]

    found = findings(recorded("snapshots", torn))["kraft/snapshots-agree"]
    assert "is no whole snapshot at 6.000 s, 3.0 s after clock-bump" in found.sentence


def test_a_topic_that_nobody_asked_for_has_the_time_at_which_a_node_committed_it(recorded):
    found = findings(recorded(log=[*TOPIC_LOG, OTHER], held=([OTHER], [OTHER])))
    logged, kept = (found[f"kraft/acknowledged-topics-{end}"] for end in ("in-log", "kept"))
    assert logged.sentence == (
        f"topic nobody-asked ({TOPIC_IDS[1]}) was committed to the log {UNDER_FAULT};"
        " no create can have made the topic"
    )
    assert UNDER_FAULT in kept.sentence
    assert kept.log_offset == logged.log_offset == 2


def test_a_trace_without_times_leaves_the_finding_without_one(recorded):
    run = recorded(change=other_crc)
    rows = read_table(run / "tables", "trace").to_pylist()
    write_table(run / "tables", "trace", [row | {"run_time": None} for row in rows])
    found = findings(run)["kraft/logs-agree"]
    assert (found.log_offset, found.time_ns) == (1, None)
    assert found.sentence.startswith("node 2 committed another record at offset 1 than node 1; ")


def test_an_offset_is_passed_by_a_watermark_above_it():
    trace = trace_table(
        [
            (0, 1, 1, {"high_watermark": 7, "log_end": 9, "run_time": 10}),
            (1, 1, 1, {"high_watermark": None, "log_end": 9, "run_time": 20}),
            (2, 1, 1, {"high_watermark": 8, "log_end": 9, "run_time": 30}),
            (0, 2, 1, {"high_watermark": 8, "log_end": 9, "run_time": 25}),
        ]
    )
    assert passed_at(trace, 7, "1") == 30
    assert passed_at(trace, 7, None) == 25
    assert passed_at(trace, 8, None) is None
    assert passed_at(trace, 7, "3") is None


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark_tells_the_same_times(recorded):
    run = recorded(change=other_crc)
    of_engine = [next(check_paths([run], engine=one)).findings for one in ("inline", "spark")]
    assert of_engine[0] == of_engine[1]
    assert of_engine[0][0].time_ns == 5 * S
