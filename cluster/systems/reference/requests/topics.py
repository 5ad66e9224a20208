"""Draw CreateTopics and DeleteTopics: batches with duplicates, and assignments wrong in any way."""

from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.cluster.systems.reference.requests.configurations import draw_configurations
from kraftproof.cluster.systems.reference.requests.vocabulary import (
    LEGAL,
    PREFIX,
    Vocabulary,
    draw_broker,
    draw_name,
    draw_text,
    draw_timeout_ms,
    draw_uuid,
)
from kraftproof.node.wire.messages import (
    create_topics_request,
    delete_topics_request,
    metadata_request,
)
from kraftproof.node.wire.types import ZERO_UUID

Assignment = create_topics_request.CreatableReplicaAssignment
Topic = create_topics_request.CreatableTopic
Config = create_topics_request.CreatableTopicConfig
State = delete_topics_request.DeleteTopicState

BATCHES: Final = (0, 1, 1, 1, 2, 2, 3, 5, 12)
PARTITIONS: Final = (-1, -1, 1, 1, 2, 3, 0, -2, 5)
MANY_PARTITIONS: Final = (100, 9_999, 10_000, 10_001, (1 << 31) - 1, -(1 << 31))
FACTORS: Final = (-1, -1, 1, 1, 2, 3, 0, -2, 4, 32_767, -32_768)
ABOUT_THE_LIMIT: Final = (9_998, 9_999, 10_000, 10_001)
"""Partitions of a topic whose records are about as many as a request may write, 10,000."""
AT_LIMIT_SHARE: Final = 0.04
MOST_CREATED: Final = 200
"""Partitions that a request may create; more are validated only, since each costs memory."""


def create_topics(
    random: Random, vocabulary: Vocabulary
) -> create_topics_request.CreateTopicsRequest:
    """Return a CreateTopics with any number of topics, good and bad."""
    if random.random() < AT_LIMIT_SHARE:
        return _at_limit(random)
    topics = [_topic(random, vocabulary) for _ in range(random.choice(BATCHES))]
    if topics and random.random() < 0.25:
        again = random.choice(topics)
        topics.insert(random.randrange(len(topics) + 1), again)
    asked = sum(max(topic.num_partitions, len(topic.assignments)) for topic in topics)
    return create_topics_request.CreateTopicsRequest(
        topics=tuple(topics),
        timeout_ms=draw_timeout_ms(random),
        validate_only=asked > MOST_CREATED or random.random() < 0.2,
    )


def _at_limit(random: Random) -> create_topics_request.CreateTopicsRequest:
    """Return a validation of a good topic with about as many partitions as a request may have."""
    partitions = random.choice(ABOUT_THE_LIMIT)
    topic = Topic(name=random.choice(LEGAL), num_partitions=partitions, replication_factor=1)
    return create_topics_request.CreateTopicsRequest(
        topics=(topic,), timeout_ms=2_000, validate_only=True
    )


def _topic(random: Random, vocabulary: Vocabulary) -> Topic:
    partitions = random.choice(MANY_PARTITIONS if random.random() < 0.04 else PARTITIONS)
    factor = random.choice(FACTORS)
    assignments: tuple[Assignment, ...] = ()
    if random.random() < 0.5:
        partitions, factor = random.choice((-1, 1, 2, 3)), random.choice((-1, 1, 2, 3))
    if random.random() < 0.3:
        assignments = _assignments(random, vocabulary)
        if random.random() < 0.85:
            partitions = factor = -1
    configs: tuple[Config, ...] = ()
    if random.random() < 0.25:
        drawn = draw_configurations(random)
        configs = tuple(Config(name=name, value=value) for name, value in drawn)
    return Topic(
        name=draw_name(random),
        num_partitions=partitions,
        replication_factor=factor,
        assignments=assignments,
        configs=configs,
    )


def _assignments(random: Random, vocabulary: Vocabulary) -> tuple[Assignment, ...]:
    """Return a manual assignment: right in half of the draws, else wrong in one way."""
    brokers = vocabulary.brokers
    factor = random.randint(1, min(3, len(brokers)))
    right = [
        (index, tuple(random.sample(brokers, factor))) for index in range(random.choice((1, 2, 3)))
    ]
    if random.random() < 0.5:
        right = random.choice(_WRONGS)(right, random, vocabulary)
    elif random.random() < 0.3:
        random.shuffle(right)
    return tuple(Assignment(partition_index=index, broker_ids=ids) for index, ids in right)


