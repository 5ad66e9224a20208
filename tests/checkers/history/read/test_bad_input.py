"""Histories as others may write them: read where they say what happened, else refused in a line."""

import gzip
import json
import re

import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

from kraftproof.checkers.history.operations import HistoryError, read_operations
from kraftproof.checkers.history.read.jsonl import SMALL_BYTES, json_batches
from kraftproof.checkers.history.tables import operation_rows, write_table
from kraftproof.commands.check import check
from tests.checkers.conftest import HISTORIES

app = typer.Typer()
app.command()(check)
VALID = HISTORIES / "etcd" / "etcd_002.jsonl"
INVALID = HISTORIES / "etcd" / "etcd_000.jsonl"
MIB = 1 << 20
EVENT = {"index": 0, "process": 0, "type": "invoke", "f": "write", "key": 0, "value": 1}


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments), "--engine", "inline"])


def lines_of(*events):
    return "\n".join(json.dumps(event) for event in events)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + lines_of(EVENT).encode(),
        lines_of(EVENT, EVENT | {"index": 1, "type": "ok"}).replace("\n", "\r\n").encode(),
        lines_of(EVENT).encode(),
        b"\n\n" + lines_of(EVENT).encode() + b"\n\n",
        lines_of(EVENT | {"extra": 1, "time": None, "node": "n1", "error": ["x"]}).encode(),
        lines_of(EVENT, EVENT | {"index": 7, "process": -3}).encode(),
        lines_of(EVENT | {"key": {"b": 1, "a": 2}, "value": 10**30}).encode(),
    ],
    ids=["BOM", "CRLF", "no newline", "blank lines", "more fields", "gaps", "any JSON"],
)
def test_other_spellings_are_read(tmp_path, content):
    path = tmp_path / "h.jsonl"
    path.write_bytes(content)
    assert next(operation.f for operation in read_operations(path)) == "write"
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(content))
    assert read_operations(packed) == read_operations(path)
    nothing_succeeded = b'"ok"' not in content
    assert run(tmp_path).exit_code == (2 if nothing_succeeded else 0)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (json.dumps(EVENT)[:-9], ":2: not a JSON event: Input data was truncated"),
        (lines_of(EVENT | {"value": float("nan")}), ":2: not a JSON event: JSON is malformed"),
        (lines_of(EVENT | {"index": 10**30}), ":2: field index: Expected `int` <= 92233"),
        (lines_of(EVENT | {"time": -(10**30)}), ":2: field time: Expected `int` >= -9223"),
        (lines_of(EVENT | {"process": "p1"}), ":2: field process: Expected `int`, got `str`"),
        (lines_of(EVENT | {"index": 1.5}), ":2: field index: Expected `int`, got `float`"),
        (lines_of(EVENT | {"f": None}), ":2: field f: Expected `str`, got `null`"),
        (lines_of(EVENT | {"type": "maybe"}), ":2: field type: Invalid enum value 'maybe'"),
        ("[" * 100_000, ":2: "),
        (lines_of(EVENT).replace("1}", "[" * 90_000), ":2: field value: nested too deep"),
        ("\x00\x00\x00", ":2: not a JSON event"),
        ('{"index":2,"process":0,"type":"ok","f":"write","time":-5}', ":2: field time: -5 is befo"),
        (lines_of(EVENT), ":2: field index: 0 does not follow 0"),
    ],
)
def test_a_line_that_says_nothing_is_named(tmp_path, line, wanted):
    path = tmp_path / "h.jsonl"
    first = EVENT | {"time": 1}
    path.write_text(lines_of(first) + "\n" + line)
    with pytest.raises(HistoryError) as refused:
        read_operations(path)
    assert str(refused.value).startswith(f"{path}{wanted}")
    assert "\n" not in str(refused.value)


def test_a_broken_archive_is_refused_in_one_line(tmp_path):
    packed = gzip.compress(lines_of(EVENT).encode() * 1000)
    for name, content in (("cut", packed[:-20]), ("text", b"no archive"), ("flip", packed[:30])):
        path = tmp_path / f"{name}.jsonl.gz"
        path.write_bytes(content)
        with pytest.raises(HistoryError, match="can't be read") as refused:
            read_operations(path)
        assert "\n" not in str(refused.value)


