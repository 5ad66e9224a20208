"""AnswersFollowEntries: what a client without all rights gets, judged by the entries."""

import pytest

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, InvariantMonitor
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    ALTER,
    AnswersFollowEntries,
    allowed,
)
from kraftproof.node.core.base.config import AuthorizerPolicy, Timeouts
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    envelope_response,
    unregister_broker_request,
    unregister_broker_response,
)
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from tests.node.core.security.rules import CLUSTER, TOPIC, entry, received

ANN = Principal(type="User", name="ann")
POLICY = AuthorizerPolicy(super_users=("User:ANONYMOUS",))
CONFIG = ClusterConfig(voters=(1,), timeouts=Timeouts(), authorizer=POLICY)
MAY_ALTER = entry(ALTER, "kafka-cluster", kind=CLUSTER, principal="User:ann")
MAY_FORWARD = entry(9, "kafka-cluster", kind=CLUSTER, principal="User:ann")
UNREGISTER = unregister_broker_request.UnregisterBrokerRequest(broker_id=7)


class OneProcess:
    """A process of node 1, as far as the invariant looks."""

    node_id, incarnation = 1, 1
    image = EMPTY_IMAGE

    def now_ns(self) -> int:
        return 0


def image(*entries) -> MetadataImage:
    return apply_all(EMPTY_IMAGE, entries)


def publish(invariant, process, offset, published):
    process.image = published
    invariant.on_published(process, offset, published)


def violations(*steps, message=UNREGISTER, answer, forwarded_by=None, at_controller=True):
    """Publish the first image, receive, publish the other images, and answer."""
    invariant = AnswersFollowEntries(CONFIG)
    monitor = InvariantMonitor([invariant])
    process = OneProcess()
    event = received(
        message,
        ANONYMOUS if forwarded_by else ANN,
        on_controller_listener=at_controller,
        forwarded_by=forwarded_by,
    )
    first, *others = steps
    publish(invariant, process, 1, first)
    invariant.on_client_received(process, event)
    for later in others:
        publish(invariant, process, 2, later)
    invariant.on_client_replied(process, event, answer)
    return [one.invariant for one in monitor.violations]


def unregistered(error: int) -> unregister_broker_response.UnregisterBrokerResponse:
    return unregister_broker_response.UnregisterBrokerResponse(error_code=error)


DENIED = unregistered(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
DONE = unregistered(ErrorCode.BROKER_ID_NOT_REGISTERED)
UNDECIDED = unregistered(ErrorCode.NOT_CONTROLLER)


@pytest.mark.parametrize(
    ("images", "answer", "is_right"),
    [
        ([image()], DENIED, True),
        ([image()], DONE, False),
        ([image(MAY_ALTER)], DONE, True),
        ([image(MAY_ALTER)], DENIED, False),
        ([image(), image(MAY_ALTER)], DONE, True),
        ([image(), image(MAY_ALTER)], DENIED, True),
        ([image(MAY_ALTER), image(MAY_ALTER)], DENIED, False),
        ([image()], UNDECIDED, True),
    ],
)
def test_answers_follow_entries(images, answer, is_right) -> None:
    assert violations(*images, answer=answer) == ([] if is_right else ["AnswersFollowEntries"])


@pytest.mark.parametrize(
    ("images", "is_refused", "is_right"),
    [
        ([image()], True, True),
        ([image()], False, False),
        ([image(MAY_FORWARD)], False, True),
        ([image(MAY_FORWARD)], True, False),
    ],
)
def test_an_envelope_needs_cluster_action(images, is_refused, is_right) -> None:
    refused = envelope_response.EnvelopeResponse(error_code=31)
    answer = refused if is_refused else DONE
    found = violations(*images, answer=answer, forwarded_by=ANN)
    assert found == ([] if is_right else ["AnswersFollowEntries"])


def test_a_topic_may_be_created_by_either_right() -> None:
    topic = create_topics_request.CreatableTopic(name="ab")
    request = create_topics_request.CreateTopicsRequest(topics=(topic,))
    result = create_topics_response.CreatableTopicResult(name="ab")
    done = create_topics_response.CreateTopicsResponse(topics=(result,))
    create = entry(5, "a", principal="User:ann", is_prefix=True)
    assert violations(image(create), message=request, answer=done) == []
    assert violations(image(), message=request, answer=done) == ["AnswersFollowEntries"]


def test_the_rules_by_hand() -> None:
    def may(*entries, operation=8, name="t") -> bool:
        right = (operation, TOPIC, name)
        return allowed(image(*entries), "User:ann", "h", right, default=False)

    own = {"principal": "User:ann"}
    assert may(entry(3, "t", **own))
    assert not may(entry(3, "t", **own), entry(8, "*", denies=True, **own))
    assert may(entry(3, "t", **own), entry(3, "t", denies=True, **own), entry(4, "t", **own))
    assert may(entry(ALL, "*", **own))
    assert not may(entry(3, "t", principal="User:bob"))
    assert not may(entry(3, "t", host="other", **own))
