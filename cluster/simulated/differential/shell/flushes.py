"""The flushes of a compared shell: each ends in an event once an fsync covers the flush."""

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Flush


class Flushes:
    """The flushes that were carried out, and the fsyncs that cover them."""

    def __init__(self) -> None:
        self.waiting: dict[LogId, list[Flush]] = {}
        """Flushes that no fsync has begun for, by log."""
        self.covered: list[Flush] = []
        """The flushes before the begin of the last fsync."""
        self.flushed: list[Flush] = []
        """The flushes that an fsync has returned for."""

    def begin(self, effect: Flush, *, is_new: bool) -> None:
        """Begin an fsync for a flush that is being carried out, or for those that have waited."""
        self.covered = self.waiting.pop(effect.log, []) + [effect] * is_new

    def carried_out(self, effect: Flush) -> None:
        """Let a flush wait, unless the flush has begun an fsync."""
        if effect not in self.covered:
            self.waiting.setdefault(effect.log, []).append(effect)

    def forget(self, log: LogId) -> None:
        """Drop what waits for a log that is deleted."""
        self.waiting.pop(log, None)
