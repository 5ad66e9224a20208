"""State the answers and the periodic work for the partition that a broker leads."""

from msgspec import Struct

from kraftproof.cluster.simulated.differential.brokers.membership_model import MS
from kraftproof.cluster.simulated.differential.door.view import FOUND, View
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.wire.errors import ErrorCode


class Waiting(Struct):
    """A Produce without an answer."""

    request: int
    needed: int
    """The end of its record."""
    expires: int


class Timers:
    """The times of the periodic work on logs."""

    def __init__(self, policy: ReplicationPolicy, now: int) -> None:
        self._intervals = (
            policy.checkpoint_interval_ns,
            policy.retention_interval_ns,
            policy.lag_ns // 2,
        )
        self._times = [now + interval for interval in self._intervals]

    def next_time(self) -> int:
        """Return the time of the next work."""
        return min(self._times)

    def tick(self, now: int) -> bool:
        """Begin the next intervals; return whether checkpoints are due."""
        due = [now >= at for at in self._times]
        for place, interval in enumerate(self._intervals):
            if due[place]:
                self._times[place] = now + interval
        return due[0]


class LedPartition:
    """The partition; each Produce has a record, and a flushing topic waits for the disk."""

    def __init__(self, view: View, now: int) -> None:
        self._view = view
        self._timers = Timers(view.config.replication, now)
        self.is_led = self.is_lost = False
        self.end = self.flushed = self._high_watermark = FOUND
        self._saved: int | None = None
        """The high watermark of the last checkpoint of this process."""
        self._waiting: list[Waiting] = []
        self.flush_ends: list[int] = []
        """The expected flushes of the step, each up to an end."""
        self.saved: list[int] = []
        """The high watermarks of the expected checkpoints of the step."""
        self.answered: dict[int, ErrorCode] = {}
        """The expected answers of the step to Produce."""

    @property
    def error(self) -> ErrorCode:
        """Return the error of a request to the leader."""
        if self._view.is_empty:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if self.is_lost:
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NONE if self.is_led else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def next_time(self) -> int | None:
        """Return the time of the next work or refusal."""
        times = [one.expires for one in self._waiting]
        if self.is_led:
            times.append(self._timers.next_time())
        return min(times, default=None)

    def produce(self, request: int, timeout_ms: int, now: int) -> None:
        """Append a record, and wait for its acknowledgement."""
        self.end += 1
        if self._view.flushes:
            self.flush_ends.append(self.end)
        self._waiting.append(Waiting(request, self.end, now + timeout_ms * MS))

    def tick(self, now: int) -> None:
        """Refuse what has waited too long, and write the checkpoint that is due."""
        for one in [one for one in self._waiting if one.expires <= now]:
            self._waiting.remove(one)
            self.answered[one.request] = ErrorCode.REQUEST_TIMED_OUT
        if self._timers.tick(now):
            self._save()

    def advance(self, *, follows_image: bool) -> None:
        """Lead from the first image with the own registration on; acknowledge records."""
        is_enabled = self._view.config.replication.is_enabled
        if follows_image and is_enabled and not self.is_lost:
            self.is_led = True
        if self.is_led:
            self._high_watermark = self.flushed if self._view.flushes else self.end
        for one in list(self._waiting):
            if self.is_lost or one.needed <= self._high_watermark:
                self._waiting.remove(one)
                self.answered[one.request] = self.error

    def fail(self) -> None:
        """Lose the disk of the log."""
        self.is_led, self.is_lost = False, self._view.config.replication.is_enabled

    def stop(self) -> None:
        """Write the last checkpoint."""
        self._save()

    def _save(self) -> None:
        if self.is_led and self._saved != self._high_watermark:
            self._saved = self._high_watermark
            self.saved.append(self._saved)
