"""The values of a download of a snapshot (KIP-630)."""

from msgspec import Struct

Name = tuple[int, int]
"""The end and the epoch of a snapshot."""


class Slice(Struct, kw_only=True):
    """The content of an answer to a FetchSnapshot."""

    error: int = 0
    leader: int
    epoch: int
    snapshot: Name
    size: int
    position: int
    data: bytes


class Download(Struct, kw_only=True):
    """A download of a snapshot."""

    number: int
    snapshot: Name
    due: int
    position: int = 0
    size: int | None = None
    losses: int = 0
    is_open: bool = False
    is_checked: bool = False
    """Whether all slices have come, and the file is being checked."""
