"""The read barrier: who may be told what without a record of their own.

An answer that writes nothing (a refusal, a look-up, a heartbeat) may come from a controller that
has been replaced without knowing it. So it waits until a record of this leader's epoch that was
appended *after* the request arrived has committed: a majority that followed a newer leader by
then would not have taken it. A record that was in flight already proves nothing; its
acknowledgements may have lain in a socket's buffer while this process was paused. Where nobody
appends such a record, one NoOpRecord is written for all that wait, one at a time.

Kafka has no such barrier. Not here: the log, and the answers of requests that write records.
"""

from msgspec import Struct

from kraftproof.node.core.base.types import Instant, Monotonic, Offset, earliest
from kraftproof.node.core.controller.timed_request import TimedRequest
from kraftproof.node.wire.messages import Message


class Answer(Struct, frozen=True):
    """A reply that is ready but for the proof that this was still the leader."""

    request: TimedRequest
    reply: Message


class ReadBarrier:
    """The answers that no record in flight covers, and the NoOpRecord in flight, if any."""

    __slots__ = ("_in_flight", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[Answer] = []
        self._in_flight: Offset | None = None

    def wait(self, answer: Answer) -> None:
        """Hold an answer until a record is appended after this moment."""
        self._waiting.append(answer)

    def needs_record(self) -> bool:
        """Whether a NoOpRecord should be written now."""
        return bool(self._waiting) and self._in_flight is None

    def raised(self, offset: Offset) -> None:
        """The NoOpRecord stands at this offset."""
        self._in_flight = offset

    def take(self) -> list[Answer]:
        """The answers that the record which was just appended covers."""
        covered, self._waiting = self._waiting, []
        return covered

    def expire(self, now: Instant) -> list[Answer]:
        """Take the answers that no record covers yet and whose time is up."""
        waiting = self._waiting
        self._waiting = [answer for answer in waiting if not answer.request.is_over(now)]
        return [answer for answer in waiting if answer.request.is_over(now)]

    def deadline(self) -> Monotonic | None:
        """When the first answer that no record covers runs out of time."""
        return earliest(*(answer.request.expires for answer in self._waiting))

    def committed(self, high_watermark: Offset) -> None:
        """Let go of a NoOpRecord that has committed."""
        if self._in_flight is not None and self._in_flight < high_watermark:
            self._in_flight = None
