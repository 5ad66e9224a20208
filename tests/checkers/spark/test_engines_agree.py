"""Both engines on all shared histories and a run of each workload: told verdicts, equal ones."""

import json
import resource
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers import check_paths, check_run
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.tables import read_table, write_table
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.conftest import HISTORIES, event_lines

MS = 1_000_000
NOTHING_SUCCEEDED = 2
"""A history without operations, and one of which no operation succeeded."""
TOPIC_IDS = ["A" * 22, "B" * 22]


def told_of(runs):
    return {run.history: (run.model, run.verdict.value) for run in runs}


def comparable(run):
    """A verdict without what a clock says."""
    keys = [
        (k.key, k.verdict, k.operations, k.findings, k.reason, k.crashed, k.is_vacuous)
        for k in run.keys
    ]
    return (
        run.history, run.model, run.verdict, run.operations, run.findings,
        run.checked, run.not_applicable, run.doubts, run.notes, run.figures, keys,
    )  # fmt: skip


def test_all_shared_histories_get_the_verdict_that_others_agree_on(verdicts_told):
    started = time.process_time()
    wanted = {path: verdict for path, (_, verdict) in verdicts_told.items()}
    runs = list(check_paths([HISTORIES], engine="inline"))
    nothing = {run.history for run in runs if all(key.is_vacuous for key in run.keys)}
    assert len(nothing) == NOTHING_SUCCEEDED
    assert {wanted[path] for path in nothing} == {"valid"}
    wanted |= dict.fromkeys(nothing, "unknown")  # of which others say valid
    assert {run.history: run.verdict.value for run in runs} == wanted
    with_operations = [run for run in runs if run.operations]
    assert told_of(with_operations) == {
        r.history: (verdicts_told[r.history][0], wanted[r.history]) for r in with_operations
    }
    assert all(run.findings for run in runs if run.verdict is Verdict.INVALID)
    assert time.process_time() - started < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000


def topic_events(*, lost):
    """Created, seen through a broker, looked up; and, if not `lost`, deleted."""
    steps = [
        ("create", None, {"outcome": "created", "id": TOPIC_IDS[0]}),
        ("describe", {"id": TOPIC_IDS[0]}, {"outcome": "present"}),
        ("lookup", None, {"outcome": "exists"}),
        ("delete", {"by": "id", "id": TOPIC_IDS[0]}, {"outcome": "deleted"}),
        ("lookup", None, {"outcome": "exists" if lost else "absent"}),
        ("describe", {"id": TOPIC_IDS[0]}, {"outcome": "absent"}),
        ("describe", {"id": TOPIC_IDS[0]}, {"outcome": "present" if lost else "absent"}),
    ]
    return [
        {"process": 0, "type": kind, "f": f, "key": "t", "value": value, "time": i * MS, "node": 4}
        for i, (f, asked, answered) in enumerate(steps)
        for kind, value in (("invoke", asked), ("ok", answered))
    ]


def registration_events(*, early):
    answered = {"outcome": "registered", "epoch": 9}
    steps = [
        (0, "register", {"incarnation": "a"}, {"outcome": "registered", "epoch": 5}),
        (900 if early else 2500, "register", {"incarnation": "b"}, answered),
    ]
    return [
        {"process": 0, "type": kind, "f": f, "key": "1000", "value": value, "time": at_ms * MS}
        for at_ms, f, asked, said in steps
        for kind, value in (("invoke", asked), ("ok", said))
    ]


