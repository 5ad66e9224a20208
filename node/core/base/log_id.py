"""Define the identity of a replicated log: the metadata log, or a partition of a topic."""

from typing import Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.node.wire.types import Uuid, format_uuid

METADATA_TOPIC_ID: Final = Uuid((1).to_bytes(16, "big"))
"""The reserved topic id of `__cluster_metadata` (KIP-631)."""


class LogId(Struct, frozen=True, order=True, gc=False):
    """A topic id and the number of a partition; a recreated topic has another id."""

    topic_id: Uuid
    partition: int

    @override
    def __str__(self) -> str:
        """Return the id for traces and messages."""
        if self == METADATA_LOG:
            return "metadata"
        return f"{format_uuid(self.topic_id)}-{self.partition}"


METADATA_LOG: Final = LogId(METADATA_TOPIC_ID, 0)
"""The log of the quorum, the first of a node's logs."""
