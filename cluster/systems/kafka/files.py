"""A node's raw files as rows of `records`, `batches`, `snapshots`, `trace`, `writes`, `replicas`.

Read leniently: a node may have been killed in the middle of a write, so a torn end is no error.
Not: the tables' schemas (checkers/history/schema.py) nor any judgement of what the rows say.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from kraftproof.cluster.systems.deployment import DISK_REPORT
from kraftproof.cluster.systems.kafka.replicas import replicas
from kraftproof.cluster.systems.kafka.stored_batches import batches
from kraftproof.cluster.systems.system import Registration
from kraftproof.node.storage.log import DIRECTORY_NAME
from kraftproof.node.storage.snapshots import NAME as SNAPSHOT_NAME
from kraftproof.node.tools.log_file import Damage, read_segment
from kraftproof.node.tools.record_json import record_data, type_name
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader
from kraftproof.node.wire.records.generated.metadata_records import RegisterControllerRecord
from kraftproof.node.wire.types import format_uuid

TRACE_FILE = "trace.jsonl"
_COPIED = (
    "seq",
    "time",
    "event",
    "role",
    "epoch",
    "high_watermark",
    "flushed",
    "log_end",
    "image_digest",
    "run_time",
)


def records(directory: Path, node_id: int) -> list[dict[str, object]]:
    """Return every record of a node's metadata log, control records included.

    Args:
        directory: The node's files; the log may lie anywhere below.
        node_id: Whose they are.
    """
    return [
        row
        for path in sorted(directory.rglob(f"{DIRECTORY_NAME}/*.log"))
        for row in _segment_rows(path, node_id)
    ]


def registrations(directory: Path) -> list[Registration]:
    """Return the registrations of controllers in a node's metadata log, in the order of the log.

    The list is empty if the beginning of the log was deleted behind a snapshot.

    Args:
        directory: The node's files; the log may lie anywhere below.
    """
    segments = sorted(directory.rglob(f"{DIRECTORY_NAME}/*.log"))
    if not segments or int(segments[0].stem) > 0:
        return []
    return [
        Registration(
            controller=record.controller_id,
            incarnation=format_uuid(record.incarnation_id),
            timestamp_ms=stored.batch.timestamp_ms,
        )
        for path in segments
        for stored in read_segment(path.read_bytes())
        if not isinstance(stored, Damage)
        for record in stored.batch.records
        if isinstance(record, RegisterControllerRecord)
    ]


def snapshots(directory: Path, node_id: int) -> list[dict[str, object]]:
    """Return every snapshot that a node has; what it is writing or copying is none yet.

    Args:
        directory: The node's files; the snapshots may lie anywhere below.
        node_id: Whose they are.
    """
    return [
        _snapshot_row(path, node_id, int(name[1]), int(name[2]))
        for path in sorted(directory.rglob(f"{DIRECTORY_NAME}/*.checkpoint"))
        if (name := SNAPSHOT_NAME.fullmatch(path.name)) is not None
    ]


def trace(directory: Path, node_id: int) -> list[dict[str, object]]:
    """Return what the node said of itself over all its starts, in the order of writing.

    `incarnation` counts the starts from 0. A line that a kill cut short is left out.
    """
    path = directory / TRACE_FILE
    if not path.exists():
        return []
    starts: dict[str, int] = {}
    found: list[dict[str, object]] = []
    with path.open("rb") as file:
        for line in file:
            row = _whole_row(line)
            if row is None:
                continue
            start = starts.setdefault(str(row["incarnation"]), len(starts))
            found.append(_trace_row(row, node_id, start))
    return found


def writes(directory: Path, node_id: int) -> list[dict[str, object]]:
    """Return the writes to the metadata log from the report of the node's disk."""
    path = directory / DISK_REPORT
    if not path.exists():
        return []
    return [
        {"node": node_id, "fate": event["event"], "time": event["time"], **one}
        for event in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        for one in event["writes"]
        if one["file"].startswith(f"{DIRECTORY_NAME}/") and one["file"].endswith(".log")
    ]


def _segment_rows(path: Path, node_id: int) -> Iterator[dict[str, object]]:
    for stored in read_segment(path.read_bytes()):
        if isinstance(stored, Damage):
            return
        batch = stored.batch
        for offset, record in enumerate(batch.records, start=batch.base_offset):
            yield {
                "node": node_id,
                "offset": offset,
                "epoch": batch.epoch,
                "batch_crc": stored.crc,
                "type": type_name(record),
                "json": json.dumps(record_data(record), separators=(",", ":"), sort_keys=True),
                "batch_offset": batch.base_offset,
            }


def _snapshot_row(path: Path, node_id: int, offset: int, epoch: int) -> dict[str, object]:
    data = path.read_bytes()
    row = {"node": node_id, "offset": offset, "epoch": epoch, "size": len(data)}
    batches = _whole_snapshot(data)
    if batches is None:
        return row | {"timestamp_ms": None, "entities": None}
    header = batches[0].records[0]
    assert isinstance(header, SnapshotHeader)
    entities = [
        (type_name(record), record_data(record))
        for batch in batches
        if not batch.is_control
        for record in batch.records
    ]
    return row | {
        "timestamp_ms": header.last_contained_log_timestamp,
        "entities": json.dumps(entities, separators=(",", ":"), sort_keys=True),
    }


def _whole_snapshot(data: bytes) -> list[Batch] | None:
    """The batches from header to footer; None if anything is damaged or missing."""
    batches: list[Batch] = []
    for stored in read_segment(data):
        if isinstance(stored, Damage):
            return None
        batches.append(stored.batch)
    if not batches or not isinstance(batches[0].records[0], SnapshotHeader):
        return None
    return batches if isinstance(batches[-1].records[-1], SnapshotFooter) else None


def _whole_row(line: bytes) -> dict[str, object] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "image_offset" in row else None


def _trace_row(row: dict[str, object], node_id: int, start: int) -> dict[str, object]:
    """A table's row; the node's image offset is the next one, the table's the last applied."""
    image_offset = row["image_offset"]
    assert isinstance(image_offset, int)
    copied = {name: row.get(name) for name in _COPIED}
    return {"node": node_id, "incarnation": start, "image_offset": image_offset - 1, **copied}


DECODERS: Final[Mapping[str, Callable[[Path, int], list[dict[str, object]]]]] = {
    "records": records,
    "batches": batches,
    "snapshots": snapshots,
    "trace": trace,
    "writes": writes,
    "replicas": replicas,
}
"""By table: the function that makes the rows from the files of a node."""
