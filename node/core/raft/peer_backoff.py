"""How long a voter that does not answer is left alone (KIP-595; 595-57)."""

from msgspec import Struct

from kraftproof.node.core.base.types import Monotonic


class PeerBackoff(Struct, frozen=True):
    """A voter that has not answered `times` times in a row is not asked again before `until`."""

    until: Monotonic
    times: int
