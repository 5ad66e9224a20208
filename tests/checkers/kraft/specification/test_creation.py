"""CreateTopics: each wrong result has a complaint, and right results have none."""

import pytest
from msgspec.structs import replace

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.errors import Code
from tests.checkers.kraft.specification.cluster import (
    IMAGE,
    NEW,
    OLD,
    OTHER,
    changed,
    image,
    partition,
    registered,
    wrong_answer,
    wrong_records,
)

RETENTION = rows.Setting(name="retention.ms", value="5")


def topic(name="new", partitions=3, factor=2, **fields):
    return rows.CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=factor, **fields
    )


def asking(*topics, **fields):
    return rows.CreateTopicsRequest(topics=topics, **fields)


def made(name="new", replicas=((1, 2), (2, 3), (3, 1)), topic_id=NEW):
    return (
        rows.TopicRecord(name=name, topic_id=topic_id),
        *(partition(index, one, topic_id=topic_id) for index, one in enumerate(replicas)),
    )


def config(value="5", name="new"):
    return rows.ConfigRecord(resource_type=2, resource_name=name, name="retention.ms", value=value)


def result(name="new", code=Code.NONE, topic_id=NEW, partitions=3, factor=2, configs=()):
    return rows.CreatedTopic(
        name=name,
        topic_id=topic_id,
        error_code=code,
        num_partitions=partitions,
        replication_factor=factor,
        configs=configs,
    )


def answering(*results):
    return rows.CreateTopicsResponse(topics=results)


def test_a_topic_as_it_was_asked_for():
    assert wrong_records(asking(topic()), *made()) is None
    assert wrong_answer(asking(topic()), made(), answering(result())) is None


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        pytest.param(made(replicas=((1, 2), (2, 3))), "but 3 were asked", id="one too few"),
        pytest.param(made(replicas=((1,), (2,), (3,))), "1 replicas", id="one replica"),
        pytest.param(made(replicas=((1, 1), (2, 3), (3, 1))), "twice", id="a replica twice"),
        pytest.param(made(replicas=((1, 2), (1, 3), (1, 2))), "unevenly", id="one leader"),
        pytest.param(made(replicas=((1, 9), (2, 3), (3, 1))), "not registered", id="a stranger"),
        pytest.param((*made(), config()), "configurations", id="a configuration too many"),
        pytest.param((*made(), rows.RemoveTopicRecord(topic_id=OLD)), "not asked", id="a removal"),
        pytest.param(made("other"), "other was created", id="another topic"),
        pytest.param((), "not created, without a cause", id="nothing"),
        pytest.param(made(topic_id=bytes(16)), "reserved", id="no id"),
    ],
)
def test_records_that_do_not_fit_the_request(written, complaint):
    assert complaint in wrong_records(asking(topic()), *written)


def test_leader_isr_and_epochs_of_a_new_partition():
    for wrong in (
        partition(0, (1, 2), leader=3),
        partition(0, (1, 2), isr=(1,)),
        replace(partition(0, (1, 2)), leader_epoch=1),
        replace(partition(0, (1, 2)), partition_epoch=1),
        replace(partition(0, (1, 2)), adding_replicas=(2,)),
    ):
        topic_record = rows.TopicRecord(name="new", topic_id=NEW)
        assert wrong_records(asking(topic(partitions=1)), topic_record, wrong) is not None


def test_configurations_are_written():
    asked = asking(topic(configs=(RETENTION,)))
    assert wrong_records(asked, *made(), config()) is None
    assert "configurations" in wrong_records(asked, *made(), config("6"))
    assert "configurations" in wrong_records(asked, *made())


def test_a_fenced_broker_is_the_last_choice_and_out_of_sync():
    fenced = image(changed(3, fenced=1))
    right = (
        rows.TopicRecord(name="new", topic_id=NEW),
        partition(0, (2, 1, 3), isr=(2, 1)),
    )
    assert wrong_records(asking(topic(partitions=1, factor=3)), *right, before=fenced) is None
    in_sync = (right[0], partition(0, (2, 1, 3)))
    assert "ISR" in wrong_records(asking(topic(partitions=1, factor=3)), *in_sync, before=fenced)
    chosen = (right[0], partition(0, (2, 3), isr=(2,)))
    assert "unfenced" in wrong_records(asking(topic(partitions=1)), *chosen, before=fenced)


def test_racks_are_spread():
    racks = image(registered(1, rack="a"), registered(2, rack="a"), registered(3, rack="b"))
    asked, record = asking(topic(partitions=1)), rows.TopicRecord(name="new", topic_id=NEW)
    assert wrong_records(asked, record, partition(0, (1, 3)), before=racks) is None
    assert "racks" in wrong_records(asked, record, partition(0, (1, 2)), before=racks)


def assigned(*replicas, partitions=-1, factor=-1, first=0):
    entries = tuple(
        rows.Assignment(partition_index=index, broker_ids=one)
        for index, one in enumerate(replicas, start=first)
    )
    return topic(partitions=partitions, factor=factor, assignments=entries)


def test_a_manual_assignment_is_obeyed():
    asked, record = asking(assigned((2, 1))), rows.TopicRecord(name="new", topic_id=NEW)
    assert wrong_records(asked, record, partition(0, (2, 1))) is None
    assert "assigned" in wrong_records(asked, record, partition(0, (1, 2)))
    assert "led" in wrong_records(asked, record, partition(0, (2, 1), leader=1))


