"""Create missing topics at the controller: those that clients name, and internal topics (KIP-590).

A topic that Metadata names is created in an Envelope, with the principal of the client. An internal
topic is created by the broker itself, without a client's principal. A name has at most a single
creation under way at a broker; concurrent creations of several brokers give a single topic, since
the controller refuses an existing name.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from kraftproof.node.core.base.config import InternalTopics, NodeConfig
from kraftproof.node.core.base.types import NO_NODE, Instant, NodeId
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.names import (
    GROUP_TOPIC,
    INTERNAL_TOPICS,
    SHARE_TOPIC,
    TRANSACTION_TOPIC,
)
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.messages import Message, create_topics_request

VERSION: Final = 7
"""The version of CreateTopics, which each supported controller knows."""
MOST_UNDER_WAY: Final = 1000
"""Maximum number of creations under way; a further name waits for the next request of a client."""
CreatableTopic = create_topics_request.CreatableTopic


class AutoCreator:
    """The creations of one broker."""

    __slots__ = ("_config", "_leader", "_outbox", "_under_way")

    def __init__(self, config: NodeConfig, outbox: Outbox, leader: Callable[[], NodeId]) -> None:
        self._config = config
        self._outbox = outbox
        self._leader = leader
        self._under_way: set[str] = set()

    @property
    def is_enabled(self) -> bool:
        """Return whether Metadata creates the topics that clients name."""
        return self._config.auto_creates_topics

    def create_named(self, event: Received, names: Iterable[str]) -> None:
        """Create topics in the name of a client that has asked for the topics."""
        leader, topics = self._leader(), self._begin(names)
        if not topics or leader == NO_NODE:
            return
        self._under_way.update(topic.name for topic in topics)
        timeout_ns = self._config.timeouts.request_ns
        self._outbox.forward(
            leader,
            replace(event, message=self._request(topics), version=VERSION),
            timeout_ns=timeout_ns,
            connect_ns=timeout_ns,
            on_answer=lambda answer, now: self._ended(topics, answer, now),
        )

    def create_internal(self, name: str) -> None:
        """Create an internal topic as the broker itself (590-14)."""
        leader, topics = self._leader(), self._begin([name])
        if not topics or leader == NO_NODE:
            return
        self._under_way.update(topic.name for topic in topics)
        self._outbox.send(
            leader,
            self._request(topics),
            VERSION,
            self._config.timeouts.request_ns,
            lambda answer, now: self._ended(topics, answer, now),
        )

    def _begin(self, names: Iterable[str]) -> list[CreatableTopic]:
        """Return the topics whose creation is not under way yet."""
        room = MOST_UNDER_WAY - len(self._under_way)
        fresh = [name for name in dict.fromkeys(names) if name not in self._under_way]
        return [self._topic(name) for name in fresh[:room]]

    def _topic(self, name: str) -> CreatableTopic:
        if name in INTERNAL_TOPICS:
            return internal_topic(name, self._config.internal_topics)
        return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1)

    def _request(self, topics: Sequence[CreatableTopic]) -> Message:
        timeout_ms = self._config.timeouts.request_ns // 1_000_000
        return create_topics_request.CreateTopicsRequest(
            topics=tuple(topics), timeout_ms=max(1, timeout_ms)
        )

    def _ended(self, topics: list[CreatableTopic], answer: Message | None, now: Instant) -> None:
        """Allow a new attempt: the topic exists now, or the creation has failed."""
        del answer, now
        self._under_way.difference_update(topic.name for topic in topics)


def internal_topic(name: str, settings: InternalTopics) -> CreatableTopic:
    """Return the creation of an internal topic, with Kafka's configurations."""
    compact, as_sent = ("cleanup.policy", "compact"), ("compression.type", "producer")
    plain, clean = ("compression.type", "uncompressed"), ("unclean.leader.election.enable", "false")
    delete, kept = ("cleanup.policy", "delete"), ("retention.ms", "-1")
    partitions, factor, configs = {
        GROUP_TOPIC: (
            *(settings.group_partitions, settings.group_factor),
            (compact, as_sent, _segment(settings.group_segment_bytes)),
        ),
        TRANSACTION_TOPIC: (
            *(settings.transaction_partitions, settings.transaction_factor),
            (
                *(compact, plain, _isr(settings.transaction_min_isr)),
                *(_segment(settings.transaction_segment_bytes), clean),
            ),
        ),
        SHARE_TOPIC: (
            *(settings.share_partitions, settings.share_factor),
            (
                *(delete, as_sent, _isr(settings.share_min_isr)),
                *(kept, _segment(settings.share_segment_bytes)),
            ),
        ),
    }[name]
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        configs=tuple(
            create_topics_request.CreatableTopicConfig(name=key, value=value)
            for key, value in configs
        ),
    )


def _segment(size: int) -> tuple[str, str]:
    return "segment.bytes", str(size)


def _isr(members: int) -> tuple[str, str]:
    return "min.insync.replicas", str(members)
