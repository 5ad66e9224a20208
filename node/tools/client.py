"""Connect a tool to a node: blocking, one request at a time (KIP-511 negotiation).

The client does not retry, and does not look for the right node.
"""

import socket
from types import TracebackType
from typing import Final, Self

from msgspec import Struct
from typing_extensions import override

from kraftproof.node.core.security.client_dialog import ClientDialog
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.properties.listener_security import PLAINTEXT_PEERS, PeerSecurity
from kraftproof.node.wire.codec import REQUESTS, decode_response, encode_request, header_versions
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import FrameSplitter, frame
from kraftproof.node.wire.headers import RequestHeader, encode_request_header, split_response
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.api_versions_response import ApiVersionsResponse
from kraftproof.node.wire.schema import Message

CLIENT_ID: Final = "kraft-tools"
RECEIVE_BYTES: Final = 65_536
LARGEST_PORT: Final = 65_535


class ClientError(Exception):
    """A request failed; the text is one line."""


class Unreachable(ClientError):
    """The connection to the address failed."""


class Address(Struct, frozen=True):
    """A host and a port."""

    host: str
    port: int

    @override
    def __str__(self) -> str:
        """Return the form accepted by `parse_addresses`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> tuple[Address, ...]:
    """Return the addresses of `host:port,host:port`.

    Raises:
        ClientError: an entry is no address.
    """
    return tuple(_parse_address(entry.strip()) for entry in text.split(","))


def _parse_address(entry: str) -> Address:
    host, _, port = entry.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) <= LARGEST_PORT:
        raise ClientError(f"{entry!r} is no address: host:port is expected")
    return Address(host, int(port))


class Client:
    """A connection to a node, closed at the end of its `with` block."""

    __slots__ = ("_correlation_id", "_served", "_socket", "_splitter", "address")

    def __init__(
        self, address: Address, timeout_s: float, security: PeerSecurity = PLAINTEXT_PEERS
    ) -> None:
        """Connect to the address, and log in.

        Raises:
            Unreachable: the connection failed or timed out.
            ClientError: the certificates or the login were refused.
        """
        self.address = address
        self._correlation_id = 0
        self._splitter = FrameSplitter()
        self._served: dict[int, tuple[int, int]] = {}
        try:
            self._socket = socket.create_connection((address.host, address.port), timeout_s)
        except OSError as error:
            raise Unreachable(f"{address}: {_reason(error)}") from error
        try:
            self._secure(security)
        except OSError as error:
            self._socket.close()
            raise ClientError(f"{address}: {_reason(error)}") from error
        except (LoginError, WireError) as error:
            self._socket.close()
            raise ClientError(f"{address}: {error}") from error

    def _secure(self, security: PeerSecurity) -> None:
        """Shake hands with TLS, and log in with SASL, as the listener asks."""
        if security.tls is not None:
            from kraftproof.node.properties.tls_contexts import client_context

            context = client_context(security.tls)
            self._socket = context.wrap_socket(self._socket, server_hostname=self.address.host)
        if security.login is None:
            return
        dialog = ClientDialog(security.login)
        asked: tuple[Message, int] | None = dialog.start()
        while asked is not None:
            asked = dialog.answered(self._exchange(*asked))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()

    def ask(self, message: Message, version: int | None = None) -> Message:
        """Send a request and return the response.

        Args:
            message: The request.
            version: The version of the request; None for the newest that both sides support.

        Raises:
            ClientError: the node does not support the request, or no valid response arrived.
        """
        try:
            if version is None:
                version = self._negotiated(message)
            return self._exchange(message, version)
        except WireError as error:
            raise ClientError(f"{self.address}: {error}") from error
        except OSError as error:
            raise ClientError(f"{self.address}: {_reason(error)}") from error

    def _negotiate(self) -> dict[int, tuple[int, int]]:
        answer = self._exchange(ApiVersionsRequest(), 0)
        assert isinstance(answer, ApiVersionsResponse)
        return {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}

    def _negotiated(self, message: Message) -> int:
        if not self._served:
            self._served = self._negotiate()
        oldest, newest = self._served.get(message.API_KEY, (0, -1))
        schema = REQUESTS[message.API_KEY]
        version = min(newest, schema.max_version)
        if version < max(oldest, schema.min_version):
            raise ClientError(f"{self.address} does not serve {type(message).__name__}")
        return version

    def _exchange(self, message: Message, version: int) -> Message:
        self._correlation_id += 1
        header = RequestHeader(
            api_key=message.API_KEY,
            version=version,
            correlation_id=self._correlation_id,
            client_id=CLIENT_ID,
        )
        header_version, _ = header_versions(message.API_KEY, version)
        self._socket.sendall(
            frame(encode_request_header(header, header_version), encode_request(message, version))
        )
        correlation_id, body = split_response(self._receive(), message.API_KEY, version)
        if correlation_id != self._correlation_id:
            raise WireError(f"answer {correlation_id} to request {self._correlation_id}")
        return decode_response(message.API_KEY, version, body)

    def _receive(self) -> bytes:
        while True:
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionResetError("the node closed the connection")
            for payload in self._splitter.feed(data):
                return payload


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return error.strerror or str(error)
