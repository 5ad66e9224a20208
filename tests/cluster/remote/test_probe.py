"""The probe of a node, against listeners with and without TLS."""

import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

import pytest
import trustme

from kraftproof.cluster.remote.probe import SCRIPT

SECONDS = 60


def wrapped(opened: socket.socket, context: ssl.SSLContext | None) -> socket.socket:
    """A connection of the listener; the first read shakes hands."""
    if context is None:
        return opened
    return context.wrap_socket(opened, server_side=True, do_handshake_on_connect=False)


@contextmanager
def serving(context: ssl.SSLContext | None) -> Iterator[int]:
    """A listener of one connection at a time that answers each request with a byte."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):  # the end of the test closes the server
                while True:
                    opened, _ = server.accept()
                    with suppress(OSError), wrapped(opened, context) as link:
                        if link.recv(100):
                            link.sendall(b"x")

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(SECONDS)


@pytest.mark.parametrize("has_tls", [False, True])
def test_the_probe_of_a_node_speaks_its_protocol(has_tls: bool) -> None:
    probes = [(sys.executable, "-c", SCRIPT, "127.0.0.1"), ("20", b"hello".hex())]

    def status(port: int, *, through_tls: bool) -> int:
        (program, *words), rest = probes
        command = [program, *words, str(port), *rest, str(int(through_tls))]
        return subprocess.run(command, check=False, timeout=SECONDS).returncode

    context = None
    if has_tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with serving(context) as port:
        assert status(port, through_tls=has_tls) == 0
        assert status(port, through_tls=not has_tls) == 1
