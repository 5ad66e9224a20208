"""The Docker engine as coroutines see it: blocking calls on a few threads, errors of one line.

Not: what is asked of the engine (pods.py, firewall.py, sweep.py).
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import ParamSpec, TypeVar

import docker
from docker.context import ContextAPI
from docker.context.config import get_current_context_name
from docker.errors import APIError, DockerException
from requests.exceptions import RequestException
from testcontainers.core.exceptions import ContainerStartException

from kraftproof.cluster.plugin import shortened
from kraftproof.cluster.protocol import ClusterError

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 8
DEFAULT_CONTEXT = "default"
DEFAULT_SOCKET = Path("/var/run/docker.sock")
ANSWER_S = 60


def connect_engine() -> docker.DockerClient:
    """Return a client of the environment's engine, which has answered.

    Raises:
        ClusterError: none answers.
    """
    try:
        client = _client()
        client.ping()
    except (DockerException, RequestException, OSError, ValueError, *_ssh_errors()) as error:
        raise ClusterError(_unusable(error)) from error
    return client


def _ssh_errors() -> tuple[type[Exception], ...]:
    """Return the errors of an ssh:// address; none if the extra ssh is not installed."""
    if find_spec("paramiko") is None:
        return ()
    from paramiko import SSHException

    return (SSHException,)


def _client() -> docker.DockerClient:
    """Return a client of DOCKER_HOST, else of the context in use, as Docker's own command does."""
    name = os.environ.get("DOCKER_CONTEXT")
    _refuse_ssh_without_paramiko()
    if os.environ.get("DOCKER_HOST") or not name:
        return docker.from_env(timeout=ANSWER_S)
    context = ContextAPI.get_context(name)
    if context is None:
        raise ValueError("there is no such context")
    return docker.DockerClient(base_url=context.Host, tls=context.TLSConfig, timeout=ANSWER_S)


def _refuse_ssh_without_paramiko() -> None:
    """Refuse an ssh:// address that Docker's library meets with a NameError of its own.

    Raises:
        ValueError: the package for such addresses is not installed.
    """
    address = os.environ.get("DOCKER_HOST")
    if not address:
        context = ContextAPI.get_context(context_name())
        address = "" if context is None else str(context.Host or "")
    if address.startswith("ssh://") and find_spec("paramiko") is None:
        raise ValueError(
            "ssh:// needs the extra ssh: pip install 'kraftproof[ssh]'; or forward the engine's "
            "socket and name it as unix://"
        )


def engine_is_named() -> bool:
    """Return whether a variable, a context or the socket on this machine names an engine."""
    named = any(os.environ.get(name) for name in ("DOCKER_HOST", "DOCKER_CONTEXT"))
    return named or context_name() != DEFAULT_CONTEXT or DEFAULT_SOCKET.exists()


def context_name() -> str:
    """Return the docker context in use; DOCKER_HOST comes before any context."""
    return os.environ.get("DOCKER_CONTEXT") or get_current_context_name() or DEFAULT_CONTEXT


def _unusable(error: Exception) -> str:
    """Name the engine that was asked for, and why it can't be used."""
    cause = _cause(error)
    host = os.environ.get("DOCKER_HOST")
    if host:
        return f"docker: DOCKER_HOST={shortened(host)} can't be used: {cause}"
    if context_name() != DEFAULT_CONTEXT:
        return f"docker: the context {context_name()!r} can't be used: {cause}"
    return f"docker: no engine answers ({cause}); start one, or run 'make docker' as root"


def _cause(error: BaseException) -> str:
    """Return the innermost error in one line: those around it only name the layers of a client."""
    seen = {id(error)}
    while (inner := error.__cause__ or error.__context__) is not None and id(inner) not in seen:
        seen.add(id(inner))
        error = inner
    return shortened(" ".join(str(getattr(error, "strerror", None) or error).split()))


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
    """Return whether the engine refused because the container is down."""
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
