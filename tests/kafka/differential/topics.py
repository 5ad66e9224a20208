"""CreateTopics and DeleteTopics (19, 20). No tests here."""

from typing import Final

from kraftproof.node.wire.messages import create_topics_request, delete_topics_request
from kraftproof.node.wire.types import Uuid
from tests.kafka.differential.case import BROKER, CONTROLLER, Case, Context, every_version

CreateTopicsRequest = create_topics_request.CreateTopicsRequest
CreatableTopic = create_topics_request.CreatableTopic
DeleteTopicsRequest = delete_topics_request.DeleteTopicsRequest
State = delete_topics_request.DeleteTopicState

NEWEST_CREATE: Final = (CreateTopicsRequest.MAX_VERSION,)
NEWEST_DELETE: Final = (DeleteTopicsRequest.MAX_VERSION,)
UNKNOWN_ID: Final = Uuid(b"\x07" * 16)


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    *,
    replicas: tuple[tuple[int, ...], ...] = (),
    indexes: tuple[int, ...] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    """Return one topic of a request; `_` in a configuration's name stands for a dot."""
    if replicas:
        partitions = factor = -1
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=tuple(
            create_topics_request.CreatableReplicaAssignment(
                partition_index=index, broker_ids=brokers
            )
            for index, brokers in zip(indexes or range(len(replicas)), replicas, strict=True)
        ),
        configs=tuple(
            create_topics_request.CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ),
    )


def create(name: str, *topics: CreatableTopic, to: str = BROKER, timeout_ms: int = 20_000) -> Case:
    """Return the case of a CreateTopics in its newest version."""
    request = CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms)
    return Case(name=f"create: {name}", message=request, versions=NEWEST_CREATE, to=to)


def trial(name: str, *topics: CreatableTopic) -> Case:
    """Return the case of a CreateTopics that only validates."""
    request = CreateTopicsRequest(topics=topics, timeout_ms=20_000, validate_only=True)
    return Case(name=f"validate: {name}", message=request, versions=NEWEST_CREATE)


def with_config(key: str, value: str | None) -> Case:
    """Return the case of a topic with one configuration, validated only."""
    return trial(f"{key}={value}", topic("configured", **{key.replace(".", "_"): value}))


def delete(name: str, *states: State, to: str = BROKER, timeout_ms: int = 20_000) -> Case:
    """Return the case of a DeleteTopics in its newest version."""
    request = DeleteTopicsRequest(topics=states, timeout_ms=timeout_ms)
    return Case(name=f"delete: {name}", message=request, versions=NEWEST_DELETE, to=to)


def delete_by_id(name: str, *names: str) -> Case:
    """Return the case of a DeleteTopics of topics by the ids that they got."""

    def make(context: Context) -> DeleteTopicsRequest:
        states = tuple(State(topic_id=context.topic_id(one)) for one in names)
        return DeleteTopicsRequest(topics=states, timeout_ms=20_000)

    return Case(name=f"delete: {name}", message=make, versions=NEWEST_DELETE)


def delete_one(name: str, *, names: int, ids: int) -> Case:
    """Return the case of a DeleteTopics that has the name and the id of `one` several times."""

    def make(context: Context) -> DeleteTopicsRequest:
        by_id = (State(topic_id=context.topic_id("one")),) * ids
        return DeleteTopicsRequest(
            topics=(*by_id, *(State(name="one"),) * names), timeout_ms=20_000
        )

    return Case(name=f"delete: {name}", message=make, versions=NEWEST_DELETE)


def _each_create(context: Context) -> CreateTopicsRequest:
    named = topic(f"each-{context.version}", replicas=((1, 2), (2, 3)), retention_ms="7000")
    return CreateTopicsRequest(topics=(named,), timeout_ms=20_000)


def _each_delete(context: Context) -> DeleteTopicsRequest:
    name = f"each-{context.version + 1}"
    if context.version >= 6:
        return DeleteTopicsRequest(topics=(State(name=name),), timeout_ms=20_000)
    return DeleteTopicsRequest(topic_names=(name,), timeout_ms=20_000)


LONGEST: Final = "n" * 249

