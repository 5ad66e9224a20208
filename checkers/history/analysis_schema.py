"""The declared schemas of the tables of an analysis of many runs.

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

from kraftproof.checkers.history.schema import (
    FINDINGS,
    OPERATION_STATUSES,
    SCHEMA_VERSION,
    VERDICTS,
    required,
)

_RUN: Final = required("run", pa.string())
_PHASE: Final = [required("phase", pa.string()), required("faults", pa.string())]
_OUTCOMES: Final = [required(name, pa.int64()) for name in ("operations", *OPERATION_STATUSES)]

RUNS: Final = pa.schema(
    [
        _RUN,
        required("label", pa.string()),
        pa.field("started", pa.string()),
        required("system", pa.string()),
        required("backend", pa.string()),
        required("workload", pa.string()),
        pa.field("seed", pa.int64()),
        required("model", pa.string()),
        required("verdict", pa.string()),
        *(required(name, pa.int64()) for name in ("keys", "invalid_keys", "unknown_keys")),
        required("findings", pa.int64()),
        *_OUTCOMES,
        pa.field("start_time", pa.int64()),
        pa.field("end_time", pa.int64()),
        required("notes", pa.string()),
    ]
)

FAULT_WINDOWS: Final = pa.schema(
    [
        _RUN,
        required("fault", pa.string()),
        required("kind", pa.string()),
        required("targets", pa.string()),
        required("start_time", pa.int64()),
        pa.field("end_time", pa.int64()),
        required("bitten", pa.bool_()),
    ]
)

PHASES: Final = pa.schema([_RUN, *_PHASE, required("seconds", pa.float64()), *_OUTCOMES])

AVAILABILITY: Final = pa.schema(
    [
        _RUN,
        required("start_time", pa.int64()),
        required("end_time", pa.int64()),
        required("seconds", pa.float64()),
        required("faults", pa.string()),
    ]
)

_LATENCIES: Final = [
    required("f", pa.string()),
    *_PHASE,
    required("operations", pa.int64()),
    *(
        required(name, pa.float64())
        for name in ("p50_ms", "p90_ms", "p99_ms", "p999_ms", "longest_ms")
    ),
]

COVERAGE: Final = pa.schema(
    [
        required("model", pa.string()),
        required("f", pa.string()),
        required("status", pa.string()),
        required("answer", pa.string()),
        *_PHASE,
        required("operations", pa.int64()),
        required("runs", pa.int64()),
    ]
)

TREND: Final = pa.schema(
    [
        _RUN,
        required("series", pa.string()),
        required("place", pa.int64()),
        required("verdict", pa.string()),
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
    "latency_overall": pa.schema([required("model", pa.string()), *_LATENCIES]),
    "coverage": COVERAGE,
    "trend": TREND,
}


def analysis_schema(name: str) -> pa.Schema:
    """Return the schema of a table of an analysis, with its `schema_version` in the metadata."""
    return ANALYSIS_TABLES[name].with_metadata({"schema_version": str(SCHEMA_VERSION)})
