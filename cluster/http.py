"""HTTP/1.1 for systems under test: JSON on one connection without retries, and a server's clock."""

import asyncio
import json
from email.utils import parsedate_to_datetime
from typing import Any, Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Address

_NO_ANSWER: Final = (
    *(OSError, EOFError, TimeoutError),
    *(ValueError, IndexError, asyncio.LimitOverrunError),
)
"""The connection broke, or what came is no answer in HTTP."""


class JsonConnection:
    """A connection that posts one JSON value at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def post(self, path: str, value: object, timeout_s: float) -> tuple[int, Any]:
        """Post a value; return the status of the answer and its JSON value.

        Raises:
            ConnectionFailed: the node had closed the connection before the request.
            OutcomeUnknown: no whole answer came in time.
        """
        if self._reader.at_eof():
            raise ConnectionFailed("the node has closed the connection")
        body = json.dumps(value).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: node\r\nContent-Length: {len(body)}\r\n"
        try:
            async with asyncio.timeout(timeout_s):
                self._writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
                return await self._answer()
        except _NO_ANSWER as error:
            raise OutcomeUnknown(f"no answer: {type(error).__name__}") from error

    async def _answer(self) -> tuple[int, Any]:
        status = int((await self._reader.readuntil()).split()[1])
        fields: dict[bytes, bytes] = {}
        while line := (await self._reader.readuntil()).strip():
            name, _, field = line.partition(b":")
            fields[name.lower()] = field.strip().lower()
        if fields.get(b"transfer-encoding") == b"chunked":
            body = await self._chunks()
        else:
            body = await self._reader.readexactly(int(fields.get(b"content-length", b"0")))
        return status, json.loads(body)

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self._reader.readuntil(), 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readuntil()
        return body

    def close(self) -> None:
        """Drop the connection."""
        self._writer.close()


async def connect_json(address: Address, timeout_s: float) -> JsonConnection:
    """Connect to a port of a node.

    Raises:
        ConnectionFailed: the node can't be reached in time.
    """
    try:
        async with asyncio.timeout(timeout_s):
            streams = await asyncio.open_connection(address.host, address.port)
    except (OSError, TimeoutError) as error:
        raise ConnectionFailed(f"{address.host}:{address.port}: {type(error).__name__}") from error
    return JsonConnection(*streams)


async def asked_date(address: Address, path: str, timeout_s: float) -> int | None:
    """Return the wall clock of a server by the Date field of its answer, whatever its status.

    The field has whole seconds, rounded down (RFC 9110, section 6.6.1).

    Args:
        address: The server's.
        path: What is asked for, by GET.
        timeout_s: The longest time for connection and answer.

    Returns:
        Nanoseconds since the epoch; None without an answer, or without a date in the answer.
    """
    writer = None
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")  # at most 64 KiB
            fields = (line.partition(b":") for line in head.splitlines()[1:])
            date = next((one for name, _, one in fields if name.lower() == b"date"), None)
            if date is None:
                return None
            return int(parsedate_to_datetime(date.decode("ascii")).timestamp()) * 1_000_000_000
    except (*_NO_ANSWER, TypeError, OverflowError):
        return None
    finally:
        if writer is not None:
            writer.close()
