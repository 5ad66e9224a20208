"""Packed and recoded files mean what they hold, whatever they are called."""

import bz2
import codecs
import gzip
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers.history.operations import HistoryError
from kraftproof.checkers.history.read import operations_table_of

EVENTS = [
    {"index": 0, "process": 0, "type": "invoke", "f": "write", "value": "ü"},
    {"index": 1, "process": "nemesis", "type": "info", "f": "kill", "value": ["n1"]},
    {"index": 2, "process": 0, "type": "ok", "f": "write", "value": "ü"},
]
LINES = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in EVENTS)
TEXT = LINES.encode()


def zstd(text):
    return pa.Codec("zstd").compress(text, asbytes=True)


@pytest.mark.parametrize(
    "packed",
    [
        TEXT,
        gzip.compress(TEXT),
        bz2.compress(TEXT),
        lzma.compress(TEXT),
        zstd(TEXT),
        gzip.compress(lzma.compress(TEXT)),
        codecs.BOM_UTF8 + TEXT,
        LINES.encode("utf-16"),
        LINES.encode("utf-16-be"),
        LINES.encode("utf-32"),
        gzip.compress(LINES.encode("utf-16")),
        json.dumps(EVENTS).encode(),
        json.dumps(EVENTS, indent=2).encode(),
    ],
)
@pytest.mark.parametrize("name", ["h.jsonl", "h.gz.jsonl", "h.jsonl.gz", "h.jsonl.zst", "h.edn"])
def test_the_content_decides(tmp_path, packed, name):
    path = tmp_path / name
    path.write_bytes(packed)
    (row,) = operations_table_of(path).to_pylist()
    assert (row["input"], row["status"], row["complete_index"]) == ('"ü"', "ok", 2)


@pytest.mark.parametrize(
    ("packed", "wanted"),
    [
        (b"PK\x03\x04 and more", "a zip archive, unpack it first"),
        (gzip.compress(TEXT)[:-9], "can't be read"),
        (zstd(TEXT)[:-9], "can't be read"),
        (lzma.compress(TEXT)[:-9], "can't be read"),
        (LINES.encode("utf-16")[:-1], "can't be read"),
        (b"[" + TEXT, "not a JSON array of events"),
    ],
)
def test_what_can_not_be_unpacked_is_one_line(tmp_path, packed, wanted):
    path = tmp_path / "h.jsonl"
    path.write_bytes(packed)
    with pytest.raises(HistoryError) as refused:
        operations_table_of(path)
    assert wanted in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("as_text", [False, True])
def test_parquet_with_a_row_an_event(tmp_path, as_text):
    path = tmp_path / "h.parquet"
    rows = [
        {"process": str(process), "type": kind, "f": f, "value": json.dumps(7) if as_text else 7}
        for process, kind, f in [
            (0, "invoke", "write"),
            ("nemesis", "info", "kill"),
            (0, "ok", "write"),
        ]
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    (row,) = operations_table_of(path).to_pylist()
    assert (row["f"], row["input"], row["status"]) == ("write", "7", "ok")


def test_a_row_that_is_no_event_is_named(tmp_path):
    path = tmp_path / "h.parquet"
    pq.write_table(pa.Table.from_pylist([{"process": 0, "type": "maybe", "f": "write"}]), path)
    with pytest.raises(HistoryError, match="row 0: field type"):
        operations_table_of(path)
