"""Tables of operations, ours and somebody else's: read, or refused by file, row and column."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers.history.operations import HistoryError
from kraftproof.checkers.history.read import located_operations_of, operations_table_of
from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.sources import find_sources
from tests.checkers.conftest import HISTORIES

ORIGINAL = HISTORIES / "etcd" / "etcd_000.jsonl"


@pytest.fixture
def ours():
    return operations_table_of(ORIGINAL).cast(table_schema("operations"))


def read(tmp_path, table):
    path = tmp_path / "h.parquet"
    pq.write_table(table, path)
    return operations_table_of(path)


def refusal(tmp_path, table):
    with pytest.raises(HistoryError) as refused:
        read(tmp_path, table)
    message = str(refused.value)
    assert "\n" not in message
    return message.removeprefix(f"{tmp_path / 'h.parquet'}: ")


def changed(table, row, **values):
    rows = table.to_pylist()
    rows[row] |= values
    nullable = [pa.field(field.name, field.type) for field in table.schema]
    return pa.Table.from_pylist(rows, pa.schema(nullable, table.schema.metadata))


def test_ours_is_read_as_it_was_written_in_whatever_order(tmp_path, ours):
    assert read(tmp_path, ours).equals(operations_table_of(ORIGINAL))
    assert read(tmp_path, ours.take(list(reversed(range(len(ours)))))).equals(read(tmp_path, ours))


def test_somebody_elses_needs_no_version_and_few_columns(tmp_path, ours):
    names = ["process", "f", "key", "input", "output", "status", "invoke_index", "complete_index"]
    theirs = ours.replace_schema_metadata(None).select(names)
    assert read(tmp_path, theirs).select(names).equals(operations_table_of(ORIGINAL).select(names))
    assert read(tmp_path, theirs)["index"].to_pylist() == list(range(len(ours)))
    spaced = changed(theirs, 2, input="[1,  2.50]")
    assert read(tmp_path, spaced)["input"][2].as_py() == "[1,2.5]"
    narrow = theirs.set_column(0, "process", theirs["process"].cast(pa.int8()))
    assert read(tmp_path, narrow).equals(read(tmp_path, theirs))


@pytest.mark.parametrize(
    ("row", "values", "wanted"),
    [
        (3, {"f": None}, "row 3: field f: is null"),
        (3, {"status": "done"}, "row 3: field status: done is none of ok, fail and info"),
        (0, {"complete_index": None}, "row 0: field complete_index: is null, but the status is ok"),
        (5, {"complete_index": 0}, "row 5: field complete_index: 0 is before invoke_index"),
        (
            5,
            {"invoke_time": 7, "complete_time": 6},
            "row 5: field complete_time: 6 is before invoke_time",
        ),
        (5, {"input": "[1"}, "row 5: field input: not JSON: Input data was truncated"),
        (5, {"output": "[" * 10_000}, "row 5: field output: not JSON: "),
        (
            6,
            {"process": 3},
            "row 6: field process: process 3 invokes read, but its write of row 5 is open",
        ),
        (7, {"index": 2}, "row 7: field index: 2 is that of row 2 as well"),
        (
            7,
            {"invoke_index": 0},
            "row 7: field invoke_index or complete_index: 0 is that of row 0 as well",
        ),
        (
            0,
            {"complete_index": (1 << 63) - 1},
            "row 0: field complete_index: 9223372036854775807 stands for no event",
        ),
    ],
)
def test_a_row_that_can_not_be_is_named(tmp_path, ours, row, values, wanted):
    assert refusal(tmp_path, changed(ours, row, **values)).startswith(wanted)


def test_events_far_apart_are_distinct_or_not(tmp_path, ours):
    far = changed(ours.slice(0, 2), 0, complete_index=10**15)
    assert read(tmp_path, far)["complete_index"][0].as_py() == 10**15
    twice = changed(far, 1, complete_index=10**15)
    wanted = "row 1: field invoke_index or complete_index: 1000000000000000 is that of row 0"
    assert refusal(tmp_path, twice).startswith(wanted)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_may_be_timestamps(tmp_path, ours, unit):
    seconds = pa.array(range(len(ours)), pa.int64())
    stamps = seconds.cast(pa.timestamp("s")).cast(pa.timestamp(unit, "UTC"))
    table = ours.set_column(ours.column_names.index("invoke_time"), "invoke_time", stamps)
    assert read(tmp_path, table)["invoke_time"][3].as_py() == 3_000_000_000


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())]
)
def test_texts_may_be_of_other_types(tmp_path, ours, kind):
    fields = [pa.field(f.name, kind if f.type == pa.string() else f.type) for f in ours.schema]
    theirs = ours.cast(pa.schema(fields, ours.schema.metadata))
    assert read(tmp_path, theirs).equals(read(tmp_path, ours))


@pytest.mark.parametrize("folder", ["h.parquet", "whole", "parts"])
def test_a_folder_of_files_is_one_table(tmp_path, ours, folder):
    whole = tmp_path / "there" / folder
    whole.mkdir(parents=True)
    name = "part-{}.parquet" if folder == "parts" else "{}.parquet"
    for number in range(2):
        pq.write_table(ours.slice(50 * number, None if number else 50), whole / name.format(number))
    if folder == "whole":
        (whole / "_SUCCESS").touch()
    (whole / "_metadata.parquet").write_bytes(b"not a table")
    assert operations_table_of(whole).equals(read(tmp_path, ours))
    (tmp_path / "h.parquet").unlink()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "there" / "another.parquet")
    (found,) = find_sources([tmp_path])
    assert found.history == whole
    (found,) = find_sources([whole])
    assert found.read().table.equals(operations_table_of(whole))
    pq.write_table(ours.drop_columns(["key"]), whole / name.format(2))
    with pytest.raises(HistoryError, match=r"its files are of several tables: "):
        operations_table_of(whole)
    (whole / name.format(2)).write_bytes(b"PAR1")
    with pytest.raises(HistoryError, match=rf"{name.format(2)}: not a readable Parquet file"):
        operations_table_of(whole)


def test_each_table_in_a_folder_is_a_history_and_a_broken_one_is_named(tmp_path, ours):
    for name in ("a", "b"):
        pq.write_table(ours, tmp_path / f"{name}.parquet")
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    found = [source.history.name for source in find_sources([tmp_path])]
    assert found == ["a.parquet", "b.parquet", "c.parquet"]


def test_what_is_no_table_of_operations_is_refused(tmp_path, ours):
    assert refusal(tmp_path, ours.drop_columns(["key"])) == (
        "column key is missing: a row is an operation (process, f, key, input, output, status,"
        " invoke_index, complete_index) or an event (process, type, f, value)"
    )
    words = ours.set_column(1, "process", ours["f"])
    assert refusal(tmp_path, words).startswith("column process: Failed to parse string: 'read'")
    other = ours.replace_schema_metadata({"schema_version": "7"})
    assert refusal(tmp_path, other) == "schema_version is 7, not 1"
    other = ours.replace_schema_metadata({"schema_version": b"\xff"})
    assert refusal(tmp_path, other) == "schema_version is \ufffd, not 1"
    twice = pa.Table.from_arrays([*ours.columns, ours["f"]], [*ours.column_names, "f"])
    assert refusal(tmp_path, twice) == "column f is there twice"
    path = tmp_path / "h.parquet"
    for keep in (3, 100, 2000):
        pq.write_table(ours, path)
        path.write_bytes(path.read_bytes()[:keep])
        with pytest.raises(HistoryError, match="not a readable Parquet file") as refused:
            operations_table_of(path)
        assert "\n" not in str(refused.value)


def test_a_model_refuses_a_row_by_its_number(tmp_path, ours):
    pq.write_table(ours, tmp_path / "h.parquet")

    def refuse(operation):
        if operation.index == 4:
            raise ValueError("field value: odd")

    with pytest.raises(HistoryError, match=r"h.parquet: row 4: field value: odd"):
        list(located_operations_of(tmp_path / "h.parquet", refuse))
