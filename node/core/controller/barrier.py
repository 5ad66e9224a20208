"""Hold answers without records behind a read barrier.

A refusal, a look-up or a heartbeat writes no record, and could come from a controller that has been
replaced without its knowledge. The answer therefore waits for the commit of a record that this
leader appended *after* the arrival of the request. If a newer leader existed at the arrival, its
majority would not acknowledge the record. A record already in flight proves no leadership, since
its acknowledgements may have waited in a socket buffer while the process was paused.

If no request appends a record, the controller writes a NoOpRecord for all waiting answers; at most
one NoOpRecord is in flight. The only voter of a quorum can't be replaced: its answers wait for the
commit of the records before them, and need no record. Kafka has no read barrier.
"""

from msgspec import Struct

from kraftproof.node.core.base.types import Instant, Monotonic, Offset, earliest
from kraftproof.node.core.controller.timed_request import TimedRequest
from kraftproof.node.wire.messages import Message


class Answer(Struct, frozen=True):
    """A reply that still needs the proof of leadership."""

    request: TimedRequest
    reply: Message


class ReadBarrier:
    """The answers that no record in flight covers, and the NoOpRecord in flight."""

    __slots__ = ("_in_flight", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[Answer] = []
        self._in_flight: Offset | None = None

    def wait(self, answer: Answer) -> None:
        """Hold an answer until a record is appended after this call."""
        self._waiting.append(answer)

    def needs_record(self) -> bool:
        """Return whether a NoOpRecord should be written now."""
        return bool(self._waiting) and self._in_flight is None

    def raised(self, offset: Offset) -> None:
        """Record the offset of the new NoOpRecord."""
        self._in_flight = offset

    def take(self) -> list[Answer]:
        """Return and remove the answers that the newly appended record covers."""
        covered, self._waiting = self._waiting, []
        return covered

    def expire(self, now: Instant) -> list[Answer]:
        """Return and remove the uncovered answers whose deadline has passed."""
        waiting = self._waiting
        self._waiting = [answer for answer in waiting if not answer.request.is_over(now)]
        return [answer for answer in waiting if answer.request.is_over(now)]

    def deadline(self) -> Monotonic | None:
        """Return the earliest deadline of the uncovered answers."""
        if not self._waiting:
            return None
        return earliest(*[answer.request.expires for answer in self._waiting])

    def committed(self, high_watermark: Offset) -> None:
        """Forget a NoOpRecord that has committed."""
        if self._in_flight is not None and self._in_flight < high_watermark:
            self._in_flight = None
