"""The shell's Workers over threads: some for fsyncs, one each for snapshots and other work."""

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
    """Do work in a thread, and tell the event loop the end; without a future of the loop."""
    loop = asyncio.get_running_loop()

    def in_thread() -> None:
        try:
            told = partial(done, work())
        except OSError as error:
            told = partial(failed, error)
        except Exception as error:  # noqa: BLE001 - told
            # A defect of ours leaves the disk's content as unknown as a failed write does.
            told = partial(failed, OSError(f"{type(error).__name__}: {error}"))
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(told)

    executor.submit(in_thread)


def run_through(steps: Generator[None, None, T]) -> T:
    """Take every step, and return what the last one does."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result
