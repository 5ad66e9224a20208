"""TLS between a socket and a connection of the listener, over Python's ssl module.

asyncio's own TLS reports a connection after the handshake only. The listener must count, bound and
end connections before, so the layer passes the connection on at once, and the bytes later.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Iterable
from typing import Final

from typing_extensions import override

READ_BYTES: Final = 65_536

OnSecured = Callable[[bytes | None], None]
"""Told at the end of the handshake the client's certificate in DER, if the client has sent one."""


class TlsTransport(asyncio.Transport):
    """The transport that the connection sees: plain bytes."""

    __slots__ = ("_layer", "_socket")

    def __init__(self, layer: "TlsLayer", socket: asyncio.Transport) -> None:
        super().__init__()
        self._layer = layer
        self._socket = socket

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._layer.write(data)

    @override
    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self._layer.write(b"".join(list_of_data))

    @override
    def close(self) -> None:
        self._layer.close()

    @override
    def abort(self) -> None:
        self._socket.abort()

    @override
    def is_closing(self) -> bool:
        return self._socket.is_closing()

    @override
    def get_write_buffer_size(self) -> int:
        return self._socket.get_write_buffer_size()

    @override
    def pause_reading(self) -> None:
        self._socket.pause_reading()

    @override
    def resume_reading(self) -> None:
        self._socket.resume_reading()

    @override
    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._socket.get_extra_info(name, default)


class TlsLayer(asyncio.Protocol):
    """The socket's side of one connection."""

    __slots__ = (
        "_incoming",
        "_inner",
        "_is_secured",
        "_on_failed",
        "_on_secured",
        "_outgoing",
        "_socket",
        "_tls",
    )

    def __init__(
        self,
        context: ssl.SSLContext,
        inner: asyncio.Protocol,
        *,
        on_secured: OnSecured,
        on_failed: Callable[[str], None],
    ) -> None:
        self._inner = inner
        self._on_secured = on_secured
        self._on_failed = on_failed
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_secured = False
        self._socket: asyncio.Transport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._socket = transport
        self._inner.connection_made(TlsTransport(self, transport))

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._socket = None
        self._inner.connection_lost(exc)

    @override
    def pause_writing(self) -> None:
        self._inner.pause_writing()

    @override
    def resume_writing(self) -> None:
        self._inner.resume_writing()

    @override
    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        try:
            if not self._is_secured:
                self._shake_hands()
            if self._is_secured:
                self._read()
        except ssl.SSLWantReadError:
            self._send()
        except ssl.SSLError as error:
            self._fail(error)

    def _shake_hands(self) -> None:
        self._tls.do_handshake()
        self._is_secured = True
        self._send()
        self._on_secured(self._tls.getpeercert(binary_form=True))

    def _read(self) -> None:
        """Pass on what has been decrypted, up to the end of the bytes or of the connection."""
        while self._socket is not None and not self._socket.is_closing():
            data = self._tls.read(READ_BYTES)
            if not data:
                self.close()
                return
            self._inner.data_received(data)

    def _fail(self, error: ssl.SSLError) -> None:
        """Send the alert that explains the failure, and end the connection."""
        self._send()
        if self._socket is None:
            return
        if isinstance(error, ssl.SSLZeroReturnError | ssl.SSLEOFError):
            self._socket.close()
            return
        self._on_failed(f"TLS: {error.reason or type(error).__name__}")
        self._socket.close()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Encrypt and send bytes; a connection that is being closed takes no more."""
        if self._socket is None or self._socket.is_closing() or not self._is_secured:
            return
        if data:
            self._tls.write(data)
            self._send()

    def close(self) -> None:
        """Tell the client that nothing more follows, and close the socket."""
        if self._socket is None or self._socket.is_closing():
            return
        if self._is_secured:
            with contextlib.suppress(ssl.SSLError):  # nobody waits for the client's own farewell
                self._tls.unwrap()
            self._send()
        self._socket.close()

    def _send(self) -> None:
        if self._socket is not None and self._outgoing.pending:
            self._socket.write(self._outgoing.read())
