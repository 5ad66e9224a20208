"""A leadership: progress of followers, high watermark, and wishes for the ISR."""

import random

import pytest
from immutables import Map
from msgspec.structs import replace

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Monotonic, milliseconds
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition
from kraftproof.node.core.partition.isr import IsrAnswer
from kraftproof.node.core.partition.leader import Leader
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.wire.types import ZERO_UUID, Uuid

TOPIC = Uuid(b"t" * 16)
LAG_NS = milliseconds(30_000)


def broker(broker_id, *, fenced=False, stopping=False, epoch=None):
    return BrokerRegistration(
        broker_id=broker_id,
        epoch=100 + broker_id if epoch is None else epoch,
        incarnation=ZERO_UUID,
        endpoints=(),
        features=(),
        rack=None,
        fenced=fenced,
        in_controlled_shutdown=stopping,
    )


def image(*brokers):
    found = {each.broker_id: each for each in map(broker, (1, 2, 3))}
    found |= {each.broker_id: each for each in brokers}
    return MetadataImage(brokers=Map(found))


def partition(isr=(1, 2, 3), *, partition_epoch=0, replicas=(1, 2, 3)):
    return Partition(
        topic_id=TOPIC,
        index=0,
        replicas=replicas,
        isr=isr,
        leader=1,
        leader_epoch=4,
        partition_epoch=partition_epoch,
    )


class Case:
    """A leader with a log of some records."""

    def __init__(self, isr=(1, 2, 3), *, end=10, high_watermark=0, min_isr=1, **image_fields):
        self.index = LogIndex(LogId(TOPIC, 0))
        self.now = 1_000
        self.image = image_fields.get("image", image())
        self.append(end)
        self.index.high_watermark = high_watermark
        self.leader = Leader(
            1,
            self.index,
            partition(isr),
            self.image.brokers,
            min_isr=min_isr,
            lag_ns=LAG_NS,
            own_end=lambda: self.index.end_offset,
            now=self.time(),
        )

    def time(self):
        return Monotonic(milliseconds(self.now))

    def append(self, count=1):
        for _ in range(count):
            end = self.index.end_offset
            self.index.append(end, end + 1, 4, 100, 0)

    def fetch(self, replica, offset, epoch=None):
        seen = 100 + replica if epoch is None else epoch
        self.leader.record_fetch(replica, offset, 0, seen, self.time())
        return self.leader.advance_high_watermark(self.time())

    @property
    def high_watermark(self):
        return self.index.high_watermark


def test_the_high_watermark_is_the_smallest_end_of_the_isr():
    case = Case()
    assert not case.fetch(2, 8)
    assert case.fetch(3, 6)
    assert case.high_watermark == 6
    assert case.fetch(3, 10)
    assert case.high_watermark == 8


def test_the_high_watermark_never_falls():
    case = Case(high_watermark=9)
    for replica in (2, 3):
        case.fetch(replica, 5)
    assert case.high_watermark == 9
    chance = random.Random(3)
    seen = 9
    for _ in range(300):
        case.append(chance.randint(0, 2))
        case.fetch(chance.choice((2, 3)), chance.randint(0, case.index.end_offset))
        assert case.high_watermark >= seen
        seen = case.high_watermark


def test_a_replica_outside_the_isr_does_not_hold_up_the_high_watermark():
    case = Case(isr=(1, 2))
    assert case.fetch(2, 10)
    assert case.high_watermark == 10


@pytest.mark.requirement("497-08")
def test_a_proposed_member_holds_up_the_high_watermark_until_the_proposal_has_failed():
    case = Case(isr=(1, 2))
    case.fetch(3, 10)
    assert case.leader.isr.proposed == (1, 2, 3)
    sent = case.leader.isr = case.leader.isr.sent()
    case.append(5)
    case.now += 40_000  # so that the joiner does not count as caught up
    case.fetch(2, 15)
    assert case.high_watermark == 10
    case.leader.answered(sent, None)
    assert not case.leader.advance_high_watermark(case.time())
    case.leader.isr = sent
    case.leader.answered(sent, IsrAnswer(error=107))
    assert case.leader.advance_high_watermark(case.time())
    assert case.high_watermark == 15


@pytest.mark.requirement("497-08")
def test_a_leaver_holds_up_the_high_watermark_until_its_removal_is_committed():
    case = Case()
    case.fetch(2, 10)
    case.now += 30_001
    case.fetch(2, 10)
    case.leader.shrink_lagging(case.time())
    assert case.leader.isr.proposed == (1, 2)
    case.leader.advance_high_watermark(case.time())
    assert case.high_watermark == 0
    case.leader.follow(partition((1, 2), partition_epoch=1), case.image.brokers)
    assert case.leader.advance_high_watermark(case.time())
    assert case.high_watermark == 10


def test_a_caught_up_replica_that_may_join_holds_up_the_high_watermark():
    """Otherwise new records commit faster than the joiner's next Fetch comes."""
    case = Case(isr=(1, 2))
    case.leader.isr = case.leader.isr.shrink(frozenset({2})).sent()
    case.fetch(3, 10)
    case.fetch(2, 10)
    assert case.high_watermark == 10
    case.append()
    case.fetch(2, 11)
    assert case.high_watermark == 10
    case.fetch(3, 11)
    assert case.high_watermark == 11