def write_run(
    directory: Path,
    workload: str,
    events,
    records=(),
    *,
    tables=True,
    held=((), ()),
    stored=("AAAA", "AAAA"),
) -> Path:
    directory.mkdir()
    run = {"workload": {"name": workload, "model": workload}, "options": {"session_ms": 2000}}
    (directory / "run.json").write_text(json.dumps(run | {"schema_version": 1}))
    (directory / "history.jsonl").write_text(event_lines(events))
    clock = {"fault": "f1", "kind": "clock-bump", "targets": [1], "detail": None}
    phases = [clock | {"phase": phase} for phase in ("intent", "applied", "bitten", "healed")]
    faults = [{"index": i, "time": i * 3000 * MS} | event for i, event in enumerate(phases)]
    (directory / "faults.jsonl").write_text("".join(json.dumps(f) + "\n" for f in faults))
    if tables:
        rows = [
            {"node": node, "offset": i, "epoch": 1, "batch_crc": i, "type": kind}
            | {"json": json.dumps(fields)}
            for node in (1, 2)
            for i, (kind, fields) in enumerate(records)
        ]
        write_table(directory / "tables", "records", rows)
        batches = [
            {"node": node, "base_offset": i, "next_offset": i + 1, "data": stored[node - 1]}
            for node in (1, 2)
            for i in range(len(records))
        ]
        write_table(directory / "tables", "batches", batches)
        at_end = {"offset": len(records), "epoch": 1, "size": 1, "timestamp_ms": 0}
        snapshots = [
            at_end | {"node": node, "entities": json.dumps(held[node - 1])} for node in (1, 2)
        ]
        write_table(directory / "tables", "snapshots", snapshots)
        trace = [
            {"seq": 0, "time": 0, "node": node, "incarnation": 1, "event": "step", "epoch": 1}
            | {"role": "leader" if node == 1 else "follower", "high_watermark": len(records)}
            for node in (1, 2)
        ]
        write_table(directory / "tables", "trace", trace)
    return directory


TOPIC_LOG = [
    ("TOPIC_RECORD", {"name": "t", "topicId": TOPIC_IDS[0]}),
    ("REMOVE_TOPIC_RECORD", {"topicId": TOPIC_IDS[0]}),
]
BROKER_LOG = [
    ("REGISTER_BROKER_RECORD", {"brokerId": 1000, "brokerEpoch": epoch}) for epoch in (5, 9)
]


@pytest.fixture
def runs(tmp_path):
    """Good and bad runs of both workloads, with and without the nodes' tables."""
    good, bad = topic_events(lost=False), topic_events(lost=True)
    snapshot = write_run(tmp_path / "topics-snapshot", "topics", good, TOPIC_LOG)
    begin_later(snapshot / "tables")
    stale = write_run(
        tmp_path / "topics-stale", "topics", good, TOPIC_LOG, held=((), TOPIC_LOG[:1])
    )
    return [
        write_run(tmp_path / "topics-good", "topics", good, TOPIC_LOG),
        write_run(
            *(tmp_path / "topics-bad", "topics", bad, TOPIC_LOG[:1]),
            held=(TOPIC_LOG[:1],) * 2,
            stored=("AAAA", "AABA"),
        ),
        write_run(tmp_path / "topics-bare", "topics", good, tables=False),
        write_run(
            *(tmp_path / "reg-good", "registration", registration_events(early=False), BROKER_LOG),
            held=(BROKER_LOG[1:],) * 2,
        ),
        write_run(tmp_path / "reg-bad", "registration", registration_events(early=True), []),
        snapshot,
        stale,
    ]


def begin_later(tables: Path) -> None:
    """Lets the logs begin at offset 3, as after a snapshot."""
    for name, column in (
        ("records", "offset"),
        ("snapshots", "offset"),
        ("trace", "high_watermark"),
    ):
        rows = read_table(tables, name).to_pylist()
        write_table(tables, name, [row | {column: row[column] + 3} for row in rows])


