"""Check names of topics, and list the internal topics."""

import re
from typing import Final

METADATA_TOPIC: Final = "__cluster_metadata"
GROUP_TOPIC: Final = "__consumer_offsets"
TRANSACTION_TOPIC: Final = "__transaction_state"
SHARE_TOPIC: Final = "__share_group_state"
INTERNAL_TOPICS: Final = frozenset({GROUP_TOPIC, TRANSACTION_TOPIC, SHARE_TOPIC})
"""Kafka's internal topics that clients may see; Metadata answers mark these topics."""
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def is_legal_name(name: str) -> bool:
    """Return whether a topic may have the name."""
    return name not in {".", ".."} and _LEGAL.fullmatch(name) is not None
