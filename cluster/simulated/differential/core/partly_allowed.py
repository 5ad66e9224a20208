"""Compare the answers of requests whose sender may do only a part of them (KIP-590).

A request names topics with and without a right. Each is answered, those without the right with an
error and no record; a pass over all access control entries decides about the rights.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.brokers.drawn_cluster import NAMES, DrawnCluster
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    LITERAL,
    USERS,
    Rights,
    draw_principal,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    ALLOW,
    CLUSTER,
    CLUSTER_NAME,
    DENY,
    TOPIC,
)
from kraftproof.node.core.base.config import AuthorizerPolicy, NodeConfig, Timeouts
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.controller.authorized import decide_authorized
from kraftproof.node.core.controller.decisions import DecisionContext
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_configs_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    incremental_alter_configs_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

CREATE, DELETE, ALTER, DESCRIBE_CONFIGS, ALTER_CONFIGS = 5, 6, 7, 10, 11
OPERATIONS: Final = (ALL, CREATE, DELETE, ALTER, DESCRIBE_CONFIGS, ALTER_CONFIGS)
CHANGES: Final = 15
REQUESTS: Final = 8
MOST_ENTRIES: Final = 8
POLICY: Final = AuthorizerPolicy(super_users=("User:admin",))
FRESH: Final = ("ax", "bx", "new")
CONFIG: Final = "retention.ms"
DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
Asked = tuple[Message, int, str]
"""A request, the needed operation, and the field of its answer with a part a topic."""


def compare_partly_allowed(random: Random) -> None:
    """Ask for topics with and without a right, and compare the answers and the records.

    Raises:
        DifferenceError: an answer lacks a topic, or a right is decided in another way.
    """
    cluster = DrawnCluster()
    for _ in range(CHANGES):
        cluster.change(random)
    entries = tuple(_entry(random, number) for number in range(random.randint(1, MOST_ENTRIES)))
    image = apply_all(cluster.image(), entries)
    for _ in range(REQUESTS):
        names = random.choices((*NAMES, *FRESH), k=random.randint(1, 5))
        _compare(random, image, _draw_request(random, list(dict.fromkeys(names))), names)


def _compare(random: Random, image: MetadataImage, asked: Asked, names: Sequence[str]) -> None:
    message, operation, field = asked
    event = Received(
        request=1,
        message=message,
        version=message.MAX_VERSION,
        on_controller_listener=True,
        principal=draw_principal(random),
        client_host="h1",
    )
    rights = Rights(image, POLICY)
    every = operation == CREATE and rights.allows(event, CREATE, CLUSTER, CLUSTER_NAME)
    may = {name for name in names if every or rights.allows(event, operation, TOPIC, name)}
    outcome = decide_authorized(_authorizer(image), event, _context(random, image, event))
    what = type(message).__name__
    parts: Any = getattr(outcome.reply, field)
    errors = {_name(part): part.error_code for part in parts}
    same(f"the topics of an answered {what}", sorted(errors), sorted(set(names)))
    denied = {name for name, code in errors.items() if code == DENIED}
    same(f"the denied topics of {what}", sorted(denied), sorted(set(names) - may))
    kinds = {type(outcome.reply).__module__, *(type(part).__module__ for part in parts)}
    same(f"the modules of an answered {what}", kinds, {_module_of_answer(message)})
    if isinstance(message, create_topics_request.CreateTopicsRequest):
        hidden = {n for n in names if not rights.allows(event, DESCRIBE_CONFIGS, TOPIC, n)}
        _compare_shown(parts, hidden)
    changed = _changed(image, outcome.records)
    check(f"{what} changes allowed topics only: {sorted(changed)}", changed <= may)


def _module_of_answer(message: Message) -> str:
    return type(message).__module__.replace("_request", "_response")


def _compare_shown(parts: Sequence[Any], hidden: set[str]) -> None:
    """Compare what a client sees of created topics, whose configurations it may not describe."""
    for part in parts:
        if part.error_code == ErrorCode.NONE:
            is_hidden = part.name in hidden
            shown = (part.topic_config_error_code, part.num_partitions, part.replication_factor)
            due = (DENIED, -1, -1) if is_hidden else (ErrorCode.NONE, 1, 1)
            same(f"the sizes of a created topic, hidden {is_hidden}", shown, due)
            same("configurations are hidden", part.configs is None, is_hidden)


def _draw_request(random: Random, names: Sequence[str]) -> Asked:
    match random.randrange(5):
        case 0:
            topics = tuple(
                create_topics_request.CreatableTopic(
                    name=name, num_partitions=1, replication_factor=1
                )
                for name in names
            )
            creation = create_topics_request.CreateTopicsRequest(topics=topics, timeout_ms=1)
            return creation, CREATE, "topics"
        case 1:
            states = tuple(delete_topics_request.DeleteTopicState(name=name) for name in names)
            deletion = delete_topics_request.DeleteTopicsRequest(topics=states, timeout_ms=1)
            return deletion, DELETE, "responses"
        case 2:
            more = tuple(
                create_partitions_request.CreatePartitionsTopic(name=name, count=9)
                for name in names
            )
            growth = create_partitions_request.CreatePartitionsRequest(topics=more, timeout_ms=1)
            return growth, ALTER, "results"
        case 3:
            return _configs(alter_configs_request, "AlterConfigsRequest", names)
        case _:
            module = incremental_alter_configs_request
            return _configs(module, "IncrementalAlterConfigsRequest", names)


def _configs(module: Any, name: str, names: Sequence[str]) -> Asked:  # noqa: ANN401 - one of two
    """Return a change of a configuration of each topic; both modules have the same names."""
    resources = tuple(
        module.AlterConfigsResource(
            resource_type=TOPIC,
            resource_name=each,
            configs=(module.AlterableConfig(name=CONFIG, value="1000"),),
        )
        for each in names
    )
    return getattr(module, name)(resources=resources), ALTER_CONFIGS, "responses"


def _changed(image: MetadataImage, written: Sequence[Record]) -> set[str]:
    """Return the names of the topics that records change."""
    new = (record for record in written if isinstance(record, records.TopicRecord))
    made = {record.topic_id: record.name for record in new}
    found = set(made.values())
    for record in written:
        if isinstance(record, records.ConfigRecord):
            found.add(record.resource_name)
        elif isinstance(record, records.RemoveTopicRecord | records.PartitionRecord):
            topic = image.topics.get(record.topic_id)
            found.add(made[record.topic_id] if topic is None else topic.name)
    return found


def _entry(random: Random, number: int) -> records.AccessControlEntryRecord:
    is_topic = random.random() < 0.9
    return records.AccessControlEntryRecord(
        id=Uuid(number.to_bytes(16, "big")),
        resource_type=TOPIC if is_topic else CLUSTER,
        resource_name=random.choice(("a", "b", "new", "*")) if is_topic else CLUSTER_NAME,
        pattern_type=LITERAL,
        principal=random.choice((*USERS, "User:*")),
        host=random.choice(("h1", "*", "h2")),
        operation=random.choice(OPERATIONS) if is_topic else CREATE,
        permission_type=random.choice((ALLOW, ALLOW, ALLOW, DENY)),
    )


def _authorizer(image: MetadataImage) -> Authorizer:
    committed = CommittedImage()
    committed.image, committed.offset = image, Offset(1)
    return Authorizer(POLICY, committed, Outbox())


def _context(random: Random, image: MetadataImage, event: Received) -> DecisionContext:
    timeouts = Timeouts()
    config = NodeConfig(
        node_id=NodeId(3),
        cluster_id="c",
        is_controller=True,
        is_broker=False,
        voters=(),
        endpoints=(),
        authorizer=POLICY,
    )
    return DecisionContext(
        image=image,
        config=config,
        random=random,
        next_offset=Offset(100),
        sessions=Sessions(timeouts.session_ns),
        now=Instant(Monotonic(0), WallClock(0)),
        principal=event.principal,
        version=event.version,
    )


def _name(part: Any) -> str:  # noqa: ANN401 - parts of five answers
    name: str = part.resource_name if hasattr(part, "resource_name") else part.name
    return name
