"""The facts that the operations on one partition state, as columns.

A send states a value and, if it was acknowledged, an offset. A poll and a final read state the
records that a reader received. Values are numbers: see `checkers.logs.reading.values`.
"""

from dataclasses import dataclass, fields
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.history.columns import NEVER, OK

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNKNOWN: Final = -1
"""Stands for an offset, a position or a time that no answer states."""
ACKS_ALL: Final = -1
"""A send waits for all in-sync replicas, as acks=all in Kafka."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Columns of one length; a subclass names the columns."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def take(self, rows: NDArray[np.generic]) -> Self:
        """Return the rows at the given places, or the rows of a mask."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        named = {one.name: getattr(self, one.name)[rows] for one in fields(self)}
        return type(self)(**named)

    @classmethod
    def empty(cls) -> Self:
        """Return no rows."""
        return cls(**{one.name: np.zeros(0, dtype=np.int64) for one in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sends(Frame):
    """The sends of a partition, int64[n] each.

    Attributes:
        index: the operation.
        value: the number of the value.
        offset: the acknowledged offset; UNKNOWN without one.
        status: OK, FAIL or INFO.
        invoke: the event of the invocation.
        complete: the event of the completion; NEVER unless the status is OK.
        invoke_time: in ns; UNKNOWN in a history without a clock.
        complete_time: in ns, of an acknowledgement; NEVER without one.
        acks: ACKS_ALL, 0 or 1.
        idempotent: 1 if the producer was idempotent, else 0.
    """

    index: Ints
    value: Ints
    offset: Ints
    status: Ints
    invoke: Ints
    complete: Ints
    invoke_time: Ints
    complete_time: Ints
    acks: Ints
    idempotent: Ints

    @property
    def is_acknowledged(self) -> Bools:
        """Return the sends whose success binds the system: bool[n]."""
        found: Bools = (self.status == OK) & (self.acks == ACKS_ALL)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads(Frame):
    """The records that readers received, int64[n] each, in the order of the answers.

    Attributes:
        poll: the row of the poll, or of the final read, among the partition's `Polls`.
        offset: the record's offset.
        value: the number of the value.
    """

    poll: Ints
    offset: Ints
    value: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Polls(Frame):
    """The polls, final reads and assignments of readers, int64[n] each, by invocation.

    All are answered but those of the kind UNANSWERED, which may have moved the reader.

    Attributes:
        index: the operation.
        process: the reader.
        kind: POLL, FINAL, ASSIGN or UNANSWERED.
        position: the first offset that was asked for; UNKNOWN if the reader keeps it itself.
        count: the number of received records.
        log_start: the first offset of the log, as the answer says; UNKNOWN without one.
        end: the high watermark, as the answer says; UNKNOWN without one.
        invoke: the event of the invocation.
        complete: the event of the completion.
        invoke_time: in ns; UNKNOWN in a history without a clock.
        complete_time: in ns; UNKNOWN in a history without a clock.
    """

    index: Ints
    process: Ints
    kind: Ints
    position: Ints
    count: Ints
    log_start: Ints
    end: Ints
    invoke: Ints
    complete: Ints
    invoke_time: Ints
    complete_time: Ints


POLL: Final = 0
FINAL: Final = 1
ASSIGN: Final = 2
UNANSWERED: Final = 4
"""A poll or an assignment that may have had an effect: the position of its reader is unknown."""

F = TypeVar("F", bound=Frame)


def joined(parts: list[F], kind: type[F]) -> F:
    """Return the rows of several frames, in order."""
    if not parts:
        return kind.empty()
    if len(parts) == 1:
        return parts[0]
    names = [one.name for one in fields(kind)]
    return kind(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All facts on one partition."""

    sends: Sends
    reads: Reads
    polls: Polls


__all__ = ["NEVER", "Facts", "Polls", "Reads", "Sends"]
