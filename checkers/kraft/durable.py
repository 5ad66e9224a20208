"""Checks that committed records stay committed (KIP-595, "Leader Completeness").

A node in epoch e that reports the high watermark h says that the records below h were committed in
e or before. So every leader of a later epoch has these records, no log may hold a later epoch's
record in their place, and at least one log must hold the records. Pure functions on tables of
checkers.history.schema. The nodes' clocks are not compared: epochs order the reports of different
nodes. See `checkers.kraft.acknowledged` for the answers of clients.
"""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.tables import rows_of
from kraftproof.checkers.kraft.node_logs import Tables, finding, limited
from kraftproof.checkers.verdict import Finding

LEADER_COMPLETE: Final = "kraft/leader-has-committed"
COMMITTED_KEPT: Final = "kraft/committed-kept"

Report = tuple[int, int, int]
"""(epoch, the highest watermark reported up to this epoch, the reporting node)."""
Led = tuple[int, int, int, int | None]
"""(epoch, the end of the log when it began, of which leader, when in the time of the run)."""


def leader_complete(tables: Tables) -> list[Finding]:
    """A node that begins to lead an epoch has all records committed in earlier epochs."""
    trace = tables["trace"]
    return limited(_incomplete(_first_led(trace), _watermarks(trace)))


def _incomplete(first_led: list[Led], watermarks: list[Report]) -> Iterator[Finding]:
    for epoch, log_end, leader, time_ns in first_led:
        before = [report for report in watermarks if report[0] < epoch]
        if before and before[-1][1] > log_end:
            reported_in, watermark, node = before[-1]
            yield finding(
                LEADER_COMPLETE,
                f"node {leader} began to lead epoch {epoch} with a log that ends at {log_end}",
                reason=f"node {node} had reported the high watermark {watermark} by epoch"
                f" {reported_in}, so records below it were committed that the leader lacks",
                node=leader,
                time_ns=time_ns,
            )


def committed_kept(tables: Tables) -> list[Finding]:
    """Every record below a reported high watermark is in a log, and not of a later epoch.

    Or in a snapshot: below the first offset of a node's log one has taken its place.
    """
    watermarks = _watermarks(tables["trace"])
    epochs: dict[int, tuple[int, int]] = {}
    first: dict[int, int] = {}
    for offset, epoch, node in rows_of(tables["committed"], "offset", "epoch", "node"):
        assert isinstance(offset, int)
        assert isinstance(epoch, int)
        assert isinstance(node, int)
        epochs[offset] = max(epochs.get(offset, (epoch, node)), (epoch, node))
        first[node] = min(first.get(node, offset), offset)
    in_snapshots = max(first.values(), default=0)
    return limited([*_overwritten(watermarks, epochs), *_missing(watermarks, epochs, in_snapshots)])


def _overwritten(watermarks: list[Report], epochs: dict[int, tuple[int, int]]) -> Iterator[Finding]:
    for epoch, watermark, node in watermarks:
        later, holder = epochs.get(watermark - 1, (epoch, node))
        if later > epoch:
            yield finding(
                COMMITTED_KEPT,
                f"node {holder} has a record of epoch {later} at offset {watermark - 1}, which was"
                " committed before that epoch",
                reason=f"node {node} reported the high watermark {watermark} by epoch {epoch}",
                node=holder,
                log_offset=watermark - 1,
            )


def _missing(
    watermarks: list[Report], epochs: dict[int, tuple[int, int]], in_snapshots: int
) -> Iterator[Finding]:
    if not watermarks or not epochs:
        return
    _, watermark, node = watermarks[-1]
    lost = next((o for o in range(in_snapshots, watermark) if o not in epochs), None)
    if lost is not None:
        yield finding(
            COMMITTED_KEPT,
            f"committed offset {lost} is in no node's committed log",
            reason=f"node {node} reported the high watermark {watermark}",
            node=node,
            log_offset=lost,
        )


def _first_led(trace: pa.Table) -> list[Led]:
    """Return each epoch's leaders with the end of their logs when they began to lead, by epoch."""
    leading = trace.filter(pc.equal(pc.utf8_lower(trace["role"]), "leader"))
    columns = ("epoch", "node", "incarnation", "seq", "log_end")
    times: dict[tuple[int, ...], int] = {
        (node, incarnation, seq): time
        for node, incarnation, seq, time in _known(leading, *columns[1:4], "run_time")
    }
    first: dict[tuple[int, int], tuple[int, int | None]] = {}
    for epoch, node, incarnation, seq, log_end in sorted(_known(leading, *columns)):
        first.setdefault((epoch, node), (log_end, times.get((node, incarnation, seq))))
    return [(epoch, end, node, at) for (epoch, node), (end, at) in first.items()]


def _watermarks(trace: pa.Table) -> list[Report]:
    """Return, by epoch, the highest watermark that any node has reported so far."""
    by_epoch: dict[int, tuple[int, int]] = {}
    for epoch, watermark, node in _known(trace, "epoch", "high_watermark", "node"):
        by_epoch[epoch] = max(by_epoch.get(epoch, (0, node)), (watermark, node))
    reports: list[Report] = []
    highest = (0, 0)
    for epoch in sorted(by_epoch):
        highest = max(highest, by_epoch[epoch])
        reports.append((epoch, *highest))
    return [report for report in reports if report[1] > 0]


def _known(trace: pa.Table, *columns: str) -> Iterator[tuple[int, ...]]:
    """Yield the values of the columns from rows without nulls."""
    for row in rows_of(trace, *columns):
        values = tuple(value for value in row if isinstance(value, int))
        if len(values) == len(columns):
            yield values
