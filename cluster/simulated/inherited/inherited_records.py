"""Records of every kind that controllers of Kafka write, in groups that fit each other.

The node's own controller writes few kinds of records. Its cluster may come from another controller,
with credentials, quotas, tokens, reassignments, eligible leader replicas and metadata transactions.
A group is a list of batches; groups can be in any order, since no group needs another. A feature
that the nodes don't support is removed within its group. See inherited_log.py for the log.
"""

from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.node.core.metadata.version import METADATA_VERSION, METADATA_VERSION_LEVEL
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

Group = list[tuple[Record, ...]]
Drawer = Callable[[Random], Group]

TOPIC, BROKER, METRICS = 2, 4, 16
"""Resource types of configurations."""
TAGS: Final = ((100, b"of a newer node"),)
"""Tagged fields that this version of the node does not know."""
NAME: Final = "__inherited"
"""Beginning of the names of inherited topics; no workload uses two leading underscores."""


def draw_uuid(random: Random) -> Uuid:
    """Return a random id."""
    return Uuid(random.randbytes(16))


def _tags(random: Random) -> tuple[tuple[int, bytes], ...]:
    return TAGS if random.random() < 0.3 else ()


def _features(random: Random) -> Group:
    name = random.choice(("kraft.version", "group.version", "transaction.version"))
    levels = random.choice(((1, 0), (1, 2, 0), (0,), (2, 1, 0)))
    return [
        (records.FeatureLevelRecord(name=name, feature_level=level, unknown_tags=_tags(random)),)
        for level in levels
    ]


def _metadata_version(random: Random) -> Group:
    record = records.FeatureLevelRecord(
        name=METADATA_VERSION, feature_level=METADATA_VERSION_LEVEL, unknown_tags=_tags(random)
    )
    return [(record,)]


def _configs(random: Random) -> Group:
    """Return configurations of resources that are no topics; some values are taken back."""
    written: list[Record] = []
    for _ in range(random.randint(2, 6)):
        kind, resource = random.choice(((BROKER, ""), (BROKER, "901"), (METRICS, "all")))
        record = records.ConfigRecord(
            resource_type=kind,
            resource_name=resource,
            name=random.choice(("log.retention.ms", "metrics", "background.threads")),
            value=random.choice((None, "", "1", "a,b")),
            unknown_tags=_tags(random),
        )
        written.append(record)
    return [tuple(written)]


AMPLE_RATE: Final = 1e9
"""A rate that slows no client of a run."""


def _quotas(random: Random) -> Group:
    user = records.EntityData(entity_type="user", entity_name=random.choice((None, "ann", "bob")))
    client = records.EntityData(entity_type="client-id", entity_name=random.choice((None, "app")))
    address = records.EntityData(entity_type="ip", entity_name="10.0.0.1")
    # The default user alone goes before each quota of a client id, which the run may have.
    named = user if user.entity_name else records.EntityData(entity_type="user", entity_name="ann")
    both = (user, client) if client.entity_name else (named, client)
    entities = ((named,), (client,), both, both[::-1], (address,))
    return [
        (
            records.ClientQuotaRecord(
                entity=random.choice(entities),
                key=random.choice(("consumer_byte_rate", "request_percentage")),
                value=AMPLE_RATE + random.randrange(1_000),
                remove=random.random() < 0.3,
            ),
        )
        for _ in range(random.randint(2, 5))
    ]


def _credentials(random: Random) -> Group:
    written: list[Record] = []
    for _ in range(random.randint(2, 5)):
        name, mechanism = random.choice(("ann", "bob")), random.choice((1, 2))
        if random.random() < 0.3:
            written.append(records.RemoveUserScramCredentialRecord(name=name, mechanism=mechanism))
            continue
        record = records.UserScramCredentialRecord(
            name=name,
            mechanism=mechanism,
            salt=random.randbytes(8),
            stored_key=random.randbytes(8),
            server_key=random.randbytes(8),
            iterations=random.choice((4096, 8192)),
        )
        written.append(record)
    return [tuple(written)]


def _tokens(random: Random) -> Group:
    written: list[Record] = []
    for token in ("one", "two", "one"):
        record = records.DelegationTokenRecord(
            owner="User:ann",
            requester="User:bob",
            renewers=random.choice(((), ("User:bob", "User:eve"))),
            issue_timestamp=random.randrange(1_000),
            expiration_timestamp=random.randrange(1_000),
            max_timestamp=random.randrange(1_000),
            token_id=token,
        )
        written.append(record)
    if random.random() < 0.6:
        written.append(records.RemoveDelegationTokenRecord(token_id=random.choice(("one", "none"))))
    return [tuple(written)]


