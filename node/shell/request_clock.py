"""Measure the processing time of requests for the quotas of clients (KIP-124).

The time of a request is the duration of the request's step: the decision and the effects up to the
answer, without waits for the disk. Waits for nodes cost the client no time. Without a quota in the
image, no time is read.
"""

from collections.abc import Callable

from kraftproof.node.core.events import Event, Received
from kraftproof.node.core.quotas.request_times import RequestTimes
from kraftproof.node.shell.ports import NodeClock


class RequestClock:
    """The times of the open requests of a node."""

    __slots__ = ("_busy_ns", "_clock", "_present", "_since", "_spent", "_times")

    def __init__(self, times: RequestTimes, clock: NodeClock) -> None:
        self._times = times
        self._clock = clock
        self._present: Received | None = None
        """The request of the present step; None in other steps."""
        self._since = 0
        self._busy_ns = 0
        """The time of the present step before `_since`."""
        self._spent: dict[int, int] = {}
        """The nanoseconds of the requests without an answer, by token."""

    def begin(self, event: Event | None) -> None:
        """Begin a step."""
        self._present = None
        if self._times.is_used and isinstance(event, Received):
            self._present = event
            self._busy_ns = 0
            self._since = self._clock.now().monotonic

    def resume(self) -> None:
        """Go on after a wait for the disk."""
        if self._present is not None:
            self._since = self._clock.now().monotonic

    def pause(self, is_open: Callable[[int], bool], *, is_over: bool) -> None:
        """Stop at a wait for the disk, or at the end of the step.

        The time of a request without an answer is kept for a later step.
        """
        if self._present is None:
            return
        self._busy_ns += self._clock.now().monotonic - self._since
        if is_over:
            if is_open(self._present.request):
                self._spent[self._present.request] = self._busy_ns
            self._present = None

    def throttle_ms(self, event: Received) -> int:
        """Charge an answered request, and return the time that its client must wait."""
        now = self._clock.now().monotonic
        if event is self._present:
            busy_ns: int | None = self._busy_ns + now - self._since
        else:
            busy_ns = self._spent.pop(event.request, None)
        if busy_ns is None or not self._times.is_used:
            return 0
        return self._times.record(event, busy_ns, now)
