"""The tasks of a simulated run: coroutines driven by `send` over the scheduler's heap.

Unlike asyncio, ready tasks run in the order in which they became ready. A task suspends only by
awaiting a promise, so only promises wake tasks.
"""

from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, Generic, TypeVar, cast

from typing_extensions import override

from kraftproof.cluster.plugin import BlockedError, HarnessSignal
from kraftproof.cluster.scope import Promise, Scope, Task
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler

T = TypeVar("T")
Waiter = Callable[[], None]


class TaskCancelled(HarnessSignal):
    """Raised inside the coroutine of a cancelled task, and in tasks that await the task."""


class SimulatedPromise(Promise[T], Generic[T]):
    """A value that is set once; waiters run in the order of arrival."""

    __slots__ = ("_scheduler", "_value", "_waiters", "is_set")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiters: list[Waiter] = []
        self._value: T | None = None
        self.is_set = False

    @override
    def set(self, value: T) -> None:
        if self.is_set:
            return
        self.is_set = True
        self._value = value
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            self._scheduler.soon(waiter)

    def add_waiter(self, waiter: Waiter) -> None:
        """Call `waiter` once the value is set."""
        if self.is_set:
            self._scheduler.soon(waiter)
        else:
            self._waiters.append(waiter)

    def remove_waiter(self, waiter: Waiter) -> None:
        """Remove a waiter, if present."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    @override
    def __await__(self) -> Generator[Any, Any, T]:
        while not self.is_set:
            yield self
        return cast("T", self._value)


class SimulatedTask(Task[T], Generic[T]):
    """A running coroutine and its state."""

    __slots__ = (
        "_cancelling",
        "_coroutine",
        "_error",
        "_has_begun",
        "_number",
        "_result",
        "_scope",
        "_waits_for",
        "finished",
        "observed",
    )

    def __init__(
        self, scope: "SimulatedScope", number: int, coroutine: Coroutine[Any, Any, T]
    ) -> None:
        self._scope = scope
        self._number = number
        self._coroutine = coroutine
        self._waits_for: SimulatedPromise[Any] | None = None
        self._error: BaseException | None = None
        self._result: T | None = None
        self._cancelling = False
        self._has_begun = False
        self.finished: SimulatedPromise[None] = SimulatedPromise(scope.scheduler)
        self.observed = False
        """Whether a caller has taken the result; if not, an error must be raised at the end."""
        scope.scheduler.soon(self._advance)

    @property
    @override
    def number(self) -> int:
        return self._number

    @property
    @override
    def done(self) -> bool:
        return self.finished.is_set

    @property
    def error(self) -> BaseException | None:
        """The exception that the coroutine raised."""
        return self._error

    @property
    def result(self) -> T:
        """The return value of the finished coroutine."""
        assert self.done, "a task has no result before it is done"
        assert self._error is None, "a failed task has no result"
        return cast("T", self._result)

    @override
    def cancel(self) -> None:
        if self.done or self._cancelling:
            return
        self._cancelling = True
        if self._waits_for is not None:
            self._waits_for.remove_waiter(self._advance)
            self._waits_for = None
            self._scope.scheduler.soon(self._advance)

    @override
    def __await__(self) -> Generator[Any, Any, T]:
        if not self.done:
            yield from self.finished.__await__()
        self.observed = True
        if self._error is not None:
            raise self._error
        return cast("T", self._result)

    def abandon(self) -> None:
        """Close a coroutine that never started, so that Python warns of no unawaited coroutine."""
        if not self._has_begun:
            self._coroutine.close()

    def _advance(self) -> None:
        """Run the coroutine to its next suspension point."""
        if self.done or (self._waits_for is not None and not self._waits_for.is_set):
            return
        self._waits_for = None
        try:
            promise = self._resume()
        except StopIteration as stop:
            self._result = stop.value
            self.finished.set(None)
        except TaskCancelled as cancelled:
            self._finish_with(cancelled)
        except (Exception, BlockedError) as error:  # noqa: BLE001 - kept for whoever awaits it
            self._finish_with(error)
        else:
            assert isinstance(promise, SimulatedPromise), "a task may await promises and tasks only"
            self._waits_for = promise
            promise.add_waiter(self._advance)

    def _resume(self) -> object:
        self._has_begun = True
        if self._cancelling:
            self._cancelling = False
            return self._coroutine.throw(TaskCancelled())
        return self._coroutine.send(None)

    def _finish_with(self, error: BaseException) -> None:
        self._error = error
        if isinstance(error, Exception):
            self._scope.failed.append(self)
        self.finished.set(None)


class SimulatedScope(Scope):
    """The one implementation of Scope on virtual time."""

    __slots__ = ("_next_number", "failed", "scheduler")

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._next_number = 0
        self.failed: list[SimulatedTask[Any]] = []

    @override
    def now(self) -> int:
        return self.scheduler.now_ns

    @override
    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> SimulatedTask[T]:
        self._next_number += 1
        return SimulatedTask(self, self._next_number, coroutine)

    @override
    def promise(self) -> SimulatedPromise[Any]:
        return SimulatedPromise(self.scheduler)

    @override
    async def sleep(self, duration_ns: int) -> None:
        promise = self.promise()
        timer = self.scheduler.after(duration_ns, lambda: promise.set(None))
        try:
            await promise
        finally:
            timer.cancel()

    @override
    async def select(self, tasks: Sequence[Task[T]]) -> Task[T]:
        assert tasks, "select needs a task to wait for"
        wake = self.promise()
        for task in tasks:
            cast("SimulatedTask[T]", task).finished.add_waiter(lambda: wake.set(None))
        await wake
        return min((task for task in tasks if task.done), key=lambda task: task.number)

    @override
    async def race(self, coroutine: Coroutine[Any, Any, T], timeout_ns: int) -> T | None:
        task = self.spawn(coroutine)
        wake = self.promise()
        timer = self.scheduler.after(timeout_ns, lambda: wake.set(None))
        task.finished.add_waiter(lambda: wake.set(None))
        try:
            await wake
        finally:
            timer.cancel()
            task.cancel()
        if task.done and task.error is None:
            return await task
        await task.finished
        if isinstance(task.error, Exception):
            return await task
        return None

    @override
    async def within(self, coroutine: Coroutine[Any, Any, T], limit_ns: int) -> T:
        del limit_ns
        return await coroutine

    @override
    async def wait(self, promise: Promise[T], timeout_ns: int) -> T | None:
        timer = self.scheduler.after(
            timeout_ns, lambda: cast("Promise[T | None]", promise).set(None)
        )
        try:
            return await promise
        finally:
            timer.cancel()

    def abandon_all(self) -> None:
        """Close the tasks that were spawned but never started; virtual time has ended."""
        for action in self.scheduler.pending():
            task = getattr(action, "__self__", None)
            if isinstance(task, SimulatedTask):
                task.abandon()

    def raise_lost_errors(self) -> None:
        """Raise the error of the first failed task whose result no caller has taken."""
        for task in self.failed:
            if not task.observed and task.error is not None:
                raise task.error
