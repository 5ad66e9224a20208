"""Writing and checking snapshots in a thread of its own, so that neither events nor fsyncs wait.

Not: what is done there, which is node/storage/snapshots.py; nor the slices, which are small.
"""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.effects import CheckSnapshot, WriteSnapshot
from kraftproof.node.core.events import Event, SnapshotWritten
from kraftproof.node.storage.stored import Storage

T = TypeVar("T")


class SnapshotWorker:
    """Turns each WriteSnapshot and CheckSnapshot into its event, one at a time."""

    __slots__ = ("_executor", "_on_done", "_on_failure", "_storage")

    def __init__(
        self,
        storage: Storage,
        *,
        on_done: Callable[[Event], None],
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self._storage = storage
        self._on_done = on_done
        self._on_failure = on_failure
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="snapshot")

    def write(self, effect: WriteSnapshot) -> None:
        """Write a snapshot of our own."""

        def event(stored: StoredSnapshot) -> Event:
            return SnapshotWritten(stored)

        self._run(self._storage.write_snapshot(effect), event)

    def check(self, effect: CheckSnapshot) -> None:
        """See whether a copy is a whole snapshot."""
        self._run(self._storage.check_snapshot(effect), lambda checked: checked)

    def close(self) -> None:
        """Wait for what runs and end the thread."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _run(self, steps: Generator[None, None, T], event: Callable[[T], Event]) -> None:
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._executor, partial(run_through, steps))
        future.add_done_callback(lambda done: self._finish(done, event))

    def _finish(self, done: "asyncio.Future[T]", event: Callable[[T], Event]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        if error is not None:
            self._on_failure(error)
        else:
            self._on_done(event(done.result()))


def run_through(steps: Generator[None, None, T]) -> T:
    """Take every step, and return what the last one does."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result
