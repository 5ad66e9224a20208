"""Hold the operations with a wait for a partition: Produce with acks=all, and Fetch.

An operation is tried again when a log changes, and expires at the deadline. Memory is
bounded by the open requests: a finished operation leaves every log at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Instant, Monotonic

_FEW: Final = 64
"""Maximum number of finished entries in the heap of deadlines before a clean-up."""


class DelayedOperation(Protocol):
    """A waiting operation."""

    def try_complete(self, now: Instant, changed: Sequence[LogId] = ()) -> bool:
        """Answer if the condition holds; return whether the operation is finished.

        `changed` has the logs of the operation that have changed since the last try.
        """
        ...

    def expire(self, now: Instant) -> None:
        """Answer at the deadline."""
        ...


class _Entry:
    __slots__ = ("deadline", "logs", "operation", "order")

    def __init__(
        self,
        operation: DelayedOperation,
        logs: tuple[LogId, ...],
        deadline: Monotonic,
        order: int,
    ) -> None:
        self.operation: DelayedOperation | None = operation
        """No value after the end of the operation."""
        self.logs = logs
        self.deadline = deadline
        self.order = order

    def __lt__(self, other: "_Entry") -> bool:
        return (self.deadline, self.order) < (other.deadline, other.order)


_NONE_WAITING: Final[Mapping[int, _Entry]] = {}


class Purgatory:
    """The waiting operations, by log and by deadline."""

    __slots__ = ("_by_log", "_deadlines", "_finished", "_order")

    def __init__(self) -> None:
        self._by_log: dict[LogId, dict[int, _Entry]] = {}
        self._deadlines: list[_Entry] = []
        self._order = 0
        self._finished = 0

    def __len__(self) -> int:
        """Return the number of waiting operations."""
        return len(self._deadlines) - self._finished

    def add(self, operation: DelayedOperation, logs: Iterable[LogId], deadline: Monotonic) -> None:
        """Hold an operation after a first try without success."""
        self._order += 1
        entry = _Entry(operation, tuple(dict.fromkeys(logs)), deadline, self._order)
        for log in entry.logs:
            self._by_log.setdefault(log, {})[entry.order] = entry
        heappush(self._deadlines, entry)

    def check(self, logs: Iterable[LogId], now: Instant) -> None:
        """Try the operations of the logs in the order of arrival, each operation once."""
        if not self._by_log:
            return
        found: dict[int, tuple[_Entry, list[LogId]]] = {}
        for log in logs:
            for order, entry in self._by_log.get(log, _NONE_WAITING).items():
                if order in found:
                    found[order][1].append(log)
                else:
                    found[order] = (entry, [log])
        for order in sorted(found):
            entry, changed = found[order]
            if entry.operation is not None and entry.operation.try_complete(now, changed):
                self._finish(entry)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next expiration."""
        if not self._deadlines:
            return None
        self._drop_finished()
        return self._deadlines[0].deadline if self._deadlines else None

    def tick(self, now: Instant) -> None:
        """Expire the operations whose deadline has passed."""
        self._drop_finished()
        while self._deadlines and self._deadlines[0].deadline <= now.monotonic:
            entry = self._deadlines[0]
            if entry.operation is not None:
                entry.operation.expire(now)
                self._finish(entry)
            self._drop_finished()

    def _finish(self, entry: _Entry) -> None:
        entry.operation = None
        self._finished += 1
        for log in entry.logs:
            waiting = self._by_log[log]
            del waiting[entry.order]
            if not waiting:
                del self._by_log[log]
        if self._finished > max(_FEW, len(self._deadlines) // 2):
            self._deadlines = [each for each in self._deadlines if each.operation is not None]
            heapify(self._deadlines)
            self._finished = 0

    def _drop_finished(self) -> None:
        while self._deadlines and self._deadlines[0].operation is None:
            heappop(self._deadlines)
            self._finished -= 1