def test_one_history_that_can_not_be_read_keeps_no_other_from_being_checked(tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a-bad.jsonl").write_text("{")
    (folder / "b-good.jsonl").write_bytes(INVALID.read_bytes())
    (folder / "c-bad.jsonl").write_text(lines_of(EVENT | {"f": "frob"}))
    (folder / "notes.txt").write_text("not a history")
    (folder / "faults.jsonl").write_text('{"index": 0, "time": 0}')
    (folder / "run").mkdir()
    (folder / "run" / "run.json").write_text("{}")
    (folder / "folder.jsonl").mkdir()
    result = run(folder, tmp_path / "nowhere", VALID, "--json")
    assert result.exit_code == 3
    verdicts = [json.loads(line)["verdict"] for line in result.stdout.splitlines()]
    assert verdicts == ["invalid", "valid"]
    named = [line.removeprefix("kraftproof check: ") for line in result.stderr.splitlines()]
    wanted = ["mixed/a-bad.jsonl:1: ", "mixed/c-bad.jsonl: ", "mixed/run/run.json: ", "nowhere: "]
    assert [line.startswith(str(tmp_path / want)) for line, want in zip(named, wanted, strict=True)]


def test_a_table_of_operations_is_a_history_too(tmp_path):
    rows = list(operation_rows(read_operations(INVALID)))
    table = write_table(tmp_path / "run" / "tables", "operations", rows)
    result = run(table, "--json")
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (1, "invalid")
    described = {"workload": {"name": "register", "model": "cas-register"}}
    (tmp_path / "run" / "run.json").write_text(json.dumps(described))
    assert run(tmp_path).exit_code == 1
    write_table(tmp_path / "run" / "tables", "operations", [rows[0] | {"input": "["}])
    assert f"{table}: row 0: " in run(table).stderr
    table.write_bytes(b"no table")
    assert "not a readable Parquet file" in run(tmp_path).stderr
    (tmp_path / "run" / "run.json").write_text(
        json.dumps({"workload": {"name": "x", "model": "y"}})
    )
    assert "run.json: model y: no such model" in run(tmp_path).stderr


def test_an_empty_history_says_that_nothing_was_checked(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n\n")
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "the history has no operations: nothing was checked" in result.stdout


def refused_beside_others(tmp_path, name, content, *options):
    """Checks a bad history among good ones, and returns what is said of it."""
    folder = tmp_path / "histories"
    folder.mkdir()
    (folder / name).write_bytes(content)
    (folder / "z.jsonl").write_bytes(INVALID.read_bytes())
    result = run(folder / name, folder, VALID, "--json", *options)
    assert result.exit_code == 3
    verdicts = [json.loads(line)["verdict"] for line in result.stdout.splitlines()]
    assert verdicts == ["invalid", "valid"]
    said = set(result.stderr.splitlines())
    assert len(said) == 1, said
    return said.pop().removeprefix(f"kraftproof check: {folder / name}")


INVOKE = {"process": 0, "type": "invoke", "f": "read", "time": 5}
DONE = INVOKE | {"type": "ok"}


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ([INVOKE, INVOKE], ":2: field process: process 0 invokes read, but its read of line 1 is"),
        ([INVOKE, DONE, DONE], ":3: field process: process 0 completes an operation that it did"),
        ([INVOKE, DONE | {"time": 4}], ":2: field time: 4 is before the operation was invoked, at"),
    ],
    ids=["two open", "no invocation", "time backwards"],
)
@pytest.mark.parametrize("form", ["jsonl", "edn"])
def test_events_that_make_no_history_are_named_and_the_others_checked(
    tmp_path, events, wanted, form
):
    lines = [json.dumps({"index": number, **event}) for number, event in enumerate(events)]
    if form == "edn":
        lines = [re.sub(r'"(\w+)":?', r":\1", line) for line in lines]
    content = "\n".join(lines).encode()
    assert refused_beside_others(tmp_path, f"a.{form}", content).startswith(wanted)


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("a.edn", b"{:process 0 :type :invoke :f :read :value [1}", ":1: not EDN: unmatched }"),
        ("a.edn", b"[{:process 0 :type :invoke :f :read}", ":1: not EDN: the [ of this line is"),
        ("a.edn", b"{:process 0 :f \xff}", ":1: not EDN: byte 16 is no UTF-8"),
        ("a.log", b"ERROR nothing\n", ": no line of this log is that of an operation"),
        ("a.parquet", b"PAR1" + b"\0" * 50, ": not a readable Parquet file: "),
        ("a.jsonl.gz", gzip.compress(b"[" * MIB) * 70, ":1: a line longer than 67108864 bytes"),
        (
            "a.edn.gz",
            gzip.compress(b" \n" * 10) + gzip.compress(b"1" * MIB) * 70,
            ":11: a line longer than",
        ),
        (
            "a.jsonl",
            b'{"index":0,"process":0,"type":"invoke","f":"\xff"}',
            ":1: not a JSON event: ",
        ),
        ("a.jsonl", b'{"index":0,"process":0,"type":"invoke","f":"\0"}', ":1: not a JSON event: "),
    ],
)
def test_a_file_that_can_not_be_read_is_named_and_the_others_are_checked(
    tmp_path, name, content, wanted
):
    assert refused_beside_others(tmp_path, name, content).startswith(wanted)


def test_a_field_given_twice_has_its_last_value(tmp_path):
    line = b'{"index":0,"process":0,"type":"invoke","f":"write","value":1,"value":2}\n'
    for copies, small_bytes in ((1, SMALL_BYTES), (200, 0)):
        path = tmp_path / "h.jsonl"
        path.write_bytes(
            b"".join(
                line.replace(b'"index":0,"process":0', b'"index":%d,"process":%d' % (i, i))
                for i in range(copies)
            )
        )
        assert read_operations(path)[-1].input == 2
        table = pa.Table.from_batches(json_batches(path, small_bytes=small_bytes))
        assert set(table["input"].to_pylist()) == {"2"}


def test_a_cut_table_is_named_and_the_others_are_checked(tmp_path):
    rows = list(operation_rows(read_operations(INVALID)))
    whole = write_table(tmp_path, "operations", rows).read_bytes()
    for keep in (2, 500, len(whole) - 10):
        path = tmp_path / "cut.parquet"
        path.write_bytes(whole[:keep])
        result = run(path, VALID, "--json")
        assert (result.exit_code, result.stdout.count('"valid"')) == (3, 1)
        assert result.stderr.startswith(f"kraftproof check: {path}: not a readable Parquet file")
        assert result.stderr.count("\n") == 1


def test_what_a_history_holds_moves_no_cursor(tmp_path):
    odd = EVENT | {"key": "a\x1b[2J\nb\x00", "type": "ok", "f": "read"}
    path = tmp_path / "h.jsonl"
    path.write_text(lines_of(odd | {"type": "invoke"}, odd | {"index": 1}))
    result = run(path, "--model", "cas-register")
    assert result.exit_code == 1
    finding = result.stdout.splitlines()[1]
    assert "read of a\\x1b[2J\\nb\\x00 returned" in finding
