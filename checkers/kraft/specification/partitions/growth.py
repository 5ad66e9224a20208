"""Judge CreatePartitions: more partitions of a topic (KIP-195)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.image import Image, Topic
from kraftproof.checkers.kraft.specification.placement import wrong_directories
from kraftproof.checkers.kraft.specification.rows import PartitionRecord, Row
from kraftproof.checkers.kraft.specification.rows.clients import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    GrownTopic,
)

MAX_PARTITIONS: Final = 10_000


def _codes(image: Image, request: CreatePartitionsRequest) -> dict[str, frozenset[Code]]:
    """Return the codes that must refuse each topic; none where the topic grows."""
    times = Counter(topic.name for topic in request.topics)
    single = [topic for topic in request.topics if times[topic.name] == 1]
    found: dict[str, frozenset[Code]] = {
        name: frozenset({Code.INVALID_REQUEST}) for name, count in times.items() if count > 1
    }
    known = [(one, image.topic_named(one.name)) for one in single]
    added = sum(max(0, one.count - len(topic.partitions)) for one, topic in known if topic)
    for one, topic in known:
        if added > MAX_PARTITIONS:
            found[one.name] = frozenset({Code.POLICY_VIOLATION})
        elif topic is None:
            found[one.name] = frozenset({Code.UNKNOWN_TOPIC_OR_PARTITION})
        else:
            found[one.name] = _of_topic(image, one, topic)
    if added > MAX_PARTITIONS:
        return {name: frozenset({Code.POLICY_VIOLATION}) for name in times}
    return found


def _of_topic(image: Image, asked: GrownTopic, topic: Topic) -> frozenset[Code]:
    count = len(topic.partitions)
    if asked.count <= count:
        return frozenset({Code.INVALID_PARTITIONS})
    if not count:
        return frozenset({Code.UNKNOWN_SERVER_ERROR})
    factor = len(topic.partitions[min(topic.partitions)].replicas)
    active = {broker_id for broker_id in image.brokers if image.may_lead(broker_id)}
    if asked.assignments is None:
        is_possible = 0 < factor <= len(image.brokers) and bool(active)
        return frozenset() if is_possible else frozenset({Code.INVALID_REPLICATION_FACTOR})
    given = [entry.broker_ids for entry in asked.assignments]
    is_right = len(given) == asked.count - count and all(
        len(set(replicas)) == len(replicas) == factor > 0
        and set(replicas) <= set(image.brokers)
        and active & set(replicas)
        for replicas in given
    )
    return frozenset() if is_right else frozenset({Code.INVALID_REPLICA_ASSIGNMENT})


def wrong_growth(
    image: Image, request: CreatePartitionsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of CreatePartitions, or None."""
    made: dict[object, list[PartitionRecord]] = {}
    for record in written:
        if not isinstance(record, PartitionRecord):
            return f"a {type(record).__name__} was written"
        made.setdefault(record.topic_id, []).append(record)
    codes = _codes(image, request)
    asked = {topic.name: topic for topic in request.topics}
    for name, refused in codes.items():
        topic = image.topic_named(name)
        records = [] if topic is None else made.pop(topic.topic_id, [])
        if topic is None or refused or request.validate_only:
            wrong = f"topic {name} has grown, without a right" if records else None
        elif not records and image.has_mutation_quota:
            wrong = None
        else:
            wrong = _wrong_partitions(image, topic, asked[name], records)
        if wrong is not None:
            return wrong
    return "another topic has grown" if made else None


def _wrong_partitions(
    image: Image, topic: Topic, asked: GrownTopic, records: Sequence[PartitionRecord]
) -> str | None:
    first = max(topic.partitions) + 1
    right = list(range(first, first + asked.count - len(topic.partitions)))
    if [record.partition_id for record in records] != right:
        return f"topic {topic.name} got {[one.partition_id for one in records]}, not {right}"
    factor = len(topic.partitions[min(topic.partitions)].replicas)
    given = [entry.broker_ids for entry in asked.assignments or ()]
    for place, record in enumerate(records):
        replicas = record.replicas
        in_sync = tuple(node for node in replicas if image.may_lead(node))
        if asked.assignments is not None and replicas != given[place]:
            return f"partition {record.partition_id} has {replicas}, not {given[place]}"
        if len(set(replicas)) != factor or not set(replicas) <= set(image.brokers):
            return f"partition {record.partition_id} has {replicas}, not {factor} brokers"
        if (record.isr, record.leader) != (in_sync, in_sync[0] if in_sync else -1):
            return f"partition {record.partition_id} has the ISR {record.isr}, not {in_sync}"
        if (record.leader_epoch, record.partition_epoch) != (0, 0):
            return f"partition {record.partition_id} does not begin at epoch 0"
        wrong = wrong_directories(image, record)
        if wrong is not None:
            return f"partition {record.partition_id} {wrong}"
    return None


def wrong_growth_answer(
    image: Image, request: CreatePartitionsRequest, answer: CreatePartitionsResponse
) -> str | None:
    """Return why an answer to CreatePartitions is wrong, or None."""
    codes = _codes(image, request)
    found = {result.name: result.error_code for result in answer.results}
    if set(found) != set(codes):
        return f"answers {sorted(found)}, not {sorted(codes)}"
    for name, code in found.items():
        if code == Code.THROTTLING_QUOTA_EXCEEDED and image.has_mutation_quota:
            continue
        if code not in (codes[name] or {Code.NONE}):
            return f"topic {name}: {code_name(code)}, not {codes[name] or 'NONE'}"
    return None
