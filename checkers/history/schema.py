"""The declared schemas of every table that the two halves of Kraftproof exchange.

This is the contract between a run and its checks (KIP-595 and KIP-631 give the columns of
`records`, `batches`, `snapshots`, `trace` and `writes` their meaning). It neither reads nor writes:
`checkers.history.tables` moves rows, and the Spark schemas are derived from these in
`checkers.spark`. A table is RUN/tables/NAME.parquet, with `schema_version` in the file's metadata.

- operations: one row an operation. `index` counts invocations from 0; `invoke_index` and
  `complete_index` are the indexes of its two events in the history; `key` is text as it stands, any
  other key as JSON; `input` and `output` are JSON; `status` is ok, fail or info; an operation that
  never completed is info with neither `complete_index` nor `complete_time`.
- records: every record of every node's log, control records included, so that offsets have no gaps.
  `json` has the fields as kraft-dump-log prints them (camelCase); `batch_crc` and `batch_offset`
  are the CRC and the base offset of its batch. The CRC alone does not name a batch, since it
  leaves the base offset out: two equal batches of one millisecond have the same CRC. Runs of older
  versions have no `batch_offset`.
- batches: one row for each whole batch of every node's log, framed by its length alone. `data` has
  the bytes in base64; `next_offset` is the base offset plus the last offset delta, plus one.
- snapshots: one row for each snapshot that a node had at the end. `offset` is the first that is not
  in it; `size` is in bytes; `timestamp_ms` is that of the last batch in it; `entities` is JSON, a
  list of [type, fields] as in `records`; both are null for a file that is no whole snapshot.
- trace: one row for each step that a node reports. `time` is the node's own monotonic clock,
  `run_time` the same moment in the history's time, where that is known. `seq` orders the rows of
  one (node, incarnation); `incarnation` counts a node's starts; `high_watermark`, `flushed` and
  `log_end` are next offsets; `image_offset` is the last *committed* offset that the image holds,
  `image_digest` its digest in hex.
- writes: one row for each write to a voter's metadata log, if the voter's disk reports writes.
  `fate` is synced, lost (with the power) or unmounted (not synced at the end), at `time`; `written`
  is the time of the write, both in the history's time; `start` and `end` are offsets in the file;
  `data` has the bytes in base64, null if they are too many; `voters` is the number of voters.
- replicas: one row for each record of each node's replica of a partition, control records left out.
  `partition` is TOPIC-NUMBER; `value` is the record's value as text, null if the batch can't be
  read; `high_watermark` is the node's checkpoint of it, null without one.
- faults: the fault events as the injector wrote them. `fault` names one fault of the schedule,
  `kind` its sort; `targets` is JSON.
- verdicts: one row a key; `is_vacuous` where no operation on it succeeded.
- findings: one row a finding. `sentence` is the whole finding, composed from the other columns;
  `fact` is the event, `reason` the violated rule; `time_ns` is the time in the history; `events`
  are the indexes of the operation's events; `faults` are the faults in force at the time, or else
  the fault healed last before, with the seconds since its beginning or healing.
"""

from typing import Final

import pyarrow as pa

SCHEMA_VERSION: Final = 1

OPERATION_STATUSES: Final = ("ok", "fail", "info")
FAULT_PHASES: Final = ("intent", "applied", "bitten", "moot", "failed", "healed")


def required(name: str, kind: pa.DataType) -> pa.Field:
    """Return a column without nulls."""
    return pa.field(name, kind, nullable=False)


def _list(kind: pa.DataType) -> pa.DataType:
    """A list with Parquet's element name, so that a table keeps its schema when read."""
    return pa.list_(pa.field("element", kind))


OPERATIONS: Final = pa.schema(
    [
        required("index", pa.int64()),
        required("process", pa.int64()),
        required("f", pa.string()),
        required("key", pa.string()),
        required("input", pa.string()),
        required("output", pa.string()),
        required("status", pa.string()),
        pa.field("invoke_time", pa.int64()),
        pa.field("complete_time", pa.int64()),
        required("invoke_index", pa.int64()),
        pa.field("complete_index", pa.int64()),
        pa.field("node", pa.string()),
        pa.field("error", pa.string()),
    ]
)

