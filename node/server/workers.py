"""The shell's Workers over threads: some for fsyncs, one each for snapshots and other work."""

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from typing_extensions import override

from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.shell.ports import Failed, Workers
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch

T = TypeVar("T")
FSYNCS = 4
"""Maximum number of logs that are flushed at the same time."""


class ThreadWorkers(Workers):
    """Work beside the event loop; all callbacks are made in the loop."""

    __slots__ = ("_background", "_fsyncs", "_on_timed", "_snapshots", "encoder")

    def __init__(self, on_timed: Callable[[Monotonic], None]) -> None:
        self._on_timed = on_timed
        """Told when each fsync that has returned began."""
        self._fsyncs = ThreadPoolExecutor(max_workers=FSYNCS, thread_name_prefix="fsync")
        self._background = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._snapshots = ThreadPoolExecutor(max_workers=1, thread_name_prefix="snapshot")
        self.encoder = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encoder")
        """One thread, so that a batch for the disk and for replicas is encoded once."""

    @override
    def fsync(self, fsync: Callable[[], None], done: Callable[[], None], failed: Failed) -> None:
        begun = Monotonic(time.monotonic_ns())

        def returned(_: None) -> None:
            self._on_timed(begun)
            done()

        _start(self._fsyncs, fsync, returned, failed)

    @override
    def encode(self, batch: Batch, done: Callable[[bytes], None], failed: Failed) -> None:
        _start(self.encoder, partial(encode_batch, batch), done, failed)

    @override
    def run(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        _start(self._snapshots, partial(run_through, steps), done, failed)

    @override
    def background(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        _start(self._background, partial(run_through, steps), done, failed)

    @override
    def barrier(self, done: Callable[[], None]) -> None:
        """The storage has made the effect durable before its call returned."""
        done()

    def close(self) -> None:
        """Wait for the work that runs and end the threads."""
        self._fsyncs.shutdown(wait=True, cancel_futures=True)
        self._background.shutdown(wait=True, cancel_futures=True)
        self._snapshots.shutdown(wait=True, cancel_futures=True)
        self.encoder.shutdown(wait=True, cancel_futures=True)


def _start(
    executor: ThreadPoolExecutor, work: Callable[[], T], done: Callable[[T], None], failed: Failed
) -> None:
    future = asyncio.get_running_loop().run_in_executor(executor, work)
    future.add_done_callback(partial(_finish, done, failed))


def _finish(done: Callable[[T], None], failed: Failed, future: "asyncio.Future[T]") -> None:
    if future.cancelled():
        return
    error = future.exception()
    if error is None:
        done(future.result())
    elif isinstance(error, OSError):
        failed(error)
    else:  # a defect of ours leaves the disk's content as unknown as a failed write does
        failed(OSError(f"{type(error).__name__}: {error}"))


def run_through(steps: Generator[None, None, T]) -> T:
    """Take every step, and return what the last one does."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result
