"""The declared schemas of every table that the two halves of Kraftproof exchange.

This is the contract between a run and its checks (KIP-595 and KIP-631 give the columns of
`records`, `snapshots` and `trace` their meaning). It is not a reader or a writer:
`checkers.history.tables` moves rows, and the Spark schemas are derived from these in
`checkers.spark`. A table is RUN/tables/NAME.parquet, with `schema_version` in the file's metadata.

- operations: one row an operation. `index` counts invocations from 0; `invoke_index` and
  `complete_index` are the indexes of its two events in the history; `key` is text as it stands, any
  other key as JSON; `input` and `output` are JSON; `status` is ok, fail or info; an operation that
  never completed is info with neither `complete_index` nor `complete_time`.
- records: every record of every node's log, control records included, so that offsets have no gaps.
  `json` has the fields as kraft-dump-log prints them (camelCase); `batch_crc` is the CRC of its
  batch.
- snapshots: one row for each snapshot that a node had at the end. `offset` is the first that is not
  in it; `size` is in bytes; `timestamp_ms` is that of the last batch in it; `entities` is JSON, a
  list of [type, fields] as in `records`; both are null for a file that is no whole snapshot.
- trace: one row for each step that a node reports. `time` is the node's own monotonic clock,
  `run_time` the same moment in the history's time, where that is known. `seq` orders the rows of
  one (node, incarnation); `incarnation` counts a node's starts; `high_watermark`, `flushed` and
  `log_end` are next offsets; `image_offset` is the last *committed* offset that the image holds,
  `image_digest` its digest in hex.
- faults: the fault events as the injector wrote them. `fault` names one fault of the schedule,
  `kind` its sort; `targets` is JSON.
- verdicts: one row a key; `is_vacuous` where no operation on it succeeded.
- findings: one row a finding. `sentence` is the whole finding, composed from the other columns;
  `fact` is the event, `reason` the violated rule; `time_ns` is the time in the history; `events`
  are the indexes of the operation's events; `faults` are the faults in force at the time, or else
  the fault healed last before, with the seconds since its beginning or healing.

The tables of an analysis of many runs (`kraftproof analyze`, OUT/NAME.parquet) are ANALYSIS_TABLES.
`run` is the number of a run in the study. Times are ns of the history's clock; `phase` is fault (at
least one was in force), recovery (the seconds after a heal) or quiet; `faults` names the kinds in
force, or healed last, joined by +.

- runs: one row a run, in the order given. verdicts, findings: as for a single run, with `run`.
- fault_windows: when each fault that was applied was in force; no `end_time` for one never healed.
- phases: how long each phase lasted in all, and how many operations fell in it.
- availability: the windows without an ok operation, and which faults were in force within.
- latency: of ok operations, by operation, phase and faults; latency_overall: over all runs of one
  model.
- coverage: how often each operation had each outcome in each phase, and in how many runs, over all
  runs of one model; 0 for what was never seen there but elsewhere.
- trend: the runs of one series (system, backend, workload) in order of time, each beside the median
  of up to ten runs before it. A bare history is in no series.
"""

from typing import Final

import pyarrow as pa

SCHEMA_VERSION: Final = 1

OPERATION_STATUSES: Final = ("ok", "fail", "info")
FAULT_PHASES: Final = ("intent", "applied", "bitten", "moot", "failed", "healed")


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _list(kind: pa.DataType) -> pa.DataType:
    """A list with Parquet's element name, so that a table keeps its schema when read."""
    return pa.list_(pa.field("element", kind))


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
        pa.field("run_time", pa.int64()),
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

_NEAR_FAULT: Final = pa.struct(
    [
        _required("name", pa.string()),
        _required("kind", pa.string()),
        _required("target", pa.string()),
        _required("seconds_before", pa.float64()),
        _required("is_in_force", pa.bool_()),
    ]
)

