"""The little concurrency that workloads, clients and nemeses may use.

One protocol, two implementations: the simulator's heap (cluster/simulated/kernel/scope.py) and
asyncio (cluster/live/scope.py). Where several things are ready at once the lowest task number goes
first, so that a run depends on its seed alone. Not: asyncio's own TaskGroup, gather or wait, whose
order follows object addresses.
"""

from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Task(Awaitable[T_co], Protocol[T_co]):
    """A coroutine that runs beside its parent; awaiting it gives its result or raises."""

    @property
    def number(self) -> int:
        """Its place in the order of spawning."""
        ...

    @property
    def done(self) -> bool:
        """Return whether it has finished, failed or been cancelled."""
        ...

    def cancel(self) -> None:
        """Stop it at its next suspension point; a finished task is left alone."""
        ...


class Promise(Awaitable[T], Protocol[T]):
    """A value that is set once and may be awaited by many."""

    def set(self, value: T) -> None:
        """Wake all who wait; a second call is ignored."""
        ...


class Scope(Protocol):
    """Time and tasks of one run."""

    def now(self) -> int:
        """The harness's monotonic clock, in nanoseconds since the run's start."""
        ...

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Task[T]:
        """Start a coroutine as a concurrent task."""
        ...

    def promise(self) -> Promise[Any]:
        """Return a new, unset promise."""
        ...

    async def sleep(self, duration_ns: int) -> None:
        """Wait that long."""
        ...

    async def select(self, tasks: Sequence[Task[T]]) -> Task[T]:
        """Wait until one is done; of several, the lowest number. The others go on."""
        ...

    async def race(self, coroutine: Coroutine[Any, Any, T], timeout_ns: int) -> T | None:
        """Return the coroutine's result, or None after the time-out, having cancelled it."""
        ...

    async def within(self, coroutine: Coroutine[Any, Any, T], limit_ns: int) -> T:
        """Return the coroutine's result.

        A live scope cancels the coroutine after the limit. A simulated run is bounded as a whole.

        Raises:
            TimeoutError: the coroutine took longer than the limit.
        """
        ...

    async def wait(self, promise: Promise[T], timeout_ns: int) -> T | None:
        """Wait until a promise is set; after the time-out it is set to None."""
        ...
