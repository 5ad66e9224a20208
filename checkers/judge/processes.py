"""Maps a function over many items, in several processes once that is worth their start.

The results come in the order of the items. The caller supplies the work as a function.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final, TypeVar

PATIENCE_SECONDS: Final = 1.0
"""For so long the items are dealt with here; starting processes takes about as long."""

_WAITING: Final = 4
"""Number of items sent to each process at a time, to limit the copies in memory."""

Item = TypeVar("Item")
Packed = TypeVar("Packed")
Result = TypeVar("Result")


def map_in_order(
    work: Callable[[Packed], Result],
    items: Sequence[Item],
    pack: Callable[[Item], Packed],
    processes: int,
    *,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Iterator[Result | BrokenExecutor]:
    """Yield the result of each item, in order; the error itself where a process died of it.

    Args: work: the function to run; the function, its arguments and its results can be pickled.
        items: the items of work.
        pack: makes the argument of `work` from an item, just before sending.
        processes: how many may work at a time.
        patience_seconds: for how long this process works alone.
    """
    started = time.monotonic()
    for place, item in enumerate(items):
        is_late = time.monotonic() - started > patience_seconds
        if is_late and processes > 1 and place < len(items) - 1:
            yield from _map_in_processes(work, map(pack, items[place:]), processes)
            return
        yield work(pack(item))


def _map_in_processes(
    work: Callable[[Packed], Result], items: Iterator[Packed], processes: int
) -> Iterator[Result | BrokenExecutor]:
    executor = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    sent: deque[Future[Result]] = deque()
    try:
        for item in items:
            if len(sent) == processes * _WAITING:
                first = _result(sent.popleft())
                yield first
            sent.append(executor.submit(work, item))
        while sent:
            first = _result(sent.popleft())
            yield first
    finally:
        executor.shutdown(cancel_futures=True)


def _result(future: Future[Result]) -> Result | BrokenExecutor:
    try:
        return future.result()
    except BrokenExecutor as error:
        return error
