"""DeleteTopics: each wrong result has a complaint, and right results have none."""

import pytest

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.errors import Code
from tests.checkers.kraft.specification.cluster import (
    NEW,
    OLD,
    OTHER,
    image,
    wrong_answer,
    wrong_records,
)

NONE = bytes(16)
REMOVED = rows.RemoveTopicRecord(topic_id=OLD)


def named(name):
    return rows.TopicState(name=name, topic_id=NONE)


def of_id(topic_id):
    return rows.TopicState(name=None, topic_id=topic_id)


def asking(*topics, **fields):
    return rows.DeleteTopicsRequest(topics=topics, **fields)


def answering(*results):
    responses = tuple(
        rows.DeletedTopic(name=name, topic_id=topic_id, error_code=code)
        for name, topic_id, code in results
    )
    return rows.DeleteTopicsResponse(responses=responses)


DELETED = answering(("old.topic", OLD, Code.NONE))


@pytest.mark.parametrize(
    "asked",
    [asking(named("old.topic")), asking(of_id(OLD)), asking(topic_names=("old.topic",))],
)
def test_a_topic_is_deleted(asked):
    assert wrong_records(asked, REMOVED) is None
    assert wrong_answer(asked, (REMOVED,), DELETED) is None
    assert "not removed" in wrong_records(asked)
    refused = answering(("old.topic", OLD, Code.UNKNOWN_TOPIC_ID))
    assert "nothing is wrong" in wrong_answer(asked, (REMOVED,), refused)


def test_a_name_that_is_given_with_and_without_an_id_has_two_results():
    asked = asking(named("x"), rows.TopicState(name="x", topic_id=OTHER))
    unknown = ("x", NONE, Code.UNKNOWN_TOPIC_OR_PARTITION)
    invalid = ("x", NONE, Code.INVALID_REQUEST)
    assert wrong_answer(asked, (), answering(unknown, invalid)) is None
    assert wrong_answer(asked, (), answering(invalid, unknown)) is None
    other = ("x", NONE, Code.UNKNOWN_TOPIC_ID)
    assert "applies" in wrong_answer(asked, (), answering(other, invalid))
    assert "has no result" in wrong_answer(asked, (), answering())


def test_an_unknown_id_that_is_given_with_and_without_a_name_has_two_results():
    asked = asking(of_id(OTHER), rows.TopicState(name="x", topic_id=OTHER))
    unknown = (None, OTHER, Code.UNKNOWN_TOPIC_ID)
    invalid = ("x", OTHER, Code.INVALID_REQUEST)
    assert wrong_answer(asked, (), answering(unknown, invalid)) is None
    assert wrong_answer(asked, (), answering(invalid, unknown)) is None
    wrong = (None, OTHER, Code.INVALID_REQUEST)
    assert "UNKNOWN_TOPIC_ID applies" in wrong_answer(asked, (), answering(wrong, invalid))


def test_an_id_deletes_beside_a_name_given_twice():
    asked = asking(named("old.topic"), named("old.topic"), of_id(OLD))
    twice = ("old.topic", NONE, Code.INVALID_REQUEST)
    done = answering(twice, ("old.topic", OLD, Code.NONE))
    assert wrong_records(asked, REMOVED) is None
    assert wrong_answer(asked, (REMOVED,), done) is None
    assert "INVALID_REQUEST applies" in wrong_answer(
        asked, (REMOVED,), answering(("old.topic", NONE, Code.NONE), ("old.topic", OLD, Code.NONE))
    )


def test_a_name_is_refused_beside_its_id_given_twice():
    asked = asking(of_id(OLD), of_id(OLD), named("old.topic"))
    assert "without being asked for" in wrong_records(asked, REMOVED)
    twice = (None, OLD, Code.INVALID_REQUEST)
    assert wrong_answer(asked, (), answering(twice, ("old.topic", OLD, twice[2]))) is None


def test_another_topic_is_removed():
    both = image(rows.TopicRecord(name="new", topic_id=NEW))
    wrong = rows.RemoveTopicRecord(topic_id=NEW)
    assert "without being asked" in wrong_records(asking(of_id(OLD)), wrong, before=both)
    named_wrongly = answering(("new", OLD, Code.NONE))
    assert "answered as" in wrong_answer(asking(of_id(OLD)), (REMOVED,), named_wrongly)


@pytest.mark.parametrize(
    ("asked", "result", "code"),
    [
        (asking(named("x")), ("x", NONE), Code.UNKNOWN_TOPIC_OR_PARTITION),
        (asking(of_id(OTHER)), (None, OTHER), Code.UNKNOWN_TOPIC_ID),
        (asking(named("x"), named("x")), ("x", NONE), Code.INVALID_REQUEST),
        (asking(named("old.topic"), of_id(OLD)), ("old.topic", OLD), Code.INVALID_REQUEST),
        (asking(named("old.topic"), timeout_ms=0), ("old.topic", OLD), Code.REQUEST_TIMED_OUT),
    ],
)
def test_a_refusal_names_a_true_cause(asked, result, code):
    assert wrong_records(asked) is None
    assert wrong_answer(asked, (), answering((*result, code))) is None
    assert "applies" in wrong_answer(asked, (), answering((*result, Code.INVALID_CONFIG)))


def test_each_topic_has_a_result():
    asked = asking(named("old.topic"), named("x"))
    unknown = ("x", NONE, Code.UNKNOWN_TOPIC_OR_PARTITION)
    done = ("old.topic", OLD, Code.NONE)
    assert wrong_answer(asked, (REMOVED,), answering(done, unknown)) is None
    assert "has no result" in wrong_answer(asked, (REMOVED,), answering(done))
    stranger = ("y", OTHER, Code.NONE)
    assert "not asked" in wrong_answer(asked, (REMOVED,), answering(done, unknown, stranger))


def test_a_reserved_id_is_an_unknown_id_and_zero_is_none():
    reserved = bytes(15) + b"\1"
    unknown = answering((None, reserved, Code.UNKNOWN_TOPIC_ID))
    assert wrong_answer(asking(of_id(reserved)), (), unknown) is None
    assert "UNKNOWN_TOPIC_ID applies" in wrong_answer(
        asking(of_id(reserved)), (), answering((None, reserved, Code.INVALID_REQUEST))
    )
    refused = answering((None, NONE, Code.INVALID_REQUEST))
    assert wrong_answer(asking(of_id(NONE)), (), refused) is None
