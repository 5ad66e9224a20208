"""Compare the times of a broker's reports of directories with an exponential back-off (KIP-858).

A report that is lost, refused or carried out in part is repeated after 100 ms, and after twice the
time with each further failure, up to 10 s. Kafka adds up to 2 % to each time.
"""

from math import ceil
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.placements.placed_broker import (
    BROKER,
    DIRECTORIES,
    OTHER,
    PlacedBroker,
    Told,
    first_image,
)
from kraftproof.node.core.base.directory_ids import UNASSIGNED
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import assign_replicas_to_dirs_response as module
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

ROUNDS: Final = 12
PARTITIONS: Final = 3
CONTROLLER: Final = 8
FIRST_MS, LONGEST_MS = 100, 10_000
JITTER: Final = 0.02
TOPIC: Final = Uuid(b"topic of reports")
LATER: Final = Uuid(b"a topic of later")
Answer = module.AssignReplicasToDirsResponse


def compare_report_times(random: Random) -> None:
    """Answer the reports of a broker, and compare the time of each further report.

    Raises:
        DifferenceError: a report is early, late, missing or too much.
    """
    image = apply_all(first_image(), _topic(TOPIC))
    broker = PlacedBroker(image, DIRECTORIES[:1], {}, controller=CONTROLLER, time_ms=0)
    failures, left = 0, set(range(PARTITIONS))
    rounds = random.choice((1, 3, ROUNDS))
    for number in range(rounds):
        (told,) = broker.told
        same("the partitions of a report", _partitions(told), left)
        done = _draw_done(random, left) if number < rounds - 1 else left
        broker.answer(told, _answer(told, done, random))
        if done == left:
            break
        left, failures = left - done, failures + 1
        wait_ms = min(FIRST_MS << failures - 1, LONGEST_MS)
        broker.pass_time(wait_ms - 1)
        same(f"the reports {wait_ms - 1} ms after failure {failures}", broker.told, [])
        broker.pass_time(1 + ceil(wait_ms * JITTER))
        check(f"a report {wait_ms} ms after failure {failures}", broker.told)
    broker.pass_time(LONGEST_MS)
    same("the reports after all were carried out", broker.told, [])
    broker.write(*_topic(LATER))
    check("a new replica is reported at once", broker.told)
    broker.answer(broker.told[0], None)
    broker.pass_time(FIRST_MS + ceil(FIRST_MS * JITTER))
    check("the first failure after a success is the first again", broker.told)


def _draw_done(random: Random, left: set[int]) -> set[int]:
    """Return the partitions that the controller carries out, not all."""
    return {one for one in left if len(left) > 1 and random.random() < 0.1 and one != min(left)}


def _partitions(told: Told) -> set[int]:
    return {
        one.partition_index
        for directory in told.message.directories
        for topic in directory.topics
        for one in topic.partitions
    }


def _answer(told: Told, done: set[int], random: Random) -> Answer | None:
    """Return the answer to a report: lost or refused as a whole, or with an error for the rest."""
    if not done and random.random() < 0.7:
        return random.choice((None, Answer(error_code=ErrorCode.NOT_CONTROLLER)))
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return Answer(
        directories=tuple(
            module.DirectoryData(
                id=directory.id,
                topics=tuple(
                    module.TopicData(
                        topic_id=topic.topic_id,
                        partitions=tuple(
                            module.PartitionData(
                                partition_index=one.partition_index,
                                error_code=0 if one.partition_index in done else error,
                            )
                            for one in topic.partitions
                        ),
                    )
                    for topic in directory.topics
                ),
            )
            for directory in told.message.directories
        )
    )


def _topic(topic_id: Uuid) -> tuple[records.MetadataRecord, ...]:
    """Return the records of a topic whose replicas have no directory in the image."""
    partitions = (
        records.PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=(OTHER, int(BROKER)),
            isr=(OTHER,),
            leader=OTHER,
            leader_epoch=0,
            partition_epoch=0,
            directories=(Uuid(b"o" * 16), UNASSIGNED),
        )
        for index in range(PARTITIONS)
    )
    return (records.TopicRecord(name=topic_id.hex(), topic_id=topic_id), *partitions)
