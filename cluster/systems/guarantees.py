"""The guarantees that a system may declare for the answers of its operations."""

from enum import StrEnum


class Guarantee(StrEnum):
    """Guarantee that a system declares for the answers of an operation."""

    LINEARIZABLE = "linearizable"
    SESSION_MONOTONIC = "session-monotonic"
    BOUNDED_STALENESS = "bounded-staleness"
    AT_LEAST_ONCE = "at-least-once"
    LEASE = "lease"
    REPLICATED = "replicated"
    """Acknowledged data survive everything but disks that lose unsynced writes."""
