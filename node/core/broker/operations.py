"""List the operations for which a client is authorized, as bits (KIP-430).

Without an authorizer every operation is authorized. With an authorizer, the operations on the
cluster need the right to describe the cluster.
"""

from typing import Final

from msgspec.structs import replace

from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import CLUSTER_NAME, Operation, ResourceKind
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import metadata_response

_OF_TOPICS: Final = (
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
_OF_CLUSTERS: Final = (
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
_NOT_ASKED: Final = -(1 << 31)
"""The operations in the answer to a client that has not asked."""


def with_operations(
    topic: metadata_response.MetadataResponseTopic,
    authorizer: Authorizer | None,
    event: Received,
) -> metadata_response.MetadataResponseTopic:
    """Return a topic of a Metadata answer with the client's authorized operations."""
    if topic.error_code != ErrorCode.NONE or topic.name is None:
        return topic
    bits = topic_operations(authorizer, event, topic.name)
    return replace(topic, topic_authorized_operations=bits)


def topic_operations(authorizer: Authorizer | None, event: Received, name: str) -> int:
    """Return the client's authorized operations on a topic."""
    return _bits(authorizer, event, ResourceKind.TOPIC, name, _OF_TOPICS)


def cluster_operations(authorizer: Authorizer | None, event: Received, *, wanted: bool) -> int:
    """Return the client's authorized operations on the cluster if the client asked."""
    if not wanted:
        return _NOT_ASKED
    if authorizer is not None and not authorizer.allows(event, Operation.DESCRIBE):
        return 0
    return _bits(authorizer, event, ResourceKind.CLUSTER, CLUSTER_NAME, _OF_CLUSTERS)


def _bits(
    authorizer: Authorizer | None,
    event: Received,
    kind: ResourceKind,
    name: str,
    operations: tuple[Operation, ...],
) -> int:
    return sum(
        1 << operation
        for operation in operations
        if authorizer is None or authorizer.allows(event, operation, kind, name, logs=False)
    )
