"""Flushes: one fsync at a time; a Flush that comes meanwhile waits for the next fsync."""

from collections.abc import Callable
from typing import Protocol

from kraftproof.node.core.effects import Flush
from kraftproof.node.core.events import Flushed
from kraftproof.node.shell.ports import Failed, Workers


class FlushedDisk(Protocol):
    """The part of a disk that a flush queue needs."""

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        """Return an fsync that covers every append to the log before this call."""
        ...


class FlushQueue:
    """Turns each Flush into its Flushed, once an fsync that began after the Flush has returned."""

    __slots__ = (
        "_disk",
        "_is_closed",
        "_on_failure",
        "_on_idle",
        "_post",
        "_waiting",
        "_workers",
        "is_busy",
    )

    def __init__(
        self,
        disk: FlushedDisk,
        workers: Workers,
        *,
        post: Callable[[Flushed], None],
        on_idle: Callable[[], None],
        on_failure: Failed,
    ) -> None:
        self._disk = disk
        self._workers = workers
        self._post = post
        self._on_idle = on_idle
        self._on_failure = on_failure
        self._waiting: list[Flush] = []
        self._is_closed = False
        self.is_busy = False
        """Whether an fsync is under way."""

    def request(self, effect: Flush) -> None:
        """Flush now, or with others as soon as the running fsync has returned."""
        self._waiting.append(effect)
        if not self.is_busy:
            self._start()

    def close(self) -> None:
        """Begin no other fsync, and report none: the node has ended, or the log is deleted."""
        self._is_closed = True
        self._waiting.clear()

    def _start(self) -> None:
        self.is_busy = True
        covered, self._waiting = self._waiting, []
        fsync = self._disk.start_flush(covered[-1])
        self._workers.fsync(fsync, lambda: self._finish(covered), self._on_failure)

    def _finish(self, covered: list[Flush]) -> None:
        self.is_busy = False
        if self._is_closed:
            return
        if self._waiting:
            try:
                self._start()
            except OSError as error:
                self._on_failure(error)
                return
        else:
            self._on_idle()
        for flush in covered:
            self._post(
                Flushed(log=flush.log, generation=flush.generation, end_offset=flush.end_offset)
            )
