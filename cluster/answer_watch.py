"""Watch the requests of a live run's clients: each is answered once, in order, or hung up on.

A client gives up after its time-out, but its connection is held until the node has answered, has
hung up, or has been silent for too long. Time in which the node was under a fault does not count;
see kraftproof/run/outcome.py.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.cluster.scope import Scope, Task

SPARE_NS: Final = 10_000_000_000
"""Time for which a silent connection is held beyond the time in which the node has to answer."""
MOST_HELD: Final = 200
"""Number of silent connections that are held at once."""


class WrongAnswer(Struct, frozen=True, kw_only=True):
    """An answer that no node may give."""

    node_id: int
    time_ns: int
    detail: str
    """The problem, in one line."""


class Silence(Struct, frozen=True, kw_only=True):
    """A request without an answer on a connection that stood all the time."""

    node_id: int
    asked_ns: int
    until_ns: int
    """When the harness stopped waiting."""
    timeout_ns: int
    """The time that the client gave."""
    about: str


class AnswerWatch:
    """The wrong answers and the silences of a run."""

    def __init__(self, scope: Scope, bound_ns: int) -> None:
        """Begin with no answers; see `answers_s` of a system for the bound."""
        self.bound_ns = bound_ns
        """Time in which a node without faults answers or hangs up, beyond a client's time-out."""
        self.wrong: list[WrongAnswer] = []
        self.silent: list[Silence] = []
        self._scope = scope
        self._held: set[Task[None]] = set()

    def now(self) -> int:
        """Return the time of the run, in nanoseconds."""
        return self._scope.now()

    def report(self, node_id: int, detail: str) -> None:
        """Record a wrong answer."""
        self.wrong.append(WrongAnswer(node_id=node_id, time_ns=self.now(), detail=detail))

    def hold(
        self, silence: Silence, wait: Coroutine[Any, Any, object], close: Callable[[], None]
    ) -> None:
        """Hold a connection without an answer until `wait` ends or the time is up; then close it.

        Args:
            silence: The request so far.
            wait: Ends once the node has sent something or has ended the connection.
            close: Closes the connection.
        """
        self._held = {task for task in self._held if not task.done}
        if len(self._held) >= MOST_HELD:
            wait.close()
            close()
            return
        self._held.add(self._scope.spawn(self._hold(silence, wait, close)))

    async def _hold(
        self, silence: Silence, wait: Coroutine[Any, Any, object], close: Callable[[], None]
    ) -> None:
        until_ns = silence.asked_ns + silence.timeout_ns + self.bound_ns + SPARE_NS
        try:
            await self._scope.within(wait, max(until_ns - self._scope.now(), 1))
        except TimeoutError:
            self.silent.append(replace(silence, until_ns=self._scope.now()))
        finally:
            close()


@runtime_checkable
class WatchesAnswers(Protocol):
    """A cluster whose clients report what they see."""

    answers: AnswerWatch
