"""Checks of the nodes' logs and traces against each other (KIP-595, safety; KIP-631, images).

Pure functions on tables of checkers.history.schema. `committed` is not a table that a run writes
but a
relation: each node's records below the highest watermark which that node itself reported, for an
    uncommitted tail may differ. See `checkers.kraft.durable` for committed records, and
    `checkers.kraft.acknowledged` for answers to clients; progress is not checked.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import islice, pairwise
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import rows_of
from kraftproof.checkers.verdict import Finding, FindingKind, NotApplicableError

LOGS_AGREE: Final = "kraft/logs-agree"
ONE_LEADER: Final = "kraft/one-leader-an-epoch"
EPOCHS_MONOTONE: Final = "kraft/epochs-monotone"
WATERMARK_MONOTONE: Final = "kraft/high-watermark-monotone"
IMAGES_AGREE: Final = "kraft/image-digests-agree"
IMAGES_MONOTONE: Final = "kraft/image-offset-monotone"
LOG_IN_ORDER: Final = "kraft/log-in-order"

FINDINGS_A_CHECK: Final = 10
"""Maximum number of equal findings: further findings add nothing."""

Tables = Mapping[str, pa.Table]
Row = tuple[object, ...]


def committed(records: pa.Table, trace: pa.Table) -> pa.Table:
    """Return each node's records below the highest watermark reported by the node itself."""
    watermarks = trace.group_by("node").aggregate([("high_watermark", "max")])
    joined = records.join(watermarks, keys="node", join_type="inner")
    below = joined.filter(pc.less(joined["offset"], joined["high_watermark_max"]))
    return below.select(records.column_names)


def logs_agree(tables: Tables) -> list[Finding]:
    """Committed records are the same at the same offset on every node."""
    rows = sorted(rows_of(tables["committed"], "offset", "node", "epoch", "batch_crc"))
    return limited(_disagreements(rows))


def _disagreements(rows: Iterable[Row]) -> Iterator[Finding]:
    for (offset,), group in _grouped(rows, 1):
        _, node, epoch, crc = group[0]
        for _, other, other_epoch, other_crc in group[1:]:
            if (other_epoch, other_crc) != (epoch, crc):
                which = f"epoch {epoch} and CRC {crc} on node {node}"
                yield finding(
                    LOGS_AGREE,
                    f"node {other} committed another record at offset {offset} than node {node}",
                    reason=f"{which}, but epoch {other_epoch} and CRC {other_crc} on node {other}",
                    node=other,
                    log_offset=offset,
                )
                break


def one_leader(tables: Tables) -> list[Finding]:
    """No two nodes lead in one epoch."""
    trace = tables["trace"]
    is_leader = pc.equal(pc.utf8_lower(trace["role"]), "leader")
    leading = trace.filter(pc.and_(is_leader, pc.is_valid(trace["epoch"])))
    first: dict[Row, object] = {}
    for epoch, node, time in rows_of(leading, "epoch", "node", "run_time"):
        first.setdefault((epoch, node), time)
    return limited(_rival_leaders(sorted((*pair, first[pair]) for pair in first)))


def _rival_leaders(rows: Iterable[Row]) -> Iterator[Finding]:
    for (epoch,), group in _grouped(rows, 1):
        if len(group) < 2:
            continue
        one, two = sorted(group, key=_when)[:2]
        named = ", ".join(str(node) for _, node, _ in group)
        yield finding(
            ONE_LEADER,
            f"node {two[1]} led epoch {epoch}, which node {one[1]} led, too",
            reason=f"an epoch has one leader, and this one has {named}",
            node=two[1],
            time_ns=two[2],
        )


def _when(row: Row) -> tuple[bool, int]:
    """Return the time that a row ends with, for sorting; an unknown time comes first."""
    return (row[-1] is not None, row[-1] if isinstance(row[-1], int) else 0)


def epochs_monotone(tables: Tables) -> list[Finding]:
    """A node's epoch never goes back, not even through a restart; an empty disk begins anew."""
    trace = tables["trace"]
    empty = {row[:3] for row in _ordered(trace, "log_end") if row[2:4] == (0, 0)}
    rows = _by_disk(_ordered(trace, "epoch"), empty)
    return limited(_decreases(EPOCHS_MONOTONE, "epoch", rows))


def watermark_monotone(tables: Tables) -> list[Finding]:
    """A node's high watermark never goes back between two starts."""
    rows = _by_life(_ordered(tables["trace"], "high_watermark"))
    return limited(_decreases(WATERMARK_MONOTONE, "high watermark", rows))


def images_monotone(tables: Tables) -> list[Finding]:
    """A node's image never goes back between two starts."""
    _require(tables["trace"], "image_offset")
    rows = _by_life(_ordered(tables["trace"], "image_offset"))
    return limited(_decreases(IMAGES_MONOTONE, "image", rows))


def log_in_order(tables: Tables) -> list[Finding]:
    """A node's committed log has every offset once, and epochs that never go back."""
    rows = sorted(rows_of(tables["committed"], "node", "offset", "epoch"))
    return limited(_disorder(rows))


