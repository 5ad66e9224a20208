"""Ids of topics, incarnations and directories: bytes in a message, base64 text in a log."""

from typing import Any, Final, TypeAlias

Id: TypeAlias = Any
"""A hashable value that is only compared."""
_RESERVED_TEXT: Final = "A" * 10
"""The beginning of a reserved id as text: 60 of its 64 zero bits in base64."""


def show(identifier: Id) -> str:
    """Return an id as text."""
    return identifier.hex() if isinstance(identifier, bytes) else str(identifier)


def is_reserved(identifier: Id) -> bool:
    """Return whether an id is one of those that Kafka keeps for itself: the first 8 bytes are 0."""
    if isinstance(identifier, bytes):
        return not any(identifier[:8])
    return str(identifier).startswith(_RESERVED_TEXT)


def is_zero(identifier: Id) -> bool:
    """Return whether an id is zero, which a message has in place of no id."""
    if isinstance(identifier, bytes):
        return not any(identifier)
    return set(str(identifier)) == {"A"}


def zero_like(identifier: Id) -> Id:
    """Return the zero id in the form of another id: the directory before KIP-858."""
    return bytes(16) if isinstance(identifier, bytes) else "A" * 22


def unassigned_like(identifier: Id) -> Id:
    """Return the id of an unassigned directory in the form of another id (KIP-858)."""
    return bytes(15) + b"\1" if isinstance(identifier, bytes) else "A" * 21 + "Q"
