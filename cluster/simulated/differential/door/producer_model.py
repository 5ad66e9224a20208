"""State which producer ids a broker gives, and when it asks for a block of ids (KIP-730)."""

from collections import deque
from typing import Final

from kraftproof.cluster.simulated.differential.brokers.membership_model import MS, NOBODY
from kraftproof.node.core.base.config import Timeouts

RETRY_NS: Final = 50 * MS
LOW: Final = 100
"""The ids of a block below which the broker asks for the next block."""


class ProducerModel:
    """The producer ids of a broker."""

    def __init__(self, times: Timeouts) -> None:
        self._times = times
        self._ids: deque[int] = deque()
        """The rest of the present block."""
        self._next: deque[int] = deque()
        self._waiting: deque[tuple[int, int]] = deque()
        """The requests without an id, with their last times."""
        self._is_asking = False
        self._again_at: int | None = None
        self.asks = False
        """Whether the step asks a controller for a block."""
        self.given: dict[int, int | None] = {}
        """The expected answers of the step: an id, or None for a refusal."""

    def receive(self, request: int, leader: int, epoch: int, now: int) -> None:
        """Give an id, or let the request wait for a block."""
        self._waiting.append((request, now + self._times.request_ns))
        self._give()
        self._ask(leader, epoch, now)

    def next_time(self) -> int | None:
        """Return the time of the next refusal or question."""
        times = [expires for _, expires in self._waiting]
        if self._again_at is not None:
            times.append(self._again_at)
        return min(times, default=None)

    def tick(self, leader: int, epoch: int, now: int) -> None:
        """Refuse the requests that have waited too long, and ask again."""
        while self._waiting and self._waiting[0][1] <= now:
            self.given[self._waiting.popleft()[0]] = None
        if self._again_at is not None and self._again_at <= now:
            self._again_at = None
            self._ask(leader, epoch, now)

    def answered(self, ids: range, leader: int, epoch: int, now: int) -> None:
        """Take a block; no ids for an error or a lost answer."""
        self._is_asking = False
        if not ids:
            self._again_at = now + RETRY_NS
            return
        self._next.extend(ids)
        self._give()
        self._ask(leader, epoch, now)

    def _give(self) -> None:
        while self._waiting and (self._ids or self._next):
            if not self._ids:
                self._ids, self._next = self._next, deque()
            self.given[self._waiting.popleft()[0]] = self._ids.popleft()

    def _ask(self, leader: int, epoch: int, now: int) -> None:
        if self._is_asking or self._again_at is not None or self._next or len(self._ids) > LOW:
            return
        if leader == NOBODY or epoch < 0:
            self._again_at = now + RETRY_NS
        else:
            self.asks = self._is_asking = True
