"""Encode the principal of a forwarded request: int16 version, then DefaultPrincipalData (KIP-590).

The controller decides which broker may forward, and for which principal.
"""

import struct
from typing import Final, Protocol

import msgspec
from typing_extensions import override

from kraftproof.node.wire.messages.generated import default_principal_data
from kraftproof.node.wire.messages.generated.default_principal_data import DefaultPrincipalData
from kraftproof.node.wire.primitives import Reader

_VERSION: Final = struct.Struct(">h")
_NEWEST: Final = 0


class Principal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The sender of a request: `User:alice` has type User and name alice."""

    type: str
    name: str
    token_authenticated: bool = False


ANONYMOUS: Final = Principal(type="User", name="ANONYMOUS")


def encode_principal(principal: Principal) -> bytes:
    """Return the bytes of an Envelope's RequestPrincipal."""
    data = DefaultPrincipalData(
        type=principal.type,
        name=principal.name,
        token_authenticated=principal.token_authenticated,
    )
    schema = default_principal_data.DEFAULT_PRINCIPAL_DATA
    return _VERSION.pack(_NEWEST) + schema.encode(data, _NEWEST)


def decode_principal(data: bytes) -> Principal:
    """Return the principal of an Envelope.

    Raises:
        WireError: the bytes are no principal, or have an unknown version.
    """
    reader = Reader(data)
    version: int = reader.unpack(_VERSION)[0]
    decoded = default_principal_data.DEFAULT_PRINCIPAL_DATA.decode(reader, version)
    assert isinstance(decoded, DefaultPrincipalData)
    return Principal(
        type=decoded.type,
        name=decoded.name,
        token_authenticated=decoded.token_authenticated,
    )


class AuthenticationContext(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a connection from which its principal is built.

    Attributes:
        principal: The principal of the authentication; ANONYMOUS without one.
        client_host: The address of the client.
        listener: The name of the listener.
    """

    principal: Principal
    client_host: str
    listener: str


class PrincipalBuilder(Protocol):
    """The class of principal.builder.class; serialize and deserialize carry a principal unchanged.

    A method raises ValueError if it can't do its work.
    """

    def build(self, context: AuthenticationContext) -> Principal:
        """Return the principal of a connection."""
        ...

    def serialize(self, principal: Principal) -> bytes:
        """Return the bytes for an Envelope."""
        ...

    def deserialize(self, data: bytes) -> Principal:
        """Return the principal of an Envelope."""
        ...


class DefaultPrincipalBuilder(PrincipalBuilder):
    """The principal of the authentication, in Kafka's own form."""

    @override
    def build(self, context: AuthenticationContext) -> Principal:
        return context.principal

    @override
    def serialize(self, principal: Principal) -> bytes:
        return encode_principal(principal)

    @override
    def deserialize(self, data: bytes) -> Principal:
        return decode_principal(data)


DEFAULT_PRINCIPALS: Final = DefaultPrincipalBuilder()
