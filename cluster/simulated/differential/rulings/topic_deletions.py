"""Compare the answers to DeleteTopics with plain rules (KIP-516, KIP-599)."""

from collections import Counter
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import DifferenceError, check, same
from kraftproof.node.core.controller.topics import delete_topics
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import delete_topics_request as module
from kraftproof.node.wire.messages import delete_topics_response
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import ZERO_UUID, Uuid

ROUNDS: Final = 12
MOST: Final = 10_000
"""The number of topics that a request may name."""
LARGE: Final = 0.003
NAMES: Final = ("a", "b", "c", "absent")
TIMED_OUT: Final = ErrorCode.REQUEST_TIMED_OUT
TOO_MANY: Final = ErrorCode.POLICY_VIOLATION
Asked = tuple[str | None, Uuid]


def compare_topic_deletions(random: Random) -> None:
    """Delete drawn topics by their names, and by their ids.

    Raises:
        DifferenceError: a topic has another answer, or is removed against the rules.
    """
    ids = {name: Uuid(name.encode() * 16) for name in NAMES[:3]}
    written: list[Record] = [
        records.TopicRecord(name=name, topic_id=topic) for name, topic in ids.items()
    ]
    image = apply_all(EMPTY_IMAGE, tuple(written))
    for _ in range(ROUNDS):
        request = _draw(random, ids)
        asked = [(one.name, one.topic_id) for one in request.topics]
        asked += [(name, ZERO_UUID) for name in request.topic_names]
        outcome = delete_topics(image, request)
        reply = outcome.reply
        if not isinstance(reply, delete_topics_response.DeleteTopicsResponse):
            raise DifferenceError(f"DeleteTopics is answered by {type(reply).__name__}")
        found = [
            (one.name, one.topic_id, ErrorCode(one.error_code), bool(one.error_message))
            for one in reply.responses
        ]
        whole = TIMED_OUT if request.timeout_ms < 1 else ErrorCode.NONE
        if len(asked) > MOST and not whole:
            whole = TOO_MANY
        if whole:
            errors = {whole} if asked else set()
            same("the errors of a refused request", {one[2] for one in found}, errors)
            same("the records of a refused request", outcome.records, ())
            continue
        due = _answers(asked, ids)
        same("the answers to DeleteTopics", sorted(found, key=repr), sorted(due, key=repr))
        removed = [one[1] for one in due if one[2] is ErrorCode.NONE]
        same(
            "the removed topics",
            sorted(getattr(one, "topic_id", ZERO_UUID) for one in outcome.records),
            sorted(removed),
        )
        check(
            "only topics are removed",
            all(isinstance(one, records.RemoveTopicRecord) for one in outcome.records),
        )


def _draw(random: Random, ids: dict[str, Uuid]) -> module.DeleteTopicsRequest:
    timeout_ms = random.choice((-1, 0, 1, 1, 1, 1000, 1000, 1000))
    if random.random() < LARGE:
        states = tuple(module.DeleteTopicState(name=f"t-{one}") for one in range(MOST // 2))
        names = tuple(f"n-{one}" for one in range(MOST // 2 + random.randint(0, 1)))
        return module.DeleteTopicsRequest(topics=states, topic_names=names, timeout_ms=timeout_ms)
    pool: list[Asked] = [(name, ZERO_UUID) for name in NAMES]
    pool += [(None, topic) for topic in (*ids.values(), Uuid(b"?" * 16), ZERO_UUID)]
    pool += [("a", ids["a"])]
    asked = random.choices(pool, k=random.randint(0, 4))
    return module.DeleteTopicsRequest(
        topics=tuple(module.DeleteTopicState(name=name, topic_id=topic) for name, topic in asked),
        topic_names=tuple(random.choices(NAMES, k=random.choice((0, 0, 1, 2)))),
        timeout_ms=timeout_ms,
    )


def _answers(
    asked: list[Asked], ids: dict[str, Uuid]
) -> list[tuple[str | None, Uuid, ErrorCode, bool]]:
    """Return the answers, one for each different topic; a topic of a name and an id has one."""
    names = {topic: name for name, topic in ids.items()}
    clear = [one for one in {*asked} if (one[0] is None) != (one[1] == ZERO_UUID)]
    times = Counter(asked)
    once = {one for one in clear if times[one] == 1}
    both = {ids[name] for name, _ in once if name in ids} & {topic for _, topic in clear}
    answers = []
    for name, topic in {*asked}:
        if (name, topic) not in once:
            answers.append((name, topic, ErrorCode.INVALID_REQUEST, True))
        elif name is not None and name not in ids:
            answers.append((name, topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True))
        elif name is None and topic not in names:
            answers.append((name, topic, ErrorCode.UNKNOWN_TOPIC_ID, True))
        else:
            found = ids[name] if name is not None else topic
            if found not in both:
                answers.append((names[found], found, ErrorCode.NONE, False))
            elif name is not None:
                answers.append((name, found, ErrorCode.INVALID_REQUEST, True))
    return answers
