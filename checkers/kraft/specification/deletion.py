"""Judge DeleteTopics by name or id: the records of the batch, and the answer (KIP-516)."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from kraftproof.checkers.kraft.specification.errors import Code, code_name, code_names
from kraftproof.checkers.kraft.specification.ids import Id, is_zero, show
from kraftproof.checkers.kraft.specification.image import Image, Topic
from kraftproof.checkers.kraft.specification.rows import (
    DeletedTopic,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    RemoveTopicRecord,
    Row,
)

_NO_CODES: frozenset[Code] = frozenset()


class Wanted(Struct, frozen=True, kw_only=True):
    """A topic as a request names it, and the codes that refuse the deletion."""

    name: str | None
    topic_id: Id
    topic: Topic | None
    codes: frozenset[Code]
    may_be_throttled: bool = False
    """Whether a quota of the client may refuse the deletion."""

    def is_answered_by(self, result: DeletedTopic) -> bool:
        """Return whether a result is about this topic."""
        if self.name is not None:
            return result.name == self.name
        if self.topic_id is None:
            return result.name is None and is_zero(result.topic_id)
        return bool(result.topic_id == self.topic_id)

    def is_named_as(self, other: "Wanted") -> bool:
        """Return whether a result can be about this topic as well as about the other.

        A result by name may be about the name with another id, or about the id alone; a result by
        id may be about the id with a name.
        """
        names = (self.name, None if self.topic is None else self.topic.name)
        is_of_id = other.name is None and other.topic_id is not None
        return (other.name is not None and other.name in names) or (
            is_of_id and other.topic_id == self.topic_id
        )

    def show(self) -> str:
        """Return the topic as text."""
        return f"topic {show(self.topic_id) if self.name is None else self.name}"


def wanted_deletions(image: Image, request: DeleteTopicsRequest) -> list[Wanted]:
    """Return each topic that a DeleteTopics request names, once, with its causes."""
    named: list[tuple[str | None, Id]] = [(one.name, one.topic_id) for one in request.topics]
    named += [(name, None) for name in request.topic_names]
    times = Counter(map(_key, named))
    found = {_key(one): _find(image, *_key(one)) for one in named}
    by_id = {topic_id for name, topic_id in found if name is None}
    by_name = {
        topic.topic_id
        for key, topic in found.items()
        if topic is not None and key[0] is not None and times[key] == 1
    }
    whole = frozenset({Code.REQUEST_TIMED_OUT}) if request.timeout_ms <= 0 else _NO_CODES
    return [
        Wanted(
            name=name,
            topic_id=topic_id,
            topic=topic,
            may_be_throttled=image.has_mutation_quota,
            codes=whole | _codes((name, topic_id), topic, times[name, topic_id], by_id & by_name),
        )
        for (name, topic_id), topic in found.items()
    ]


def _key(named: tuple[str | None, Id]) -> tuple[str | None, Id]:
    """Return a name and an id, of which a zero id counts as none."""
    name, topic_id = named
    return name, None if topic_id is None or is_zero(topic_id) else topic_id


def _find(image: Image, name: str | None, topic_id: Id) -> Topic | None:
    if (name is None) == (topic_id is None):
        return None
    return image.topics.get(topic_id) if name is None else image.topic_named(name)


def _codes(
    named: tuple[str | None, Id], topic: Topic | None, times: int, in_both_ways: set[Id]
) -> frozenset[Code]:
    name, topic_id = named
    if (name is None) == (topic_id is None) or times > 1:
        return frozenset({Code.INVALID_REQUEST})
    if topic is None:
        unknown = Code.UNKNOWN_TOPIC_ID if name is None else Code.UNKNOWN_TOPIC_OR_PARTITION
        return frozenset({unknown})
    return frozenset({Code.INVALID_REQUEST}) if topic.topic_id in in_both_ways else _NO_CODES


def wrong_deletions(
    image: Image, request: DeleteTopicsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of a DeleteTopics request, or None."""
    wanted = wanted_deletions(image, request)
    expected = {one.topic.topic_id: one for one in wanted if one.topic and not one.codes}
    removed: set[Id] = set()
    for record in written:
        if not isinstance(record, RemoveTopicRecord):
            return f"a {type(record).__name__} was not asked for"
        if record.topic_id not in expected:
            return f"the topic {show(record.topic_id)} was removed without being asked for"
        if record.topic_id in removed:
            return f"the topic {show(record.topic_id)} was removed twice"
        removed.add(record.topic_id)
    missing = [
        one
        for topic_id, one in expected.items()
        if topic_id not in removed and not one.may_be_throttled
    ]
    return f"{missing[0].show()} was not removed, without a cause" if missing else None


def wrong_deletion_answer(
    image: Image, request: DeleteTopicsRequest, answer: DeleteTopicsResponse
) -> str | None:
    """Return why an answer to DeleteTopics is wrong, or None; `wrong_deletions` has no complaint.

    A topic that the request names wrongly may have one result or several.
    """
    wanted = wanted_deletions(image, request)
    for one in wanted:
        results = [result for result in answer.responses if one.is_answered_by(result)]
        others = [other for other in wanted if other is not one and other.is_named_as(one)]
        own = [result for result in results if _is_own(result, others)]
        wrong = _wrong_result(one, own) if own or not results else None
        if wrong is not None:
            return f"{one.show()} {wrong}"
    for result in answer.responses:
        if not any(one.is_answered_by(result) for one in wanted):
            return f"the answer is about {result.name} ({show(result.topic_id)}), not asked for"
    return None


def _is_own(result: DeletedTopic, others: Sequence[Wanted]) -> bool:
    """Return whether a result is about none of the others, which all have a name."""
    return result.name is None or not _is_right(others, result)


def _is_right(wanted: Sequence[Wanted], result: DeletedTopic) -> bool:
    return any(_wrong_result(one, [result]) is None for one in wanted)


def _wrong_result(wanted: Wanted, results: list[DeletedTopic]) -> str | None:
    if not results:
        return None if wanted.codes == {Code.INVALID_REQUEST} else "has no result"
    for result in results:
        if wanted.may_be_throttled and result.error_code == Code.THROTTLING_QUOTA_EXCEEDED:
            continue
        if not wanted.codes and result.error_code != Code.NONE:
            return f"is refused with {code_name(result.error_code)}, but nothing is wrong"
        if wanted.codes and result.error_code not in wanted.codes:
            expected = code_names(wanted.codes)
            return f"is answered with {code_name(result.error_code)}, but {expected} applies"
        topic = wanted.topic
        if topic is not None and not wanted.codes:
            if (result.name, result.topic_id) != (topic.name, topic.topic_id):
                return f"is answered as {result.name} ({show(result.topic_id)})"
            if len(results) > 1:
                return "is answered twice"
    return None
