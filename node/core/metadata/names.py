"""Names of topics: which may be used, and which are the cluster's own.

Not: whether a topic of the name exists.
"""

import re
from typing import Final

METADATA_TOPIC: Final = "__cluster_metadata"
INTERNAL_TOPICS: Final = frozenset(
    {"__consumer_offsets", "__share_group_state", "__transaction_state"}
)
"""Kafka's own topics that clients may see; Metadata marks them."""
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def is_legal_name(name: str) -> bool:
    """Whether a topic may have this name."""
    return name not in {".", ".."} and _LEGAL.fullmatch(name) is not None
