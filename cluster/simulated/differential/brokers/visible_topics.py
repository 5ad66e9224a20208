"""Compare which topics Metadata shows to a client, lists and by name or id."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.data.drawn_rights import Rights
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import DESCRIBE, TOPIC
from kraftproof.node.core.broker.metadata import MetadataAnswers
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import metadata_request
from kraftproof.node.wire.records.metadata import TopicRecord
from kraftproof.node.wire.types import ZERO_UUID, Uuid

INTERNAL: Final = "__consumer_offsets"
TOPICS: Final = {
    name: Uuid(bytes(15) + bytes([place + 1]))
    for place, name in enumerate((INTERNAL, "a", "ab", "c"))
}
AskedTopic = metadata_request.MetadataRequestTopic


def draw_request(random: Random) -> metadata_request.MetadataRequest:
    """Ask for all topics, or for some by name or by id."""
    names = random.sample(sorted(TOPICS), random.randint(1, len(TOPICS)))
    asked = {
        "all": None,
        "names": tuple(AskedTopic(name=name) for name in names),
        "ids": tuple(AskedTopic(name=None, topic_id=TOPICS[name]) for name in names),
    }
    return metadata_request.MetadataRequest(topics=asked[random.choice(sorted(asked))])


def compare_visible(
    image: MetadataImage, rights: Rights, authorizer: Authorizer | None, event: Received
) -> None:
    """Compare the topics of an answer: a refusal names what the client has named, and no more.

    Raises:
        DifferenceError: the client sees something else.
    """
    request = event.message
    assert isinstance(request, metadata_request.MetadataRequest), "a request for topics"
    image = apply_all(image, tuple(TopicRecord(name=n, topic_id=i) for n, i in TOPICS.items()))
    said = MetadataAnswers(BARE_BROKER).answer(image, request, event, authorizer)
    found = [(one.error_code, one.name, one.topic_id, one.is_internal) for one in said.topics]
    names = {topic_id: name for name, topic_id in TOPICS.items()}
    expected: list[tuple[object, ...]] = []
    for asked in request.topics or tuple(AskedTopic(name=name) for name in sorted(TOPICS)):
        name = asked.name or names[asked.topic_id]
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if rights.allows(event, DESCRIBE, TOPIC, name):
            expected.append((ErrorCode.NONE, name, TOPICS[name], name == INTERNAL))
        elif request.topics is None:
            continue
        elif asked.name is None:
            expected.append((error, None, asked.topic_id, False))
        else:
            expected.append((error, name, ZERO_UUID, False))
    same("the topics that a client sees", found, expected)
