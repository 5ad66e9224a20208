"""Long histories of partitions: Spark judges ranges of offsets as the inline engine judges all."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.generate import GenerateOptions, generate
from kraftproof.checkers.generate.spoiled_partitions import CORRUPTIONS
from kraftproof.checkers.history.tables import read_table_file, write_whole
from kraftproof.checkers.sources import find_sources
from kraftproof.checkers.spark.partitions import passes_java
from kraftproof.checkers.verdict import Verdict

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def short_runs_are_split(monkeypatch):
    monkeypatch.setattr("kraftproof.checkers.spark.partitions.SPLIT_ROWS", 1_000)
    monkeypatch.setattr("kraftproof.checkers.spark.partitions.SPLIT_KEY_ROWS", 500)
    monkeypatch.setattr("kraftproof.checkers.spark.partitions.CUT_ROWS", 1_500)
    monkeypatch.setattr("kraftproof.checkers.spark.staging.LONG_BYTES", 0)
    monkeypatch.setattr("kraftproof.checkers.spark.partitions.RANGE", 256)


@pytest.fixture
def split(monkeypatch):
    """The results of the passes over ranges."""
    from kraftproof.checkers.spark import judging, partitions

    found = []

    def spied(*arguments):
        found.append(partitions.judge_partitions(*arguments))
        return found[-1]

    monkeypatch.setattr(judging, "judge_partitions", spied)
    return found


def told(run):
    keys = [(key.key, key.verdict, key.operations, key.reason, key.is_vacuous) for key in run.keys]
    return run.verdict, keys, run.findings, run.notes


def test_ranges_on_spark_equal_the_whole_inline(tmp_path, split):
    paths = []
    for number, corrupt in enumerate((None, *CORRUPTIONS)):
        options = GenerateOptions(
            model="log", operations=3_000, keys=1 + number % 3, concurrency=20, seed=number,
            indeterminate=0.05, failed=0.02, corrupt=corrupt,
        )  # fmt: skip
        paths.append(tmp_path / f"{corrupt}.parquet")
        generate(options, paths[-1])
    inline = list(check_paths(paths))
    spark = list(check_paths(paths, engine="spark"))
    (one,) = split
    assert one.odd == []
    assert len(one.verdicts) == sum(len(run.keys) for run in inline)
    assert [told(run) for run in spark] == [told(run) for run in inline]
    assert [run.verdict for run in inline] == [Verdict.VALID] + [Verdict.INVALID] * len(CORRUPTIONS)


@pytest.fixture
def second_passes(monkeypatch):
    """The partitions whose ranges are read again for their order."""
    from kraftproof.checkers.spark import partitions

    found = []
    orders = partitions.workers.orders

    def spied(shared, contexts):
        found.extend({place[:2] for place in contexts.value})
        return orders(shared, contexts)

    monkeypatch.setattr(partitions.workers, "orders", spied)
    return found


def row(index, f, asked, told, *, key="log-0", status="ok", process=90):
    return {
        "index": index, "process": process, "f": f, "key": key, "input": json.dumps(asked),
        "output": json.dumps(told), "status": status, "error": None, "node": None,
        "invoke_time": index * 1_000_000_000, "complete_time": index * 1_000_000_000 + 1,
        "invoke_index": 2 * index, "complete_index": 2 * index + 1,
    }  # fmt: skip


def made(folder, **options):
    path = folder / "made.parquet"
    folder.mkdir()
    defaults = {"model": "log", "operations": 3_000, "concurrency": 20, "indeterminate": 0.05}
    generate(GenerateOptions(**(defaults | options)), path)
    return path


def with_rows(path, rows, *, are_apart):
    """A history with further operations at its end, which another task cuts if they are apart."""
    table = read_table_file(path, "operations")
    first = len(table)
    numbered = [row(first + place, *one[:-1], **one[-1]) for place, one in enumerate(rows)]
    more = pa.Table.from_pylist(numbered, schema=table.schema)
    whole = pa.concat_tables([table, more])
    found = write_whole(path.parent, "operations", whole)
    if are_apart:
        pq.write_table(whole, found, row_group_size=first)
    return found


def state(leader, isr, *, is_last=False):
    asked = {"limit_ms": 1, "is_last": is_last}
    return "state", asked, {"leader": leader, "isr": isr, "replicas": [1, 2], "is_moving": False}


SEND = {"value": "9.9@other", "acks": -1, "idempotent": True}
LONG = {"key": "made-0"}
ADDED = {
    "states": [
        (*state(-1, [1, 2]), LONG),
        (*state(-1, [1, 2]), LONG),
        (*state(-1, [1], is_last=True), LONG),
    ],
    "other run": [("send", SEND, {"offset": 7}, LONG)],
    "other run apart": [("send", SEND, {"offset": 7}, LONG)],
    "other value": [("send", {"value": 5, "acks": 0}, {"offset": None}, LONG)],
    "own position": [("poll", {"position": None}, {"records": [[0, "0.0@made"]]}, LONG)],
    "short": [("send", SEND | {"value": "0.0@other"}, {"offset": 0}, {"key": "short"})],
    "nothing succeeded": [
        ("send", SEND | {"value": f"1.{n}@other"}, None, {"key": "failed", "status": "fail"})
        for n in range(600)
    ],
    "other form": [("send", [["send", "a", 1]], [["send", "a", [0, 1]]], {"key": "jepsen"})],
}
REFUSED = {
    "odd send": [("send", {"valu": 1}, {"offset": 5}, LONG)],
    "odd state": [("state", {"limit": 1}, {}, LONG)],
}


@pytest.mark.long
def test_unusual_operations_get_the_same_verdicts_from_both_engines(tmp_path, second_passes):
    wanted = {**ADDED, **REFUSED}
    paths = [
        with_rows(made(tmp_path / name, keys=2, seed=place), rows, are_apart=name.endswith("apart"))
        for place, (name, rows) in enumerate(wanted.items())
    ]
    told_by, refused = {}, {}
    for engine in ("inline", "spark"):
        refused[engine] = []
        runs = check_paths(paths, engine=engine, refuse=refused[engine].append)
        told_by[engine] = {run.history: told(run) for run in runs}
    assert told_by["spark"] == told_by["inline"]
    assert len(told_by["spark"]) == len(ADDED)
    assert len(refused["spark"]) == len(refused["inline"]) == len(REFUSED)
    for error in refused["spark"]:
        assert "field value" in str(error)
    (states,) = (one for name, one in told_by["spark"].items() if "states" in name)
    assert [finding.check for finding in states[2]] == ["log/leaderless", "log/settled"]
    assert second_passes == [], "a partition without a problem of order is read once"


@pytest.mark.parametrize(
    ("model", "keys", "expected"), [("log", 2, False), ("log", 8, True), ("counter", 2, True)]
)
def test_the_operations_of_long_partitions_pass_java_by(tmp_path, model, keys, expected):
    path = made(tmp_path / "run", model=model, keys=keys)
    (source,) = find_sources([path])
    assert passes_java(source) is expected
