"""Scope over asyncio, for clusters that run in real time.

The order among what is ready at once is that of the task numbers, as in simulation; what is
ready when depends on the world. Not: a place for gather, wait or TaskGroup, whose order follows
object addresses.
"""

import asyncio
import time
from collections.abc import Coroutine, Generator, Sequence
from typing import Any, Generic, TypeVar, cast

from typing_extensions import override

from kraftproof.cluster.scope import Promise, Scope, Task

T = TypeVar("T")
NS_PER_S = 1_000_000_000
CANCEL_AGAIN_S = 1.0
"""Time that a cancelled task gets to clean up, before it is cancelled again."""


class LiveTask(Task[T], Generic[T]):
    """An asyncio task with its number in the run."""

    __slots__ = ("_number", "_task", "observed")

    def __init__(self, number: int, task: asyncio.Task[T]) -> None:
        self._number = number
        self._task = task
        self.observed = False
        """Whether somebody has taken the result, so that an error is not lost."""

    @property
    @override
    def number(self) -> int:
        return self._number

    @property
    @override
    def done(self) -> bool:
        return self._task.done()

    @property
    def error(self) -> BaseException | None:
        """Return the exception of the coroutine, if it ended without being cancelled."""
        if not self._task.done() or self._task.cancelled():
            return None
        return self._task.exception()

    @override
    def cancel(self) -> None:
        self._task.cancel()

    def when_done(self, wake: "LivePromise[None]") -> None:
        """Set the promise once the task is done."""
        self._task.add_done_callback(lambda _: wake.set(None))

    async def ended(self) -> None:
        """Wait until the task is done, however it ends."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task.add_done_callback(lambda _: _settle(done))
        await done

    @override
    def __await__(self) -> Generator[Any, Any, T]:
        # Shielded: who is cancelled while waiting does not take the task along.
        result = yield from asyncio.shield(self._task).__await__()
        self.observed = True
        return result


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class LivePromise(Promise[T], Generic[T]):
    """A future that takes its first value only."""

    __slots__ = ("_future",)

    def __init__(self, future: "asyncio.Future[T]") -> None:
        self._future = future

    @override
    def set(self, value: T) -> None:
        if not self._future.done():
            self._future.set_result(value)

    @override
    def __await__(self) -> Generator[Any, Any, T]:
        return asyncio.shield(self._future).__await__()


class LiveScope(Scope):
    """Time and tasks of one live run; made inside a running event loop."""

    __slots__ = ("_loop", "_next_number", "_origin_ns", "_tasks")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._origin_ns = time.monotonic_ns()
        self._next_number = 0
        self._tasks: list[LiveTask[Any]] = []

    @property
    def origin_ns(self) -> int:
        """The monotonic clock's reading at the scope's zero."""
        return self._origin_ns

    @override
    def now(self) -> int:
        return time.monotonic_ns() - self._origin_ns

    @override
    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> LiveTask[T]:
        self._next_number += 1
        task = LiveTask(self._next_number, self._loop.create_task(coroutine))
        self._tasks = [one for one in self._tasks if not one.done or one.error is not None]
        self._tasks.append(task)
        return task

    @override
    def promise(self) -> LivePromise[Any]:
        return LivePromise(self._loop.create_future())

    @override
    async def sleep(self, duration_ns: int) -> None:
        await asyncio.sleep(max(0, duration_ns) / NS_PER_S)

    @override
    async def select(self, tasks: Sequence[Task[T]]) -> Task[T]:
        assert tasks, "select needs a task to wait for"
        wake: LivePromise[None] = self.promise()
        for task in tasks:
            cast("LiveTask[T]", task).when_done(wake)
        await wake
        return min((task for task in tasks if task.done), key=lambda task: task.number)

    @override
    async def race(self, coroutine: Coroutine[Any, Any, T], timeout_ns: int) -> T | None:
        limit = asyncio.timeout(timeout_ns / NS_PER_S)
        try:
            async with limit:
                return await coroutine
        except TimeoutError:
            if limit.expired():
                return None
            raise

    @override
    async def within(self, coroutine: Coroutine[Any, Any, T], limit_ns: int) -> T:
        limit = asyncio.timeout(limit_ns / NS_PER_S)
        try:
            async with limit:
                return await coroutine
        except TimeoutError as error:
            if limit.expired():  # the cause says where the coroutine stood
                raise TimeoutError(f"not done within {limit_ns / NS_PER_S:g} s") from error
            raise

    @override
    async def wait(self, promise: Promise[T], timeout_ns: int) -> T | None:
        settable = cast("Promise[T | None]", promise)
        timer = self._loop.call_later(timeout_ns / NS_PER_S, settable.set, None)
        try:
            return await promise
        finally:
            timer.cancel()

    def raise_lost_errors(self) -> None:
        """Fail for the first task whose error nobody has taken."""
        for task in self._tasks:
            if task.error is not None and not task.observed:
                raise task.error

    async def cancel_rest(self) -> None:
        """Cancel the tasks that still run; no task outlives the run.

        A task may swallow a cancellation, for example in `asyncio.wait_for` of Python 3.11, and go
        on with its next step, so the tasks are cancelled until all have ended.
        """
        while rest := [task for task in self._tasks if not task.done]:
            for task in rest:
                task.cancel()
            limit = self.now() + int(CANCEL_AGAIN_S * NS_PER_S)
            for task in rest:
                await self.race(task.ended(), limit - self.now())
        for task in self._tasks:
            _ = task.error  # asyncio prints the traceback of an error that nobody has asked for
