"""Kinds of files that people have: packed, wrongly named, oddly encoded, arrays, rows of events."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers.history.operations import HistoryError
from kraftproof.checkers.history.read import located_operations_of, operations_table_of
from kraftproof.checkers.history.read.jsonl import json_batches
from kraftproof.checkers.sources import find_sources

EVENTS = [
    {"index": 0, "process": 0, "type": "invoke", "f": "write", "value": 4},
    {"index": 1, "process": "nemesis", "type": "info", "f": "kill", "value": ["n1"]},
    {"index": 2, "process": 0, "type": "ok", "f": "write", "value": 4},
    {"index": 3, "process": 1, "type": "invoke", "f": "read", "value": None},
    {"index": 4, "process": 1, "type": "ok", "f": "read", "value": 4},
]
JSON = "".join(json.dumps(event) + "\n" for event in EVENTS)
EDN = """{:index 0, :process 0, :type :invoke, :f :write, :value 4}
{:index 1, :process :nemesis, :type :info, :f :kill, :value ["n1"]}
{:index 2, :process 0, :type :ok, :f :write, :value 4}
{:index 3, :process 1, :type :invoke, :f :read, :value nil}
{:index 4, :process 1, :type :ok, :f :read, :value 4}
"""
LOG = "".join(
    f"INFO  jepsen.util - {event['process']}\t:{event['type']}\t:{event['f']}\t{value}\n"
    for event in EVENTS
    for value in ["nil" if event["value"] is None else json.dumps(event["value"])]
)


def by_arrow(codec, content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def parquet(rows):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


ROWS = [
    event | {"process": str(event["process"]), "value": json.dumps(event["value"])}
    for event in EVENTS
]
FORMS = {"jsonl": JSON.encode(), "edn": EDN.encode(), "log": LOG.encode(), "parquet": parquet(ROWS)}
PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: by_arrow("zstd", content),
    "lz4": lambda content: by_arrow("lz4", content),
    "plain": bytes,
    "zst in gz": lambda content: gzip.compress(by_arrow("zstd", content)),
}


def meaning(path):
    table = operations_table_of(path)
    return [(one["f"], one["output"], one["status"]) for one in table.to_pylist()]


AS_MEANT = [("write", "4", "ok"), ("read", "4", "ok")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packing", PACKERS)
def test_every_form_is_read_packed_in_every_way_whatever_its_name(tmp_path, form, packing):
    content = PACKERS[packing](FORMS[form])
    wrong = ["h.gz.jsonl", "h", "h.parquet" if form == "log" else "h.edn.zst"]
    for name in (f"h.{form}", f"h.{form}.{packing.partition(' ')[0]}", *wrong):
        path = tmp_path / name
        path.write_bytes(content)
        assert meaning(path) == AS_MEANT
        assert [one.f for one in located_operations_of(path)] == ["write", "read"]


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-8-sig"]
)
@pytest.mark.parametrize("form", ["jsonl", "edn"])
def test_other_encodings_are_decoded(tmp_path, encoding, form):
    path = tmp_path / "h.gz"
    text = FORMS[form].decode() * 1
    path.write_bytes(gzip.compress(text.replace("n1", "n-é€😀" * 5000).encode(encoding)))
    assert meaning(path) == AS_MEANT


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst", "lz4"])
def test_a_cut_or_damaged_archive_is_refused_in_one_line(tmp_path, packing):
    packed = PACKERS[packing](b"".join(b"%d\n" % n + JSON.encode() for n in range(500)))
    for content in (packed[: len(packed) // 2], packed[:8], packed[:40] + b"\xff" * 40):
        path = tmp_path / "h.jsonl"
        path.write_bytes(content)
        with pytest.raises(HistoryError) as refused:
            operations_table_of(path)
        assert "\n" not in str(refused.value)
        assert str(refused.value).startswith(str(path))


def test_archives_of_files_are_named(tmp_path):
    path = tmp_path / "h.jsonl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("h.jsonl", JSON)
    with pytest.raises(HistoryError, match="can't be read: a zip archive, unpack it first"):
        operations_table_of(path)
    path.write_bytes(b"{\x00".ljust(3, b"x"))
    with pytest.raises(HistoryError, match=r"can't be read: .*utf-16"):
        operations_table_of(path)


@pytest.mark.parametrize("spelled", [JSON.splitlines(), [json.dumps(e, indent=1) for e in EVENTS]])
def test_a_json_array_of_events_is_a_history(tmp_path, spelled):
    path = tmp_path / "h.json"
    path.write_text("[" + ",\n".join(spelled) + "]\n")
    assert meaning(path) == AS_MEANT
    assert [source.history for source in find_sources([tmp_path])] == [path]
    path.write_text("[\n" + ",\n".join([*spelled[:2], '{"index":2}']) + "]")
    line = path.read_text()[: path.read_text().index('{"index":2}')].count("\n") + 1
    with pytest.raises(HistoryError, match=f"{path}:{line}: Object missing required field"):
        operations_table_of(path)
    path.write_text("[" + ",".join(spelled))
    with pytest.raises(HistoryError, match="not a JSON array of events: Input data was truncated"):
        operations_table_of(path)


def test_what_the_nemesis_does_is_left_out_of_long_json_too(tmp_path):
    path = tmp_path / "h.jsonl"
    path.write_text(JSON)
    found = [row for batch in json_batches(path, small_bytes=0) for row in batch.to_pylist()]
    assert [row["f"] for row in found] == ["write", "read"]
    path.write_text(JSON.replace("nemesis", "somebody"))
    with pytest.raises(HistoryError, match=":2: field process: Expected `int`, got `str`"):
        operations_table_of(path)


def test_a_row_of_a_table_is_an_event_or_an_operation(tmp_path):
    path = tmp_path / "h.parquet"
    for changed in (
        [
            event | {"process": str(event["process"]), "value": str(event["value"])}
            for event in EVENTS
        ],
        [
            event | {"value": None if event["value"] is None else 4}
            for event in EVENTS
            if event["index"] != 1
        ],
        [{k: v for k, v in row.items() if k != "index"} for row in ROWS],
    ):
        path.write_bytes(parquet(changed))
        assert [one[0] for one in meaning(path)] == ["write", "read"]
    path.write_bytes(parquet([*ROWS, ROWS[0] | {"index": 9}, ROWS[0] | {"index": 10}]))
    with pytest.raises(
        HistoryError,
        match=r"h.parquet: row 6: .* process 0 invokes write, but its write of row 5 is open",
    ):
        operations_table_of(path)
    path.write_bytes(parquet([{"process": 1, "f": "read"}]))
    with pytest.raises(
        HistoryError, match=r"column key is missing: a row is an operation .* or an event"
    ):
        operations_table_of(path)
