"""The quick reader of JSON lines against the exact one: the same rows, or the same words."""

import contextlib
import gzip
import json
import random

import pytest

from kraftproof.checkers.history.operations import HistoryError, iterate_operations
from kraftproof.checkers.history.read.json_events import events_of
from kraftproof.checkers.history.read.jsonl import json_batches
from kraftproof.checkers.history.read.pairing import NotPlainError, Pairing
from kraftproof.checkers.history.schema import OPERATIONS
from kraftproof.checkers.history.tables import operations_table
from tests.checkers.conftest import HISTORIES
from tests.support.random_cases import random_cases

VALUES = [
    *(0, 7, -12, 10**17, 10**18, 2**63, 10**30, True, False, None, 1.5, 1e300, -0.0),
    *("", "a b", 'quo"te', "back\\slash", "tab\t", "\x7f", "é", "\u2028", "[1,2]", "null"),
    *([], [0, 4], [None, "x"], [[1], [2]], {}, {"b": 1, "a": [1, {}]}, "x" * 300),
]
KEYS = [["a", "7", "", "null"], ["a", None, "name", "é"], [7, None, [1, "x"]], VALUES]
SPELLINGS = [
    {"separators": (",", ":")},
    {"separators": (",", ":"), "ensure_ascii": False},
    {},
    {"separators": (" ,\t", " : ")},
    {"sort_keys": True},
]


def history(rng, length):
    """A random history's lines: any order of processes, any values, some never answered."""
    keys = rng.choice(KEYS)
    nodes = [None, 3, "n1", *(["ü"] if rng.random() < 0.1 else [])]
    lines, opened, index, now = [], {}, -1, 0
    for _ in range(length):
        process = rng.choice([0, 1, 2, 77, -3])
        index, now = index + rng.choice([1, 1, 5]), now + rng.randrange(3)
        event = {"index": index, "process": process}
        if process in opened:
            event["type"] = rng.choice(["ok", "fail", "info"])
            event["f"], key = opened.pop(process)
        else:
            event["type"], event["f"] = "invoke", rng.choice(["read", "write", "cas"])
            key = rng.choice(keys)
            opened[process] = event["f"], key
        if key is not None and (event["type"] == "invoke" or rng.random() < 0.7):
            event["key"] = key
        extras = {"value": rng.choice(VALUES), "error": rng.choice(VALUES)}
        extras |= {"time": rng.choice([now, None]), "node": rng.choice(nodes)}
        extras["extra"] = rng.choice([1, "x", None])
        event |= {name: extras[name] for name in extras if rng.random() < 0.7}
        fields = list(event.items())
        if rng.random() < 0.3:
            rng.shuffle(fields)
        lines.append(json.dumps(dict(fields), **rng.choice(SPELLINGS)).encode())
    return lines


def quickly(path, piece_bytes=1 << 20):
    try:
        batches = list(json_batches(path, small_bytes=0, piece_bytes=piece_bytes))
    except HistoryError as error:
        return str(error)
    rows = [row for batch in batches for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: row["index"])


def exactly(path):
    try:
        rows = operations_table(iterate_operations(path)).to_pylist()
    except HistoryError as error:
        return str(error)
    return sorted(rows, key=lambda row: row["index"])


def write(path, lines):
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


@pytest.mark.parametrize("seed", range(60))
def test_the_same_rows_whatever_the_spelling(tmp_path, seed):
    rng = random.Random(seed)
    path = write(tmp_path / "h.jsonl", history(rng, 60))
    assert quickly(path) == exactly(path)
    assert quickly(path, piece_bytes=2000) == exactly(path)


@pytest.mark.parametrize("seed", range(random_cases(300, share=25)))
def test_the_same_rows_or_the_same_words_where_a_file_is_damaged(tmp_path, seed):
    rng = random.Random(seed)
    content = bytearray(write(tmp_path / "h.jsonl", history(rng, 12)).read_bytes())
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(content))
        damage = rng.choice(
            [b"", b'"', b"{", b"}", b"[", b",", b"0", b"-", b"\n", b" ", b"\\", b"\xff"]
        )
        content[place : place + rng.randrange(3)] = damage
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(content)
    assert quickly(path) == exactly(path)
    assert quickly(path, piece_bytes=700) == exactly(path)


@pytest.mark.parametrize(
    "change",
    [
        {"process": 1},
        {"type": "invoke"},
        {"f": "write"},
        {"time": 4},
        {"index": 4},
        {"index": 1.5},
        {"process": None},
        {"type": "done"},
        {"node": True},
        {"value": float("nan")},
        {"key": "b"},
        {"key": 7},
    ],
    ids=str,
)
def test_a_wrong_event_far_into_the_file_is_named(tmp_path, change):
    event = {"index": 0, "process": 0, "type": "invoke", "f": "read", "time": 5, "key": "a"}
    events = [event | {"index": i, "type": "ok" if i % 2 else "invoke"} for i in range(100)]
    events[71] |= change
    path = write(tmp_path / "h.jsonl", [json.dumps(event).encode() for event in events])
    assert isinstance(quickly(path, piece_bytes=1000), str)
    assert quickly(path, piece_bytes=1000) == exactly(path)
    assert f"{path}:7" in exactly(path)


