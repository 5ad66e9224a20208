"""The check that the replicas of a partition agree below the lowest high watermark (KIP-101).

The nodes report the high watermark in a checkpoint; a node without one takes no part. The table is
`replicas` of `checkers.history.schema`.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.kraft.node_logs import Tables, limited
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, FindingKind, NotApplicableError

REPLICAS_AGREE: Final = "log/replicas-agree"


def replicas_agree(tables: Tables) -> list[Finding]:
    """Return the offsets below the lowest high watermark at which two replicas differ.

    Raises:
        NotApplicableError: no partition has two replicas with a high watermark.
    """
    rows = tables["replicas"]
    rows = rows.filter(pc.is_valid(rows.column("high_watermark")))
    nodes = rows.group_by("partition").aggregate([("node", "count_distinct")])
    shared = nodes.filter(pc.greater(nodes.column("node_count_distinct"), 1))
    if not len(shared):
        raise NotApplicableError("no partition has two replicas with a high watermark")
    return limited(_differences(rows, sorted(shared.column("partition").to_pylist())))


def _differences(rows: pa.Table, partitions: list[str]) -> Iterator[Finding]:
    for partition in partitions:
        own = rows.filter(pc.equal(rows.column("partition"), partition))
        below = pc.less(own.column("offset"), pc.min(own.column("high_watermark")))
        own = own.filter(below).sort_by([("offset", "ascending"), ("node", "ascending")])
        columns = (own.column(name).to_numpy() for name in ("offset", "epoch", "batch_crc"))
        offset, epoch, crc = columns
        same = (epoch[1:] == epoch[:-1]) & (crc[1:] == crc[:-1])
        for place in np.flatnonzero((offset[1:] == offset[:-1]) & ~same).tolist():
            yield _difference(partition, own.slice(place, 2).to_pylist())
        yield from _missing(partition, own)


def _difference(partition: str, rows: list[dict[str, object]]) -> Finding:
    one, other = rows
    fact = (
        f"node {other['node']} has another batch at offset {one['offset']} of {partition} than"
        f" node {one['node']}"
    )
    told = (f"epoch {row['epoch']} and CRC {row['batch_crc']}" for row in rows)
    return _finding(fact, " against ".join(told), other["node"], one["offset"])


def _missing(partition: str, own: pa.Table) -> Iterator[Finding]:
    """Yield the first record that a replica lacks, between records that the replica has."""
    offset, node = own.column("offset").to_numpy(), own.column("node").to_numpy()
    everywhere = np.unique(offset)
    for one in np.unique(node).tolist():
        mine = offset[node == one]
        inside = everywhere[everywhere >= mine[0]] if len(mine) else everywhere[:0]
        gone = np.setdiff1d(inside, mine)
        if len(gone):
            fact = f"node {one} lacks offset {gone[0]} of {partition}, which another replica has"
            yield _finding(fact, "the offset is below the high watermark", one, int(gone[0]))


def _finding(fact: str, reason: str, node: object, offset: object) -> Finding:
    assert isinstance(offset, int)
    return Finding(
        check=REPLICAS_AGREE,
        kind=FindingKind.SAFETY,
        sentence=shortened(fact),
        fact=shortened(fact),
        reason=reason,
        node=str(node),
        log_offset=offset,
    )
