"""Compare what passes through TLS with what was written, over every split of the bytes.

A client of Python's own TLS writes as soon as its handshake allows, and its bytes come in drawn
pieces: a piece may hold the end of the handshake, requests, and the farewell at once. Each record
is passed on with its last byte. The owner hears once of the end of the handshake, with the client's
certificate, or of a failure, after which nothing is passed on (RFC 5246, RFC 8446).
"""

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.properties.sample_keys import CERTIFICATE_A, HOST_A
from kraftproof.cluster.simulated.differential.server.tls_ends import (
    NO_CERTIFICATE,
    WRONG_CERTIFICATE,
    Inner,
    Socket,
    contexts_of,
)
from kraftproof.cluster.simulated.differential.server.virtual_loop import VirtualLoop, virtual_loop
from kraftproof.node.server.security.tls_layer import TlsLayer

STEPS: Final = 30
TURNS: Final = 6
"""Number of exchanges after which both sides have read everything."""
VERSIONS: Final = ("TLSv1.2", "TLSv1.3")
SIZES: Final = (1, 30, 30, 400, 20_000)
RECORD_BYTES: Final = 16_384
READ_BYTES: Final = 100_000
GARBAGE: Final = "garbage"
FLAWS: Final = (*[""] * 9, NO_CERTIFICATE, WRONG_CERTIFICATE, GARBAGE)


