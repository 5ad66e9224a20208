"""Fsync in a thread of its own, one at a time; requests that come meanwhile share the next one.

Not: what a flush means. A failed fsync is fatal and never retried (contract 3 of effects.py).
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.events import Flushed
from kraftproof.node.storage.stored import Storage


class Flusher:
    """Turns each Flush into its Flushed, once the disk has everything before it."""

    __slots__ = (
        "_executor",
        "_idle",
        "_on_failure",
        "_on_flushed",
        "_on_timed",
        "_storage",
        "_waiting",
    )

    def __init__(
        self,
        storage: Storage,
        *,
        on_flushed: Callable[[Flushed], None],
        on_failure: Callable[[BaseException], None],
        on_timed: Callable[[Monotonic], None],
    ) -> None:
        self._storage = storage
        self._on_flushed = on_flushed
        self._on_failure = on_failure
        self._on_timed = on_timed
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fsync")
        self._waiting: list[Flush] = []
        self._idle = asyncio.Event()
        self._idle.set()

    def request(self, effect: Flush) -> None:
        """Flush now, or with others as soon as the running fsync has returned."""
        self._waiting.append(effect)
        if self._idle.is_set():
            self._start()

    async def settled(self) -> None:
        """Wait until no flush runs and none waits."""
        await self._idle.wait()

    def close(self) -> None:
        """Wait for the running fsync and end the thread."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _start(self) -> None:
        self._idle.clear()
        effects, self._waiting = self._waiting, []
        fsync = self._storage.start_flush(effects[-1])
        loop = asyncio.get_running_loop()
        begun = Monotonic(time.monotonic_ns())
        future = loop.run_in_executor(self._executor, fsync)
        future.add_done_callback(lambda done: self._finish(effects, begun, done))

    def _finish(self, effects: list[Flush], begun: Monotonic, done: "asyncio.Future[None]") -> None:
        if done.cancelled():
            return
        error = done.exception()
        if error is not None:
            self._on_failure(error)
            self._idle.set()  # who waits for this fsync must hear that the process ends
            return
        self._on_timed(begun)
        for effect in effects:
            self._on_flushed(Flushed(generation=effect.generation, end_offset=effect.end_offset))
        if self._waiting:
            self._start()
        else:
            self._idle.set()
