"""Judge AssignReplicasToDirs: the log directory of each replica of a broker (KIP-858)."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.ids import Id, is_zero, unassigned_like, zero_like
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.partitions.alter_partition import is_current
from kraftproof.checkers.kraft.specification.partitions.change import (
    Election,
    after_change,
    allows_unclean,
)
from kraftproof.checkers.kraft.specification.partitions.compare import wrong_partitions
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.cluster import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
)

METADATA_VERSION: Final = "metadata.version"
LEVEL_OF_DIRECTORIES: Final = 17
MAX_ASSIGNMENTS: Final = 2_250
Decided = tuple[Id, Id, int, Code, Partition | None]
"""The directory, the topic, the index, the right code, and the partition after the request."""


def _refusal(image: Image, request: AssignReplicasToDirsRequest) -> Code | None:
    if not is_current(image, request.broker_id, request.broker_epoch):
        return Code.STALE_BROKER_EPOCH
    if image.features.get(METADATA_VERSION, 0) < LEVEL_OF_DIRECTORIES:
        return Code.UNSUPPORTED_VERSION
    count = sum(len(topic.partitions) for one in request.directories for topic in one.topics)
    return Code.INVALID_REQUEST if count > MAX_ASSIGNMENTS else None


def _decide(image: Image, request: AssignReplicasToDirsRequest) -> Iterator[Decided]:
    changed: dict[PartitionKey, Partition] = {}
    for directory in request.directories:
        for topic in directory.topics:
            known = image.topics.get(topic.topic_id)
            for one in topic.partitions:
                entry = (directory.id, topic.topic_id, one.partition_index)
                if known is None:
                    yield *entry, Code.UNKNOWN_TOPIC_ID, None
                    continue
                key = (topic.topic_id, one.partition_index)
                was = changed.get(key) or known.partitions.get(one.partition_index)
                if was is None:
                    yield *entry, Code.UNKNOWN_TOPIC_OR_PARTITION, None
                elif request.broker_id not in was.replicas:
                    yield *entry, Code.NOT_LEADER_OR_FOLLOWER, None
                else:
                    is_unclean = allows_unclean(image, known.name)
                    election = Election.UNCLEAN if is_unclean else Election.USUAL
                    now = _placed(image, was, request.broker_id, directory.id, election)
                    changed[key] = now
                    yield *entry, Code.NONE, now


def _placed(
    image: Image, was: Partition, broker_id: int, directory: Id, election: Election
) -> Partition:
    known = was.directories or (zero_like(directory),) * len(was.replicas)
    places = tuple(
        directory if node == broker_id else place
        for node, place in zip(was.replicas, known, strict=False)
    )
    is_online = (
        directory in image.brokers[broker_id].log_dirs
        or is_zero(directory)
        or directory == unassigned_like(directory)
    )
    if is_online:
        wanted = replace(was, directories=places)
        return after_change(image, was, wanted, election=election)
    isr = tuple(node for node in was.isr if node != broker_id)
    wanted = replace(was, directories=places, isr=isr)

    def may_lead(node: int) -> bool:
        return node != broker_id and image.may_lead(node)

    return after_change(image, was, wanted, election=election, may_lead=may_lead)


def wrong_assignments(
    image: Image, request: AssignReplicasToDirsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of AssignReplicasToDirs, or None."""
    if _refusal(image, request) is not None:
        return "a refused request has assigned directories" if written else None
    expected = {
        (topic_id, index): now
        for _, topic_id, index, code, now in _decide(image, request)
        if now is not None and code == Code.NONE
    }
    return wrong_partitions(image, written, expected)


def wrong_assignment_answer(
    image: Image, request: AssignReplicasToDirsRequest, answer: AssignReplicasToDirsResponse
) -> str | None:
    """Return why an answer to AssignReplicasToDirs is wrong, or None."""
    refused = _refusal(image, request)
    if refused is not None:
        is_right = answer.error_code == refused
        return None if is_right else f"{code_name(answer.error_code)}, not {refused.name}"
    if answer.error_code != Code.NONE:
        return f"{code_name(answer.error_code)} to a whole request"
    expected = [(*entry[:3], int(entry[3])) for entry in _decide(image, request)]
    found = [
        (directory.id, topic.topic_id, one.partition_index, one.error_code)
        for directory in answer.directories
        for topic in directory.topics
        for one in topic.partitions
    ]
    return None if found == expected else f"{found} is answered, not {expected}"
