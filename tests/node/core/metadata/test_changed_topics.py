"""A broker looks at the topics that records have named, and overlooks no other topic."""

from random import Random

import pytest

from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata import changed_topics
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.types import Uuid

TOPIC, BROKER, GROUP = 2, 4, 32


class History:
    """Drawn records, the log of them, and the image of the committed records."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.log = Log()
        self.committed = CommittedImage()
        self.made = 0
        self.is_open = False

    @property
    def alive(self):
        """The topics of the newest image, in order."""
        return sorted(self.committed.newest.topics.values(), key=lambda topic: topic.name)

    def write(self, *written):
        """Append a batch, and commit it."""
        base = self.log.end_offset
        self.log.append(Batch(base_offset=base, epoch=1, timestamp_ms=0, records=written))
        self.committed.advance(self.log, self.log.end_offset)

    def create(self):
        self.made += 1
        topic_id = Uuid(self.made.to_bytes(16, "big"))
        partitions = [
            records.PartitionRecord(
                partition_id=index, topic_id=topic_id, replicas=(1, 2), isr=(1, 2), leader=1
            )
            for index in range(self.random.randrange(1, 4))
        ]
        self.write(records.TopicRecord(name=f"t{self.made}", topic_id=topic_id), *partitions)

    def change(self):
        topic = self.random.choice(self.alive)
        self.write(
            records.PartitionChangeRecord(
                partition_id=0, topic_id=topic.topic_id, leader=self.random.choice((1, 2))
            )
        )

    def remove(self):
        self.write(records.RemoveTopicRecord(topic_id=self.random.choice(self.alive).topic_id))

    def configure(self):
        kind, name = self.random.choice(
            [(TOPIC, self.random.choice(self.alive).name), (TOPIC, "no-topic"), (GROUP, "g")]
        )
        text = self.random.choice(("1", "2", None))
        self.write(
            records.ConfigRecord(
                resource_type=kind, resource_name=name, name="retention.ms", value=text
            )
        )

    def clear(self):
        self.write(records.ClearElrRecord(topic_name=self.random.choice(self.alive).name))

    def transact(self):
        kinds = (records.EndTransactionRecord, records.AbortTransactionRecord)
        begin = records.BeginTransactionRecord
        self.write(self.random.choice(kinds)() if self.is_open else begin())
        self.is_open = not self.is_open

    def step(self):
        """Write one drawn batch."""
        steps = [self.create]
        if self.alive:
            steps += [self.change, self.change, self.remove, self.configure, self.clear]
        chosen = self.transact if self.random.random() < 0.05 else self.random.choice(steps)
        chosen()


def different(before, image):
    """Return the topics whose partitions or configurations differ between two images."""
    names = {
        topic.topic_id: topic.name for each in (before, image) for topic in each.topics.values()
    }
    return {
        topic_id
        for topic_id, name in names.items()
        if before.partitions.get(topic_id) is not image.partitions.get(topic_id)
        or before.configs.get((TOPIC, name)) != image.configs.get((TOPIC, name))
    }


@pytest.mark.parametrize("seed", range(30))
def test_every_topic_that_differs_is_told(seed):
    history, before, told = History(seed), None, 0
    for number in range(120):
        history.step()
        if history.random.random() < 0.5:
            image = history.committed.image
            if image is before:
                continue
            taken = history.committed.changed_topics.take(before, image)
            if taken is not None:
                assert taken == sorted(taken)
                assert different(before, image) <= set(taken), f"step {number}"
                told += 1
            before = image
    assert told > 2


def test_a_value_of_a_broker_and_an_image_from_elsewhere_count_as_every_topic():
    history = History(0)
    changed = history.committed.changed_topics
    history.create()
    first = history.committed.image
    assert changed.take(None, first) is None
    history.create()
    second = history.committed.image
    assert changed.take(first, second) == [Uuid((2).to_bytes(16, "big"))]
    history.write(
        records.ConfigRecord(
            resource_type=BROKER, resource_name="", name="log.retention.ms", value="1"
        )
    )
    third = history.committed.image
    assert changed.take(second, third) is None
    history.create()
    assert changed.take(second, history.committed.image) is None  # not the last look


def test_a_snapshot_between_two_batches_counts_as_every_topic():
    history = History(0)
    history.create()
    first = history.committed.image
    history.committed.changed_topics.take(None, first)
    history.committed.image = history.committed.newest = EMPTY_IMAGE  # as `load` does
    history.create()
    assert history.committed.changed_topics.take(first, history.committed.image) is None


def test_too_many_topics_count_as_every_topic(monkeypatch):
    monkeypatch.setattr(changed_topics, "MOST_TOPICS", 5)
    history = History(0)
    history.create()
    before = history.committed.image
    history.committed.changed_topics.take(None, before)
    for _ in range(7):
        history.create()
    assert history.committed.changed_topics.take(before, history.committed.image) is None


def test_a_staged_batch_names_its_topics():
    history = History(0)
    history.create()
    before = history.committed.image
    history.committed.changed_topics.take(None, before)
    twin = History(0)
    twin.create()
    twin.create()
    history.committed.stage(Offset(twin.log.end_offset), Epoch(1), twin.committed.image)
    history.create()
    assert history.committed.image is twin.committed.image
    taken = history.committed.changed_topics.take(before, history.committed.image)
    assert taken == [Uuid((2).to_bytes(16, "big"))]
