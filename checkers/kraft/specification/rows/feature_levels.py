"""The levels of features that a broker or a controller supports (KIP-584)."""

from collections.abc import Sequence

from kraftproof.checkers.kraft.specification.rows import Feature

Levels = tuple[int, int]
"""The least and the largest level of a feature."""


def levels_of(features: Sequence[Feature]) -> dict[str, Levels]:
    """Return the supported levels by feature; the first entry of a feature counts."""
    return {
        one.name: (one.min_supported_version, one.max_supported_version)
        for one in reversed(features)
    }
