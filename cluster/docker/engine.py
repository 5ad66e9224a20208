"""The Docker engine as coroutines see it: blocking calls on a few threads, errors of one line.

Not: what is asked of the engine (pods.py, firewall.py, sweep.py).
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

import docker
from docker.errors import APIError, DockerException
from requests.exceptions import RequestException
from testcontainers.core.exceptions import ContainerStartException

from cluster.protocol import ClusterError

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 8
ANSWER_S = 60


def connect_engine() -> docker.DockerClient:
    """Return a client of the environment's engine, which has answered.

    Raises:
        ClusterError: none answers.
    """
    try:
        client = docker.from_env(timeout=ANSWER_S)
        client.ping()
    except (DockerException, RequestException) as error:
        raise ClusterError(
            "docker: no engine answers; start one, or run 'make docker' as root"
        ) from error
    return client


@contextmanager
def one_line(what: str) -> Iterator[None]:
    """Turn the engine's errors inside the block into a ClusterError that names what failed."""
    try:
        yield
    except APIError as error:
        raise ClusterError(f"docker: {what}: {error.explanation or error}") from error
    except (DockerException, RequestException, ContainerStartException) as error:
        raise ClusterError(f"docker: {what}: {error}") from error


def says_not_running(error: APIError) -> bool:
    """Whether the engine refused because the container is down."""
    return error.status_code == 409 and "is not running" in str(error.explanation)


class Threads:
    """The threads that a cluster's blocking calls run on, so that the event loop does not wait."""

    __slots__ = ("_executor",)

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="kraftproof-docker")

    async def run(self, work: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
        """Run a blocking call; who is cancelled meanwhile leaves the call to its end."""
        job = partial(work, *arguments, **keywords)
        return await asyncio.get_running_loop().run_in_executor(self._executor, job)

    async def finish(self) -> None:
        """Wait for every call that has begun; those that have not are dropped."""
        await asyncio.to_thread(self._executor.shutdown, wait=True, cancel_futures=True)
