"""Checks of snapshots against the logs and each other (KIP-630; KIP-631 "Snapshots").

Pure functions on tables of checkers.history.schema. Logs are taken as one, each committed offset
once: that they agree is `checkers.kraft.node_logs`'s affair. A log that begins above offset 0 is
    folded from its oldest snapshot on, so the oldest snapshot is compared only with the same
    snapshot of other nodes.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
from typing_extensions import override

from kraftproof.checkers.history.tables import rows_of
from kraftproof.checkers.kraft.entities import Entities, decoded, held_by, known_records
from kraftproof.checkers.kraft.node_logs import Tables, finding, limited
from kraftproof.checkers.text import as_json
from kraftproof.checkers.verdict import Finding

SNAPSHOTS_AGREE: Final = "kraft/snapshots-agree"
SNAPSHOTS_FOLD_LOG: Final = "kraft/snapshot-equals-log"

Log = dict[int, tuple[int, str, str]]
"""By committed offset: epoch, type, JSON."""


class _Snapshot(NamedTuple):
    offset: int
    epoch: int
    node: int
    timestamp_ms: int | None
    entities: str | None

    @override
    def __str__(self) -> str:
        return f"node {self.node}'s snapshot at {self.offset} of epoch {self.epoch}"


def snapshots_agree(tables: Tables) -> list[Finding]:
    """Every snapshot is whole, and snapshots at the same offset are equal on all nodes."""
    with known_records():
        return limited(_unlike(_snapshots(tables["snapshots"])))


def _unlike(snapshots: list[_Snapshot]) -> Iterator[Finding]:
    first: dict[int, _Snapshot] = {}
    for snapshot in snapshots:
        if snapshot.entities is None:
            yield _finding(SNAPSHOTS_AGREE, snapshot, "is no whole snapshot")
            continue
        other = first.setdefault(snapshot.offset, snapshot)
        if other.epoch != snapshot.epoch or other.timestamp_ms != snapshot.timestamp_ms:
            stamps = (
                f"the last timestamp of its log is {snapshot.timestamp_ms} ms, that of the other"
                f" {other.timestamp_ms} ms"
            )
            yield _finding(SNAPSHOTS_AGREE, snapshot, f"is not {other}", stamps)
        elif other.entities != snapshot.entities:
            difference = _difference(_held(snapshot), _held(other))
            if difference is not None:
                yield _finding(SNAPSHOTS_AGREE, snapshot, f"is not {other}", difference)


def snapshots_fold_log(tables: Tables) -> list[Finding]:
    """A snapshot holds exactly the result of the committed log before its offset."""
    whole = [one for one in _snapshots(tables["snapshots"]) if one.entities is not None]
    with known_records():
        return limited(_unfounded(whole, _log(tables["committed"]))) if whole else []


def _unfounded(snapshots: list[_Snapshot], log: Log) -> Iterator[Finding]:
    """Walks up the log from snapshot to snapshot."""
    folded, reached = Entities(), 0
    for snapshot in snapshots:
        while reached < snapshot.offset and reached in log:
            _, kind, fields = log[reached]
            folded.apply(kind, decoded(fields))
            reached += 1
        if reached < snapshot.offset:  # this snapshot replaced records that the log lacks
            folded, reached = _held(snapshot), snapshot.offset
            continue
        last = log.get(snapshot.offset - 1)
        if last is not None and last[0] != snapshot.epoch:
            fact = f"follows a record of epoch {last[0]} in the committed log"
            yield _finding(SNAPSHOTS_FOLD_LOG, snapshot, fact)
        difference = _difference(_held(snapshot), folded)
        if difference is not None:
            fact = "differs from the result of the log before the snapshot"
            yield _finding(SNAPSHOTS_FOLD_LOG, snapshot, fact, difference)


def _finding(check: str, snapshot: _Snapshot, fact: str, reason: str = "") -> Finding:
    """Return a finding about a snapshot, at the time of the last record under the snapshot."""
    return finding(
        check,
        f"{snapshot} {fact}",
        reason=reason,
        node=snapshot.node,
        log_offset=snapshot.offset - 1,
    )


def _difference(held: Entities, wanted: Entities) -> str | None:
    """Return the first difference between entities, in words; None for equal entities."""
    ours, theirs = held.listed(), wanted.listed()
    if ours == theirs:
        return None
    key = min(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    name = " ".join(part for part in key if part)
    if key not in theirs:
        return f"it has {name}, which is gone or never was"
    if key not in ours:
        return f"it lacks {name}"
    return f"{name} is {_text(ours[key])} in it, but should be {_text(theirs[key])}"


def _text(value: object) -> str:
    return as_json(value)


def _held(snapshot: _Snapshot) -> Entities:
    assert snapshot.entities is not None, "looked at before"
    return held_by(snapshot.entities)


def _snapshots(table: pa.Table) -> list[_Snapshot]:
    """Return the snapshots by offset, epoch and node."""
    columns = ("offset", "epoch", "node", "timestamp_ms", "entities")
    rows: Iterator[tuple[Any, ...]] = rows_of(table, *columns)
    return sorted((_Snapshot(*row) for row in rows), key=lambda one: one[:3])


def _log(committed: pa.Table) -> Log:
    log: Log = {}
    rows: Iterator[tuple[Any, ...]] = rows_of(committed, "offset", "epoch", "type", "json")
    for offset, epoch, kind, fields in rows:
        # Another check reports differing nodes; the order of rows must not matter.
        log[offset] = min((epoch, kind, fields), log.get(offset, (epoch, kind, fields)))
    return log
