"""Checks that a majority of the voters has synced a topic before the answer to its creation.

The leader counts a voter for a record once the voter has synced the record (KIP-595). The table
`writes` has the times at which bytes of the voters' logs became durable, and the check searches the
bytes for the ids of topics. The table leaves snapshots out: the log makes a record durable.
"""

import base64
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of, rows_of
from kraftproof.checkers.kraft.node_logs import Tables, limited, operation_finding
from kraftproof.checkers.kraft.topic_facts import created_id
from kraftproof.checkers.verdict import Finding

ACKNOWLEDGED_IS_DURABLE: Final = "kraft/acknowledged-is-durable"
NS_PER_S: Final = 1_000_000_000
SYNCED: Final = "synced"
LOST: Final = "lost"
FATES: Final = {
    SYNCED: "synced the record at {:.3f} s only",
    LOST: "lost the record with its power at {:.3f} s",
    "unmounted": "had not synced the record when the run ended at {:.3f} s",
}


class Write(NamedTuple):
    """A write to the log of a voter, and its fate; the time is in nanoseconds of the run."""

    time: int
    node: int
    fate: str
    data: bytes
    voters: int


def acknowledged_is_durable(tables: Tables) -> list[Finding]:
    """A majority of the voters has synced each topic whose creation is acknowledged."""
    columns = ("time", "node", "fate", "data", "voters")
    writes = [
        Write(time, node, fate, base64.b64decode(data or ""), voters)  # type: ignore[arg-type]
        for time, node, fate, data, voters in rows_of(tables["writes"], *columns)
    ]
    if any(data is None for (data,) in rows_of(tables["writes"], "data")):
        return []  # the report was full, and a record without bytes may be durable
    found = _premature(operations_of(tables["operations"]), sorted(writes))
    losses_first = sorted(found, key=lambda premature: premature.loss is None)
    return limited(_finding(premature) for premature in losses_first)


class Premature(NamedTuple):
    """A creation with its answer before a majority had synced the topic's record."""

    create: Operation
    topic_id: str
    durable: int
    voters: int
    after: list[Write]
    """The first fate of the record on each voter after the answer."""

    @property
    def loss(self) -> Write | None:
        """The first loss of the record with the power of a voter."""
        return min((write for write in self.after if write.fate == LOST), default=None)


def _premature(operations: list[Operation], writes: list[Write]) -> Iterator[Premature]:
    for operation in operations:
        topic_id = created_id(operation)
        if topic_id is None or operation.complete_time is None:
            continue
        wanted = base64.urlsafe_b64decode(topic_id + "==")
        mine = [write for write in writes if wanted in write.data]
        durable = {
            write.node
            for write in mine
            if write.fate == SYNCED and write.time <= operation.complete_time
        }
        if mine and 2 * len(durable) <= mine[0].voters:
            after: dict[int, Write] = {}
            for write in mine:
                if write.time > operation.complete_time:
                    after.setdefault(write.node, write)
            voters = mine[0].voters
            yield Premature(operation, topic_id, len(durable), voters, list(after.values()))


def _finding(premature: Premature) -> Finding:
    """Return the finding, at the time of the first loss, or else of the answer.

    The sentence of a finding states the time after the fact, so the fact ends with the event.
    """
    create, loss = premature.create, premature.loss
    assert create.complete_time is not None, "it was acknowledged"
    fates = [
        f"node {write.node} {FATES[write.fate].format(write.time / NS_PER_S)}"
        for write in sorted(premature.after, key=lambda write: write.node)
        if write is not loss
    ]
    topic = f"topic {create.key} ({premature.topic_id}) was acknowledged"
    synced = f"when {premature.durable} of {premature.voters} voters had synced its record"
    if loss is None:
        fact = f"{', '.join(fates)}: {topic} {synced}"
    else:
        acknowledged = f"{topic} at {create.complete_time / NS_PER_S:.3f} s {synced}"
        lost = f"node {loss.node} lost the record with its power"
        fact = f"{', '.join((acknowledged, *fates))}, and {lost}"
    found = operation_finding(
        ACKNOWLEDGED_IS_DURABLE,
        create,
        fact,
        "a majority syncs a record before it is acknowledged",
    )
    if loss is None:
        return found
    return msgspec.structs.replace(found, node=str(loss.node), time_ns=loss.time)
