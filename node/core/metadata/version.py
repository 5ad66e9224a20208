"""Define the only metadata.version that the node writes and supports."""

from typing import Final

METADATA_VERSION: Final = "metadata.version"
METADATA_VERSION_LEVEL: Final = 21
"""3.9-IV0."""
DIRECTORIES_FROM: Final = 17
"""The level, 3.7-IV2, from which replicas have log directories (KIP-858)."""
