"""Draw requests about brokers, controllers and features, most with one mistake.

A request in the name of a broker of the cluster is one that a controller refuses, or one that
changes nothing: the broker would not understand the change. Registrations are of brokers and
controllers that no node is.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary, draw_uuid
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_request,
    assign_replicas_to_dirs_request,
    broker_registration_request,
    controller_registration_request,
    update_features_request,
)
from kraftproof.node.wire.types import ZERO_UUID, Uuid

FOREIGN_CONTROLLERS: Final = (7_100, 7_101, -1)
FOREIGN_BROKERS: Final = (7_200, 7_201)
METADATA_VERSION: Final = "metadata.version"
MOST_ASSIGNMENTS: Final = 2_250
"""Maximum number of assignments of a request."""
OTHER_BROKER_SHARE: Final = 0.15
UNKNOWN_TOPIC_SHARE: Final = 0.1

OfControllers = Callable[[Random, Vocabulary, MetadataImage], Message | None]


def update_features(random: Random, _: Vocabulary) -> Message:
    """Return an UpdateFeatures, which only validates, or changes nothing by its levels."""
    module = update_features_request
    updates = tuple(
        module.FeatureUpdateKey(
            feature=random.choice((METADATA_VERSION,) * 4 + ("kraft.version", "no.such.feature")),
            max_version_level=random.choice((21, 21, 20, 22, 7, 30, 31, 6, 0, -1, 17, 25)),
            upgrade_type=random.choice((1, 1, 2, 3, 0, 4)),
        )
        for _ in range(random.choice((1, 1, 1, 2)))
    )
    if random.random() < 0.2:
        updates = tuple(
            replace(update, upgrade_type=1, allow_downgrade=random.random() < 0.5)
            for update in updates
        )
    return module.UpdateFeaturesRequest(feature_updates=updates, validate_only=True)


UPDATES: Final = update_features


def _controller(random: Random, _: Vocabulary, __: MetadataImage) -> Message:
    """Return the registration of a controller that no node is."""
    module = controller_registration_request
    features = [_level_of_controller(random)]
    if random.random() < 0.3:
        features.append(
            module.Feature(name="other", min_supported_version=0, max_supported_version=3)
        )
    if random.random() < 0.15:
        features.pop(0)
    listener = module.Listener(name="CONTROLLER", host="host", port=9093, security_protocol=0)
    return module.ControllerRegistrationRequest(
        controller_id=random.choice(FOREIGN_CONTROLLERS),
        incarnation_id=Uuid(random.randbytes(16)),
        listeners=(listener,) * random.choice((1, 1, 2, 0)),
        features=tuple(features),
    )


def _level_of_controller(random: Random) -> controller_registration_request.Feature:
    least, most = random.choice(((1, 30), (7, 30), (21, 21), (22, 30), (1, 20), (1, 25)))
    return controller_registration_request.Feature(
        name=METADATA_VERSION, min_supported_version=least, max_supported_version=most
    )


def _registration(random: Random, vocabulary: Vocabulary, image: MetadataImage) -> Message:
    """Return the registration of a broker that no node is, with one mistake at most."""
    module = broker_registration_request
    least, most = random.choice(((1, 30), (1, 30), (21, 21), (22, 30), (1, 20)))
    levels = {METADATA_VERSION: (least, most), "other": (random.choice((0, 0, 1)), 3)}
    if random.random() < 0.15:
        del levels[METADATA_VERSION]
    taken = [entry for broker in image.sorted_brokers() for entry in broker.log_dirs]
    directories = random.choice(
        (
            (Uuid(random.randbytes(16)),),
            (Uuid(random.randbytes(16)), Uuid(random.randbytes(16))),
            (),
            (Uuid(random.randbytes(16)),) * 2,
            tuple(taken[:1]),
            (ZERO_UUID,),
            (Uuid(bytes(15) + b"\1"),),
        )
    )
    listener = module.Listener(name="PLAINTEXT", host="host", port=9092, security_protocol=0)
    return module.BrokerRegistrationRequest(
        broker_id=random.choice((*FOREIGN_BROKERS * 4, -1)),
        cluster_id=random.choice((vocabulary.cluster_id,) * 7 + ("another",)),
        incarnation_id=Uuid(random.randbytes(16)),
        listeners=(listener,),
        features=tuple(
            module.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in levels.items()
        ),
        rack=random.choice((None, "east", "")),
        is_migrating_zk_broker=random.random() < 0.1,
        log_dirs=directories,
    )


def _proposal(random: Random, vocabulary: Vocabulary, image: MetadataImage) -> Message | None:
    """Return an AlterPartition of the leader that changes nothing, or with a mistake."""
    module = alter_partition_request
    partition = _partition(random, image)
    if partition is None or partition.recovery_state:
        return None  # a proposal could end the recovery of a leader that has not recovered
    broker = image.brokers.get(partition.leader) or _broker(random, image)
    if random.random() < OTHER_BROKER_SHARE:
        broker = _broker(random, image)
    if broker is None:
        return None
    topic_id, asked = partition.topic_id, _unchanged(partition, image)
    if random.random() < UNKNOWN_TOPIC_SHARE:
        topic_id = draw_uuid(random, vocabulary)
    asked = random.choice((*_MISTAKES, lambda right, _, __: right))(asked, random, image)
    topic = module.TopicData(topic_id=topic_id, partitions=(asked,))
    return module.AlterPartitionRequest(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch + random.choice((0, 0, 0, 0, 1, -1)),
        topics=(topic,),
    )


def _unchanged(partition: Partition, image: MetadataImage) -> alter_partition_request.PartitionData:
    """Return the proposal of the present ISR."""
    return alter_partition_request.PartitionData(
        partition_index=partition.index,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr_with_epochs=_members(image, partition.isr),
    )


Proposed = alter_partition_request.PartitionData


def _unknown_partition(right: Proposed, _: Random, __: MetadataImage) -> Proposed:
    return replace(right, partition_index=99)


def _other_leader_epoch(right: Proposed, random: Random, _: MetadataImage) -> Proposed:
    return replace(right, leader_epoch=right.leader_epoch + random.choice((-1, 1)))


def _other_partition_epoch(right: Proposed, random: Random, _: MetadataImage) -> Proposed:
    return replace(right, partition_epoch=right.partition_epoch + random.choice((-1, 1)))


def _member_twice(right: Proposed, _: Random, __: MetadataImage) -> Proposed:
    return replace(right, new_isr_with_epochs=right.new_isr_with_epochs * 2)


def _foreign_member(right: Proposed, _: Random, image: MetadataImage) -> Proposed:
    return replace(right, new_isr_with_epochs=_members(image, (FOREIGN_BROKERS[0],)))


def _unknown_state(right: Proposed, random: Random, _: MetadataImage) -> Proposed:
    return replace(right, leader_recovery_state=random.choice((1, 2, -1)))


_MISTAKES: Final = (
    _unknown_partition,
    _other_leader_epoch,
    _other_partition_epoch,
    _member_twice,
    _foreign_member,
    _unknown_state,
)


def _members(
    image: MetadataImage, isr: tuple[int, ...]
) -> tuple[alter_partition_request.BrokerState, ...]:
    epochs = {int(one.broker_id): one.epoch for one in image.sorted_brokers()}
    return tuple(
        alter_partition_request.BrokerState(broker_id=node, broker_epoch=epochs.get(node, -1))
        for node in isr
    )


def _assignment(random: Random, vocabulary: Vocabulary, image: MetadataImage) -> Message | None:
    """Return an AssignReplicasToDirs of replicas that the broker does not have."""
    module = assign_replicas_to_dirs_request
    partition, broker = _partition(random, image), _broker(random, image)
    if partition is None or broker is None or not broker.log_dirs:
        return None
    topic_id, indexes = partition.topic_id, [partition.index]
    directory = broker.log_dirs[0]
    match random.randrange(4):
        case 0:
            topic_id = Uuid(random.randbytes(16))
        case 1:
            indexes = [99, -1]
        case 2:
            count = random.choice((MOST_ASSIGNMENTS, MOST_ASSIGNMENTS + 1))
            indexes = list(range(1_000, 1_000 + count))
        case _:
            if broker.broker_id in partition.replicas:
                return None  # the broker has told, or will tell, where its replica is
    topic = module.TopicData(
        topic_id=topic_id,
        partitions=tuple(module.PartitionData(partition_index=index) for index in indexes),
    )
    return module.AssignReplicasToDirsRequest(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch + random.choice((0, 0, 0, 0, 1)),
        directories=(module.DirectoryData(id=directory, topics=(topic,)),),
    )


def _partition(random: Random, image: MetadataImage) -> Partition | None:
    topics = list(image.sorted_topics())
    if not topics:
        return None
    partitions = list(image.partitions_of(random.choice(topics).topic_id))
    return random.choice(partitions) if partitions else None


def _broker(random: Random, image: MetadataImage) -> BrokerRegistration | None:
    brokers = list(image.sorted_brokers())
    return random.choice(brokers) if brokers else None


OF_CONTROLLERS: Final[tuple[OfControllers, ...]] = (
    _controller,
    _registration,
    *(_proposal,) * 3,
    *(_assignment,) * 2,
)