@pytest.mark.parametrize(
    ("key", "other"),
    [(7, "7"), (None, "null"), (True, "true"), (-1, "-1"), ([1], "[1]"), ({"a": "b"}, '{"a":"b"}')],
)
def test_keys_that_would_have_one_text_are_refused(tmp_path, key, other):
    both = [
        {"process": i, "type": "invoke", "f": "read", "key": k} for i, k in enumerate([key, other])
    ]
    for first, second in (both, reversed(both)):
        lines = [json.dumps({"index": i, **e}).encode() for i, e in enumerate([first, second])]
        path = write(tmp_path / "h.jsonl", lines)
        assert quickly(path, piece_bytes=len(lines[0]) + 1) == quickly(path) == exactly(path)
        wanted = f"{path}:2: field key: {other} and {json.dumps(other)} are both keys here"
        assert exactly(path).startswith(wanted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"process":3', b'"process":03'),
        (b'"process":3', b'"process":-0'),
        (b'"process":3', b'"process":3.0'),
        (b'"process":3', b'"process":8999999999999999999'),
        (b'"process":3', b'"process":-8999999999999999999'),
        (b'"process":3', b'"process":9223372036854775807'),
        (b'"process":3', b'"process":9223372036854775808'),
        (b'"process":3', b'"process":-9223372036854775809'),
        (b'"process":3', b'"process":30000000000000000000'),
        (b'"process":3', b'"process":"x","process":3'),
        (b'"process":3', b'"process":3,"\xff":3'),
        (b'"process":3', b'"process":3,"extra":[1}'),
        (b'"process":3', b'"proc\\u0065ss":3'),
        (b'"value":7', b'"value":-0'),
        (b'"value":7', b'"value":07'),
        (b'"value":7', b'"value":[07]'),
        (b'"value":7', b'"value":[7,]'),
        (b'"value":7', b'"value":[7}'),
        (b'"value":7', b'"value":nul'),
        (b'"value":7', b'"value":"\xff"'),
        (b'"value":7', b'"value":"\xc3\xa9"'),
        (b'"value":7', b'"value":"\\x"'),
        (b'"value":7', b'"value":{"b":1,"a":2,"b":3}'),
        (b'"value":7', b'"value":"a","value":7'),
        (b'"value":7', b'"value":[1},"value":7'),
        (b'"value":7', b'"value":[["a'),
        (b'"value":7}', b'"value":7}}'),
        (b'"value":7}', b'"value":7,}'),
        (b'"value":7}', b'"value":7} 8'),
        (b'"value":7}', b'"value":\x0b7}'),
        (b'"value":7}', b'"value":7'),
    ],
)
def test_an_odd_line_means_the_same_to_both(tmp_path, old, new):
    line = b'{"index":0,"process":3,"type":"invoke","f":"write","value":7}'
    assert old in line
    path = write(tmp_path / "h.jsonl", [line.replace(old, new)])
    assert quickly(path) == exactly(path)


def test_most_of_these_are_read_by_the_compiled_scanner():
    """Else all the above would compare the exact reader with itself."""
    read = 0
    for seed in range(60):
        lines = history(random.Random(seed), 60)
        with contextlib.suppress(NotPlainError):
            read += len(events_of(b"".join(line + b"\n" for line in lines))[0]) == len(lines)
    assert read > 45
    timed = b'{"index":0,"process":0,"type":"ok","f":"r","time":1781000000123456789}\n'
    assert events_of(timed)[0]["time"].to_pylist() == [1781000000123456789]
    paired = 0
    for seed in range(60):
        lines = history(random.Random(seed), 60)
        with contextlib.suppress(NotPlainError):
            paired += len(Pairing().feed(*events_of(b"".join(line + b"\n" for line in lines)))) > 0
    assert paired > 20
    for path in sorted((HISTORIES / "etcd").iterdir()):
        assert len(events_of(path.read_bytes())[0]) == path.read_bytes().count(b"\n")


def test_packed_files_blank_lines_and_no_last_newline(tmp_path):
    lines = history(random.Random(1), 50)
    path = write(tmp_path / "h.jsonl", [*lines[:20], b"", b" \r", *lines[20:]])
    path.write_bytes(path.read_bytes()[:-1].replace(b"\n", b"\r\n"))
    packed = tmp_path / "h.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert quickly(path) == quickly(packed) == exactly(path)


def test_the_batches_are_tables_of_operations(tmp_path):
    path = write(tmp_path / "h.jsonl", history(random.Random(2), 50))
    for small_bytes in (0, 1 << 20):
        for batch in json_batches(path, small_bytes=small_bytes):
            assert batch.schema.equals(OPERATIONS)