CREATING: Final = (
    Case(
        name="create: each version",
        message=_each_create,
        versions=every_version(CreateTopicsRequest),
    ),
    create("nothing"),
    create("one", topic("one", 3, 3)),
    create("one at the controller", topic("direct", 2, 2), to=CONTROLLER),
    create("one that exists", topic("one")),
    create("defaults", topic("defaults", -1, -1)),
    create("a manual assignment", topic("manual", replicas=((1, 2), (2, 3), (3, 1)))),
    create("one and one that exists", topic("beside"), topic("one")),
    create("timeoutMs 0", topic("at-once"), timeout_ms=0),
    create("timeoutMs 0 at the controller", topic("at-once-direct"), to=CONTROLLER, timeout_ms=0),
    create("timeoutMs -1", topic("no-time"), timeout_ms=-1),
    create("timeoutMs -1 at the controller", topic("no-time-direct"), to=CONTROLLER, timeout_ms=-1),
    create("timeoutMs 5000", topic("soon"), timeout_ms=5000),
    create("the longest name", topic(LONGEST)),
    create("a name with a dot", topic("a.b")),
    create("a name that collides", topic("a_b")),
    create("two names that collide", topic("c.d"), topic("c_d")),
    create("consumer offsets", topic("__consumer_offsets", replicas=((1, 2),))),
    create("transaction state", topic("__transaction_state", replicas=((1, 2),))),
    create("two underscores", topic("__mine", replicas=((1, 2),))),
    create("configurations", topic("with-configs", cleanup_policy="compact", retention_ms="-1")),
    create("a configuration twice", CreatableTopic(
        name="twice-configured",
        num_partitions=1,
        replication_factor=1,
        configs=(
            create_topics_request.CreatableTopicConfig(name="retention.ms", value="1"),
            create_topics_request.CreatableTopicConfig(name="retention.ms", value="2"),
        ),
    )),
)  # fmt: skip

VALIDATING: Final = (
    trial("one", topic("tried", 3, 3)),
    trial("one that exists", topic("one")),
    trial("one name twice", topic("twice"), topic("twice")),
    trial("one name three times", topic("thrice"), topic("thrice"), topic("thrice"), topic("ok")),
    trial("one name twice that exists", topic("one"), topic("one")),
    trial("an empty name", topic("")),
    trial("the name .", topic(".")),
    trial("the name ..", topic("..")),
    trial("the name ...", topic("...")),
    trial("250 characters", topic(LONGEST + "n")),
    trial("a blank", topic("a b")),
    trial("a slash", topic("a/b")),
    trial("a letter beyond ASCII", topic("bär")),
    trial("a line end", topic("line\n")),
    trial("the metadata topic", topic("__cluster_metadata")),
    trial("no partitions", topic("none", 0, 1)),
    trial("-2 partitions", topic("less", -2, 1)),
    trial("replication factor 0", topic("none", 1, 0)),
    trial("replication factor -2", topic("less", 1, -2)),
    trial("replication factor 4", topic("more", 1, 4)),
    trial("replication factor 32767", topic("most", 1, 32767)),
    trial("no partitions and factor 0", topic("both", 0, 0)),
    trial("10000 partitions", topic("many", 10_000, 1)),
    trial("10001 partitions", topic("too-many", 10_001, 1)),
    trial("9000 and 2000 partitions", topic("many", 9_000, 1), topic("more", 2_000, 1)),
    trial("2147483647 partitions", topic("most", 2_147_483_647, 1)),
    trial("a partition without replicas", topic("empty", replicas=((),))),
    trial("a broker twice", topic("doubled", replicas=((1, 1),))),
    trial("an unknown broker", topic("unknown", replicas=((1, 9),))),
    trial("a negative broker", topic("negative", replicas=((-1,),))),
    trial("different factors", topic("uneven", replicas=((1, 2), (1,)))),
    trial("partitions from 1", topic("from-1", replicas=((1,), (2,)), indexes=(1, 2))),
    trial("partitions out of order", topic("order", replicas=((1,), (2,)), indexes=(1, 0))),
    trial("a partition twice", topic("same", replicas=((1,), (2,)), indexes=(0, 0))),
    trial("a gap", topic("gap", replicas=((1,), (2,)), indexes=(0, 2))),
    trial("a negative partition", topic("below", replicas=((1,),), indexes=(-1,))),
    trial("assignment and partitions", CreatableTopic(
        name="both",
        num_partitions=1,
        replication_factor=-1,
        assignments=topic("", replicas=((1,),)).assignments,
    )),
    trial("assignment and factor", CreatableTopic(
        name="both",
        num_partitions=-1,
        replication_factor=1,
        assignments=topic("", replicas=((1,),)).assignments,
    )),
    trial("a bad name and no partitions", topic("a b", 0, 1)),
    trial("one that exists, badly configured", topic("one", retention_ms="x")),
    trial("a bad configuration and no partitions", topic("bad", 0, 1, retention_ms="x")),
)  # fmt: skip