def test_a_fenced_replica_outside_the_isr_does_not_hold_up_the_high_watermark():
    case = Case(isr=(1, 2), image=image(broker(3, fenced=True)))
    case.fetch(3, 10)
    case.append()
    case.fetch(2, 11)
    assert case.high_watermark == 11


def test_the_high_watermark_stands_still_below_min_insync_replicas():
    case = Case(isr=(1,), min_isr=2)
    assert not case.leader.advance_high_watermark(case.time())
    assert case.high_watermark == 0
    alone = Case(isr=(1,), min_isr=1)
    assert alone.leader.advance_high_watermark(alone.time())


def test_min_insync_replicas_is_at_most_the_number_of_replicas():
    case = Case(min_isr=7)
    assert case.leader.effective_min_isr == 3
    assert not case.leader.is_under_min_isr


@pytest.mark.requirement("497-09")
def test_a_follower_joins_at_the_high_watermark_and_the_epoch_start():
    case = Case(isr=(1, 2), high_watermark=5)
    case.fetch(3, 9)
    assert not case.leader.isr.is_pending, "the epoch began at offset 10"
    case.fetch(3, 10)
    assert case.leader.isr.proposed == (1, 2, 3)
    assert case.leader.member_epochs() == ((1, 101), (2, -1), (3, 103))


@pytest.mark.requirement("497-09")
def test_a_follower_below_the_high_watermark_does_not_join():
    case = Case(isr=(1, 2))
    case.append(5)
    case.index.high_watermark = 14
    case.fetch(3, 13)
    assert not case.leader.isr.is_pending
    case.fetch(3, 14)
    assert case.leader.isr.proposed == (1, 2, 3)


@pytest.mark.requirement("497-11")
def test_a_second_joiner_waits_for_the_decision_about_the_first():
    case = Case(isr=(1,))
    case.fetch(2, 10)
    open_proposal = case.leader.isr
    case.fetch(3, 10)
    assert case.leader.isr == open_proposal
    case.leader.follow(partition((1, 2), partition_epoch=1), case.image.brokers)
    case.fetch(3, 10)
    assert case.leader.isr.proposed == (1, 2, 3)


@pytest.mark.parametrize(
    "registration",
    [broker(3, fenced=True), broker(3, stopping=True), broker(3, epoch=200)],
)
@pytest.mark.requirement("497-06")
def test_a_fenced_a_stopping_and_a_restarted_follower_are_not_proposed(registration):
    case = Case(isr=(1, 2), image=image(registration))
    case.fetch(3, 10)
    assert not case.leader.isr.is_pending
    healthy = Case(isr=(1, 2))
    healthy.fetch(3, 10)
    assert healthy.leader.isr.is_pending


@pytest.mark.requirement("497-09")
def test_a_member_that_lags_for_too_long_is_proposed_to_leave():
    case = Case()
    case.fetch(2, 10)
    case.fetch(3, 10)
    case.append()
    case.now += 29_999
    case.leader.shrink_lagging(case.time())
    assert not case.leader.isr.is_pending
    case.now += 2
    case.fetch(2, 11)
    case.leader.shrink_lagging(case.time())
    assert case.leader.isr.proposed == (1, 2)


def test_an_idle_member_with_every_record_never_lags():
    case = Case()
    case.fetch(2, 10)
    case.fetch(3, 10)
    case.now += 90_000
    case.leader.shrink_lagging(case.time())
    assert not case.leader.isr.is_pending


def test_a_member_that_follows_steady_writes_does_not_lag_though_it_is_never_at_the_end():
    case = Case()
    for _ in range(20):
        end = case.index.end_offset
        case.append()
        case.now += 5_000
        case.fetch(2, end)
        case.fetch(3, end)
        case.leader.shrink_lagging(case.time())
    assert not case.leader.isr.is_pending


def test_a_member_that_always_lags_behind_its_last_fetch_leaves():
    case = Case()
    for _ in range(20):
        case.append(5)
        case.now += 5_000
        case.fetch(2, case.index.end_offset)
        case.fetch(3, case.index.end_offset - 6)
        case.leader.shrink_lagging(case.time())
    assert case.leader.isr.proposed == (1, 2)


def test_followers_match_the_replicas_of_the_image():
    case = Case()
    case.fetch(2, 10)
    case.leader.follow(partition((1, 2), partition_epoch=1, replicas=(1, 2, 5)), case.image.brokers)
    assert set(case.leader.followers) == {2, 5}
    assert case.leader.followers[2].end_offset == 10


def test_the_low_watermark_is_the_smallest_start_of_live_replicas():
    case = Case(end=20)
    case.index.raise_start(9)
    for replica, start in ((2, 7), (3, 4)):
        case.leader.record_fetch(replica, 20, start, 100 + replica, case.time())
    assert case.leader.low_watermark() == 4
    fenced = replace(case.image, brokers=image(broker(3, fenced=True)).brokers)
    case.leader.follow(partition(partition_epoch=1), fenced.brokers)
    assert case.leader.low_watermark() == 7
