"""State when a broker registers, sends heartbeats and ends (KIP-631 "Broker Leases", KIP-858)."""

from typing import Final, NamedTuple

from msgspec import Struct

from kraftproof.node.core.base.config import Timeouts

STARTING, RECOVERY, RUNNING, STOPPING, ENDED = 1, 2, 3, 6, 7
"""The numbers of Kafka's metric BrokerState."""
NOBODY: Final = -1
MS: Final = 1_000_000
STALE_EPOCH: Final = 77
UNSUPPORTED: Final = 35


class Ending(NamedTuple):
    """The end of a broker: the exit status, and words of its reason."""

    status: int
    words: tuple[str, ...]


class Asked(Struct, kw_only=True):
    """A request of the broker to a controller."""

    controller: int
    is_registration: bool
    epoch: int = -1
    end: int = 0
    state: int = STARTING
    failed: tuple[bytes, ...] = ()


class Known(Struct, kw_only=True):
    """What the broker knows of its cluster."""

    leader: int = NOBODY
    end: int = 0
    """The end of the committed image."""
    own_epoch: int | None = None
    """The epoch of the broker's registration in the image."""
    has_directories: bool = True
    """Whether the registration in the image names log directories."""
    names_directories: bool = False
    """Whether the level of metadata.version asks for them."""
    foreign: tuple[str, ...] = ()
    """The finalized features that no node of this version has."""


def wait_ns(times: Timeouts, failures: int, *, is_longest: bool) -> int:
    """Return the shortest or the longest wait after some failures, and another failure."""
    wait = times.retry_backoff_ns
    for _ in range(failures):
        wait = min(2 * wait, times.retry_backoff_max_ns)
    half = min(wait, times.retry_backoff_max_ns) // 2
    return half + (half - 1 if is_longest else 0)


class MembershipModel:
    """A broker as its controller sees it."""

    def __init__(self, times: Timeouts, now: int, *, is_longest: bool) -> None:
        self._times, self._is_longest = times, is_longest
        self.known = Known()
        self.state = STARTING
        self.epoch: int | None = None
        self.has_caught_up = False
        self.due = now
        self.register_by = now + times.initial_registration_ns
        self.stop_by: int | None = None
        self.report_by: int | None = None
        self.failed: tuple[bytes, ...] = ()
        self.asked: Asked | None = None
        """The request without an answer."""
        self.failures = 0
        self.leader = NOBODY
        """The controller that the broker turned to."""
        self.last_error: tuple[str, ...] = ("no controller answered",)
        self.opens_listeners = False
        self.ending: Ending | None = None
        self.sent: list[Asked] = []

    def next_time(self) -> int | None:
        """Return the time at which the broker acts by itself."""
        if self.state == ENDED:
            return None
        times = [at for at in (self.stop_by, self.report_by) if at is not None]
        if self.epoch is None:
            times.append(self.register_by)
        if self.asked is None:
            times.append(self.due)
        return min(times, default=None)

    def tick(self, now: int) -> None:
        """Act on the time."""
        if self.state == ENDED:
            return
        if self.stop_by is not None and now >= self.stop_by:
            self._end(0, "in time")
        elif self.report_by is not None and now >= self.report_by:
            waited = f"{self._times.directory_failure_ns // MS} ms"
            self._end(1, "log.dir.failure.timeout.ms", waited, *self.last_error)
        elif self.epoch is None and now >= self.register_by:
            waited = f"{self._times.initial_registration_ns // MS} ms"
            self._end(1, "initial.broker.registration.timeout.ms", waited, *self.last_error)
        elif self.asked is None and now >= self.due:
            self._ask(now)

    def _end(self, status: int, *words: str) -> None:
        self.state, self.ending = ENDED, Ending(status, words)

    def _ask(self, now: int) -> None:
        known = self.known
        is_old = known.own_epoch == self.epoch and not known.has_directories
        if known.leader == NOBODY:
            self._try_again(now, "no controller is known")
        elif self.epoch is None or (is_old and known.names_directories):
            self._send(Asked(controller=known.leader, is_registration=True, failed=self.failed))
        else:
            is_stopping = self.state == STOPPING
            interval = self._times.heartbeat_interval_ns
            self.due = now + (self._times.retry_backoff_ns if is_stopping else interval)
            self._send(
                Asked(
                    controller=known.leader,
                    is_registration=False,
                    epoch=self.epoch,
                    end=known.end,
                    state=self.state,
                    failed=self.failed,
                )
            )

    def _send(self, asked: Asked) -> None:
        self.asked = asked
        self.sent.append(asked)

    def _try_again(self, now: int, *words: str) -> None:
        self.last_error = words
        self.due = now + wait_ns(self._times, self.failures, is_longest=self._is_longest)
        self.failures += 1

    def advance(self, now: int) -> None:
        """Follow the controller and the image."""
        known = self.known
        is_news = known.leader not in {self.leader, NOBODY}
        self.leader = known.leader
        is_elsewhere = self.asked is not None and self.asked.controller != known.leader
        is_waiting = self.asked is None and self.failures > 0
        if is_news and (is_elsewhere or is_waiting):
            self.asked, self.failures, self.due = None, 0, now
        if self.state == STARTING and self.epoch is not None and known.end > self.epoch:
            self.state, self.due = RECOVERY, now
            self.opens_listeners = self.has_caught_up = True

    def directory_failed(self, directory: bytes, now: int) -> None:
        """Tell the controller of a failed directory at once."""
        self.failed = (*self.failed, directory)
        self.report_by, self.due = now + self._times.directory_failure_ns, now

    def stop(self, now: int) -> None:
        """Begin the controlled shutdown."""
        if self.state in {STOPPING, ENDED}:
            return
        self.state, self.stop_by, self.due = STOPPING, now + self._times.session_ns, now
        if self.epoch is None:
            self._end(0, "not registered")

    def lost(self, asked: Asked, now: int) -> None:
        """Take the loss of an answer."""
        if self._takes(asked):
            self._try_again(now, f"controller {asked.controller} did not answer")

    def _takes(self, asked: Asked) -> bool:
        """Return whether an answer counts: the broker still waits for it."""
        if self.asked is not asked:
            return False
        self.asked = None
        return self.state != ENDED

    def registered(self, asked: Asked, error: int, epoch: int, now: int) -> None:
        """Take the answer to a registration."""
        if not self._takes(asked):
            return
        if error:
            lacking = self.known.foreign if error == UNSUPPORTED else ()
            self._try_again(now, "the controller answered", *lacking)
        else:
            self.failures, self.epoch, self.due = 0, epoch, now

    def answered(
        self, asked: Asked, error: int, now: int, *, is_fenced: bool, may_end: bool
    ) -> None:
        """Take the answer to a heartbeat."""
        if not self._takes(asked):
            return
        if error == STALE_EPOCH and self.state == STOPPING:
            self._end(0, "not registered")
        elif error == STALE_EPOCH:
            self.epoch = None
            self.register_by = now + self._times.initial_registration_ns
            self._try_again(now, "stale")
        elif error:
            self._try_again(now, "the controller answered")
        else:
            self._use(asked, now, is_fenced=is_fenced, may_end=may_end)

    def _use(self, asked: Asked, now: int, *, is_fenced: bool, may_end: bool) -> None:
        self.failures = 0
        if asked.failed == self.failed:
            self.report_by = None
        else:
            self.due = now
        if self.state == RECOVERY and not is_fenced:
            self.state = RUNNING
        elif self.state == STOPPING and may_end:
            self._end(0, "finished")
