"""The backoff of a voter that does not answer (KIP-595; 595-57)."""

from msgspec import Struct

from kraftproof.node.core.base.types import Monotonic


class PeerBackoff(Struct, frozen=True):
    """The voter gets no request before `until`, after `times` failures in a row."""

    until: Monotonic
    times: int
