"""Compare the limits and the ids of CreateTopics with plain rules (KIP-516, KIP-590).

A request may ask for 10,000 partitions and write 10,000 records. The ids below 2^64 are reserved.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import registered
from kraftproof.cluster.simulated.differential.difference import DifferenceError, named, same
from kraftproof.node.core.controller.topics import create_topics
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request as module
from kraftproof.node.wire.messages import create_topics_response
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import ZERO_UUID, Uuid

ROUNDS: Final = 10
MOST: Final = 10_000
LARGE_SHARE: Final = 0.04
"""Share of the requests that ask for about as many partitions."""
FIRST_ID: Final = 1 << 64
ID_BITS: Final = 128
KNOWN_ID: Final = Uuid(b"k" * 16)
OWN_TOPIC: Final = "__cluster_metadata"
INTERNAL: Final = "__consumer_offsets"
KNOWN: Final = "known"
NAMES: Final = (KNOWN, "a", "b", "c", OWN_TOPIC, INTERNAL)
DEFAULT_FACTOR: Final = 2
REASON: Final = "the policy says no"
CONFIG: Final = ("retention.ms", "5")
DEFAULT: Final = -1
NEGATIVE: Final = -5
Topic = module.CreatableTopic


class _Ids(Random):
    """Draws numbers around the reserved ones, and the id of the known topic, as ids of topics."""

    def __init__(self, random: Random) -> None:
        super().__init__(random.random())
        self.drawn: list[int] = []

    @override
    def getrandbits(self, k: int, /) -> int:
        """Return the next number; any number of another size."""
        if k != ID_BITS:
            return super().getrandbits(k)
        known = int.from_bytes(KNOWN_ID, "big")
        bounds = (0, 1, FIRST_ID - 1, FIRST_ID + len(self.drawn), known)
        self.drawn.append(self.choice((*bounds, super().getrandbits(ID_BITS))))
        return self.drawn[-1]


class _Policy:
    """Refuses drawn topics, as the class of create.topic.policy.class.name (KIP-108)."""

    def __init__(self, random: Random) -> None:
        self.is_used = random.random() < 0.5
        self.refused = frozenset(name for name in NAMES if random.random() < 0.3)
        self._asked: dict[str, tuple[int, int, dict[str, str]]] = {}

    def validate(self, name: str, partitions: int, factor: int, configs: Mapping[str, str]) -> None:
        """Note the question, and refuse the topic if that was drawn."""
        self._asked[name] = (partitions, factor, dict(configs))
        if name in self.refused:
            raise ValueError(REASON)

    def refuses(self, name: str) -> bool:
        """Return whether the policy refuses a topic; it is not asked for internal topics."""
        return self.is_used and name in self.refused and name != INTERNAL

    def compare(
        self, request: module.CreateTopicsRequest, errors: Mapping[str, ErrorCode], default: int
    ) -> None:
        """Compare the questions: each topic that is right otherwise, with numbers, not defaults."""
        due = {
            one.name: (_partitions(one, default), _factor(one), dict(map(_pair, one.configs)))
            for one in request.topics
            if errors[one.name] in {ErrorCode.NONE, _REFUSED} and one.name != INTERNAL
        }
        same("what a policy is asked", self._asked, due)


def _pair(config: module.CreatableTopicConfig) -> tuple[str, str | None]:
    return config.name, config.value


def _factor(topic: Topic) -> int:
    return DEFAULT_FACTOR if topic.replication_factor == DEFAULT else topic.replication_factor


def compare_topic_creations(random: Random) -> None:
    """Create drawn topics.

    Raises:
        DifferenceError: a topic has another answer, another id or other records.
    """
    written: list[Record] = [registered(broker, (Uuid(b"d" * 16),)) for broker in (1, 2)]
    written.append(records.TopicRecord(name=KNOWN, topic_id=KNOWN_ID))
    image = apply_all(EMPTY_IMAGE, tuple(written))
    for _ in range(ROUNDS):
        default = random.choice((1, 3))
        request = _draw(random, default)
        ids = _Ids(random)
        policy = _Policy(random)
        config = replace(
            BARE_BROKER,
            default_partitions=default,
            default_replication_factor=DEFAULT_FACTOR,
            create_topic_policy=policy.validate if policy.is_used else None,
        )
        outcome = create_topics(image, request, config, ids)
        reply = outcome.reply
        if not isinstance(reply, create_topics_response.CreateTopicsResponse):
            raise DifferenceError(f"CreateTopics is answered by {type(reply).__name__}")
        errors, word = _errors(request, default, policy)
        found = [(one.name, ErrorCode(one.error_code)) for one in reply.topics]
        same("the answers to CreateTopics", sorted(found), sorted(errors.items()))
        if word:
            (reason,) = {one.error_message for one in reply.topics if one.error_code == _TOO_MANY}
            named("the reason of a refused request", reason or "", word)
        elif policy.is_used and request.timeout_ms > 0:
            policy.compare(request, errors, default)
        made = [one for one in request.topics if errors[one.name] is ErrorCode.NONE]
        shown = [(one.name, one.num_partitions, one.topic_id) for one in reply.topics]
        due = _made(made, default, ids.drawn, validates=request.validate_only)
        same("the created topics", [one for one in shown if one[1] > 0], due)
        same("the records", _counted(outcome.records), {} if request.validate_only else _due(due))


_TOO_MANY: Final = ErrorCode.POLICY_VIOLATION
_REFUSED: Final = ErrorCode.POLICY_VIOLATION


def _draw(random: Random, default: int) -> module.CreateTopicsRequest:
    count = random.randint(0, 4)
    topics = [
        replace(
            _topic(random.choice(NAMES), random.choice((DEFAULT, 0, 1, 2)), has_config=True),
            replication_factor=random.choice((1, DEFAULT)),
        )
        for _ in range(count)
    ]
    if random.random() < LARGE_SHARE:
        few = random.choice((DEFAULT, DEFAULT, NEGATIVE))
        small = _topic("a", few, has_config=False)
        rest = MOST - max(_partitions(small, default), 0) + random.choice((-2, -1, 0, 1))
        topics = [small, _topic(random.choice((KNOWN, "b")), rest, has_config=False)]
    return module.CreateTopicsRequest(
        topics=tuple(topics),
        timeout_ms=random.choice((-1, 0, 1, 1, 1, 1000, 1000, 1000)),
        validate_only=random.random() < 0.3,
    )


def _topic(name: str, partitions: int, *, has_config: bool) -> Topic:
    config = module.CreatableTopicConfig(name=CONFIG[0], value=CONFIG[1])
    return Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        configs=(config,) if has_config else (),
    )


def _partitions(topic: Topic, default: int) -> int:
    return default if topic.num_partitions == DEFAULT else topic.num_partitions


def _errors(
    request: module.CreateTopicsRequest, default: int, policy: _Policy
) -> tuple[dict[str, ErrorCode], str]:
    """Return the error of each topic, and a word of the reason if the request is too large."""
    times = Counter(topic.name for topic in request.topics)
    errors: dict[str, ErrorCode] = {}
    for topic in request.topics:
        if times[topic.name] > 1 or topic.name == OWN_TOPIC:
            errors[topic.name] = ErrorCode.INVALID_REQUEST
    tried = [topic for topic in request.topics if topic.name not in errors]
    asked = sum(max(_partitions(topic, default), 0) for topic in tried)
    whole, word = ErrorCode.NONE, ""
    if request.timeout_ms < 1:
        whole = ErrorCode.REQUEST_TIMED_OUT
    elif asked > MOST:
        whole, word = _TOO_MANY, f"{asked} partitions"
    for topic in tried:
        error = ErrorCode.NONE
        if topic.name == KNOWN:
            error = ErrorCode.TOPIC_ALREADY_EXISTS
        elif topic.num_partitions in {0, NEGATIVE}:
            error = ErrorCode.INVALID_PARTITIONS
        elif policy.refuses(topic.name):
            error = _REFUSED
        errors[topic.name] = whole or error
    made = [topic for topic in tried if errors[topic.name] is ErrorCode.NONE]
    size = sum(1 + len(topic.configs) + _partitions(topic, default) for topic in made)
    if size > MOST:
        return errors | dict.fromkeys((topic.name for topic in tried), _TOO_MANY), "records"
    return errors, word


def _made(
    made: Sequence[Topic], default: int, drawn: Sequence[int], *, validates: bool
) -> list[tuple[str, int, Uuid]]:
    """Return the created topics: each has the next drawn id that is neither reserved nor used."""
    free = [one for one in drawn if one >= FIRST_ID and one != int.from_bytes(KNOWN_ID, "big")]
    ids = iter(Uuid(one.to_bytes(16, "big")) for one in free)
    return [
        (topic.name, _partitions(topic, default), ZERO_UUID if validates else next(ids, ZERO_UUID))
        for topic in made
    ]


def _due(made: Sequence[tuple[str, int, Uuid]]) -> dict[Uuid, int]:
    """Return the number of partitions in the records, by the topic's id."""
    return {topic_id: partitions for _, partitions, topic_id in made}


def _counted(written: Sequence[Record]) -> dict[Uuid, int]:
    """Return the number of written partitions, by the topic's id."""
    found: Counter[Uuid] = Counter()
    for one in written:
        if isinstance(one, records.PartitionRecord):
            found[one.topic_id] += 1
    topics = {one.topic_id for one in written if isinstance(one, records.TopicRecord)}
    same("the topics in the records", {*found}, topics)
    return dict(found)
