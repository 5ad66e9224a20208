"""The declared schemas of every table that the two halves of Kraftproof exchange.

This is the contract between a run and its checks (KIP-595 and KIP-631 give the columns of
`records`, `snapshots` and `trace` their meaning). It is not a reader or a writer: `checkers.tables`
moves rows, and the Spark schemas are derived from these in `checkers.spark`. A table is
RUN/tables/NAME.parquet, with `schema_version` in the file's metadata.

- operations: one row an operation. `index` counts invocations from 0; `invoke_index` and
  `complete_index` are the indexes of its two events in the history; `key` is text as it stands, any
  other key as JSON; `input` and `output` are JSON; `status` is ok, fail or info; an operation that
  never completed is info with neither `complete_index` nor `complete_time`.
- records: every record of every node's log, control records included, so that offsets have no gaps.
  `json` has the fields as kraft-dump-log prints them (camelCase); `batch_crc` is the CRC of its
  batch.
- snapshots: one row a snapshot that a node had at the end. `offset` is the first that is not in it;
  `size` is in bytes; `timestamp_ms` is that of the last batch in it; `entities` is JSON, a list of
  [type, fields] as in `records`; both are null for a file that is no whole snapshot.
- trace: one row a step that a node reports. `seq` orders the rows of one (node, incarnation);
  `incarnation` counts a node's starts; `high_watermark`, `flushed` and `log_end` are next offsets;
  `image_offset` is the last *committed* offset that the image holds, `image_digest` its digest in
  hex.
- faults: the fault events as the injector wrote them. `fault` names one fault of the schedule,
  `kind` its sort; `targets` is JSON.
- verdicts: one row a key. findings: one row a finding.
"""

from typing import Final

import pyarrow as pa

SCHEMA_VERSION: Final = 1

OPERATION_STATUSES: Final = ("ok", "fail", "info")
FAULT_PHASES: Final = ("intent", "applied", "bitten", "moot", "failed", "healed")


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


OPERATIONS: Final = pa.schema(
    [
        _required("index", pa.int64()),
        _required("process", pa.int64()),
        _required("f", pa.string()),
        _required("key", pa.string()),
        _required("input", pa.string()),
        _required("output", pa.string()),
        _required("status", pa.string()),
        pa.field("invoke_time", pa.int64()),
        pa.field("complete_time", pa.int64()),
        _required("invoke_index", pa.int64()),
        pa.field("complete_index", pa.int64()),
        pa.field("node", pa.string()),
        pa.field("error", pa.string()),
    ]
)

RECORDS: Final = pa.schema(
    [
        _required("node", pa.int32()),
        _required("offset", pa.int64()),
        _required("epoch", pa.int32()),
        _required("batch_crc", pa.int64()),
        _required("type", pa.string()),
        _required("json", pa.string()),
    ]
)

SNAPSHOTS: Final = pa.schema(
    [
        _required("node", pa.int32()),
        _required("offset", pa.int64()),
        _required("epoch", pa.int32()),
        _required("size", pa.int64()),
        pa.field("timestamp_ms", pa.int64()),
        pa.field("entities", pa.string()),
    ]
)

TRACE: Final = pa.schema(
    [
        _required("seq", pa.int64()),
        _required("time", pa.int64()),
        _required("node", pa.int32()),
        _required("incarnation", pa.int64()),
        _required("event", pa.string()),
        pa.field("role", pa.string()),
        pa.field("epoch", pa.int32()),
        pa.field("high_watermark", pa.int64()),
        pa.field("flushed", pa.int64()),
        pa.field("log_end", pa.int64()),
        pa.field("image_offset", pa.int64()),
        pa.field("image_digest", pa.string()),
    ]
)

FAULTS: Final = pa.schema(
    [
        _required("index", pa.int64()),
        _required("time", pa.int64()),
        _required("phase", pa.string()),
        _required("fault", pa.string()),
        _required("kind", pa.string()),
        _required("targets", pa.string()),
        pa.field("detail", pa.string()),
    ]
)

FINDINGS: Final = pa.schema(
    [
        _required("check", pa.string()),
        _required("kind", pa.string()),
        pa.field("key", pa.string()),
        pa.field("operation_index", pa.int64()),
        _required("sentence", pa.string()),
    ]
)

VERDICTS: Final = pa.schema(
    [
        _required("key", pa.string()),
        _required("model", pa.string()),
        _required("verdict", pa.string()),
        _required("operations", pa.int64()),
        _required("seconds", pa.float64()),
        _required("crashed", pa.bool_()),
        pa.field("reason", pa.string()),
    ]
)

TABLES: Final = {
    "operations": OPERATIONS,
    "records": RECORDS,
    "snapshots": SNAPSHOTS,
    "trace": TRACE,
    "faults": FAULTS,
    "verdicts": VERDICTS,
    "findings": FINDINGS,
}


def table_schema(name: str) -> pa.Schema:
    """Returns the schema of a table as it is written, with its `schema_version` in the metadata."""
    return TABLES[name].with_metadata({"schema_version": str(SCHEMA_VERSION)})
