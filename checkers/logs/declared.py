"""Decides whether a system declares that a run may lose acknowledged records.

Kafka acknowledges a record when all in-sync replicas have it in memory: a system with the guarantee
`replicated` for `send` keeps what it acknowledged unless disks lose writes that were not synced.
"""

from typing import Final

from kraftproof.checkers.options import CheckOptions

REPLICATED: Final = "replicated"
LOSSES: Final = frozenset({"lose-unsynced", "power-loss"})
"""The kinds of faults that lose writes that were not synced."""


def is_loss_declared(options: CheckOptions) -> bool:
    """Return whether acknowledged records may be lost in a run, as far as its system declares."""
    if options.guarantees.get("send") != REPLICATED:
        return False
    return any(span.kind in LOSSES for span in options.faults or ())
