"""Hold all threads of a process outside of some bytes of the code while the bytes are replaced.

A process is held by SIGSTOP, and goes on by SIGCONT. Threads that a fault has stopped or frozen
already are left as they are. Not seen is a thread in a signal handler that began within the bytes.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.clocks.vdso.proc_folder import ProcFolder

STOP_S: Final = 2.0
"""The longest wait for the stop of all threads, in seconds."""
LOOK_S: Final = 0.0005
TRIES: Final = 20
"""Most stops of a process of which a thread stands within the bytes."""
GO_ON_S: Final = 0.002
"""The time in which a thread leaves the bytes, in seconds."""
_STOPPED: Final = frozenset("Tt")
_ENDED: Final = frozenset("ZX")

Within = Callable[[int], bool]
"""Whether an address lies within the bytes."""


@contextmanager
def held_outside(folder: ProcFolder, within: Within, *, is_held: bool) -> Iterator[None]:
    """Hold all threads of a process outside of some bytes during the block.

    Args:
        folder: The process.
        within: Whether an address lies within the bytes.
        is_held: Whether a fault holds the threads already, until after the block.

    Raises:
        ProcessLookupError: the process has ended.
        ClusterError: the process does not stop, or a thread is within the bytes at each look.
    """
    states = {folder.state(thread) for thread in folder.threads()} - _ENDED
    stops = not is_held and not states <= _STOPPED
    try:
        for attempt in range(TRIES if stops else 1):
            if stops and attempt:
                folder.send(signal.SIGCONT)
                time.sleep(GO_ON_S)
            if stops:
                folder.send(signal.SIGSTOP)
            if not any(map(within, _places(folder, is_held=is_held))):
                break
        else:
            raise ClusterError(f"process {folder.pid}: a thread stays within a clock function")
        yield
    finally:
        if stops:
            with suppress(ProcessLookupError):
                folder.send(signal.SIGCONT)


def _places(folder: ProcFolder, *, is_held: bool) -> list[int]:
    """Wait until no thread runs, and return the address at which each goes on."""
    deadline = time.monotonic() + STOP_S
    while True:
        threads = folder.threads()
        # Once a thread has stopped, each other one stops before it goes on in the program.
        is_stopped = is_held or any(folder.state(thread) in _STOPPED for thread in threads)
        places = [_place(folder, thread) for thread in threads]
        if is_stopped and None not in places and threads == folder.threads():
            return [place for place in places if place is not None]
        if time.monotonic() > deadline:
            raise ClusterError(f"process {folder.pid}: not stopped {STOP_S:g} s after SIGSTOP")
        time.sleep(LOOK_S)


def _place(folder: ProcFolder, thread: str) -> int | None:
    """Return the address at which a thread goes on; None while it runs, 0 if it has ended."""
    try:
        words = folder.read(f"task/{thread}/syscall").split()
    except ProcessLookupError:
        return 0 if folder.state(thread) in _ENDED else None
    return int(words[-1], 16) if len(words) >= 3 else None
