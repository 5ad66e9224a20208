"""Find the topics of a request that its sender has no right for (KIP-11).

Without an authorizer every topic is allowed.
"""

from collections.abc import Iterable, Mapping

from kraftproof.node.core.broker.data.fetch_answer import TOPIC_IDS_FROM as FETCHED_BY_ID
from kraftproof.node.core.broker.data.produce_answer import TOPIC_IDS_FROM as PRODUCED_BY_ID
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import ERRORS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, produce_request
from kraftproof.node.wire.records.raw_batch import begins_transaction
from kraftproof.node.wire.types import Uuid


def denied_topics(
    authorizer: Authorizer | None, event: Received, names: Iterable[str]
) -> frozenset[str]:
    """Return the topics of a request that its sender has no right for; none without authorizer."""
    if authorizer is None:
        return frozenset()
    return frozenset(
        name for name in dict.fromkeys(names) if not authorizer.allows_part(event, name)
    )


def _name_of(image: MetadataImage, name: str, topic_id: Uuid, *, has_id: bool) -> str:
    """Return the name of a topic that a request names by id or by name; empty if unknown."""
    if not has_id:
        return name
    topic = image.topics.get(topic_id)
    return "" if topic is None else topic.name


def denied_writes(
    authorizer: Authorizer | None,
    event: Received,
    request: produce_request.ProduceRequest,
    image: MetadataImage,
    *,
    is_transactional: bool,
) -> Mapping[int, ErrorCode]:
    """Return the errors of the topics that a producer may not write, by place in the request.

    An unknown id is no denial. Records of a transaction need a transactional id, also without an
    authorizer.
    """
    transactional_id, kind = request.transactional_id, ResourceKind.TRANSACTIONAL_ID
    if is_transactional and (
        transactional_id is None
        or not (
            authorizer is None or authorizer.allows(event, Operation.WRITE, kind, transactional_id)
        )
    ):
        return dict.fromkeys(range(len(request.topic_data)), ERRORS[kind])
    if authorizer is None:
        return {}
    has_id = event.version >= PRODUCED_BY_ID
    names = [
        _name_of(image, topic.name, topic.topic_id, has_id=has_id) for topic in request.topic_data
    ]
    denied = denied_topics(authorizer, event, filter(None, names))
    error = ERRORS[ResourceKind.TOPIC]
    return {place: error for place, name in enumerate(names) if name in denied}


def has_transaction(request: produce_request.ProduceRequest) -> bool:
    """Return whether the first batch of a partition belongs to a transaction."""
    return any(
        begins_transaction(data.records)
        for topic in request.topic_data
        for data in topic.partition_data
        if data.records
    )


def denied_reads(
    authorizer: Authorizer | None,
    event: Received,
    request: fetch_request.FetchRequest,
    image: MetadataImage,
    *,
    is_follower: bool,
) -> frozenset[int]:
    """Return the places of the topics that a reader may not fetch.

    A follower reads every topic, or no topic (CLUSTER_ACTION).
    """
    if authorizer is None:
        return frozenset()
    if is_follower:
        is_allowed = authorizer.allows(event, Operation.CLUSTER_ACTION)
        return frozenset(() if is_allowed else range(len(request.topics)))
    has_id = event.version >= FETCHED_BY_ID
    names = [
        _name_of(image, topic.topic, topic.topic_id, has_id=has_id) for topic in request.topics
    ]
    denied = denied_topics(authorizer, event, filter(None, names))
    return frozenset(place for place, name in enumerate(names) if name in denied)