def _require(trace: pa.Table, column: str) -> None:
    """Raise NotApplicableError if the nodes reported rows, and none has a value in a column."""
    if len(trace) and trace.column(column).null_count == len(trace):
        raise NotApplicableError(f"no node reported its {column}")


def _disorder(rows: Iterable[Row]) -> Iterator[Finding]:
    for _, group in _grouped(rows, 1):
        for (node, offset, epoch), (_, next_offset, next_epoch) in pairwise(group):
            if _int(next_offset) != _int(offset) + 1 or _int(next_epoch) < _int(epoch):
                yield finding(
                    LOG_IN_ORDER,
                    f"the committed log of node {node} is out of order",
                    reason=f"offset {offset} of epoch {epoch} is followed by offset {next_offset}"
                    f" of epoch {next_epoch}",
                    node=node,
                    log_offset=next_offset,
                )
                break


def _ordered(trace: pa.Table, column: str) -> list[Row]:
    """Return a column's values, in order, as (node, incarnation, seq, value, time of the run)."""
    known = trace.filter(pc.is_valid(trace[column]))
    rows = rows_of(known, "node", "incarnation", "seq", column, "run_time")
    return sorted(rows, key=lambda row: row[:4])


def _by_life(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Groups the rows of each start of each node."""
    return (group for _, group in _grouped(rows, 2))


def _by_disk(rows: Iterable[Row], empty: Set[Row]) -> Iterator[list[Row]]:
    """Groups the rows of each node from one start on an empty disk to the next."""
    for _, group in _grouped(rows, 1):
        begins = [0, *(at for at, row in enumerate(group) if row[:3] in empty), len(group)]
        yield from (group[begin:end] for begin, end in pairwise(begins))


def _decreases(check: str, what: str, groups: Iterable[list[Row]]) -> Iterator[Finding]:
    """Yield the first decrease of each group."""
    for group in groups:
        for before, row in pairwise(group):
            if _int(row[3]) < _int(before[3]):
                yield finding(
                    check,
                    f"the {what} of node {row[0]} went back from {before[3]} to {row[3]}",
                    reason=f"seen in its trace from start {before[1]}, seq {before[2]}, to start"
                    f" {row[1]}, seq {row[2]}",
                    node=row[0],
                    time_ns=row[4],
                )
                break


def images_agree(tables: Tables) -> list[Finding]:
    """Images that hold the log up to the same offset are equal."""
    trace = tables["trace"]
    _require(trace, "image_digest")
    known = pc.and_(pc.is_valid(trace["image_offset"]), pc.is_valid(trace["image_digest"]))
    columns = ("image_offset", "image_digest", "node", "run_time")
    first: dict[Row, object] = {}
    for *image, time in rows_of(trace.filter(known), *columns):
        first.setdefault(tuple(image), time)
    return limited(_unequal_images(sorted((*image, first[image]) for image in first)))


def _unequal_images(images: Iterable[Row]) -> Iterator[Finding]:
    for (offset,), group in _grouped(images, 1):
        _, digest, node, time = group[0]
        other = next((row for row in group if row[1] != digest), None)
        if other is not None:
            yield finding(
                IMAGES_AGREE,
                f"the image at offset {offset} was another on node {other[2]} than on node {node}",
                reason=f"its digest is {digest} on node {node}, but {other[1]} on node {other[2]}",
                node=other[2],
                time_ns=max((time, other[3]), key=lambda one: _when((one,))),
            )


def _grouped(rows: Iterable[Row], width: int) -> Iterable[tuple[Row, list[Row]]]:
    """Groups rows that share their first columns, in the order of their first rows."""
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[:width], []).append(row)
    return groups.items()


def limited(findings: Iterable[Finding]) -> list[Finding]:
    """Return the first findings of a check, in their order."""
    return list(islice(findings, FINDINGS_A_CHECK))


def finding(
    check: str,
    fact: str,
    *,
    reason: str = "",
    node: object = None,
    log_offset: object = None,
    time_ns: object = None,
) -> Finding:
    """Return a safety finding that is about no single operation.

    Args:
        check: what was checked.
        fact: what happened.
        reason: the violated rule, or the evidence.
        node: the node of the finding.
        log_offset: the offset of the record, if the finding is about a record.
        time_ns: when, in the time of the run, if that is known.
    """
    return Finding(
        check=check,
        kind=FindingKind.SAFETY,
        fact=fact,
        sentence=f"{fact}; {reason}" if reason else fact,
        reason=reason,
        node=None if node is None else str(node),
        log_offset=log_offset if isinstance(log_offset, int) else None,
        time_ns=time_ns if isinstance(time_ns, int) else None,
    )


def operation_finding(check: str, operation: Operation, fact: str, reason: str) -> Finding:
    """Return a safety finding about the answer to an operation; its time is the answer's.

    Args:
        check: what was checked.
        operation: the operation.
        fact: what the client was told.
        reason: what the logs or snapshots say instead.
    """
    found = finding(check, fact, reason=reason)
    return msgspec.structs.replace(found, key=operation.key, operation_index=operation.index)


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
