"""The setting that makes acknowledged records survive a loss of power, and what it promises."""

from collections.abc import Mapping
from typing import Final

from kraftproof.cluster.systems.system import Guarantee

FLUSH_KEY: Final = "log.flush.interval.messages"
DURABLE: Final = "1"
"""The value with which a broker flushes each append before any acknowledgement."""


def declared(
    guarantees: Mapping[str, Guarantee], node_config: Mapping[str, str]
) -> Mapping[str, Guarantee]:
    """Return the guarantees of a cluster with these settings."""
    if node_config.get(FLUSH_KEY) != DURABLE or "send" not in guarantees:
        return guarantees
    return {**guarantees, "send": Guarantee.LINEARIZABLE}
