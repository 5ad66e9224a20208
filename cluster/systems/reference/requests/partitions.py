"""Draw wishes about partitions: reassignments, cancels, elections, more partitions."""

from random import Random
from typing import Final

from kraftproof.cluster.systems.reference.requests.topics import name_of_resource
from kraftproof.cluster.systems.reference.requests.vocabulary import (
    Vocabulary,
    draw_broker,
    draw_timeout_ms,
)
from kraftproof.node.wire.messages import (
    alter_partition_reassignments_request,
    create_partitions_request,
    elect_leaders_request,
    list_partition_reassignments_request,
)

SIZES: Final = (0, 1, 1, 1, 2, 3)
INDEXES: Final = (0, 0, 0, 1, 1, 2, -1, 99)
COUNTS: Final = (0, 1, 2, 2, 3, 3, 4, 5, -1, 10_002, (1 << 31) - 1)
CANCEL_SHARE: Final = 0.25


def reassignments(
    random: Random, vocabulary: Vocabulary
) -> alter_partition_reassignments_request.AlterPartitionReassignmentsRequest:
    """Return an AlterPartitionReassignments; some partitions are cancelled, some named twice."""
    module = alter_partition_reassignments_request
    return module.AlterPartitionReassignmentsRequest(
        timeout_ms=draw_timeout_ms(random),
        topics=tuple(
            module.ReassignableTopic(
                name=name_of_resource(random),
                partitions=tuple(
                    module.ReassignablePartition(
                        partition_index=random.choice(INDEXES),
                        replicas=_replicas(random, vocabulary),
                    )
                    for _ in range(random.choice(SIZES))
                ),
            )
            for _ in range(random.choice(SIZES))
        ),
        allow_replication_factor_change=random.random() < 0.9,
    )


def _replicas(random: Random, vocabulary: Vocabulary) -> tuple[int, ...] | None:
    if random.random() < CANCEL_SHARE:
        return None
    drawn = [draw_broker(random, vocabulary) for _ in range(random.choice((0, 1, 2, 2, 3, 3)))]
    return tuple(drawn) if random.random() < 0.1 else tuple(dict.fromkeys(drawn))


def listing(
    random: Random, vocabulary: Vocabulary
) -> list_partition_reassignments_request.ListPartitionReassignmentsRequest:
    """Return a ListPartitionReassignments of all or of some topics."""
    del vocabulary
    module = list_partition_reassignments_request
    topics = tuple(
        module.ListPartitionReassignmentsTopics(
            name=name_of_resource(random), partition_indexes=_indexes(random)
        )
        for _ in range(random.choice(SIZES))
    )
    return module.ListPartitionReassignmentsRequest(
        timeout_ms=draw_timeout_ms(random), topics=None if random.random() < 0.5 else topics
    )


def elections(random: Random, vocabulary: Vocabulary) -> elect_leaders_request.ElectLeadersRequest:
    """Return a preferred election, of all topics or of the topics of random requests.

    Unclean elections are drawn for unknown topics only: they would lose records by right.
    """
    del vocabulary
    module = elect_leaders_request
    is_unclean = random.random() < 0.2
    named = tuple(
        module.TopicPartitions(
            topic="__fuzz-none" if is_unclean else name_of_resource(random),
            partitions=_indexes(random),
        )
        for _ in range(random.choice(SIZES))
    )
    is_for_all = not is_unclean and random.random() < 0.3
    return module.ElectLeadersRequest(
        timeout_ms=draw_timeout_ms(random),
        topic_partitions=None if is_for_all else named,
        election_type=1 if is_unclean else random.choice((0, 0, 0, 0, 2, -1)),
    )


def growth(
    random: Random, vocabulary: Vocabulary
) -> create_partitions_request.CreatePartitionsRequest:
    """Return a CreatePartitions, some with assignments that fit."""
    module = create_partitions_request
    topics = []
    for _ in range(random.choice(SIZES)):
        count = random.choice(COUNTS)
        added = random.choice((1, 1, 2))
        assignments = tuple(
            module.CreatePartitionsAssignment(broker_ids=_replicas(random, vocabulary) or ())
            for _ in range(added)
        )
        topics.append(
            module.CreatePartitionsTopic(
                name=name_of_resource(random),
                count=count,
                assignments=None if random.random() < 0.6 else assignments,
            )
        )
    is_large = any(topic.count > 1_000 for topic in topics)
    return module.CreatePartitionsRequest(
        topics=tuple(topics),
        timeout_ms=draw_timeout_ms(random),
        validate_only=is_large or random.random() < 0.2,
    )


def _indexes(random: Random) -> tuple[int, ...]:
    return tuple(random.choice(INDEXES) for _ in range(random.choice(SIZES)))
