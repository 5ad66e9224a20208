"""Classes that a drawn server.properties names as plugins."""

from collections.abc import Mapping
from typing import Final

from typing_extensions import override

from kraftproof.node.wire.principal import ANONYMOUS, AuthenticationContext, Principal

REASON: Final = "no topic has this name"


class NoBuild:
    """A principal builder without its first method."""

    def serialize(self, principal: Principal) -> bytes:
        """Return the bytes of a principal."""
        return principal.name.encode()

    def deserialize(self, data: bytes) -> Principal:
        """Return the principal of bytes."""
        return Principal(type=ANONYMOUS.type, name=data.decode())


class NoBytes:
    """A principal builder without the methods for forwarded requests."""

    def build(self, context: AuthenticationContext) -> Principal:
        """Return the principal of a connection."""
        return context.principal


class Builder(NoBuild, NoBytes):
    """A principal builder; all its instances are equal."""

    @override
    def __eq__(self, other: object) -> bool:
        """Compare the types."""
        return isinstance(other, Builder)

    @override
    def __hash__(self) -> int:
        """Return the hash of the type."""
        return hash(Builder)


class Policy:
    """A policy for created topics."""

    def validate(self, name: str, partitions: int, factor: int, configs: Mapping[str, str]) -> None:
        """Refuse a topic by its name.

        Raises:
            ValueError: the name is `bad`.
        """
        if name == "bad":
            raise ValueError(REASON)


class Failing:
    """A class that cannot be created."""

    def __init__(self) -> None:
        raise RuntimeError("not today\nreally")
