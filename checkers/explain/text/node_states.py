"""Shows the nodes of a run around a moment as a table in text, from their trace tables.

Each column is a node; each row is a change of a node's role, epoch or high watermark.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from kraftproof.checkers.history.tables import rows_of

ROWS_BEFORE: Final = 12
ROWS_AFTER: Final = 4
_CELL: Final = 22
_NS: Final = 1_000_000_000
_COLUMNS: Final = ("node", "incarnation", "seq", "role", "epoch", "high_watermark")

Change = tuple[int, dict[str, str]]
"""A time, and the known state of each node from this time on."""


def node_states(trace: pa.Table, moment_ns: int | None) -> str:
    """Return the table of the changes around a moment; of the last changes if it is not known."""
    nodes = sorted({str(node) for (node,) in rows_of(trace, "node")}, key=lambda n: (len(n), n))
    changes = list(_changes(trace))
    if not changes:
        return ""
    before = [one for one in changes if moment_ns is None or one[0] <= moment_ns]
    shown = before[-ROWS_BEFORE:] + changes[len(before) :][:ROWS_AFTER]
    heading = " " * 13 + "".join(f"node {node}".ljust(_CELL) for node in nodes)
    rows = [_row(time, states, nodes) for time, states in shown]
    if moment_ns is not None:
        rows.insert(min(len(before), ROWS_BEFORE), f"{moment_ns / _NS:10.3f} s  ! the finding")
    legend = "role, epoch / high watermark, from each change on"
    return "\n".join(line.rstrip() for line in (legend, heading, *rows)) + "\n"


def _changes(trace: pa.Table) -> Iterator[Change]:
    is_observed = trace.column("run_time").null_count < len(trace)
    time = "run_time" if is_observed else "time"
    known = (row for row in rows_of(trace, time, *_COLUMNS) if isinstance(row[0], int))
    states: dict[str, str] = {}
    for at, node, _, _, role, epoch, watermark in sorted(known, key=lambda row: row[:4]):
        state = f"{role or '-'}, {_shown(epoch)} / {_shown(watermark)}"
        if states.get(str(node)) != state:
            states = states | {str(node): state}
            assert isinstance(at, int)
            yield at, states


def _row(time_ns: int, states: Mapping[str, str], nodes: list[str]) -> str:
    cells = "".join(states.get(node, "").ljust(_CELL) for node in nodes)
    return f"{time_ns / _NS:10.3f} s {cells}"


def _shown(value: object) -> str:
    return "-" if value is None else str(value)
