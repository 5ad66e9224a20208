"""What the generated codec says of a message: its versions, and a function for each.

Not the codec itself: that is generated (scripts/generate_wire.py) or in node.wire.codec.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer


class Entity(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Base of all generated classes, parts of messages too.

    They can't be in a cycle, so the collector need not see them.
    """


class Message(Entity, frozen=True, kw_only=True, gc=False):
    """A request or a response."""

    API_KEY: ClassVar[int]
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """One message: its key (-1 if it has none), its versions and their codec."""

    message: type[Entity]
    key: int
    min_version: int
    max_version: int
    flexible_from: int
    encoders: Mapping[int, Callable[[Any, Writer], None]]
    decoders: Mapping[int, Callable[[Reader], Entity]]

    def is_flexible(self, version: int) -> bool:
        """Whether `version` has compact lengths and tagged fields (KIP-482)."""
        return version >= self.flexible_from

    def encode(self, message: Entity, version: int) -> bytes:
        """The body of `message` in `version`.

        Raises:
            WireError: if the message has no such version, or a value does not fit it.
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
        """The message that `reader` stands before.

        Raises:
            WireError: if the message has no such version, or the bytes are not one.
        """
        decoder = self.decoders.get(version)
        if decoder is None:
            raise self.unsupported(version)
        return decoder(reader)

    def unsupported(self, version: int) -> WireError:
        """The error for a version that this message has not got."""
        return WireError(
            f"{self.message.__name__} has versions {self.min_version} to {self.max_version}, "
            f"not {version}"
        )


def lacking_field(message: str, field: str, version: int) -> WireError:
    """The error for a value that the version can't carry and may not drop."""
    return WireError(f"{message}.{field} is set, and version {version} has no such field")


def null_field(message: str, field: str, version: int) -> WireError:
    """The error for a null where the version has no null."""
    return WireError(f"{message}.{field} is null, and version {version} has no null there")
