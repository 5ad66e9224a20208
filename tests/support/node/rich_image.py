"""An image with an entity of each kind that Kafka's metadata shell shows. No tests here."""

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.snapshot import batches_of
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batches import encode_batches
from kraftproof.node.wire.types import Uuid

ID = SnapshotId(end_offset=120, epoch=3)
FILE_NAME = "00000000000000000120-0000000003.checkpoint"


def uuid(number: int) -> Uuid:
    """Return an id that is none of the reserved ones."""
    return Uuid(bytes([number]) + bytes(14) + b"\x07")


def rich_image() -> MetadataImage:
    """Return the image."""
    return apply_all(EMPTY_IMAGE, RECORDS)


def snapshot_bytes() -> bytes:
    """Return the bytes of a snapshot file of the image."""
    return encode_batches(batches_of(ID, rich_image(), 1234))


RECORDS = (
    records.FeatureLevelRecord(name="metadata.version", feature_level=21),
    records.RegisterBrokerRecord(
        broker_id=4,
        incarnation_id=uuid(1),
        broker_epoch=5,
        end_points=(
            records.BrokerEndpoint(name="PLAINTEXT", host="b4", port=9092, security_protocol=0),
        ),
        features=(
            records.BrokerFeature(
                name="metadata.version", min_supported_version=21, max_supported_version=21
            ),
        ),
        rack="east",
        fenced=False,
        log_dirs=(uuid(3),),
    ),
    records.RegisterBrokerRecord(
        broker_id=5,
        incarnation_id=uuid(2),
        broker_epoch=6,
        end_points=(
            records.BrokerEndpoint(name="PLAINTEXT", host="b5", port=9092, security_protocol=0),
        ),
        features=(
            records.BrokerFeature(
                name="metadata.version", min_supported_version=21, max_supported_version=21
            ),
        ),
        fenced=True,
        log_dirs=(uuid(4),),
    ),
    records.RegisterControllerRecord(
        controller_id=1,
        incarnation_id=uuid(9),
        end_points=(
            records.ControllerEndpoint(
                name="CONTROLLER", host="c1", port=9093, security_protocol=0
            ),
        ),
        features=(
            records.ControllerFeature(
                name="metadata.version", min_supported_version=21, max_supported_version=21
            ),
        ),
    ),
    records.TopicRecord(name="orders", topic_id=uuid(11)),
    records.PartitionRecord(
        partition_id=0,
        topic_id=uuid(11),
        replicas=(4, 5),
        isr=(4,),
        leader=4,
        leader_epoch=2,
        partition_epoch=3,
        directories=(uuid(3), uuid(4)),
    ),
    records.PartitionRecord(
        partition_id=1,
        topic_id=uuid(11),
        replicas=(5, 4),
        isr=(4,),
        adding_replicas=(4,),
        removing_replicas=(5,),
        leader=-1,
        leader_epoch=1,
        partition_epoch=1,
        directories=(uuid(4), uuid(3)),
    ),
    records.ConfigRecord(resource_type=2, resource_name="orders", name="retention.ms", value="7"),
    records.ConfigRecord(resource_type=4, resource_name="", name="num.io.threads", value="9"),
    records.ConfigRecord(resource_type=4, resource_name="4", name="max.connections", value="8"),
    records.ConfigRecord(resource_type=32, resource_name="g", name="share.auto.offset.reset",
                         value="earliest"),
    records.ProducerIdsRecord(broker_id=4, broker_epoch=5, next_producer_id=1000),
    records.DelegationTokenRecord(
        owner="User:ann", requester="User:ann", renewers=("User:bob",), issue_timestamp=1,
        max_timestamp=9, expiration_timestamp=5, token_id="token-1",
    ),
    records.UserScramCredentialRecord(
        name="ann", mechanism=1, salt=b"s1", stored_key=b"k1", server_key=b"k2", iterations=4096
    ),
    records.AccessControlEntryRecord(
        id=uuid(70), resource_type=2, resource_name="orders", pattern_type=3,
        principal="User:ann", host="*", operation=3, permission_type=3,
    ),
    records.ClientQuotaRecord(
        entity=(records.EntityData(entity_type="user", entity_name="ann"),),
        key="producer_byte_rate",
        value=1024.0,
    ),
    records.ClientQuotaRecord(
        entity=(
            records.EntityData(entity_type="client-id", entity_name=None),
            records.EntityData(entity_type="user", entity_name="ann"),
        ),
        key="consumer_byte_rate",
        value=2048.0,
    ),
)  # fmt: skip