Rows = list[tuple[int, tuple[int, ...]]]


def _with_gap(rows: Rows, random: Random, vocabulary: Vocabulary) -> Rows:
    del random, vocabulary
    return [*rows, (len(rows) + 1, rows[0][1])]


def _from_one(rows: Rows, random: Random, vocabulary: Vocabulary) -> Rows:
    del vocabulary
    return [(index + random.choice((1, -1, 1 << 30)), ids) for index, ids in rows]


def _index_twice(rows: Rows, random: Random, vocabulary: Vocabulary) -> Rows:
    del vocabulary
    return [*rows, random.choice(rows)]


def _broker_twice(rows: Rows, random: Random, vocabulary: Vocabulary) -> Rows:
    del random, vocabulary
    return [(index, (*ids, ids[0])) for index, ids in rows]


def _unequal(rows: Rows, random: Random, vocabulary: Vocabulary) -> Rows:
    del random
    return [*rows, (len(rows), vocabulary.brokers[: len(rows[0][1]) + 1][1:] or ())]


def _empty(rows: Rows, random: Random, vocabulary: Vocabulary) -> Rows:
    del vocabulary
    return [(index, () if random.random() < 0.5 else ids) for index, ids in rows] or rows


def _unknown_broker(rows: Rows, random: Random, vocabulary: Vocabulary) -> Rows:
    return [(index, (*ids[1:], draw_broker(random, vocabulary))) for index, ids in rows]


_WRONGS: Final[tuple[Callable[[Rows, Random, Vocabulary], Rows], ...]] = (
    _with_gap,
    _from_one,
    _index_twice,
    _broker_twice,
    _unequal,
    _empty,
    _unknown_broker,
)


def delete_topics(
    random: Random, vocabulary: Vocabulary
) -> delete_topics_request.DeleteTopicsRequest:
    """Return a DeleteTopics by names, by ids, by both or by neither, with repetitions."""
    states = [_state(random, vocabulary) for _ in range(random.choice(BATCHES))]
    names = [draw_name(random) for _ in range(random.choice(BATCHES))]
    if states and random.random() < 0.2:
        states.append(random.choice(states))
    if names and random.random() < 0.2:
        names.append(random.choice(names))
    is_by_state = random.random() < 0.5
    return delete_topics_request.DeleteTopicsRequest(
        topics=tuple(states) if is_by_state else (),
        topic_names=() if is_by_state else tuple(names),
        timeout_ms=draw_timeout_ms(random),
    )


def _state(random: Random, vocabulary: Vocabulary) -> State:
    drawn = random.random()
    if drawn < 0.6:
        return State(name=draw_name(random))
    if drawn < 0.9:
        return State(name=None, topic_id=draw_uuid(random, vocabulary))
    if drawn < 0.95:
        return State(name=None, topic_id=ZERO_UUID)
    return State(name=draw_name(random), topic_id=draw_uuid(random, vocabulary))


def metadata(random: Random, vocabulary: Vocabulary) -> metadata_request.MetadataRequest:
    """Return a Metadata about all topics, about none, or about topics by name and by id."""
    topics: list[metadata_request.MetadataRequestTopic] = []
    for _ in range(random.choice(BATCHES)):
        if random.random() < 0.75:
            topics.append(metadata_request.MetadataRequestTopic(name=draw_name(random)))
        else:
            topic_id = draw_uuid(random, vocabulary)
            name = None if random.random() < 0.9 else draw_name(random)
            topics.append(metadata_request.MetadataRequestTopic(name=name, topic_id=topic_id))
    return metadata_request.MetadataRequest(
        topics=None if random.random() < 0.1 else tuple(topics),
        allow_auto_topic_creation=random.random() < 0.5,
        include_cluster_authorized_operations=random.random() < 0.3,
        include_topic_authorized_operations=random.random() < 0.3,
    )


def name_of_resource(random: Random) -> str:
    """Return the name of a resource whose configurations are asked for."""
    return draw_name(random) if random.random() < 0.8 else PREFIX + draw_text(random)
