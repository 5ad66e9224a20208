"""Judge AlterPartitionReassignments and ListPartitionReassignments (KIP-455; 631-70 to 73)."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.partitions.change import (
    Election,
    after_change,
    allows_unclean,
)
from kraftproof.checkers.kraft.specification.partitions.compare import wrong_partitions
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.clients import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    Reassignment,
)

MAX_PARTITIONS: Final = 10_000
Decided = tuple[str, int, Code, PartitionKey | None, Partition | None]
"""The topic's name, the index, the right code, and the partition after the request."""


def _is_too_large(request: AlterPartitionReassignmentsRequest) -> bool:
    return sum(len(topic.partitions) for topic in request.topics) > MAX_PARTITIONS


def _decide(image: Image, request: AlterPartitionReassignmentsRequest) -> Iterator[Decided]:
    changed: dict[PartitionKey, Partition] = {}
    for topic in request.topics:
        known = image.topic_named(topic.name)
        for entry in topic.partitions:
            index = entry.partition_index
            if known is None or index not in known.partitions:
                yield topic.name, index, Code.UNKNOWN_TOPIC_OR_PARTITION, None, None
                continue
            key = (known.topic_id, index)
            was = changed.get(key, known.partitions[index])
            is_unclean = allows_unclean(image, topic.name)
            wanted = _wanted(image, was, entry, request, is_unclean=is_unclean)
            if isinstance(wanted, Code):
                yield topic.name, index, wanted, key, was
                continue
            unclean = entry.replicas is None and is_unclean
            election = Election.UNCLEAN if unclean else Election.USUAL
            changed[key] = after_change(image, was, wanted, election=election)
            yield topic.name, index, Code.NONE, key, changed[key]


def _wanted(
    image: Image,
    was: Partition,
    entry: Reassignment,
    request: AlterPartitionReassignmentsRequest,
    *,
    is_unclean: bool,
) -> Partition | Code:
    """Return the partition with the wanted replicas, or the code of a refusal."""
    old = tuple(node for node in was.replicas if node not in was.adding)
    if entry.replicas is None:
        if not was.adding and not was.removing:
            return Code.NO_REASSIGNMENT_IN_PROGRESS
        in_sync = tuple(node for node in was.isr if node not in was.adding)
        if not old or not (in_sync or is_unclean):
            return Code.INVALID_REPLICA_ASSIGNMENT
        return replace(was, replicas=old, isr=in_sync or old[:1], adding=(), removing=())
    target = entry.replicas
    is_legal = target and len(set(target)) == len(target) and not set(target) - set(image.brokers)
    if not is_legal:
        return Code.INVALID_REPLICA_ASSIGNMENT
    if not request.allow_replication_factor_change and len(target) != len(old):
        return Code.INVALID_REPLICATION_FACTOR
    new = set(target) - set(old)
    in_sync = tuple(node for node in was.isr if node in target)
    if not new and in_sync:
        return replace(was, replicas=target, isr=in_sync, adding=(), removing=())
    gone = tuple(sorted(set(was.replicas) - set(target)))
    return replace(was, replicas=target + gone, adding=tuple(sorted(new)), removing=gone)


def wrong_reassignments(
    image: Image, request: AlterPartitionReassignmentsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of AlterPartitionReassignments, or None."""
    if _is_too_large(request):
        return "a request of too many partitions has changed partitions" if written else None
    expected = {
        key: now
        for _, _, code, key, now in _decide(image, request)
        if code == Code.NONE and key is not None and now is not None
    }
    return wrong_partitions(image, written, expected)


def wrong_reassignment_answer(
    image: Image,
    request: AlterPartitionReassignmentsRequest,
    answer: AlterPartitionReassignmentsResponse,
) -> str | None:
    """Return why an answer to AlterPartitionReassignments is wrong, or None."""
    if _is_too_large(request):
        is_right = answer.error_code == Code.POLICY_VIOLATION
        return None if is_right else f"{code_name(answer.error_code)}, not POLICY_VIOLATION"
    if answer.error_code != Code.NONE:
        return f"{code_name(answer.error_code)} to a whole request"
    expected = [(name, index, int(code)) for name, index, code, _, _ in _decide(image, request)]
    found = [
        (topic.name, entry.partition_index, entry.error_code)
        for topic in answer.responses
        for entry in topic.partitions
    ]
    return None if found == expected else f"{found} is answered, not {expected}"


def wrong_listing(
    image: Image,
    request: ListPartitionReassignmentsRequest,
    answer: ListPartitionReassignmentsResponse,
) -> str | None:
    """Return why an answer to ListPartitionReassignments is wrong, or None."""
    if answer.error_code != Code.NONE:
        return f"{code_name(answer.error_code)} to a question for reassignments"
    asked = (
        [(topic.name, index) for topic in image.topics.values() for index in topic.partitions]
        if request.topics is None
        else [(topic.name, index) for topic in request.topics for index in topic.partition_indexes]
    )
    expected = []
    for name, index in asked:
        topic = image.topic_named(name)
        partition = None if topic is None else topic.partitions.get(index)
        if partition is not None and (partition.adding or partition.removing):
            sets = (partition.replicas, partition.adding, partition.removing)
            expected.append((name, index, *sets))
    found = [
        (topic.name, one.partition_index, one.replicas, one.adding_replicas, one.removing_replicas)
        for topic in answer.topics
        for one in topic.partitions
    ]
    return None if sorted(found) == sorted(expected) else f"{found} is answered, not {expected}"
