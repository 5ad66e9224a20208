"""The ends of a connection with TLS: contexts, the socket, and the connection behind the layer."""

import asyncio
import ssl
from functools import cache
from typing import Final

from typing_extensions import override

from kraftproof.cluster.simulated.differential.difference import check
from kraftproof.cluster.simulated.differential.properties.sample_keys import (
    CERTIFICATE_A,
    CERTIFICATE_B,
    KEY_A,
    KEY_B,
)
from kraftproof.cluster.simulated.differential.server.virtual_loop import VirtualSocket
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.mapping_rules import DEFAULT_RULES
from kraftproof.node.properties.tls import ClientAuth, TlsConfig
from kraftproof.node.properties.tls_contexts import client_context, server_context

NO_CERTIFICATE: Final = "no certificate"
WRONG_CERTIFICATE: Final = "wrong certificate"


class Socket(VirtualSocket):
    """A socket that takes single writes, too."""

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writelines([data])

    @override
    def receive(self, data: bytes) -> None:
        """Take bytes of the client; a socket that is being closed reads no more."""
        if not self.is_closing():
            super().receive(data)


class Inner(asyncio.Protocol):
    """The connection behind the layer."""

    def __init__(self) -> None:
        self.received = b""
        self.transport: asyncio.BaseTransport | None = None
        self.ends = 0

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        check("only bytes are passed on", data)
        self.received += data

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.ends += 1


def _config(store: str | None, auth: ClientAuth, version: str, trusted: str) -> TlsConfig:
    return TlsConfig(
        key_and_chain=None if store is None else Secret(store),
        key_password=None,
        trusted=trusted,
        client_auth=auth,
        mapping_rules=DEFAULT_RULES,
        checks_host=True,
        versions=(version,),
    )


@cache
def contexts_of(
    version: str, flaw: str, *, is_asked: bool
) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server, which may ask for a certificate, and of its client."""
    auth = ClientAuth.REQUIRED if is_asked else ClientAuth.NONE
    server = _config(KEY_A + CERTIFICATE_A, auth, version, CERTIFICATE_A)
    own = {NO_CERTIFICATE: None, WRONG_CERTIFICATE: KEY_B + CERTIFICATE_B}
    store = own.get(flaw, KEY_A + CERTIFICATE_A)
    client = _config(store, ClientAuth.NONE, version, CERTIFICATE_A)
    return server_context(server), client_context(client)
