"""A cluster of the specification: three brokers, a topic, and what a test asks and writes."""

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.image import EMPTY_IMAGE
from kraftproof.checkers.kraft.specification.specification import Specification

CLUSTER = "cluster"
OLD = b"o" * 16
NEW = b"n" * 16
OTHER = b"x" * 16
SPECIFICATION = Specification(Facts(cluster_id=CLUSTER))
OFFSET = 50


def directory(broker_id):
    return bytes([broker_id]) * 16


def registered(broker_id, *, epoch=None, incarnation=b"i" * 16, rack=None, **changes):
    fields = {"fenced": False, "log_dirs": (directory(broker_id),), **changes}
    return rows.RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=incarnation,
        broker_epoch=broker_id if epoch is None else epoch,
        rack=rack,
        **fields,
    )


def partition(index=0, replicas=(1, 2), *, topic_id=NEW, leader=None, isr=None, directories=None):
    isr = replicas if isr is None else isr
    return rows.PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=replicas,
        isr=isr,
        leader=isr[0] if leader is None else leader,
        leader_epoch=0,
        partition_epoch=0,
        directories=tuple(map(directory, replicas)) if directories is None else directories,
    )


BROKERS = (registered(1), registered(2), registered(3))
OLD_TOPIC = (
    rows.TopicRecord(name="old.topic", topic_id=OLD),
    partition(0, (1, 2), topic_id=OLD),
    partition(1, (2, 3), topic_id=OLD),
    partition(2, (3,), topic_id=OLD),
)
LEVEL = rows.FeatureLevelRecord(name="metadata.version", feature_level=21)
IMAGE = fold(EMPTY_IMAGE, (LEVEL, *BROKERS, *OLD_TOPIC))


def image(*written, before=IMAGE):
    return fold(before, written)


def wrong_records(request, *written, before=IMAGE):
    SPECIFICATION.after(before, written)
    return SPECIFICATION.wrong_records(before, OFFSET, request, written)


def wrong_answer(request, written, answer, before=IMAGE):
    return SPECIFICATION.wrong_answer(before, request, tuple(written), answer)


def changed(broker_id, *, fenced=0, leaves=0, epoch=None):
    return rows.BrokerRegistrationChangeRecord(
        broker_id=broker_id,
        broker_epoch=broker_id if epoch is None else epoch,
        fenced=fenced,
        in_controlled_shutdown=leaves,
    )


def moved(index, *, isr=None, leader=-2):
    return rows.PartitionChangeRecord(partition_id=index, topic_id=OLD, isr=isr, leader=leader)
