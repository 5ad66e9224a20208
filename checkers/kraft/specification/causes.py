"""The causes for which CreateTopics refuses a topic (Kafka 4.3.0, ReplicationControlManager).

A cause is required or allowed. If a topic has several causes, an error may name each of them.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.checkers.kraft.specification.errors import Code
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.placement import (
    DEFAULT,
    asked_factor,
    asked_partitions,
)
from kraftproof.checkers.kraft.specification.rows import CreatableTopic, CreateTopicsRequest
from kraftproof.checkers.kraft.specification.settings import Legality, legality_of_all

MAX_RECORDS: Final = 10_000
"""Maximum number of partitions that a request may ask for, and of records that it may write."""
METADATA_TOPIC: Final = "__cluster_metadata"
_LEGAL_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_NONE: Final[frozenset[Code]] = frozenset()


class Causes(Struct, frozen=True, kw_only=True):
    """The error codes of a topic's causes.

    Attributes:
        required: Causes that forbid the change.
        allowed: Causes that may forbid the change, for example a limit of this controller.
    """

    required: frozenset[Code] = _NONE
    allowed: frozenset[Code] = _NONE

    @property
    def all(self) -> frozenset[Code]:
        """The codes that an error may have."""
        return self.required | self.allowed

    def plus(self, other: "Causes") -> "Causes":
        """Return the causes of both."""
        return Causes(required=self.required | other.required, allowed=self.allowed | other.allowed)


def causes_of_creation(
    image: Image, facts: Facts, request: CreateTopicsRequest
) -> dict[str, Causes]:
    """Return the causes of each name of a CreateTopics request."""
    times = Counter(topic.name for topic in request.topics)
    found = {
        name: Causes(required=frozenset({Code.INVALID_REQUEST}))
        for name, count in times.items()
        if count > 1 or name == METADATA_TOPIC
    }
    tried = [topic for topic in request.topics if topic.name not in found]
    existing = {_unified(name) for name in image.names}
    together = Counter(map(_unified, times))
    for topic in tried:
        found[topic.name] = _of_topic(image, facts, topic, existing, together)
    whole = _of_request(facts, request, tried, found)
    for topic in tried:
        found[topic.name] = found[topic.name].plus(whole)
    return found


def _unified(name: str) -> str:
    return name.replace(".", "_")


def _of_topic(
    image: Image,
    facts: Facts,
    topic: CreatableTopic,
    existing: set[str],
    together: Mapping[str, int],
) -> Causes:
    required: set[Code] = set()
    allowed: set[Code] = set()
    if topic.name in image.names:
        required.add(Code.TOPIC_ALREADY_EXISTS)
    elif _unified(topic.name) in existing:
        required.add(Code.INVALID_TOPIC_EXCEPTION)
    if topic.name in {".", ".."} or _LEGAL_NAME.fullmatch(topic.name) is None:
        required.add(Code.INVALID_TOPIC_EXCEPTION)
    if together[_unified(topic.name)] > 1:
        allowed.add(Code.INVALID_TOPIC_EXCEPTION)  # two names of one request collide
    settings = {setting.name: setting.value for setting in topic.configs}
    if any(setting.value is None for setting in topic.configs):
        required.add(Code.INVALID_CONFIG)
    match legality_of_all(settings):
        case Legality.ILLEGAL:
            required.add(Code.INVALID_CONFIG)
        case Legality.OPEN:
            allowed.add(Code.INVALID_CONFIG)
        case Legality.LEGAL:
            pass
    if image.has_mutation_quota:
        allowed.add(Code.THROTTLING_QUOTA_EXCEEDED)
    shape = _of_assignment(image, topic) if topic.assignments else _of_numbers(image, facts, topic)
    return Causes(required=frozenset(required), allowed=frozenset(allowed)).plus(shape)


def _of_assignment(image: Image, topic: CreatableTopic) -> Causes:
    required: set[Code] = set()
    if topic.num_partitions != DEFAULT or topic.replication_factor != DEFAULT:
        required.add(Code.INVALID_REQUEST)
    indexes = sorted(entry.partition_index for entry in topic.assignments)
    factor = len(topic.assignments[0].broker_ids)
    are_right = indexes == list(range(len(indexes))) and all(
        len(entry.broker_ids) == factor > 0
        and len(set(entry.broker_ids)) == factor
        and all(broker_id in image.brokers for broker_id in entry.broker_ids)
        and any(image.may_lead(broker_id) for broker_id in entry.broker_ids)
        for entry in topic.assignments
    )
    if not are_right:
        required.add(Code.INVALID_REPLICA_ASSIGNMENT)
    return Causes(required=frozenset(required))


def _of_numbers(image: Image, facts: Facts, topic: CreatableTopic) -> Causes:
    required: set[Code] = set()
    allowed: set[Code] = set()
    factor = asked_factor(topic, facts)
    if asked_partitions(topic, facts) < 1:
        required.add(Code.INVALID_PARTITIONS)
    is_served = any(broker.may_lead for broker in image.brokers.values())
    if not 1 <= factor <= len(image.brokers) or not is_served:
        required.add(Code.INVALID_REPLICATION_FACTOR)
    elif factor > sum(not broker.is_leaving for broker in image.brokers.values()):
        allowed.add(Code.INVALID_REPLICATION_FACTOR)  # Kafka places none on brokers that leave
    return Causes(required=frozenset(required), allowed=frozenset(allowed))


def _of_request(
    facts: Facts,
    request: CreateTopicsRequest,
    tried: list[CreatableTopic],
    found: Mapping[str, Causes],
) -> Causes:
    """Return the causes that refuse every topic of the request."""
    required: set[Code] = set()
    allowed: set[Code] = set()
    if request.timeout_ms <= 0:
        required.add(Code.REQUEST_TIMED_OUT)
    if sum(max(asked_partitions(topic, facts), 0) for topic in tried) > MAX_RECORDS:
        required.add(Code.POLICY_VIOLATION)
    records = {topic.name: _records(topic, facts) for topic in tried}
    made = [name for name in records if not found[name].required]
    if sum(records[name] for name in made) > MAX_RECORDS:
        allowed.add(Code.POLICY_VIOLATION)
    if sum(records[name] for name in made if not found[name].allowed) > MAX_RECORDS:
        required.add(Code.POLICY_VIOLATION)
    return Causes(required=frozenset(required), allowed=frozenset(allowed))


def _records(topic: CreatableTopic, facts: Facts) -> int:
    settings = {setting.name for setting in topic.configs}
    return 1 + len(settings) + max(asked_partitions(topic, facts), 0)
