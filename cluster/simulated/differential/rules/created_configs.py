"""Compare the configurations in answers to CreateTopics with the layers of their values (KIP-525).

A configuration has the topic's own value, else the legal value of the controller's own broker, else
that of all brokers, else that of the controller's file, else Kafka's default. Brokers store values
in names of their own, some in larger units (KIP-226). A client without the right to describe
configurations gets no configurations.
"""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import registered
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    HOSTS,
    Rights,
    draw_entry,
    draw_policy,
    draw_principal,
)
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.invariants.brokers.config_answers import KNOWN
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    CLUSTER,
    CLUSTER_NAME,
    TOPIC,
)
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.controller.authorized import decide_authorized
from kraftproof.node.core.controller.decisions import DecisionContext
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request as module
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

IMAGES: Final = 4
REQUESTS: Final = 2
OWN, OTHER = 3, 30
"""The controller, and a broker whose values do not count."""
TOPICS_CONFIGS, BROKERS_CONFIGS = 2, 4
CREATE, DESCRIBE_CONFIGS = 5, 10
OPERATIONS: Final = dict.fromkeys((TOPIC, CLUSTER), (ALL, CREATE, CREATE, DESCRIBE_CONFIGS))
NAMES: Final = {TOPIC: ("*", "a", "b", "c"), CLUSTER: (CLUSTER_NAME,)}
MOST_ENTRIES: Final = 8
DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
OF_TOPIC, OF_BROKER, OF_ALL_BROKERS, OF_FILE, DEFAULT = 1, 2, 3, 4, 5
"""The sources of a value (KIP-226)."""
SOURCES: Final = (OF_BROKER, OF_ALL_BROKERS, OF_FILE)
"""The sources of the layers: the controller's own broker, all brokers and the controller's file."""
OF_BROKERS: Final = {
    "cleanup.policy": "log.cleanup.policy",
    "compression.type": "compression.type",
    "max.message.bytes": "message.max.bytes",
    "message.timestamp.type": "log.message.timestamp.type",
    "min.insync.replicas": "min.insync.replicas",
    "retention.ms": "log.retention.ms",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
    "unclean.leader.election.enable": "unclean.leader.election.enable",
}
"""The name in the values of a broker for the name in those of a topic."""
UNITS: Final = {
    "retention.ms": (("log.retention.minutes", 60_000), ("log.retention.hours", 3_600_000)),
    "segment.jitter.ms": (("log.roll.jitter.hours", 3_600_000),),
    "segment.ms": (("log.roll.hours", 3_600_000),),
}
"""Other names of brokers with the milliseconds of their unit, by precedence."""
LEGAL: Final = {
    "cleanup.policy": ("compact", "delete"),
    "compression.type": ("zstd", "producer"),
    "follower.replication.throttled.replicas": ("*", "0:1"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
    "unclean.leader.election.enable": ("true", "false"),
}
NUMBERS: Final = ("1", "7", "70000")
"""Legal values of every other configuration."""
ILLEGAL: Final = ("x", "-9", "1.5")
Values = dict[str, str]
Shown = dict[str, tuple[str | None, int]]
"""The value and the source of each configuration."""


def compare_created_configs(random: Random) -> None:
    """Create topics beside drawn values of brokers.

    Raises:
        DifferenceError: an answer shows other values or sources, or other values are written.
    """
    for _ in range(IMAGES):
        layers = [_draw_layer(random) for _ in range(3)]
        image = _image(random, *layers)
        for _ in range(REQUESTS):
            _compare(random, image, layers)


def _compare(random: Random, image: MetadataImage, layers: list[Values]) -> None:
    names = random.sample(("a", "b", "c"), random.randint(1, 3))
    request = module.CreateTopicsRequest(
        topics=tuple(_draw_topic(random, name) for name in names),
        timeout_ms=1,
        validate_only=random.random() < 0.2,
    )
    event = Received(
        request=1,
        message=request,
        version=request.MAX_VERSION,
        on_controller_listener=True,
        principal=draw_principal(random),
        client_host=random.choice(HOSTS),
    )
    policy, authorizer = draw_policy(random), None
    if policy is not None:
        committed = CommittedImage()
        committed.image, committed.offset = image, Offset(1)
        authorizer = Authorizer(policy, committed, Outbox())
    outcome = decide_authorized(authorizer, event, _context(random, image, event, layers[2]))
    rights, reply = Rights(image, policy), outcome.reply
    assert not isinstance(reply, type(request)), "an answer"
    shown: Any = {one.name: one for one in getattr(reply, "topics", ())}
    same("the answered topics", sorted(shown), sorted(names))
    written: dict[str, Values] = {}
    for topic in request.topics:
        given = {config.name: str(config.value) for config in topic.configs}
        may_create = rights.allows_on_cluster(event, CREATE)
        if may_create or rights.allows(event, CREATE, TOPIC, topic.name):
            hidden = not rights.allows(event, DESCRIBE_CONFIGS, TOPIC, topic.name)
            _compare_shown(topic, shown[topic.name], layers, given, hidden=hidden)
            written |= {topic.name: given} if given and not request.validate_only else {}
        else:
            same("the error without a right", shown[topic.name].error_code, DENIED)
    same("the written configurations", _configs_in(outcome.records), written)


def _compare_shown(
    topic: module.CreatableTopic,
    answer: Any,  # noqa: ANN401 - a part of an answer
    layers: list[Values],
    given: Values,
    *,
    hidden: bool,
) -> None:
    """Compare the answer to a created topic."""
    found = (answer.error_code, answer.topic_config_error_code)
    same("the errors of a topic", found, (ErrorCode.NONE, DENIED if hidden else ErrorCode.NONE))
    sizes = (answer.num_partitions, answer.replication_factor)
    same("the sizes of a topic", sizes, (-1, -1) if hidden else (topic.num_partitions, 1))
    if hidden:
        same("configurations without a right", answer.configs, None)
        return
    same("the order of configurations", [*_names(answer)], sorted({*_names(answer)}))
    shown = {one.name: (one.value, one.config_source) for one in answer.configs}
    due = _due(given, layers)
    for name in sorted({*shown, *due}):
        same(f"{name} of a created topic", shown.get(name), due.get(name))


def _names(answer: Any) -> Iterator[str]:  # noqa: ANN401 - a part of an answer
    return (one.name for one in answer.configs)


def _due(given: Values, layers: list[Values]) -> Shown:
    """Return the value and the source of each configuration; an unset internal one is hidden."""
    due: Shown = {
        name: (known.default, DEFAULT) for name, known in KNOWN.items() if not known.is_internal
    }
    for name, broker_name in OF_BROKERS.items():
        for values, source in zip(layers, SOURCES, strict=True):
            text = values.get(broker_name)
            if text in LEGAL.get(name, NUMBERS):
                due[name] = (text, source)
                break
            units = [one for one in UNITS.get(name, ()) if one[0] in values]
            if units:
                other, factor = units[0]
                due[name] = (str(int(values[other]) * factor), source)
                break
    return due | {name: (text, OF_TOPIC) for name, text in given.items()}


def _draw_layer(random: Random) -> Values:
    """Return the values of a layer: none, few or many."""
    share = random.choice((0.0, 0.0, 0.1, 0.4))
    drawn = {}
    for name, broker_name in OF_BROKERS.items():
        if random.random() < share:
            texts = ILLEGAL if random.random() < 0.15 else LEGAL.get(name, NUMBERS)
            drawn[broker_name] = random.choice(texts)
    return drawn


def _image(random: Random, own: Values, every: Values, file: Values) -> MetadataImage:
    """Return an image with the values; at times a value of one layer is in another unit."""
    layers = (own, every, file)
    for name, units in UNITS.items():
        is_set = any(OF_BROKERS[name] in layer for layer in layers)
        if not is_set and random.random() < 0.15:
            chosen = random.sample(units, random.randint(1, len(units)))
            random.choice(layers).update({other: random.choice(("1", "2")) for other, _ in chosen})
    written: list[Record] = [registered(1, (Uuid(b"d" * 16),))]
    for broker, values in ((str(OWN), own), ("", every), (str(OTHER), _draw_layer(random))):
        written += (
            records.ConfigRecord(
                resource_type=BROKERS_CONFIGS, resource_name=broker, name=key, value=value
            )
            for key, value in values.items()
        )
    for number in range(random.randint(0, MOST_ENTRIES)):
        written.append(draw_entry(random, number, (TOPIC, TOPIC, CLUSTER), NAMES, OPERATIONS))
    return apply_all(EMPTY_IMAGE, tuple(written))


def _draw_topic(random: Random, name: str) -> module.CreatableTopic:
    """Return a topic with drawn values; the last counts of a value that is given twice."""
    keys = random.choices((*OF_BROKERS, *LEGAL), k=random.choice((0, 0, 1, 2, 3)))
    texts = [(key, random.choice(LEGAL.get(key, NUMBERS))) for key in keys]
    return module.CreatableTopic(
        name=name,
        num_partitions=random.randint(1, 3),
        replication_factor=1,
        configs=tuple(module.CreatableTopicConfig(name=key, value=text) for key, text in texts),
    )


def _configs_in(written: tuple[Record, ...]) -> Mapping[str, Values]:
    found: dict[str, Values] = {}
    for one in written:
        if isinstance(one, records.ConfigRecord):
            same("the kind of a written value", one.resource_type, TOPICS_CONFIGS)
            found.setdefault(one.resource_name, {})[one.name] = str(one.value)
    return found


def _context(
    random: Random, image: MetadataImage, event: Received, file: Values
) -> DecisionContext:
    return DecisionContext(
        image=image,
        config=replace(
            BARE_BROKER, node_id=NodeId(OWN), static_configs=(("a", "b"), *file.items())
        ),
        random=random,
        next_offset=Offset(1),
        sessions=Sessions(1),
        now=Instant(monotonic=Monotonic(0), wall=WallClock(0)),
        principal=event.principal,
        version=event.version,
    )
