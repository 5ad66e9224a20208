"""The scope of a workload: an exception that ends a spawned task ends the run at once.

A workload waits for its tasks in any order, and would otherwise notice the exception late. See
cluster/scope.py for the protocol.
"""

from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, TypeVar

from typing_extensions import override

from kraftproof.cluster.plugin import BlockedError
from kraftproof.cluster.scope import Promise, Scope, Task

T = TypeVar("T")


class SessionScope(Scope):
    """The scope of the cluster, with an end of the run by an exception in a spawned task."""

    __slots__ = ("_failed", "_scope")

    def __init__(self, scope: Scope, failed: Callable[[BaseException], None]) -> None:
        self._scope = scope
        self._failed = failed

    @override
    def now(self) -> int:
        return self._scope.now()

    @override
    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Task[T]:
        return self._scope.spawn(_Watched(coroutine, self._failed))

    @override
    def promise(self) -> Promise[Any]:
        return self._scope.promise()

    @override
    async def sleep(self, duration_ns: int) -> None:
        await self._scope.sleep(duration_ns)

    @override
    async def select(self, tasks: Sequence[Task[T]]) -> Task[T]:
        return await self._scope.select(tasks)

    @override
    async def race(self, coroutine: Coroutine[Any, Any, T], timeout_ns: int) -> T | None:
        return await self._scope.race(coroutine, timeout_ns)

    @override
    async def within(self, coroutine: Coroutine[Any, Any, T], limit_ns: int) -> T:
        return await self._scope.within(coroutine, limit_ns)

    @override
    async def wait(self, promise: Promise[T], timeout_ns: int) -> T | None:
        return await self._scope.wait(promise, timeout_ns)


class _Watched(Coroutine[Any, Any, T]):
    """A coroutine that reports its exception at once.

    A plain `async def` wrapper would never await the inner coroutine if the task is cancelled
    before the first step.
    """

    __slots__ = ("_coroutine", "_failed")

    def __init__(
        self, coroutine: Coroutine[Any, Any, T], failed: Callable[[BaseException], None]
    ) -> None:
        self._coroutine = coroutine
        self._failed = failed

    @override
    def send(self, value: Any, /) -> Any:
        return self._watched(lambda: self._coroutine.send(value))

    @override
    def throw(self, *raised: Any) -> Any:
        return self._watched(lambda: self._coroutine.throw(*raised))

    @override
    def close(self) -> None:
        self._coroutine.close()

    @override
    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()

    def _watched(self, step: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever is awaited
        try:
            return step()
        except StopIteration:
            raise
        except (Exception, SystemExit, BlockedError) as error:
            self._failed(error)
            raise