CONFIGURATIONS: Final = tuple(
    with_config(key, value)
    for key, value in (
        ("retention.ms", "-1"),
        ("retention.ms", "-2"),
        ("retention.ms", " 5 "),
        ("retention.ms", "5.0"),
        ("retention.ms", "9223372036854775808"),
        ("retention.ms", ""),
        ("retention.ms", None),
        ("cleanup.policy", "compact,delete"),
        ("cleanup.policy", "delete,delete"),
        ("cleanup.policy", "compress"),
        ("cleanup.policy", ""),
        ("cleanup.policy", "Compact"),
        ("cleanup.policy", "compact,,delete"),
        ("cleanup.policy", " compact , delete "),
        ("compression.type", "zstd"),
        ("compression.type", "rar"),
        ("compression.gzip.level", "9"),
        ("compression.gzip.level", "10"),
        ("compression.gzip.level", "-1"),
        ("compression.gzip.level", "0"),
        ("compression.zstd.level", "22"),
        ("compression.zstd.level", "23"),
        ("min.insync.replicas", "0"),
        ("min.insync.replicas", "7"),
        ("min.insync.replicas", "1.5"),
        ("unclean.leader.election.enable", "TRUE"),
        ("unclean.leader.election.enable", "yes"),
        ("min.cleanable.dirty.ratio", "0.5"),
        ("min.cleanable.dirty.ratio", "1.5"),
        ("min.cleanable.dirty.ratio", "half"),
        ("min.cleanable.dirty.ratio", "1e-1"),
        ("min.cleanable.dirty.ratio", "NaN"),
        ("min.cleanable.dirty.ratio", "0.5f"),
        ("segment.bytes", "1048576"),
        ("segment.bytes", "1048575"),
        ("segment.bytes", "2147483648"),
        ("segment.ms", "0"),
        ("segment.ms", "+7"),
        ("segment.ms", "007"),
        ("segment.ms", "1_000"),
        ("segment.ms", "0x10"),
        ("retention.bytes", "-9"),
        ("internal.segment.bytes", "5"),
        ("max.compaction.lag.ms", "0"),
        ("message.timestamp.type", "LogAppendTime"),
        ("message.timestamp.type", "Other"),
        ("max.message.bytes", "-1"),
        ("follower.replication.throttled.replicas", "*"),
        ("follower.replication.throttled.replicas", "0:1,1:2"),
        ("follower.replication.throttled.replicas", "zero"),
        ("remote.storage.enable", "true"),
        ("local.retention.ms", "-2"),
        ("local.retention.ms", "-3"),
        ("max.compaction.lag.ms", "1"),
        ("min.compaction.lag.ms", "9223372036854775807"),
        ("message.format.version", "3.0"),
        ("message.downconversion.enable", "true"),
        ("message.timestamp.difference.max.ms", "1"),
        ("no.such.configuration", "1"),
        ("", "1"),
    )
)

MOST_NAMES: Final = 10_000
"""Maximum number of topics that a DeleteTopics of ours may name."""
DELETING: Final = (
    Case(
        name="delete: each version",
        message=_each_delete,
        versions=every_version(DeleteTopicsRequest),
    ),
    delete("nothing"),
    delete("by name", State(name="beside")),
    delete("what is gone", State(name="beside")),
    delete("timeoutMs 0", State(name="at-once"), timeout_ms=0),
    delete("timeoutMs 0 at the controller", State(name="defaults"), to=CONTROLLER, timeout_ms=0),
    delete("timeoutMs -1", State(name="soon"), timeout_ms=-1),
    delete_by_id("by id", "direct"),
    delete("an unknown id", State(topic_id=UNKNOWN_ID)),
    delete("an unknown id at the controller", State(topic_id=UNKNOWN_ID), to=CONTROLLER),
    delete("neither name nor id", State()),
    delete("name and id", State(name="one", topic_id=UNKNOWN_ID)),
    delete("a name twice", State(name="one"), State(name="one")),
    delete("an unknown name twice", State(name="gone"), State(name="gone")),
    delete("an unknown id twice", State(topic_id=UNKNOWN_ID), State(topic_id=UNKNOWN_ID)),
    delete_by_id("an id twice", "one", "one"),
    delete_one("by name and by id", names=1, ids=1),
    delete_one("a name beside its id twice", names=1, ids=2),
    delete_one("an id beside its name twice", names=2, ids=1),
    delete("a bad name", State(name="a b")),
    delete("an empty name", State(name="")),
    delete("the metadata topic", State(name="__cluster_metadata")),
    delete("consumer offsets", State(name="__consumer_offsets")),
    delete("one of two", State(name="c.d"), State(name="gone")),
    delete("10,001 names", *(State(name=f"gone-{number}") for number in range(MOST_NAMES + 1))),
)
"""After everything else: they take away what other cases look at."""
