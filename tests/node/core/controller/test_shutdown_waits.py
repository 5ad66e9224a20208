"""A controlled shutdown is granted once the other brokers know the new leaders (631-60)."""

import pytest

from tests.node.core.controller.desk import Desk, creation, heartbeat

pytestmark = pytest.mark.requirement("631-60")


def beat(desk: Desk, broker_id: int, *, at: int, stops: bool = False):
    epoch = desk.image.brokers[broker_id].epoch
    return desk.ask(heartbeat(broker_id, epoch, at=at, want_shut_down=stops))


@pytest.fixture
def desk() -> Desk:
    desk = Desk.active(brokers=3)
    desk.ask(creation("t", replicas=((1, 2, 3),)))
    return desk


def test_the_moves_must_have_reached_every_active_broker(desk: Desk) -> None:
    before = desk.raft.log.end_offset - 1
    for broker_id in (2, 3):
        beat(desk, broker_id, at=before)
    assert not beat(desk, 1, at=before, stops=True).should_shut_down
    moved = desk.image.partitions_of(desk.image.topic_ids["t"])[0]
    assert moved.leader == 2
    for broker_id in (2, 3):
        assert not beat(desk, 1, at=before, stops=True).should_shut_down
        beat(desk, broker_id, at=desk.raft.log.end_offset - 1)
    assert beat(desk, 1, at=before, stops=True).should_shut_down


def test_fenced_and_stopping_brokers_are_not_waited_for(desk: Desk) -> None:
    before = desk.raft.log.end_offset - 1
    beat(desk, 3, at=before)
    beat(desk, 3, at=before, stops=True)
    beat(desk, 2, at=before)
    assert not beat(desk, 1, at=before, stops=True).should_shut_down
    desk.ask(heartbeat(2, desk.image.brokers[2].epoch, want_fence=True))
    assert beat(desk, 1, at=before, stops=True).should_shut_down


def test_a_new_controller_waits_for_heartbeats_of_its_own(desk: Desk) -> None:
    end = desk.raft.log.end_offset - 1
    for broker_id in (2, 3):
        beat(desk, broker_id, at=end)
    beat(desk, 1, at=end, stops=True)
    desk.lose()
    desk.win()
    assert not beat(desk, 1, at=end, stops=True).should_shut_down
    for broker_id in (2, 3):
        beat(desk, broker_id, at=desk.raft.log.end_offset - 1)
    assert beat(desk, 1, at=end, stops=True).should_shut_down


def test_a_broker_that_shuts_down_for_a_second_time_waits_again(desk: Desk) -> None:
    for broker_id in (2, 3):
        beat(desk, broker_id, at=1 << 40)
    for _ in range(2):
        granted = beat(desk, 1, at=0, stops=True).should_shut_down
    assert granted
    desk.join(1, 2)
    end = desk.raft.log.end_offset - 1
    for broker_id in (2, 3):
        beat(desk, broker_id, at=end)
    assert not beat(desk, 1, at=end, stops=True).should_shut_down
    assert not beat(desk, 1, at=end, stops=True).should_shut_down