FINDINGS: Final = pa.schema(
    [
        _required("check", pa.string()),
        _required("kind", pa.string()),
        pa.field("key", pa.string()),
        pa.field("operation_index", pa.int64()),
        _required("is_first", pa.bool_()),
        _required("sentence", pa.string()),
        _required("fact", pa.string()),
        _required("reason", pa.string()),
        pa.field("time_ns", pa.int64()),
        pa.field("node", pa.string()),
        pa.field("log_offset", pa.int64()),
        _required("faults", _list(_NEAR_FAULT)),
        _required("events", _list(pa.int64())),
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
        _required("is_vacuous", pa.bool_()),
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

_RUN: Final = _required("run", pa.string())
_PHASE: Final = [_required("phase", pa.string()), _required("faults", pa.string())]
_OUTCOMES: Final = [_required(name, pa.int64()) for name in ("operations", *OPERATION_STATUSES)]

RUNS: Final = pa.schema(
    [
        _RUN,
        _required("label", pa.string()),
        pa.field("started", pa.string()),
        _required("system", pa.string()),
        _required("backend", pa.string()),
        _required("workload", pa.string()),
        pa.field("seed", pa.int64()),
        _required("model", pa.string()),
        _required("verdict", pa.string()),
        *(_required(name, pa.int64()) for name in ("keys", "invalid_keys", "unknown_keys")),
        _required("findings", pa.int64()),
        *_OUTCOMES,
        pa.field("start_time", pa.int64()),
        pa.field("end_time", pa.int64()),
        _required("notes", pa.string()),
    ]
)

FAULT_WINDOWS: Final = pa.schema(
    [
        _RUN,
        _required("fault", pa.string()),
        _required("kind", pa.string()),
        _required("targets", pa.string()),
        _required("start_time", pa.int64()),
        pa.field("end_time", pa.int64()),
        _required("bitten", pa.bool_()),
    ]
)

PHASES: Final = pa.schema([_RUN, *_PHASE, _required("seconds", pa.float64()), *_OUTCOMES])

AVAILABILITY: Final = pa.schema(
    [
        _RUN,
        _required("start_time", pa.int64()),
        _required("end_time", pa.int64()),
        _required("seconds", pa.float64()),
        _required("faults", pa.string()),
    ]
)

_LATENCIES: Final = [
    _required("f", pa.string()),
    *_PHASE,
    _required("operations", pa.int64()),
    *(
        _required(name, pa.float64())
        for name in ("p50_ms", "p90_ms", "p99_ms", "p999_ms", "longest_ms")
    ),
]

COVERAGE: Final = pa.schema(
    [
        _required("model", pa.string()),
        _required("f", pa.string()),
        _required("status", pa.string()),
        _required("answer", pa.string()),
        *_PHASE,
        _required("operations", pa.int64()),
        _required("runs", pa.int64()),
    ]
)

TREND: Final = pa.schema(
    [
        _RUN,
        _required("series", pa.string()),
        _required("place", pa.int64()),
        _required("verdict", pa.string()),
        *(
            pa.field(name, pa.float64())
            for name in ("ok_rate", "p50_ms", "p99_ms", "unavailable_seconds")
        ),
        *(
            pa.field(f"{name}_before", pa.float64())
            for name in ("ok_rate", "p50_ms", "p99_ms", "unavailable_seconds")
        ),
    ]
)

ANALYSIS_TABLES: Final = {
    "runs": RUNS,
    "verdicts": pa.schema([_RUN, *VERDICTS]),
    "findings": pa.schema([_RUN, *FINDINGS]),
    "fault_windows": FAULT_WINDOWS,
    "phases": PHASES,
    "availability": AVAILABILITY,
    "latency": pa.schema([_RUN, *_LATENCIES]),
    "latency_overall": pa.schema([_required("model", pa.string()), *_LATENCIES]),
    "coverage": COVERAGE,
    "trend": TREND,
}


def analysis_schema(name: str) -> pa.Schema:
    """Return the schema of a table of an analysis, with its `schema_version` in the metadata."""
    return ANALYSIS_TABLES[name].with_metadata({"schema_version": str(SCHEMA_VERSION)})


def table_schema(name: str) -> pa.Schema:
    """Return the schema of a table as it is written, with its `schema_version` in the metadata."""
    return TABLES[name].with_metadata({"schema_version": str(SCHEMA_VERSION)})
