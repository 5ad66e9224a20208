"""List the operations for which a client is authorized: every operation, without an authorizer."""

from typing import Final

from msgspec.structs import replace

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import metadata_response

_TOPIC_OPERATIONS: Final = 0b110111111000
"""READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS as bits."""
_CLUSTER_OPERATIONS: Final = 0b1111110100000
"""CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE."""
_NOT_ASKED: Final = -(1 << 31)


def authorized(
    topic: metadata_response.MetadataResponseTopic,
) -> metadata_response.MetadataResponseTopic:
    """Return a topic of a Metadata answer with the client's authorized operations."""
    if topic.error_code != ErrorCode.NONE:
        return topic
    return replace(topic, topic_authorized_operations=_TOPIC_OPERATIONS)


def cluster_operations(*, wanted: bool) -> int:
    """Return the client's authorized operations on the cluster if the client asked."""
    return _CLUSTER_OPERATIONS if wanted else _NOT_ASKED
