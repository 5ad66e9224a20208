"""Name the levels of metadata.version by the releases of Kafka (KIP-778)."""

from collections.abc import Mapping
from typing import Final

_RELEASES: Final = (
    (7, "3.3", (3,)),
    (8, "3.4", (0,)),
    (9, "3.5", (0, 1, 2)),
    (12, "3.6", (0, 1, 2)),
    (15, "3.7", (0, 1, 2, 3, 4)),
    (20, "3.8", (0,)),
    (21, "3.9", (0,)),
    (22, "4.0", (0, 1, 2, 3)),
    (26, "4.1", (0, 1)),
    (28, "4.2", (0, 1)),
    (30, "4.3", (0,)),
    (31, "4.4", (0,)),
)
"""The first level of a release, the release, and the numbers of its versions."""
RELEASE_VERSIONS: Final[Mapping[int, str]] = {
    first + place: f"{release}-IV{number}"
    for first, release, numbers in _RELEASES
    for place, number in enumerate(numbers)
}
"""The name of each level, for example 3.9-IV0 of 21."""


def release_version(level: int) -> str:
    """Return the name of a level; an unknown level is named by its number."""
    return RELEASE_VERSIONS.get(level, f"level {level}")