def test_runs_are_judged_by_their_keys_and_their_nodes_logs(runs):
    good, bad, bare, reg_good, reg_bad, later, stale = (check_run(run, "inline") for run in runs)
    assert [run.verdict for run in (good, bare, reg_good)] == [Verdict.VALID] * 3
    assert sorted({finding.check for finding in bad.findings}) == [
        "kraft/acknowledged-topics-in-log",
        "kraft/acknowledged-topics-kept",
        "kraft/logs-identical",
        "topics/describe-monotonic",
        "topics/linearizable",
    ]
    assert sorted({finding.check for finding in reg_bad.findings}) == [
        "kraft/acknowledged-registrations-in-log",
        "kraft/acknowledged-registrations-kept",
        "registration/lease",
    ]
    assert [finding.check for finding in stale.findings] == [
        "kraft/snapshot-equals-log",
        "kraft/snapshots-agree",
        "kraft/acknowledged-topics-kept",
    ]
    assert good.not_applicable == (
        "kraft/acknowledged-is-durable",
        "kraft/image-digests-agree (no node reported its image_digest)",
        "kraft/image-offset-monotone (no node reported its image_offset)",
        "kraft/log-conforms (the log registers no broker, so the log is a part only)",
    )
    assert "kraft/logs-agree" in bare.not_applicable
    assert later.verdict is Verdict.VALID
    assert "kraft/acknowledged-topics-in-log (the logs begin at offset 3)" in later.not_applicable
    assert "kraft/acknowledged-topics-in-log" not in later.checked
    assert read_table(runs[1] / "tables", "findings").num_rows == len(bad.findings)
    for name, rows in (("operations", 7), ("faults", 4), ("verdicts", 1)):
        assert read_table(runs[1] / "tables", name).num_rows == rows


def test_a_crashed_run_check_leaves_the_run_unknown(runs):
    rows = read_table(runs[0] / "tables", "records").to_pylist()
    rows[0]["json"] = "not JSON"
    write_table(runs[0] / "tables", "records", rows)
    run = check_run(runs[0], "inline")
    assert run.verdict is Verdict.UNKNOWN
    assert run.notes[0].startswith("kraft/acknowledged-topics-in-log crashed: DecodeError")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark_says_what_the_inline_engine_says(runs, capsys):
    paths = [HISTORIES, *runs]
    inline = [comparable(run) for run in check_paths(paths, engine="inline")]
    started = time.monotonic()
    spark = [comparable(run) for run in check_paths(paths, engine="spark")]
    with capsys.disabled():
        print(f"\n{len(spark)} histories on Spark: {time.monotonic() - started:.1f} s")
    assert spark == inline
    assert len(spark) == 118 + len(runs)
    assert comparable(check_run(runs[1], "spark")) == comparable(check_run(runs[1], "inline"))


RAISING = """
from kraftproof.checkers.models.specification import Specification

class Raising(Specification):
    name = "raising"
    functions = frozenset({"read", "write", "cas"})

    def init(self):
        return 0

    def step(self, state, call):
        if state == 3:
            raise RuntimeError("three is too much")
        return state + 1
"""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_they_agree_on_a_user_s_model_that_raises_and_on_keys_out_of_time(tmp_path):
    """The model is a file's class: the workers have to find it, too."""
    (tmp_path / "raising.py").write_text(RAISING)
    told = {"f": "write", "value": 1}
    events = [
        told | {"process": process, "key": key, "type": kind, "time": number}
        for number, (process, key, kind) in enumerate(
            (process, key, kind)
            for key, count in (("few", 3), ("many", 5))
            for kind in ("invoke", "ok")
            for process in range(count)
        )
    ]
    history = tmp_path / "history.jsonl"
    history.write_text(event_lines(events))
    raising = f"{tmp_path / 'raising.py'}:Raising"
    out_of_time = tmp_path / "out-of-time.parquet"
    options = GenerateOptions(model="kv-append", operations=3_000, concurrency=50, values=5, seed=1)
    pq.write_table(pa.concat_tables(list(Chunks(options))), out_of_time)
    limits = Limits(seconds=1e-9)
    by_engine = [
        [
            *map(comparable, check_paths([history], raising, engine)),
            *map(comparable, check_paths([out_of_time], None, engine, limits=limits)),
        ]
        for engine in ("inline", "spark")
    ]
    assert by_engine[0] == by_engine[1]
    raised, late = by_engine[0]
    assert raised[2] == late[2] == Verdict.UNKNOWN
    assert [verdict for _, verdict, *_ in raised[-1]] == [Verdict.VALID, Verdict.UNKNOWN]
    assert "three is too much" in raised[-1][1][4]
    assert late[-1][0][4] is not None
