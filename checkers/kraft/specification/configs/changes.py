"""Judge IncrementalAlterConfigs and AlterConfigs (Kafka 4.3.0, ConfigurationControlManager).

A resource changes as a whole or not at all. Causes of a refusal are required or allowed, as for
CreateTopics: values in an odd notation, and values of groups and client metrics, are left open.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from kraftproof.checkers.kraft.specification.causes import Causes
from kraftproof.checkers.kraft.specification.errors import Code, code_name, code_names
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.partitions.change import (
    NO_LEADER,
    UNCLEAN,
    Election,
    after_change,
    allows_unclean,
)
from kraftproof.checkers.kraft.specification.partitions.compare import wrong_partitions
from kraftproof.checkers.kraft.specification.rows import ConfigRecord, PartitionChangeRecord, Row
from kraftproof.checkers.kraft.specification.rows.configs import (
    Alteration,
    AlterConfigsRequest,
    AlterConfigsResponse,
    AlteredResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kraftproof.checkers.kraft.specification.settings import Legality, legality_of_all

Request = AlterConfigsRequest | IncrementalAlterConfigsRequest
Answer = AlterConfigsResponse | IncrementalAlterConfigsResponse
Key = tuple[int, str]
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
LONGEST_VALUE: Final = 32_767
MAX_RECORDS: Final = 10_000
SET, DELETE, APPEND, SUBTRACT = range(4)
_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_LISTS: Final[Mapping[str, str]] = {
    "cleanup.policy": "delete",
    "follower.replication.throttled.replicas": "",
    "leader.replication.throttled.replicas": "",
}
"""The lists among the configurations of topics, with their defaults."""


class Wanted(Struct, frozen=True, kw_only=True):
    """The right result of a resource: its causes of a refusal, and its values otherwise."""

    causes: Causes
    values: Mapping[str, str] = {}


def wanted_results(image: Image, request: Request) -> list[Wanted]:
    """Return the right result of each resource of a request."""
    times = Counter((one.resource_type, one.resource_name) for one in request.resources)
    is_legacy = isinstance(request, AlterConfigsRequest)
    results = [
        _wanted(image, one, times[one.resource_type, one.resource_name], is_legacy=is_legacy)
        for one in request.resources
    ]
    if sum(len(one.configs) for one in request.resources) > MAX_RECORDS:
        limit = Causes(allowed=frozenset({Code.POLICY_VIOLATION}))
        return [Wanted(causes=one.causes.plus(limit), values=one.values) for one in results]
    return results


def _wanted(image: Image, resource: AlteredResource, times: int, *, is_legacy: bool) -> Wanted:
    required = {*_of_name(image, resource)}
    allowed: set[Code] = set()
    names = [one.name for one in resource.configs]
    if times > 1 or len(set(names)) < len(names):
        required.add(Code.INVALID_REQUEST)
    kind = resource.resource_type
    values = {} if is_legacy else dict(image.configs_of(kind, resource.resource_name))
    for one in resource.configs:
        operation = SET if is_legacy else one.config_operation
        required |= _of_operation(kind, one, operation)
        if operation in {APPEND, SUBTRACT} and kind != TOPIC:
            allowed.add(Code.INVALID_CONFIG)
        if operation != DELETE and kind == METRICS:
            allowed.add(Code.INVALID_REQUEST)  # a cluster without a receiver may refuse them
        if operation == DELETE:
            values.pop(one.name, None)
        elif one.value is not None:
            is_set = operation == SET
            values[one.name] = one.value if is_set else _joined(values.get(one.name), one)
    match _legality(kind, values):
        case Legality.ILLEGAL:
            required.add(Code.INVALID_CONFIG)
        case Legality.OPEN:
            allowed.add(Code.INVALID_CONFIG)
        case Legality.LEGAL:
            pass
    causes = Causes(required=frozenset(required), allowed=frozenset(allowed))
    return Wanted(causes=causes, values=values)


def _of_operation(kind: int, change: Alteration, operation: int) -> set[Code]:
    """Return the causes that lie in the operation of a change."""
    if operation not in {SET, DELETE, APPEND, SUBTRACT}:
        return {Code.INVALID_REQUEST}
    if operation != DELETE and change.value is None:
        return {Code.INVALID_REQUEST}
    is_of_lists = operation in {APPEND, SUBTRACT}
    is_wrong = is_of_lists and kind == TOPIC and change.name not in _LISTS
    return {Code.INVALID_CONFIG} if is_wrong else set()


def _joined(base: str | None, change: Alteration) -> str:
    """Return a list after members were appended or taken away."""
    members = [one for one in (base or _LISTS.get(change.name, "")).split(",") if one]
    if base is not None and not base:
        members = []
    for member in (change.value or "").split(","):
        if change.config_operation == APPEND and member not in members:
            members.append(member)
        elif change.config_operation == SUBTRACT and member in members:
            members.remove(member)
    return ",".join(members)


def _legality(kind: int, values: Mapping[str, str]) -> Legality:
    if any(len(value) > LONGEST_VALUE for value in values.values()):
        return Legality.ILLEGAL
    if kind == TOPIC:
        return legality_of_all(values)
    return Legality.LEGAL if kind == BROKER or not values else Legality.OPEN


def _of_name(image: Image, resource: AlteredResource) -> set[Code]:
    """Return the causes that lie in the kind or the name of a resource."""
    name = resource.resource_name
    match resource.resource_type:
        case 2:
            if not name:
                return {Code.INVALID_REQUEST}
            if name in {".", ".."} or _NAME.fullmatch(name) is None:
                return {Code.INVALID_TOPIC_EXCEPTION}
            return set() if name in image.names else {Code.UNKNOWN_TOPIC_OR_PARTITION}
        case 4:
            if name and re.fullmatch(r"\+?[0-9]{1,10}", name) is None:
                return {Code.INVALID_REQUEST}
            known = not name or int(name) in {*image.brokers, *image.controllers}
            return set() if known else {Code.BROKER_ID_NOT_REGISTERED}
        case 16 | 32:
            return set() if name else {Code.INVALID_REQUEST}
        case _:
            return {Code.INVALID_REQUEST}


def wrong_config_changes(image: Image, request: Request, written: Sequence[Row]) -> str | None:
    """Return why a batch is no right result of a change of configurations, or None."""
    changed = {(one.resource_type, one.resource_name) for one in request.resources}
    touched: set[Key] = set()
    values = [record for record in written if isinstance(record, ConfigRecord)]
    elected = [record for record in written if isinstance(record, PartitionChangeRecord)]
    if [*values, *elected] != list(written):
        return f"{[type(record).__name__ for record in written]} were written"
    touched.update((record.resource_type, record.resource_name) for record in values)
    if touched - changed:
        return f"the configurations of {sorted(touched - changed)} were changed"
    if request.validate_only:
        return "a request that only validates has changed configurations" if written else None
    after = fold(image, written)
    for one, result in zip(request.resources, wanted_results(image, request), strict=True):
        key = (one.resource_type, one.resource_name)
        was, now = dict(image.configs_of(*key)), dict(after.configs_of(*key))
        if now == was != dict(result.values) and not result.causes.all:
            return f"{key}: the configurations were not changed"
        if now != was and (now != dict(result.values) or result.causes.required):
            why = code_names(result.causes.required) or f"not {result.values}"
            return f"{key}: the configurations became {now}, in spite of {why}"
    return wrong_partitions(fold(image, values), elected, _elected(image, values))


def _elected(image: Image, values: Sequence[ConfigRecord]) -> dict[PartitionKey, Partition]:
    """Return the partitions that get a leader as soon as their topic allows unclean elections."""
    if not any(record.name == UNCLEAN for record in values):
        return {}
    after = fold(image, values)
    return {
        (topic.topic_id, index): after_change(after, was, was, election=Election.UNCLEAN)
        for topic in after.topics.values()
        if allows_unclean(after, topic.name)
        for index, was in topic.partitions.items()
        if was.leader == NO_LEADER
    }


def wrong_config_answer(
    image: Image, request: Request, written: Sequence[Row], answer: Answer
) -> str | None:
    """Return why an answer to a change of configurations is wrong, or None."""
    if len(answer.responses) != len(request.resources):
        return f"{len(answer.responses)} results for {len(request.resources)} resources"
    touched = {
        (record.resource_type, record.resource_name)
        for record in written
        if isinstance(record, ConfigRecord)
    }
    expected = wanted_results(image, request)
    for asked, result, right in zip(request.resources, answer.responses, expected, strict=True):
        key = (asked.resource_type, asked.resource_name)
        if (result.resource_type, result.resource_name) != key:
            return f"{key}: the result is of {result.resource_name}"
        if result.error_code == Code.NONE:
            if right.causes.required:
                return f"{key}: NONE in spite of {code_names(right.causes.required)}"
            was = dict(image.configs_of(*key))
            if not request.validate_only and key not in touched and was != dict(right.values):
                return f"{key}: the change is acknowledged, but was not written"
        elif key in touched:
            return f"{key}: {code_name(result.error_code)}, but the change was written"
        elif result.error_code not in right.causes.all:
            return f"{key}: {code_name(result.error_code)} without this cause"
    return None
