"""Check the name of a resource with configurations, and the existence of the resource."""

import re
from typing import Final

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.names import is_legal_name
from kraftproof.node.wire.errors import ErrorCode

_NODE_ID: Final = re.compile(r"\+?[0-9]{1,10}")


class ResourceError(Exception):
    """A resource can't be changed; carries the error code and the reason for the client."""

    def __init__(self, error: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


def check_name(kind: int, name: str) -> None:
    """Refuse a name that no resource of the kind can have.

    Raises:
        ResourceError: the kind or the name is illegal.
    """
    match kind:
        case Resource.TOPIC:
            if not name:
                raise ResourceError(ErrorCode.INVALID_REQUEST, "a topic has no default resource")
            if not is_legal_name(name):
                raise ResourceError(
                    ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name[:260]!r} is no topic name"
                )
        case Resource.BROKER:
            if name != ALL_BROKERS and _NODE_ID.fullmatch(name) is None:
                raise ResourceError(ErrorCode.INVALID_REQUEST, f"{name[:200]!r} is no broker id")
        case Resource.CLIENT_METRICS | Resource.GROUP:
            if not name:
                raise ResourceError(ErrorCode.INVALID_REQUEST, "the resource has no name")
        case _:
            raise ResourceError(ErrorCode.INVALID_REQUEST, f"resource type {kind} has no values")


def check_exists(image: MetadataImage, kind: int, name: str) -> None:
    """Refuse a topic or broker that does not exist; other resources may be configured before.

    Raises:
        ResourceError: the resource does not exist.
    """
    if kind == Resource.TOPIC and image.topic_named(name) is None:
        raise ResourceError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name[:260]}")
    if kind != Resource.BROKER or name == ALL_BROKERS:
        return
    node_id = NodeId(int(name))
    if node_id not in image.brokers and ("controller", node_id) not in image.others:
        raise ResourceError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"node {node_id} is no registered broker"
        )