RECORDS: Final = pa.schema(
    [
        required("node", pa.int32()),
        required("offset", pa.int64()),
        required("epoch", pa.int32()),
        required("batch_crc", pa.int64()),
        required("type", pa.string()),
        required("json", pa.string()),
        pa.field("batch_offset", pa.int64()),
    ]
)

BATCHES: Final = pa.schema(
    [
        required("node", pa.int32()),
        required("base_offset", pa.int64()),
        required("next_offset", pa.int64()),
        required("data", pa.string()),
    ]
)

SNAPSHOTS: Final = pa.schema(
    [
        required("node", pa.int32()),
        required("offset", pa.int64()),
        required("epoch", pa.int32()),
        required("size", pa.int64()),
        pa.field("timestamp_ms", pa.int64()),
        pa.field("entities", pa.string()),
    ]
)

TRACE: Final = pa.schema(
    [
        required("seq", pa.int64()),
        required("time", pa.int64()),
        required("node", pa.int32()),
        required("incarnation", pa.int64()),
        required("event", pa.string()),
        pa.field("role", pa.string()),
        pa.field("epoch", pa.int32()),
        pa.field("high_watermark", pa.int64()),
        pa.field("flushed", pa.int64()),
        pa.field("log_end", pa.int64()),
        pa.field("image_offset", pa.int64()),
        pa.field("image_digest", pa.string()),
        pa.field("run_time", pa.int64()),
    ]
)

WRITES: Final = pa.schema(
    [
        required("node", pa.int32()),
        required("fate", pa.string()),
        required("time", pa.int64()),
        required("written", pa.int64()),
        required("file", pa.string()),
        required("start", pa.int64()),
        required("end", pa.int64()),
        pa.field("data", pa.string()),
        required("voters", pa.int32()),
    ]
)

REPLICAS: Final = pa.schema(
    [
        required("node", pa.int32()),
        required("partition", pa.string()),
        required("offset", pa.int64()),
        required("epoch", pa.int32()),
        required("batch_crc", pa.int64()),
        pa.field("value", pa.string()),
        pa.field("high_watermark", pa.int64()),
    ]
)

FAULTS: Final = pa.schema(
    [
        required("index", pa.int64()),
        required("time", pa.int64()),
        required("phase", pa.string()),
        required("fault", pa.string()),
        required("kind", pa.string()),
        required("targets", pa.string()),
        pa.field("detail", pa.string()),
    ]
)

_NEAR_FAULT: Final = pa.struct(
    [
        required("name", pa.string()),
        required("kind", pa.string()),
        required("target", pa.string()),
        required("seconds_before", pa.float64()),
        required("is_in_force", pa.bool_()),
    ]
)

FINDINGS: Final = pa.schema(
    [
        required("check", pa.string()),
        required("kind", pa.string()),
        pa.field("key", pa.string()),
        pa.field("operation_index", pa.int64()),
        required("is_first", pa.bool_()),
        required("sentence", pa.string()),
        required("fact", pa.string()),
        required("reason", pa.string()),
        pa.field("time_ns", pa.int64()),
        pa.field("node", pa.string()),
        pa.field("log_offset", pa.int64()),
        required("faults", _list(_NEAR_FAULT)),
        required("events", _list(pa.int64())),
    ]
)

VERDICTS: Final = pa.schema(
    [
        required("key", pa.string()),
        required("model", pa.string()),
        required("verdict", pa.string()),
        required("operations", pa.int64()),
        required("seconds", pa.float64()),
        required("crashed", pa.bool_()),
        required("is_vacuous", pa.bool_()),
        pa.field("reason", pa.string()),
    ]
)

TABLES: Final = {
    "operations": OPERATIONS,
    "records": RECORDS,
    "batches": BATCHES,
    "snapshots": SNAPSHOTS,
    "trace": TRACE,
    "writes": WRITES,
    "replicas": REPLICAS,
    "faults": FAULTS,
    "verdicts": VERDICTS,
    "findings": FINDINGS,
}


def table_schema(name: str) -> pa.Schema:
    """Return the schema of a table as it is written, with its `schema_version` in the metadata."""
    return TABLES[name].with_metadata({"schema_version": str(SCHEMA_VERSION)})
