"""Releases of Apache Kafka in Maven's central repository."""

from typing import Final

NEWEST: Final = "4.3.0"
"""The release with committed checksums, and the default."""
RELEASES: Final = (
    *("3.3.0", "3.3.1", "3.3.2", "3.4.0", "3.4.1", "3.5.0", "3.5.1", "3.5.2"),
    *("3.6.0", "3.6.1", "3.6.2", "3.7.0", "3.7.1", "3.7.2", "3.8.0", "3.8.1"),
    *("3.9.0", "3.9.1", "3.9.2", "4.0.0", "4.0.1", "4.0.2", "4.1.0", "4.1.1", "4.1.2"),
    *("4.2.0", "4.2.1", "4.2.2", NEWEST),
)
"""Releases with a KRaft mode for production, the oldest first."""
