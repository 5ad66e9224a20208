"""One Toxiproxy process, and calls of its API with a time limit each.

A process that hangs is killed and replaced; the new process gets the proxies and toxics that the
old process should have. The calls are those of toxiproxy-python, with an address for each server.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from requests.exceptions import Timeout
from toxiproxy.api import APIConsumer
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.toxiproxy.toxics import Toxic

CALL_S: Final = 2.0
"""Longest time of one call of the API, in seconds."""
LOOK_S: Final = 10.0
"""Time without an answer after which an idle process hangs, in seconds."""
START_S: Final = 30.0
POLL_S: Final = 0.05
ENDING_POLLS: Final = 20
ERRORS: Final = (OSError, InvalidToxic, NotFound, ProxyExists)


class Proxying(Protocol):
    """A process in the network of a node, which ends with the harness."""

    @property
    def pid(self) -> int:
        """The process id on this machine."""
        ...

    @property
    def exit_status(self) -> int | None:
        """The exit status, minus a signal; None while the process runs."""
        ...

    def last_line(self) -> str:
        """Return the last line that the process has printed."""
        ...

    async def end(self) -> None:
        """End the process with SIGKILL."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A proxy: the port that it listens on, and the address that it forwards to."""

    name: str
    listen: str
    upstream: str


Streams = tuple[str, Toxic]
"""A direction (`upstream` or `downstream`) and a toxic in that direction."""


class LinkServer:
    """The Toxiproxy of one link."""

    def __init__(
        self, name: str, host: str, port: int, routes: tuple[Route, ...], spawn: "Spawn"
    ) -> None:
        self._name = name
        # The library keeps the address of its only server in the class: each link has a class.
        self._api: Any = type("LinkApi", (APIConsumer,), {"host": host, "port": port})
        self._routes = routes
        self._spawn = spawn
        self._process: Proxying | None = None
        self._toxics: list[Streams] = []
        self._lock = asyncio.Lock()
        self._ending: str | None = None
        self.replaced = 0
        """Number of processes that hung and were replaced."""

    @property
    def pid(self) -> int | None:
        """The process id, or None before the start."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the process and its proxies.

        Raises:
            ClusterError: the process ends, or does not answer in time.
        """
        self._process = await self._spawn()
        self._ending = None
        deadline_s = asyncio.get_running_loop().time() + START_S
        while True:
            try:
                await self._call("get", "/version")
                break
            except ClusterError:
                ending = self.ending()
                if ending is not None:
                    raise ClusterError(ending) from None
                if asyncio.get_running_loop().time() > deadline_s:
                    raise
                await asyncio.sleep(POLL_S)
        for route in self._routes:
            told = {"name": route.name, "listen": route.listen, "upstream": route.upstream}
            await self._call("post", "/proxies", json=told)
        for number, (stream, toxic) in enumerate(self._toxics):
            await self._post(number, stream, toxic)

    async def end(self) -> None:
        """End the process."""
        if self._process is not None:
            await self._process.end()
            self._process = None

    async def failure(self) -> str | None:
        """Return how the process has ended by itself, or that it hangs; None if it works."""
        if self.ending() is not None:
            return self.ending()
        async with self._lock:
            try:
                await self._call("get", "/version", LOOK_S)
            except ClusterError as error:
                # The connection of a process that ends is refused before its status is known.
                for _ in range(ENDING_POLLS):
                    if self.ending() is not None:
                        return self.ending()
                    await asyncio.sleep(POLL_S)
                return str(error)
        return None

    def ending(self) -> str | None:
        """Return how the process has ended by itself, also if a new process has replaced it."""
        if self._ending is None and self._process is not None:
            status = self._process.exit_status
            if status is not None:
                last = self._process.last_line()
                self._ending = f"toxiproxy of link {self._name} ended with status {status}: {last}"
        return self._ending

    async def add(self, stream: str, toxic: Toxic) -> None:
        """Add a toxic to all proxies of the link."""
        async with self._lock:
            self._toxics.append((stream, toxic))
            try:
                await self._post(len(self._toxics) - 1, stream, toxic)
            except ClusterError:
                await self._replace()

    async def remove(self, stream: str, toxic: Toxic) -> None:
        """Undo one `add`; without a matching call, do nothing."""
        async with self._lock:
            if (stream, toxic) not in self._toxics:
                return
            try:
                # Names count the toxics, so all of them go and the others come again.
                for number in range(len(self._toxics)):
                    await self._delete(number)
                self._toxics.remove((stream, toxic))
                for number, (other, kept) in enumerate(self._toxics):
                    await self._post(number, other, kept)
            except ClusterError:
                if (stream, toxic) in self._toxics:
                    self._toxics.remove((stream, toxic))
                await self._replace()

    async def _replace(self) -> None:
        """Replace a process that gives no answer; the ending of one that has ended is kept."""
        self.replaced += 1
        ending = self.ending()
        await self.end()
        await self.start()
        self._ending = ending

    async def _post(self, number: int, stream: str, toxic: Toxic) -> None:
        told = {
            "name": f"t{number}",
            "type": toxic.type,
            "stream": stream,
            "toxicity": toxic.toxicity,
            "attributes": dict(toxic.attributes),
        }
        for route in self._routes:
            await self._call("post", f"/proxies/{route.name}/toxics", json=told)

    async def _delete(self, number: int) -> None:
        for route in self._routes:
            await self._call("delete", f"/proxies/{route.name}/toxics/t{number}")

    async def _call(
        self, method: str, path: str, limit_s: float | None = None, **options: object
    ) -> None:
        """Call the API in a thread.

        Raises:
            ClusterError: no answer in time, or a refusal; one line.
        """
        limit_s = CALL_S if limit_s is None else limit_s
        call = partial(getattr(self._api, method), path, timeout=limit_s, **options)
        try:
            async with asyncio.timeout(limit_s + 1):
                await asyncio.to_thread(call)
        except (TimeoutError, Timeout) as error:
            silence = f"no answer in {limit_s:g} s"
            raise ClusterError(f"toxiproxy of link {self._name}: {silence}") from error
        except ERRORS as error:
            said = " ".join(str(error).split())[:120]
            raise ClusterError(f"toxiproxy of link {self._name}: {said}") from error


class Spawn(Protocol):
    """Start the process of a link."""

    async def __call__(self) -> Proxying:
        """Return the running process."""
        ...
