"""The replicas of partitions in a node's files, as rows of the table `replicas`.

Read leniently: a node may have been killed in the middle of a write, so a torn end is no error.
Internal topics of Kafka are left out.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kraftproof.cluster.systems.kafka.records import records_of
from kraftproof.cluster.systems.kafka.stored_batches import framed
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.raw_batch import parse_batch

_PARTITION: Final = re.compile(r"(?!__)[A-Za-z0-9._-]+-[0-9]+")
_CHECKPOINT: Final = "replication-offset-checkpoint"
_DELETED: Final = re.compile(r".*-(delete|stray|future)")


def replicas(directory: Path, node_id: int) -> list[dict[str, object]]:
    """Return every record of a node's replicas, in the order of partitions and offsets.

    Args:
        directory: The node's files; the logs may lie anywhere below.
        node_id: Whose they are.
    """
    return [
        {"node": node_id, **row}
        for folder in sorted({path.parent for path in directory.rglob("*.log")})
        if _PARTITION.fullmatch(folder.name) and not _DELETED.fullmatch(folder.name)
        for row in _rows(folder)
    ]


def _rows(folder: Path) -> Iterator[dict[str, object]]:
    high_watermark = _high_watermarks(folder.parent / _CHECKPOINT).get(folder.name)
    shared = {"partition": folder.name, "high_watermark": high_watermark}
    for path in sorted(folder.glob("*.log")):
        for whole in framed(path.read_bytes()):
            for row in _batch_rows(bytes(whole)):
                yield {**shared, **row}


def _batch_rows(whole: bytes) -> Iterator[dict[str, object]]:
    try:
        batch = parse_batch(whole)
        records = list(records_of(whole))
    except WireError:
        return
    crc = int.from_bytes(whole[17:21], "big")
    for offset, value in records:
        text = value.decode(errors="replace").rstrip()
        yield {"offset": offset, "epoch": batch.epoch, "batch_crc": crc, "value": text}


def _high_watermarks(path: Path) -> Mapping[str, int]:
    """Return the high watermarks of Kafka's checkpoint: version, number, TOPIC PARTITION OFFSET."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[2:]
    except (OSError, UnicodeDecodeError):
        return {}
    found = {}
    for line in lines:
        words = line.split(" ")
        if len(words) == 3 and words[2].isdecimal():
            found[f"{words[0]}-{words[1]}"] = int(words[2])
    return found
