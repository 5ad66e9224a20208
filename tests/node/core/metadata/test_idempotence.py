"""Records overwrite and requests may be repeated (KIP-595 "Client Interactions"; 595-31).

Not among the records that may be applied twice: PartitionChangeRecord, which counts the leader and
partition epochs up, TopicRecord, which refuses a second of its name, ProducerIdsRecord, which
gives no block away twice, and removals, which refuse what is not there; a controller writes those
for one state of the image only, so their repetition is a request's, shown below.
"""

import pytest

from kraftproof.node.core.metadata.apply import apply, apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from tests.node.core.controller.desk import Desk, creation, deletion, registration
from tests.node.core.metadata.test_apply import BASE, broker, partition, uuid

CONFIG = records.ConfigRecord(resource_type=2, resource_name="t", name="k", value="v")
OVERWRITING = [
    broker(3, 9),
    partition(1, index=1),
    CONFIG,
    records.ConfigRecord(resource_type=2, resource_name="t", name="k", value=None),
    records.FeatureLevelRecord(name="metadata.version", feature_level=7),
    records.FenceBrokerRecord(id=1, epoch=5),
    records.UnfenceBrokerRecord(id=1, epoch=5),
    records.BrokerRegistrationChangeRecord(broker_id=2, broker_epoch=6, fenced=-1),
    records.AccessControlEntryRecord(id=uuid(8), resource_name="t", principal="User:a"),
    records.RemoveAccessControlEntryRecord(id=uuid(8)),
    records.NoOpRecord(),
]


@pytest.mark.requirement("595-31")
@pytest.mark.parametrize("record", OVERWRITING, ids=lambda record: type(record).__name__)
def test_a_record_applied_twice_gives_the_image_of_once(record) -> None:
    before = apply(BASE, CONFIG)
    once = apply(before, record)
    twice = apply(once, record)
    assert twice == once
    assert twice.digest == once.digest


@pytest.mark.requirement("595-31")
def test_the_last_of_several_writes_of_one_thing_stays() -> None:
    values = [
        records.ConfigRecord(resource_type=2, resource_name="t", name="k", value=value)
        for value in ("1", "2", "1", "3")
    ]
    assert apply_all(EMPTY_IMAGE, tuple(values)) == apply(EMPTY_IMAGE, values[-1])


@pytest.mark.requirement("595-31")
@pytest.mark.parametrize(
    ("request_", "first", "again"),
    [
        (creation("a"), ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS),
        (deletion("kept"), ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_a_change_that_timed_out_may_be_asked_for_again(request_, first, again) -> None:
    desk = Desk.active(brokers=1)
    desk.ask(creation("kept"))
    assert error_of(desk.ask(request_)) == first
    image = desk.image
    assert error_of(desk.ask(request_)) == again
    assert desk.image.digest == image.digest


@pytest.mark.requirement("595-31")
@pytest.mark.requirement("631-42")
def test_a_registration_that_timed_out_may_be_asked_for_again() -> None:
    desk = Desk.active()
    answers = [desk.ask(registration(1)) for _ in range(2)]
    image = desk.image
    assert answers[0] == answers[1]
    assert [*image.brokers] == [1]


def error_of(answer) -> ErrorCode:
    (result,) = getattr(answer, "topics", None) or answer.responses
    return ErrorCode(result.error_code)
