"""`GET /metrics`: the node's figures for Prometheus (KIP-595 "Monitoring"; 595-70 to 74).

Off unless `metrics.listener=host:port` is set. One small request and one answer a connection:
a request is bounded in bytes and time, and so are the connections open at once.
Not: a web server; nothing else is served, and nothing is asked of the node but its figures.
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

REQUEST_BYTES: Final = 8192
REQUEST_SECONDS: Final = 5.0
CONNECTIONS: Final = 16
PATH: Final = "/metrics"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
END_OF_HEAD: Final = b"\r\n\r\n"


class MetricsEndpoint:
    """A listening socket that answers with what `read` returns."""

    __slots__ = ("_host", "_open", "_port", "_read", "_server")

    def __init__(self, host: str, port: int, read: Callable[[], str]) -> None:
        self._host = host
        self._port = port
        self._read = read
        self._open = 0
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Bind and listen.

        Raises:
            OSError: the address can't be had.
        """
        self._server = await asyncio.start_server(
            self._serve, self._host, self._port, limit=REQUEST_BYTES
        )

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open > CONNECTIONS:
                writer.write(_answer(HTTPStatus.SERVICE_UNAVAILABLE))
            else:
                writer.write(await self._answer(reader))
            await asyncio.wait_for(writer.drain(), REQUEST_SECONDS)
        except OSError:
            pass  # whoever asked has gone, or does not read: nobody is left to be told
        finally:
            self._open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await asyncio.wait_for(reader.readuntil(END_OF_HEAD), REQUEST_SECONDS)
        except asyncio.LimitOverrunError:
            return _answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        except asyncio.IncompleteReadError:
            return _answer(HTTPStatus.BAD_REQUEST)
        except TimeoutError:
            return _answer(HTTPStatus.REQUEST_TIMEOUT)
        return self._serve_line(head.partition(b"\r\n")[0].decode("latin-1"))

    def _serve_line(self, line: str) -> bytes:
        words = line.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _answer(HTTPStatus.BAD_REQUEST)
        method, path, _ = words
        if method != "GET":
            return _answer(HTTPStatus.METHOD_NOT_ALLOWED)
        if path.partition("?")[0] != PATH:
            return _answer(HTTPStatus.NOT_FOUND)
        return _answer(HTTPStatus.OK, self._read())


def _answer(status: HTTPStatus, text: str | None = None) -> bytes:
    body = (f"{status.value} {status.phrase}\n" if text is None else text).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
