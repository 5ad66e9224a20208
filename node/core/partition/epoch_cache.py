"""Remember where each leader epoch of a log begins (KIP-101, KIP-320).

A follower compares the last epoch with the leader's cache and finds the end of the common part of
both logs. A new leader enters its epoch at once, even without records.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.types import Epoch, Offset

UNDEFINED_EPOCH: Final = Epoch(-1)
UNDEFINED_OFFSET: Final = Offset(-1)


class EpochStart(Struct, frozen=True, gc=False):
    """A leader epoch and the offset of the epoch's first record."""

    epoch: Epoch
    start_offset: Offset


class EpochEndOffset(Struct, frozen=True, gc=False):
    """An epoch of a log, and the offset after the epoch's last record."""

    epoch: Epoch
    end_offset: Offset


UNDEFINED_END: Final = EpochEndOffset(UNDEFINED_EPOCH, UNDEFINED_OFFSET)


class EpochCache:
    """The epochs of a log with their starts; both ascend."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Sequence[EpochStart] = ()) -> None:
        self._entries: list[EpochStart] = list(entries)

    @property
    def entries(self) -> tuple[EpochStart, ...]:
        """Return the entries in ascending order."""
        return tuple(self._entries)

    @property
    def latest(self) -> Epoch:
        """Return the last epoch; UNDEFINED_EPOCH without an entry."""
        return self._entries[-1].epoch if self._entries else UNDEFINED_EPOCH

    def assign(self, epoch: Epoch, start_offset: Offset) -> bool:
        """Enter an epoch at the end of the log; return whether the epoch is new.

        An older entry without records gives way.
        """
        if self._entries and self._entries[-1].epoch >= epoch:
            return False
        while self._entries and self._entries[-1].start_offset >= start_offset:
            self._entries.pop()
        self._entries.append(EpochStart(epoch, start_offset))
        return True

    def truncate(self, end_offset: Offset) -> None:
        """Remove the epochs with a begin at or above the end of a truncated log."""
        while self._entries and self._entries[-1].start_offset >= end_offset:
            self._entries.pop()

    def raise_start(self, start_offset: Offset) -> None:
        """Remove the epochs up to a new start; the next epoch begins at the start."""
        kept = bisect_right([entry.start_offset for entry in self._entries], start_offset)
        if kept:
            first = EpochStart(self._entries[kept - 1].epoch, start_offset)
            self._entries[:kept] = [first]

    def clear(self) -> None:
        """Remove every epoch."""
        self._entries.clear()

    def epoch_at(self, offset: Offset) -> Epoch:
        """Return the epoch of the record at an offset, or of the last record at the log end."""
        kept = bisect_right([entry.start_offset for entry in self._entries], offset)
        return self._entries[kept - 1].epoch if kept else UNDEFINED_EPOCH

    def end_of(self, epoch: Epoch, log_end: Offset) -> EpochEndOffset:
        """Return the largest epoch up to `epoch`, and the end; UNDEFINED_END above the last epoch.

        Below the first epoch, the answer is the asked epoch with the start of the first epoch.
        """
        latest = self.latest
        if epoch < 0 or epoch > latest:
            return UNDEFINED_END
        if epoch == latest:
            return EpochEndOffset(epoch, log_end)
        after = bisect_right([entry.epoch for entry in self._entries], epoch)
        end = self._entries[after].start_offset
        return EpochEndOffset(self._entries[after - 1].epoch if after else epoch, end)
