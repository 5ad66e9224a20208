"""The history reader: what it reads, and the one line with which it refuses."""

import json

import pytest

from kraftproof.checkers.history.operations import HistoryError, iterate_operations, read_operations

OK = '{"index":%d,"process":%d,"type":"%s","f":"read","key":0,"value":null}'


def test_pairs_invocations_with_completions_and_keeps_what_never_completed(write_history):
    path = write_history(
        [
            (0, "invoke", "write", 1),
            (1, "invoke", "read", None),
            (2, "invoke", "write", 2),
            (1, "ok", "read", 1),
            (0, "info", "write", None),
        ],
        key=3,
    )
    write, read, pending = read_operations(path)
    assert (write.input, write.output, write.status, write.key) == (1, None, "info", "3")
    assert (read.output, read.invoke_index, read.complete_index) == (1, 1, 3)
    assert (read.invoke_time, read.complete_time) == (1_000_000, 3_000_000)
    assert (pending.status, pending.complete_index, pending.index) == ("info", None, 2)


def test_yields_operations_as_they_complete(write_history):
    path = write_history(
        [(0, "invoke", "write", 1), (1, "invoke", "read", None), (1, "ok", "read", 1)]
    )
    assert [operation.process for operation in iterate_operations(path)] == [1, 0]


def test_an_empty_file_is_an_empty_history(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert read_operations(path) == []


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["{"], ":1: not a JSON event"),
        (['{"process":0,"type":"ok","f":"read"}'], ":1: Object missing required field `index`"),
        (['{"index":"a","process":0,"type":"ok","f":"r"}'], ":1: field index: Expected `int`"),
        (['{"index":0,"process":0,"type":"done","f":"r"}'], ":1: field type: Invalid enum value"),
        (
            [OK % (0, 0, "ok")],
            ":1: field process: process 0 completes an operation that it did not",
        ),
        (
            [OK % (0, 0, "invoke"), OK % (1, 0, "invoke")],
            ":2: field process: process 0 invokes read",
        ),
        ([OK % (5, 0, "invoke"), OK % (5, 0, "ok")], ":2: field index: 5 does not follow 5"),
    ],
)
def test_a_malformed_line_is_refused_in_one_line(tmp_path, lines, wanted):
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(HistoryError) as refused:
        read_operations(path)
    assert str(refused.value).startswith(f"{path}{wanted}")
    assert "\n" not in str(refused.value)


def test_another_function_than_the_one_invoked_is_refused(tmp_path):
    path = tmp_path / "bad.jsonl"
    invoked, done = json.loads(OK % (0, 0, "invoke")), json.loads(OK % (1, 0, "ok"))
    path.write_text(json.dumps(invoked) + "\n" + json.dumps(done | {"f": "write"}) + "\n")
    with pytest.raises(HistoryError, match="field f: write completes what was invoked as read"):
        read_operations(path)


def test_a_missing_file_is_refused_in_one_line(tmp_path):
    with pytest.raises(HistoryError, match="can't be read: No such file"):
        read_operations(tmp_path / "none.jsonl")
