"""Requests that were sent over one connection and wait for their answers.

Correlation ids count the requests of one connection, so the answers of two connections may carry
the same id: an answer must be known by its connection first (peer_lanes.py).
One request that takes too long is the end of the connection, and with the connection every request
in flight is lost (595-57). A lost request may have been carried out, unless the connection was
never established: then nobody got the request.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from kraftproof.node.shell.ports import AnswerReader, Timer, Timers
from kraftproof.node.wire.messages import Message

RequestT = TypeVar("RequestT")
OnAnswer = Callable[[Message | None], None]
OnUnsent = Callable[[], None]
LARGEST_CORRELATION_ID = 0x7FFFFFFF


class _Waiting(Generic[RequestT]):
    """A request without an answer."""

    __slots__ = ("due_ns", "on_answer", "on_unsent", "request")

    def __init__(
        self, request: RequestT, due_ns: int, on_answer: OnAnswer, on_unsent: OnUnsent | None
    ) -> None:
        self.request = request
        self.due_ns = due_ns
        self.on_answer = on_answer
        self.on_unsent = on_unsent


class RequestsInFlight(Generic[RequestT]):
    """The unanswered requests of one connection at a time."""

    __slots__ = (
        "_next_correlation_id",
        "_on_overdue",
        "_timer",
        "_timer_due_ns",
        "_timers",
        "_waiting",
    )

    def __init__(self, timers: Timers, on_overdue: Callable[[], None]) -> None:
        self._timers = timers
        self._on_overdue = on_overdue
        self._waiting: dict[int, _Waiting[RequestT]] = {}
        """By correlation id, in the order of the requests."""
        self._next_correlation_id = 0
        self._timer: Timer | None = None
        """One for all requests: most answers come long before the time-out."""
        self._timer_due_ns = 0

    def __len__(self) -> int:
        """Return the number of requests without an answer."""
        return len(self._waiting)

    def add(
        self,
        request: RequestT,
        timeout_ns: int,
        on_answer: OnAnswer,
        on_unsent: OnUnsent | None = None,
    ) -> int:
        """Expect an answer under the correlation id that is returned.

        Exactly one call of `on_answer`, or of `on_unsent`, follows.
        `on_answer` gets None if the answer is lost. `on_unsent`, if given, is called instead when
        the request certainly reached nobody.
        """
        due_ns = self._timers.now_ns() + timeout_ns
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & LARGEST_CORRELATION_ID
        self._waiting[correlation_id] = _Waiting(request, due_ns, on_answer, on_unsent)
        if self._timer is None or due_ns < self._timer_due_ns:
            self._set_timer(due_ns, timeout_ns)
        return correlation_id

    def answer(self, correlation_id: int, read: AnswerReader[RequestT]) -> bool:
        """Hand an answer to its request; return False if there is none that the bytes answer."""
        waiting = self._waiting.get(correlation_id)
        if waiting is None:
            return False
        message = read(waiting.request)
        if message is None:
            return False
        del self._waiting[correlation_id]
        waiting.on_answer(message)
        return True

    def lose_all(self, *, is_unsent: bool) -> None:
        """Report that no answer will come to any request; the connection has ended."""
        for waiting in self.forget():
            if is_unsent and waiting.on_unsent is not None:
                waiting.on_unsent()
            else:
                waiting.on_answer(None)

    def forget(self) -> "tuple[_Waiting[RequestT], ...]":
        """Remove all requests without a word, and return them."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lost = tuple(self._waiting.values())
        self._waiting.clear()
        self._next_correlation_id = 0
        return lost

    def _set_timer(self, due_ns: int, delay_ns: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due_ns = due_ns
        self._timer = self._timers.after(delay_ns, self._look_for_overdue)

    def _look_for_overdue(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        due_ns = min([waiting.due_ns for waiting in self._waiting.values()])
        left_ns = due_ns - self._timers.now_ns()
        if left_ns <= 0:
            self._on_overdue()
        else:
            self._set_timer(due_ns, left_ns)
