"""Judge ElectLeaders: preferred and unclean elections (KIP-183, KIP-460)."""

from collections.abc import Iterator, Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.partitions.change import (
    NO_LEADER,
    Election,
    after_change,
)
from kraftproof.checkers.kraft.specification.partitions.compare import wrong_partitions
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.clients import (
    ElectLeadersRequest,
    ElectLeadersResponse,
)

MAX_PARTITIONS: Final = 10_000
_ELECTIONS: Final = {0: Election.PREFERRED, 1: Election.UNCLEAN}
_IMPOSSIBLE: Final = {
    Election.PREFERRED: Code.PREFERRED_LEADER_NOT_AVAILABLE,
    Election.UNCLEAN: Code.ELIGIBLE_LEADERS_NOT_AVAILABLE,
}
Decided = tuple[str, int, Code, PartitionKey | None, Partition | None]
"""The topic's name, the index, the right code, and the partition after the request."""


def _refusal(request: ElectLeadersRequest) -> Code | None:
    if request.election_type not in _ELECTIONS:
        return Code.INVALID_REQUEST
    named = sum(len(one.partitions) for one in request.topic_partitions or ())
    return Code.POLICY_VIOLATION if named > MAX_PARTITIONS else None


def _decide(image: Image, request: ElectLeadersRequest) -> Iterator[Decided]:
    election = _ELECTIONS[request.election_type]
    asked = (
        [(topic.name, index) for topic in image.topics.values() for index in topic.partitions]
        if request.topic_partitions is None
        else [(one.topic, index) for one in request.topic_partitions for index in one.partitions]
    )
    changed: dict[PartitionKey, Partition] = {}
    for name, index in asked:
        topic = image.topic_named(name)
        if topic is None or index not in topic.partitions:
            yield name, index, Code.UNKNOWN_TOPIC_OR_PARTITION, None, None
            continue
        key = (topic.topic_id, index)
        was = changed.get(key, topic.partitions[index])
        is_led = was.leader != NO_LEADER
        is_needed = (
            not is_led if election is Election.UNCLEAN else was.replicas[:1] != (was.leader,)
        )
        now = after_change(image, was, was, election=election) if is_needed else was
        changed[key] = now
        code = _IMPOSSIBLE[election] if now == was else Code.NONE
        yield name, index, code if is_needed else Code.ELECTION_NOT_NEEDED, key, now


def wrong_elections(
    image: Image, request: ElectLeadersRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of ElectLeaders, or None."""
    if _refusal(request) is not None:
        return "a refused request has elected leaders" if written else None
    expected = {
        key: now
        for _, _, code, key, now in _decide(image, request)
        if code == Code.NONE and key is not None and now is not None
    }
    return wrong_partitions(image, written, expected)


def wrong_election_answer(
    image: Image, request: ElectLeadersRequest, answer: ElectLeadersResponse
) -> str | None:
    """Return why an answer to ElectLeaders is wrong, or None."""
    refused = _refusal(request)
    if refused is not None:
        is_right = answer.error_code == refused
        return None if is_right else f"{code_name(answer.error_code)}, not {refused.name}"
    if answer.error_code != Code.NONE:
        return f"{code_name(answer.error_code)} to a whole request"
    is_for_all = request.topic_partitions is None
    expected = sorted(
        (name, index, int(code))
        for name, index, code, _, _ in _decide(image, request)
        if not (is_for_all and code == Code.ELECTION_NOT_NEEDED)
    )
    found = sorted(
        (topic.topic, entry.partition_id, entry.error_code)
        for topic in answer.replica_election_results
        for entry in topic.partition_result
    )
    return None if found == expected else f"{found} is answered, not {expected}"
