"""Freeze a container whose threads may wait for a disk.

Not: whether a node is frozen (machines.py).
"""

import time

import docker
from docker.errors import APIError

FREEZE_S = 10.0
"""Longest time for all tries; a disk that takes longer for one call is a fault of its own."""
POLL_S = 0.1
_IN_A_CALL = "unable to freeze"
"""Message of runc for a container with a thread that did not stop."""


def freeze(engine: docker.DockerClient, container: str) -> None:
    """Freeze a container, and try again while a thread of the container waits for the disk.

    The freezer of cgroup v1 cannot stop a thread in the middle of an fsync. runc gives up after
    some hundred milliseconds, and lets the other threads run again.

    Raises:
        APIError: The engine refused, or a thread was in a call to the disk for ten seconds.
    """
    deadline = time.monotonic() + FREEZE_S
    while True:
        try:
            engine.api.pause(container)
        except APIError as error:
            if _IN_A_CALL not in str(error.explanation) or time.monotonic() > deadline:
                raise
            time.sleep(POLL_S)
        else:
            return
