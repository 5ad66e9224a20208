"""Compare the topics that a broker creates for clients, and the internal ones, with a set of names.

The table of the internal topics' configurations is that of Kafka 4.3.0 (the topic configurations of
its group, transaction and share coordinators).
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.brokers.listings import event_of
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import InternalTopics, Timeouts
from kraftproof.node.core.base.types import NO_NODE, Instant, Monotonic, NodeId, WallClock
from kraftproof.node.core.broker.auto_creation import AutoCreator
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.messages import Message, create_topics_request, metadata_request

STEPS: Final = 30
MS: Final = 1_000_000
GROUP: Final = "__consumer_offsets"
TRANSACTION: Final = "__transaction_state"
SHARE: Final = "__share_group_state"
NAMES: Final = ("a", "b", "c", GROUP, TRANSACTION, SHARE)
MOST: Final = 1_000
"""Maximum of the creations under way at a broker."""
MANY_SHARE: Final = 0.02
"""Share of the requests of clients that name about as many topics."""
REQUESTS_NS: Final = (1, 999_999, 1_000_000, 1_999_999, 2_500_000, 3_000_000_000)
CONTROLLERS: Final = (NodeId(3), NodeId(4))
NOW: Final = Instant(Monotonic(0), WallClock(0))
CLIENT: Final = event_of(metadata_request.MetadataRequest(), 12, "CLIENT")
Creation = tuple[str, int, int, tuple[tuple[str, str | None], ...]]
"""Name, partitions, replicas, and configurations of a topic to be created."""


def compare_creations(random: Random) -> None:
    """Let clients name topics of a broker, answer its requests, and compare the requests.

    Raises:
        DifferenceError: a topic is not created, is created twice at a time or in another way.
    """
    _Broker(random).run()


class _Broker:
    """A broker's creations beside the set of those under way."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._sizes = InternalTopics(
            group_partitions=random.randint(1, 9),
            group_factor=random.randint(1, 3),
            transaction_partitions=random.randint(11, 19),
            transaction_factor=random.randint(4, 6),
            share_partitions=random.randint(21, 29),
            share_factor=random.randint(7, 9),
            transaction_min_isr=random.randint(1, 3),
            share_min_isr=random.randint(4, 6),
            group_segment_bytes=random.randint(1, 4) << 20,
            transaction_segment_bytes=random.randint(5, 8) << 20,
            share_segment_bytes=random.randint(9, 12) << 20,
        )
        self._config = replace(
            BARE_BROKER,
            internal_topics=self._sizes,
            timeouts=Timeouts(request_ns=random.choice(REQUESTS_NS)),
        )
        self._leader: NodeId = NO_NODE
        self._outbox = Outbox()
        self._creator = AutoCreator(self._config, self._outbox, lambda: self._leader)
        self._open: list[tuple[int, Sequence[str]]] = []
        """The open requests: correlation and names."""

    def run(self) -> None:
        """Draw the steps of a broker."""
        for _ in range(STEPS):
            self._leader = self._random.choice((NO_NODE, *CONTROLLERS, *CONTROLLERS))
            if self._open and self._random.random() < 0.4:
                self._answer()
            elif self._random.random() < 0.5:
                names = self._draw_names()
                self._creator.create_named(CLIENT, names)
                self._compare(names, is_internal=False)
            else:
                name = self._random.choice(NAMES[3:])
                self._creator.create_internal(name)
                self._compare([name], is_internal=True)

    def _draw_names(self) -> list[str]:
        """Return the topics that a client names, seldom about as many as may be under way."""
        random = self._random
        if random.random() >= MANY_SHARE:
            return random.choices(NAMES, k=random.randint(0, 4))
        count = MOST + random.choice((-4, -1, 0, 1))
        return [f"{random.choice(NAMES[:3])}-{place}" for place in range(count)]

    def _answer(self) -> None:
        """Answer an open request, or lose its answer: both allow another attempt."""
        correlation, _ = self._open.pop(self._random.randrange(len(self._open)))
        self._outbox.resume(correlation, None, NOW)
        same("the requests after an answer", self._drained(), [])

    def _compare(self, names: Sequence[str], *, is_internal: bool) -> None:
        under_way = {name for _, names in self._open for name in names}
        fresh = [name for name in dict.fromkeys(names) if name not in under_way]
        fresh = fresh[: MOST - len(under_way)]
        sent = self._drained()
        if not fresh or self._leader == NO_NODE:
            same("the requests without a controller or a missing topic", sent, [])
            return
        same("the number of requests", len(sent), 1)
        (request,) = sent
        same("the kind of the request", type(request), Send if is_internal else Forward)
        same("the controller", request.destination, self._leader)
        if isinstance(request, Forward):
            asked = (request.principal, request.client_host, request.client_id)
            same("the client", asked, (CLIENT.principal, CLIENT.client_host, CLIENT.client_id))
        self._compare_topics(request.message, fresh)
        same("the time of the request", request.timeout_ns, self._config.timeouts.request_ns)
        self._open.append((request.correlation, fresh))

    def _compare_topics(self, message: Message, fresh: Sequence[str]) -> None:
        assert isinstance(message, create_topics_request.CreateTopicsRequest)
        check("a broker creates topics, and does not only validate", not message.validate_only)
        time_ms = max(self._config.timeouts.request_ns // MS, 1)
        same("the time-out in a request", message.timeout_ms, time_ms)
        made = [
            (
                topic.name,
                topic.num_partitions,
                topic.replication_factor,
                tuple(sorted((config.name, config.value) for config in topic.configs)),
            )
            for topic in message.topics
        ]
        same("the topics", made, [self._expected(name) for name in fresh])

    def _expected(self, name: str) -> Creation:
        sizes = self._sizes
        compact = ("cleanup.policy", "compact")
        as_sent = ("compression.type", "producer")
        if name == GROUP:
            segment = ("segment.bytes", str(sizes.group_segment_bytes))
            return name, sizes.group_partitions, sizes.group_factor, (compact, as_sent, segment)
        if name == TRANSACTION:
            plain = ("compression.type", "uncompressed")
            clean = ("unclean.leader.election.enable", "false")
            isr = ("min.insync.replicas", str(sizes.transaction_min_isr))
            segment = ("segment.bytes", str(sizes.transaction_segment_bytes))
            configs = (compact, plain, isr, segment, clean)
            return name, sizes.transaction_partitions, sizes.transaction_factor, configs
        if name == SHARE:
            delete, kept = ("cleanup.policy", "delete"), ("retention.ms", "-1")
            isr = ("min.insync.replicas", str(sizes.share_min_isr))
            segment = ("segment.bytes", str(sizes.share_segment_bytes))
            configs = (delete, as_sent, isr, kept, segment)
            return name, sizes.share_partitions, sizes.share_factor, configs
        return name, -1, -1, ()

    def _drained(self) -> list[Send | Forward]:
        """Take the requests of the last step."""
        effects, self._outbox.effects = self._outbox.effects, []
        sent = [effect for effect in effects if isinstance(effect, Send | Forward)]
        same("the other effects", len(effects) - len(sent), 0)
        return sent
