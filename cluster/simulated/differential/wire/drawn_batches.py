"""Draw a short metadata log: batches with records of all types, and control records."""

from random import Random
from typing import Final, cast

from kraftproof.cluster.simulated.differential.difference import Refusal, attempt
from kraftproof.cluster.simulated.differential.wire.drawn_entities import draw_entity
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import control_records, metadata_records
from kraftproof.node.wire.records.batch import Batch, Record, WriteLevel
from kraftproof.node.wire.records.batches import encode_batch

TRIES: Final = 30
LEVELS: Final = (None, None, 7, 17, 21)
"""Levels of metadata.version that write different versions; None for the usual level."""


def draw_log(random: Random) -> list[Batch]:
    """Return one to four batches with consecutive offsets and epochs that never fall."""
    offset, epoch = random.choice((0, 1, 1 << 40)), random.choice((0, 1, 1 << 30))
    found = []
    for _ in range(random.randint(1, 4)):
        batch = _draw_batch(random, offset, epoch)
        found.append(batch)
        offset += len(batch.records)
        epoch += random.choice((0, 0, 1))
    return found


def _draw_batch(random: Random, offset: int, epoch: int) -> Batch:
    is_control = random.random() < 0.3
    schemas = control_records.SCHEMAS if is_control else metadata_records.SCHEMAS
    level = random.choice(LEVELS)
    while True:
        kinds = [random.choice(sorted(schemas)) for _ in range(random.choice((1, 1, 2, 5)))]
        records = [_draw_record(schemas[kind].message, random) for kind in kinds]
        batch = Batch(
            base_offset=offset,
            epoch=epoch,
            timestamp_ms=random.choice((0, 1, 1 << 41)),
            is_control=is_control,
            records=tuple(records),
            level=None if level is None else WriteLevel(level),
        )
        if not isinstance(attempt(WireError, encode_batch, batch), Refusal):
            return batch


def _draw_record(kind: type, random: Random) -> Record:
    """Return a record; a control record says version 0, the only one."""
    record = draw_entity(kind, random)
    return cast("Record", record)
