"""Describe a message to the codec: its versions, and a function for each version.

scripts/generate_wire.py generates the functions; see node.wire.codec for their use.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer


class Entity(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The base of the generated classes, including parts of messages.

    Instances form no reference cycles, so the garbage collector can ignore them.
    """


class Message(Entity, frozen=True, kw_only=True, gc=False):
    """A request or a response."""

    API_KEY: ClassVar[int]
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """A message with its key (-1 without a key), its versions and their codec."""

    message: type[Entity]
    key: int
    min_version: int
    max_version: int
    flexible_from: int
    encoders: Mapping[int, Callable[[Any, Writer], None]]
    decoders: Mapping[int, Callable[[Reader], Entity]]

    def is_flexible(self, version: int) -> bool:
        """Return whether `version` has compact lengths and tagged fields (KIP-482)."""
        return version >= self.flexible_from

    def encode(self, message: Entity, version: int) -> bytes:
        """Return the body of `message` in `version`.

        Raises:
            WireError: the version does not exist, or a value does not fit.
        """
        encoder = self.encoders.get(version)
        if encoder is None:
            raise self.unsupported(version)
        writer = Writer()
        try:
            encoder(message, writer)
        except (struct.error, UnicodeEncodeError) as error:
            raise WireError(f"{type(message).__name__} version {version}: {error}") from error
        return bytes(writer)

    def decode(self, reader: Reader, version: int) -> Entity:
        """Read a message.

        Raises:
            WireError: the version does not exist, or the bytes are no message.
        """
        decoder = self.decoders.get(version)
        if decoder is None:
            raise self.unsupported(version)
        return decoder(reader)

    def unsupported(self, version: int) -> WireError:
        """Return the error for a version that does not exist."""
        return WireError(
            f"{self.message.__name__} has versions {self.min_version} to {self.max_version}, "
            f"not {version}"
        )


def lacking_field(message: str, field: str, version: int) -> WireError:
    """Return the error for a value that the version can neither carry nor drop."""
    return WireError(f"{message}.{field} is set, and version {version} has no such field")


def null_field(message: str, field: str, version: int) -> WireError:
    """Return the error for a null value in a version without nulls."""
    return WireError(f"{message}.{field} is null, and version {version} has no null there")