class _Stream:
    """A client and a server, with the bytes between them."""

    def __init__(self, random: Random, loop: VirtualLoop) -> None:
        self._random, self._loop = random, loop
        self._flaw = random.choice(FLAWS)
        self._is_asked = self._flaw in {NO_CERTIFICATE, WRONG_CERTIFICATE} or random.random() < 0.3
        contexts = contexts_of(random.choice(VERSIONS), self._flaw, is_asked=self._is_asked)
        self._to_client, self._to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._client = contexts[1].wrap_bio(
            self._to_client, self._to_server, server_hostname=HOST_A
        )
        self._secured: list[bytes | None] = []
        self._failed: list[str] = []
        self._inner, self._socket = Inner(), Socket(loop)
        self._socket.connect(
            TlsLayer(
                contexts[0],
                self._inner,
                on_secured=self._secured.append,
                on_failed=self._failed.append,
            )
        )
        self._wire = b""
        """The bytes of the client on their way."""
        self._arrived = self._written = 0
        """The numbers of bytes that the node and the client have taken and written."""
        self._is_ready = False
        """Whether the client may write."""
        self._finished_at = 0
        """The end of the client's handshake in its bytes."""
        self._sent = b""
        self._has_heard_farewell = False
        """Whether the client has read the end of the node's bytes."""
        self._alert = ""
        self._records: list[tuple[int, int]] = []
        """The end of each record in the client's bytes, and in what the client has written."""
        self._farewell_at: int | None = None
        self._spoilt_at: int | None = None
        self._answers, self._read = b"", b""
        self._is_closed = False
        """Whether the node has closed the connection."""

    def step(self) -> None:
        """Let the client, the network or the node act, and compare."""
        steps: list[Callable[[], None]] = [self._take, self._take, self._deliver, self._deliver]
        if self._is_ready and self._farewell_at is None and not self._has_heard_farewell:
            steps += [self._write] * 3
            if self._random.random() < 0.1:
                steps.append(self._say_farewell)
        if self._secured and not self._is_closed:
            steps.append(self._answer)
            if self._random.random() < 0.05:
                steps.append(self._close)
        self._random.choice(steps)()
        self._compare()

    def finish(self) -> None:
        """Let everything arrive, and compare what both sides have read."""
        for _ in range(TURNS):
            self._take(whole=True)
            self._deliver(whole=True)
            self._compare()
        self._take(whole=True)  # an alert may be the answer to the last bytes
        if not self._flaw and not self._is_closed and self._farewell_at is None:
            check("the client has shaken hands", self._is_ready)
            same("what the client has read", self._read == self._answers, expected=True)
        if self._is_closed and self._farewell_at is None:
            check("a client is told of the end", self._has_heard_farewell)

    # The client

    def _take(self, *, whole: bool = False) -> None:
        """Let the client take a part of the node's bytes, and go on."""
        data = self._socket.written
        most = len(data) if whole else self._random.choice((1, 700, len(data)))
        self._to_client.write(data[:most])
        self._socket.written = data[most:]
        self._socket.read_all()
        try:
            if not self._is_ready:
                self._client.do_handshake()
                self._is_ready = True
            while self._farewell_at is None and not self._has_heard_farewell:
                data = self._client.read(READ_BYTES)
                self._has_heard_farewell = not data
                self._read += data
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self._has_heard_farewell = True
            self._alert = self._alert or error.reason or ""
        if self._has_heard_farewell:
            check("a node says farewell at an end only", self._failed or self._is_over())
        was = self._written
        self._send()
        if not self._sent and self._farewell_at is None and self._written > was:
            self._finished_at = self._written
        self._spoil()

    def _spoil(self) -> None:
        """Damage the bytes of the client, once."""
        if self._flaw == GARBAGE and self._spoilt_at is None and self._random.random() < 0.3:
            self._spoilt_at = self._written
            self._wire += b"\x16\x03\x03\x00\x05wrong"

    def _write(self) -> None:
        data = self._random.randbytes(self._random.choice(SIZES))
        for place in range(0, len(data), RECORD_BYTES):
            self._client.write(data[place : place + RECORD_BYTES])
            self._send()
            self._sent += data[place : place + RECORD_BYTES]
            self._records.append((self._written, len(self._sent)))

    def _say_farewell(self) -> None:
        with contextlib.suppress(ssl.SSLError):  # the node has not said farewell yet
            self._client.unwrap()
        self._send()
        self._farewell_at = self._written

    def _send(self) -> None:
        data = self._to_server.read()
        self._written += len(data)
        self._wire += data if self._spoilt_at is None else b""

    # The network and the node

    def _deliver(self, *, whole: bool = False) -> None:
        """Let a piece of the client's bytes arrive."""
        if not self._wire:
            return
        size = len(self._wire)
        count = self._random.choice((1, self._random.randint(1, size), size, size))
        count = size if whole else count
        data, self._wire = self._wire[:count], self._wire[count:]
        self._arrived += count
        self._socket.receive(data)

    def _answer(self) -> None:
        assert isinstance(self._inner.transport, asyncio.Transport), "connected"
        data = self._random.randbytes(self._random.choice(SIZES))
        if not self._is_over():
            self._answers += data
        self._inner.transport.writelines([data[:7], data[7:]])

    def _close(self) -> None:
        assert isinstance(self._inner.transport, asyncio.Transport), "connected"
        self._inner.transport.close()
        self._is_closed = True
        self._received_before = self._inner.received

    def _is_over(self) -> bool:
        """Return whether the connection ends: by the node, the client, or a failure."""
        has_left = self._farewell_at is not None and self._arrived >= self._farewell_at
        return self._is_closed or has_left or bool(self._failed)

    # The comparison

    def _compare(self) -> None:
        self._loop.run()
        same("the ends that are passed on", self._inner.ends, int(not self._socket.is_open))
        is_refused = self._flaw in {NO_CERTIFICATE, WRONG_CERTIFICATE}
        is_spoilt = self._spoilt_at is not None and self._arrived > self._spoilt_at
        is_secured = self._is_ready and self._arrived >= self._finished_at and not is_refused
        if is_spoilt or is_refused:
            check("nothing is passed on before the handshake", self._secured or not self._received)
            same("a failure is told at most once", len(self._failed) in {0, 1}, expected=True)
        elif is_secured:
            shown = ssl.PEM_cert_to_DER_cert(CERTIFICATE_A) if self._is_asked else None
            same("the certificate at the end of a handshake", self._secured, [shown])
            same("no failure of TLS", self._failed, [])
        if self._is_closed:
            same("the bytes after the end", self._received, self._received_before)
            return
        due = [end for at, end in self._records if at <= self._arrived]
        if not is_spoilt and not is_refused:
            passed = self._sent[: due[-1]] if due else b""
            same("the bytes that are passed on", self._received, passed)
            same("whether the connection ends", self._socket.is_closing(), self._is_over())

    @property
    def _received(self) -> bytes:
        return self._inner.received

    def judge_refusal(self) -> None:
        """Compare the end of a connection that has to fail."""
        is_spoilt = self._spoilt_at is not None and self._arrived > self._spoilt_at
        is_refused = self._flaw in {NO_CERTIFICATE, WRONG_CERTIFICATE} and self._arrived
        if (is_refused or is_spoilt) and not self._is_closed and self._farewell_at is None:
            same("the failures that are told", len(self._failed), 1)
            check("a failed connection is closed", self._socket.is_closing())
            check(f"an alert, not {self._alert!r}, tells why", "ALERT" in self._alert)


def compare_tls_streams(random: Random) -> None:
    """Let clients write through TLS in drawn pieces, and compare what the node reads.

    Raises:
        DifferenceError: bytes are missing, late or added, or an end is told otherwise.
    """
    with virtual_loop() as loop:
        stream = _Stream(random, loop)
        for _ in range(STEPS):
            stream.step()
        stream.finish()
        stream.judge_refusal()