def refused(asked, code, *, before=IMAGE, name="new"):
    """Only the code names the cause, and nothing may be written."""
    request = asked if isinstance(asked, rows.CreateTopicsRequest) else asking(asked)
    say = lambda one: wrong_answer(request, (), answering(result(name, one)), before)  # noqa: E731
    assert say(code) is None
    assert say(Code.NONE) is not None
    other = Code.UNKNOWN_TOPIC_ID
    assert "applies" in say(other)
    assert wrong_records(request, before=before) is None


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        pytest.param(topic(partitions=0), Code.INVALID_PARTITIONS, id="no partitions"),
        pytest.param(topic(partitions=-2), Code.INVALID_PARTITIONS, id="-2 partitions"),
        pytest.param(topic(factor=0), Code.INVALID_REPLICATION_FACTOR, id="no replicas"),
        pytest.param(topic(factor=4), Code.INVALID_REPLICATION_FACTOR, id="too many replicas"),
        pytest.param(assigned((1, 1)), Code.INVALID_REPLICA_ASSIGNMENT, id="a broker twice"),
        pytest.param(assigned((1,), (1, 2)), Code.INVALID_REPLICA_ASSIGNMENT, id="sizes"),
        pytest.param(assigned((9,)), Code.INVALID_REPLICA_ASSIGNMENT, id="a stranger"),
        pytest.param(assigned((1,), first=1), Code.INVALID_REPLICA_ASSIGNMENT, id="a gap"),
        pytest.param(assigned(()), Code.INVALID_REPLICA_ASSIGNMENT, id="nobody"),
        pytest.param(assigned((1,), factor=1), Code.INVALID_REQUEST, id="both"),
        pytest.param(
            topic(configs=(rows.Setting(name="x", value="1"),)), Code.INVALID_CONFIG, id="unknown"
        ),
        pytest.param(
            topic(configs=(rows.Setting(name="retention.ms"),)), Code.INVALID_CONFIG, id="null"
        ),
        pytest.param(
            topic(configs=(rows.Setting(name="retention.ms", value="-2"),)),
            Code.INVALID_CONFIG,
            id="out of range",
        ),
        pytest.param(topic(partitions=10_001), Code.POLICY_VIOLATION, id="too many partitions"),
        pytest.param(topic(partitions=10_000), Code.POLICY_VIOLATION, id="too many records"),
        pytest.param(asking(topic(), timeout_ms=0), Code.REQUEST_TIMED_OUT, id="no time"),
    ],
)
def test_a_refusal_names_a_true_cause(asked, code):
    refused(asked, code)


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ü", "a" * 250, "old_topic", "a/b"])
def test_illegal_names(name):
    refused(topic(name), Code.INVALID_TOPIC_EXCEPTION, name=name)


def test_a_name_of_249_characters_is_taken():
    name = "a" * 249
    assert wrong_records(asking(topic(name)), *made(name)) is None
    answer = answering(result(name, Code.INVALID_TOPIC_EXCEPTION))
    assert "nothing is wrong" in wrong_answer(asking(topic(name)), made(name), answer)


def test_a_topic_that_exists():
    refused(topic("old.topic"), Code.TOPIC_ALREADY_EXISTS, name="old.topic")


def test_no_broker_may_lead():
    nobody = image(*(changed(broker_id, fenced=1) for broker_id in (1, 2, 3)))
    refused(topic(), Code.INVALID_REPLICATION_FACTOR, before=nobody)
    refused(assigned((1,)), Code.INVALID_REPLICA_ASSIGNMENT, before=nobody)


def test_each_topic_of_a_batch_has_its_own_result():
    asked = asking(topic("a"), topic("old.topic"), topic("b"))
    written = (*made("a"), *made("b", topic_id=OTHER))
    exists = result("old.topic", Code.TOPIC_ALREADY_EXISTS)
    answer = answering(result("a"), exists, result("b", topic_id=OTHER))
    assert wrong_records(asked, *written) is None
    assert wrong_answer(asked, written, answer) is None
    assert "b was not created" in wrong_records(asked, *made("a"))
    assert "about the topics" in wrong_answer(asked, written, answering(result("a"), exists))


def test_a_name_twice_is_refused_once():
    asked = asking(topic("a"), topic("a"), topic("b"))
    twice = result("a", Code.INVALID_REQUEST)
    assert wrong_records(asked, *made("b")) is None
    assert wrong_answer(asked, made("b"), answering(twice, result("b"))) is None
    assert "in spite of INVALID_REQUEST" in wrong_records(
        asked, *made("a"), *made("b", topic_id=OTHER)
    )


def test_a_request_that_validates_writes_nothing():
    asked = asking(topic(), validate_only=True)
    assert wrong_records(asked) is None
    assert "only validates" in wrong_records(asked, *made())
    assert wrong_answer(asked, (), answering(result(topic_id=bytes(16)))) is None
    exists = asking(topic("old.topic"), validate_only=True)
    assert "in spite" in wrong_answer(exists, (), answering(result("old.topic")))


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(result(partitions=2), id="partitions"),
        pytest.param(result(factor=3), id="replication factor"),
        pytest.param(result(topic_id=OTHER), id="id"),
        pytest.param(result(code=Code.TOPIC_ALREADY_EXISTS), id="refused"),
        pytest.param(
            result(configs=(rows.ShownSetting(name="x", value="1", config_source=1),)),
            id="configuration",
        ),
    ],
)
def test_an_answer_says_what_was_done(wrong):
    assert wrong_answer(asking(topic()), made(), answering(wrong)) is not None


def test_an_answer_shows_the_configurations():
    asked, written = asking(topic(configs=(RETENTION,))), (*made(), config())
    shown = rows.ShownSetting(name="retention.ms", value="5", config_source=1)
    assert wrong_answer(asked, written, answering(result(configs=(shown,)))) is None
    assert "without the configuration" in wrong_answer(asked, written, answering(result()))


def test_an_acknowledged_topic_that_was_not_written():
    assert "not created" in wrong_answer(asking(topic()), (), answering(result()))
