"""Name the ids of log directories with a meaning of their own (KIP-858)."""

from typing import Final

from kraftproof.node.wire.types import ZERO_UUID, Uuid

RESERVED_DIRECTORIES: Final = 100
"""Directory ids below this number are reserved."""
MIGRATING: Final = ZERO_UUID
"""The directory of a replica from before KIP-858, which no broker has told yet."""
UNASSIGNED: Final = Uuid((1).to_bytes(16, "big"))
"""The directory of a replica whose broker chooses the directory and tells the controller."""
LOST: Final = Uuid((2).to_bytes(16, "big"))
"""The directory of a replica whose directory has failed."""


def is_reserved(directory: Uuid) -> bool:
    """Return whether an id is reserved, and so names no real directory."""
    return int.from_bytes(directory, "big") < RESERVED_DIRECTORIES
