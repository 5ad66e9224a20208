"""Judge what Kafka's controller alone writes: controllers, the bootstrap, ISRs and directories.

They are no results of requests that clients make. So each rule is about the records themselves.
"""

from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.brokers import is_reserved
from kraftproof.checkers.kraft.specification.ids import Id, show
from kraftproof.checkers.kraft.specification.image import UNCHANGED_LEADER, Image, Partition
from kraftproof.checkers.kraft.specification.rows import Row

BROKER_RESOURCE: Final = 4
"""The resource type of a broker in a ConfigRecord; the empty name means all brokers."""


def is_kafkas_own(written: Sequence[Row]) -> bool:
    """Return whether records of one cause are Kafka's own, and so no result of a request."""
    return isinstance(
        written[0],
        rows.NoOpRecord
        | rows.RegisterControllerRecord
        | rows.BeginTransactionRecord
        | rows.PartitionChangeRecord,
    )


def wrong_of_kafka(image: Image, written: Sequence[Row]) -> str | None:
    """Return why Kafka's controller may not write these records of its own, or None."""
    match written[0]:
        case rows.RegisterControllerRecord() as record:
            return _wrong_controller(image, record)
        case rows.BeginTransactionRecord():
            return _wrong_bootstrap(image, written)
        case rows.PartitionChangeRecord():
            return _wrong_alterations(image, written)
        case _:
            return None


def _wrong_controller(image: Image, record: rows.RegisterControllerRecord) -> str | None:
    """A controller registers with its listeners and all features of the cluster (KIP-919)."""
    who = f"controller {record.controller_id}"
    if not record.end_points:
        return f"{who} was registered without a listener"
    if record.zk_migration_ready:
        return f"{who} was registered as ready for a migration, in a cluster of KRaft"
    supported = {one.name: one for one in record.features}
    for name, level in image.features.items():
        one = supported.get(name)
        if one is None or not one.min_supported_version <= level <= one.max_supported_version:
            return f"{who} was registered, but does not support {name} {level}"
    return None


def _wrong_bootstrap(image: Image, written: Sequence[Row]) -> str | None:
    """A cluster begins with its features and the defaults of all brokers, as one transaction."""
    if image.features or image.brokers or image.topics:
        return "a metadata transaction begins in a cluster that has begun already"
    if not isinstance(written[-1], rows.EndTransactionRecord):
        return "the metadata transaction of the bootstrap does not end in its batch"
    features: set[str] = set()
    for record in written[1:-1]:
        match record:
            case rows.FeatureLevelRecord(name=name, feature_level=level):
                if name in features or level < 1:
                    return f"the bootstrap sets {name} to {level}"
                features.add(name)
            case rows.ConfigRecord(resource_type=kind, resource_name=name):
                if (kind, name) != (BROKER_RESOURCE, ""):
                    return f"the bootstrap configures {name!r} of type {kind}, not all brokers"
            case rows.ZkMigrationStateRecord(zk_migration_state=0):
                pass
            case _:
                return f"the bootstrap has written a {type(record).__name__}"
    return None


def _wrong_alterations(image: Image, written: Sequence[Row]) -> str | None:
    """A leader changes the ISR (KIP-497), or a broker assigns directories, and nothing else."""
    for record in written:
        assert isinstance(record, rows.PartitionChangeRecord)
        wrong = _wrong_alteration(image, record)
        if wrong is not None:
            return f"partition {record.partition_id} of {show(record.topic_id)} {wrong}"
    return None


def _wrong_alteration(image: Image, record: rows.PartitionChangeRecord) -> str | None:
    topic = image.topics.get(record.topic_id)
    was = None if topic is None else topic.partitions.get(record.partition_id)
    if was is None:
        return "was changed, but there is none"
    isr = record.isr
    if isr is None and record.directories is not None and record.leader == UNCHANGED_LEADER:
        return _wrong_directories(image, was, record.directories)
    if isr is None or record.leader != UNCHANGED_LEADER or record.replicas is not None:
        return f"was changed without a cause: {record}"
    if was.leader not in isr or not set(isr).issubset(was.replicas) or len({*isr}) != len(isr):
        return f"has the ISR {isr}, led by {was.leader} of the replicas {was.replicas}"
    unable = [one for one in isr if one not in was.isr and not image.may_lead(one)]
    return f"has {unable} in its ISR, fenced or shutting down" if unable else None


def _wrong_directories(image: Image, was: Partition, directories: tuple[Id, ...]) -> str | None:
    """AssignReplicasToDirs names a directory of its broker for each replica (KIP-858)."""
    if len(directories) != len(was.replicas):
        return f"has {len(directories)} directories for the replicas {was.replicas}"
    for replica, directory in zip(was.replicas, directories, strict=True):
        broker = image.brokers.get(replica)
        is_known = broker is None or directory in broker.log_dirs
        if not is_known and not is_reserved(directory):
            return f"has a directory on broker {replica} that the broker does not have"
    return None
