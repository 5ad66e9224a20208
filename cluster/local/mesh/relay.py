"""Relay of one connection: each direction is a link, with the present state of that link."""

import asyncio
import socket
import struct
from collections.abc import Callable

from kraftproof.cluster.local.mesh.state import LinkState
from kraftproof.cluster.protocol import Link

PIECE = 65_536
"""Largest piece of data that is read at once, in bytes."""
WAITING = 64
"""Pieces of data that may wait in one direction."""
NO_LINGER = struct.pack("ii", 1, 0)
Piece = tuple[float, bytes]
"""The time at which data is due, and the data; no data is the end of the stream."""


class Relay:
    """Both directions of a connection; a direction without a link passes without faults."""

    def __init__(
        self,
        state: LinkState,
        opened: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        target: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        link: Link | None,
    ) -> None:
        self._state = state
        self._opened = opened
        self._target = target
        self._link = link

    async def run(self) -> None:
        """Relay until both directions have ended, or one direction has broken."""
        back = None if self._link is None else Link(self._link.target, self._link.source)
        directions = (
            (self._opened[0], self._target[1], self._link),
            (self._target[0], self._opened[1], back),
        )
        jobs: list[asyncio.Task[None]] = []
        for reader, writer, link in directions:
            pieces: asyncio.Queue[Piece] = asyncio.Queue(WAITING)
            jobs.append(asyncio.create_task(self._read(reader, pieces, link)))
            jobs.append(asyncio.create_task(self._write(writer, pieces, link)))
        try:
            await asyncio.gather(*jobs)
        except (OSError, BrokenError):
            self.reset()
        finally:
            for job in jobs:
                job.cancel()
            for _, writer in (self._opened, self._target):
                writer.close()  # before the wait, which the end of the run may cancel
            await asyncio.gather(*jobs, return_exceptions=True)

    def reset(self) -> None:
        """End both connections at once."""
        for _, writer in (self._opened, self._target):
            found = writer.get_extra_info("socket")
            if found is not None and not writer.is_closing():
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            writer.transport.abort()

    async def _read(
        self, reader: asyncio.StreamReader, pieces: "asyncio.Queue[Piece]", link: Link | None
    ) -> None:
        now: Callable[[], float] = asyncio.get_running_loop().time
        received = 0
        while data := await reader.read(PIECE):
            if link is None:
                await pieces.put((0.0, data))
                continue
            await self._state.pass_cut(link)
            if self._state.resets(link):
                raise BrokenError
            await pieces.put((now() + self._state.delay_s(link), data))
            received += len(data)
            limit = self._state.limit(link)
            if limit and received > limit:
                self._state.hits[link] += 1
                raise BrokenError
        due_s = 0.0 if link is None else now() + self._state.close_s(link)
        await pieces.put((due_s, b""))

    async def _write(
        self, writer: asyncio.StreamWriter, pieces: "asyncio.Queue[Piece]", link: Link | None
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due_s, data = await pieces.get()
            if due_s > loop.time():
                await asyncio.sleep(due_s - loop.time())
            if link is not None:
                await self._state.pass_cut(link)
                rate = self._state.rate(link)
                if rate and data:
                    await asyncio.sleep(len(data) / rate)
            if not data:
                writer.write_eof()
                return
            writer.write(data)
            await writer.drain()


class BrokenError(Exception):
    """A fault has broken the connection."""