def _access(random: Random) -> Group:
    ids = [draw_uuid(random) for _ in range(3)]
    entries = tuple(
        records.AccessControlEntryRecord(
            id=entry,
            resource_type=random.choice((2, 3, 4)),
            resource_name="x",
            pattern_type=3,
            principal="User:ann",
            host="*",
            operation=random.choice((3, 4)),
            permission_type=random.choice((2, 3)),
        )
        for entry in ids
    )
    return [entries, (records.RemoveAccessControlEntryRecord(id=random.choice(ids)),)]


def _others(random: Random) -> Group:
    incarnation = draw_uuid(random)
    return [
        (
            records.ProducerIdsRecord(broker_id=901, broker_epoch=1, next_producer_id=block * 1000),
            records.ZkMigrationStateRecord(zk_migration_state=random.choice((0, 4))),
            records.RegisterControllerRecord(
                controller_id=random.choice((900, 902)),
                incarnation_id=incarnation,
                end_points=(records.ControllerEndpoint(name="C", host="h", port=1),),
            ),
            records.NoOpRecord(),
        )
        for block in range(1, random.randint(2, 4))
    ]


def _topic(random: Random, name: str, count: int) -> tuple[Uuid, list[Record]]:
    """Return the id and the records of a topic, which no present broker leads."""
    topic_id = draw_uuid(random)
    written: list[Record] = [
        records.TopicRecord(name=name, topic_id=topic_id, unknown_tags=_tags(random))
    ]
    for index in range(count):
        replicas = tuple(random.sample((901, 902, 903, 904), random.randint(1, 3)))
        has_elr = random.random() < 0.4
        written.append(
            records.PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=replicas,
                isr=replicas[:1],
                removing_replicas=replicas[1:] if random.random() < 0.3 else (),
                adding_replicas=replicas[:1] if random.random() < 0.3 else (),
                leader=-1,
                leader_recovery_state=random.choice((0, 1)),
                leader_epoch=random.randrange(9),
                partition_epoch=random.randrange(9),
                directories=tuple(draw_uuid(random) for _ in replicas),
                eligible_leader_replicas=replicas[1:] if has_elr else None,
                last_known_elr=replicas[2:] if has_elr else None,
                unknown_tags=_tags(random),
            )
        )
    return topic_id, written


def _topics(random: Random) -> Group:
    """Return topics on brokers that are gone, with changes of their partitions."""
    number = random.randrange(1_000)
    name = f"{NAME}.{number}" if random.random() < 0.5 else f"{NAME}_{number}"
    count = random.randint(1, 4)
    topic_id, created = _topic(random, name, count)
    config = records.ConfigRecord(
        resource_type=TOPIC,
        resource_name=name,
        name="retention.ms",
        value="1000",
        unknown_tags=_tags(random),
    )
    group: Group = [tuple(created), (config,)]
    group += [(_change(random, topic_id, count),) for _ in range(random.randint(1, 6))]
    if random.random() < 0.4:
        group.append((records.ClearElrRecord(topic_name=random.choice(("", name, "no topic"))),))
    if random.random() < 0.4:
        group.append((records.RemoveTopicRecord(topic_id=topic_id),))
    return group


def _change(random: Random, topic_id: Uuid, count: int) -> Record:
    """Return a change of some fields of a partition; each null field stays."""
    replicas = tuple(random.sample((901, 902, 903, 904), random.randint(1, 3)))

    def maybe(value: tuple[int, ...]) -> tuple[int, ...] | None:
        return value if random.random() < 0.5 else None

    has_elr = random.random() < 0.4
    return records.PartitionChangeRecord(
        partition_id=random.randrange(count),
        topic_id=topic_id,
        isr=maybe(replicas[:1]),
        leader=random.choice((-2, -1)),
        replicas=maybe(replicas),
        removing_replicas=maybe(replicas[1:]),
        adding_replicas=maybe(replicas[:1]),
        leader_recovery_state=random.choice((-1, 0, 1)),
        directories=tuple(draw_uuid(random) for _ in replicas) if random.random() < 0.4 else None,
        eligible_leader_replicas=maybe(replicas[1:]) if has_elr else None,
        last_known_elr=maybe(replicas[2:]) if has_elr else None,
        unknown_tags=(),
    )


def _finished_transaction(random: Random) -> Group:
    """Return metadata transactions that end, and that are aborted (KIP-868)."""
    kept, dropped = _quotas(random), _credentials(random)
    begin, end = records.BeginTransactionRecord(name="inherited"), records.EndTransactionRecord()
    abort = records.AbortTransactionRecord(reason="inherited")
    return [(begin,), *kept, (end,), (begin, *dropped[0]), (abort,)]


GROUPS: Final[tuple[Drawer, ...]] = (
    _features,
    _configs,
    _quotas,
    _credentials,
    _tokens,
    _access,
    _others,
    _topics,
    _topics,
    _finished_transaction,
)


def draw_groups(random: Random) -> list[Group]:
    """Return most groups in random order."""
    groups = [draw(random) for draw in GROUPS if random.random() < 0.8]
    if random.random() < 0.7:
        groups.append(_metadata_version(random))
    random.shuffle(groups)
    return groups
