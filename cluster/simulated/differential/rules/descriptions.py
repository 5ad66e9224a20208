"""Compare descriptions of configurations by a broker with the layers of their values (KIP-226)."""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    HOSTS,
    Rights,
    draw_entry,
    draw_policy,
    draw_principal,
)
from kraftproof.cluster.simulated.differential.difference import DifferenceError, same
from kraftproof.cluster.simulated.invariants.brokers.config_answers import config_faults
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    CLUSTER,
    CLUSTER_NAME,
    DESCRIBE,
)
from kraftproof.cluster.simulated.invariants.security.authorized_answers import TOPIC as OF_TOPIC
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.broker.configs import ConfigAnswers
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.messages import describe_configs_request, describe_configs_response
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

ROUNDS: Final = 12
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
UNKNOWN_TOPIC: Final = 3
DESCRIBE_CONFIGS: Final = 10
OF_GROUP: Final = 3
"""The number of groups in an access control entry."""
DENIED: Final = {
    TOPIC: (OF_TOPIC, 29),
    GROUP: (OF_GROUP, 30),
    **dict.fromkeys((BROKER, LOGGER, METRICS), (CLUSTER, 31)),
}
"""The resource of the right for each resource of configurations, and the error without it."""
KINDS: Final = (OF_TOPIC, OF_TOPIC, OF_GROUP, CLUSTER)
NAMES: Final = {OF_TOPIC: ("t", "u", "*"), OF_GROUP: ("g", "*"), CLUSTER: (CLUSTER_NAME,)}
OPERATIONS: Final = dict.fromkeys(KINDS, (ALL, DESCRIBE, DESCRIBE_CONFIGS, DESCRIBE_CONFIGS))
MOST_ENTRIES: Final = 6
SOURCES: Final = {"own": 2, "all": 3, "file": 4}
"""The sources of a broker's values, by precedence."""
DEFAULT: Final = 5
DYNAMIC: Final = {
    "log.retention.ms": ("7", "8", "9"),
    "message.max.bytes": ("70000", "80000", "90000"),
    "max.connections": ("7", "8", "9"),
    "min.insync.replicas": ("2", "3", "4"),
    "log.message.timestamp.type": ("CreateTime", "LogAppendTime", "CreateTime"),
}
"""Keys that a broker may change, each with legal values."""
FIXED: Final = {"node.id": "1", "log.dirs": "/d", "num.network.threads": "9"}
SECRETS: Final = {
    "my.jaas.text": "x",
    "ssl.keystore.password": "y",
    "a.password.of.mine": "z",
    "my.secret": "s",
    "my.keystore.key": "k",
}
NOT_DYNAMIC: Final = frozenset({"node.id", "log.dirs", *SECRETS} - {"ssl.keystore.password"})
OF_TOPICS: Final = {
    "retention.ms": "11",
    "max.message.bytes": "12000",
    "min.insync.replicas": "5",
    "cleanup.policy": "compact",
    "internal.segment.bytes": "4096",
    "follower.replication.throttled.replicas": "0:1,1:2",
}
OF_GROUPS: Final = {"consumer.session.timeout.ms": "46000"}
OF_METRICS: Final = {"interval.ms": "1234"}
Request = describe_configs_request.DescribeConfigsRequest
Asked = describe_configs_request.DescribeConfigsResource
Result = describe_configs_response.DescribeConfigsResult
Layer = dict[str, str]


def compare_descriptions(random: Random) -> None:
    """Describe topics, brokers, groups and client metrics with drawn values.

    Raises:
        DifferenceError: a description has another value, source or error.
    """
    for _ in range(ROUNDS):
        own = random.choice((0, 1, 12))
        layers = {
            source: {key: values[place] for key, values in DYNAMIC.items() if random.random() < 0.4}
            for place, source in enumerate(SOURCES)
        }
        for key, value in {**FIXED, **SECRETS}.items():
            if random.random() < 0.5:
                layers["file"][key] = value
        image = _image(random, own, layers)
        answers = ConfigAnswers(NodeId(own), layers["file"])
        _Described(random, image, own, layers).compare(answers)


class _Described:
    """The resources of one image, for a client with rights of its own."""

    def __init__(
        self, random: Random, image: MetadataImage, own: int, layers: dict[str, Layer]
    ) -> None:
        self._random, self._image, self._own, self._layers = random, image, own, layers
        policy = draw_policy(random)
        self._rights = Rights(image, policy)
        self._authorizer: Authorizer | None = None
        if policy is not None:
            committed = CommittedImage()
            committed.image, committed.offset = image, Offset(1)
            self._authorizer = Authorizer(policy, committed, Outbox())

    def compare(self, answers: ConfigAnswers) -> None:
        """Compare the answer to a drawn request."""
        random = self._random
        count = random.randint(1, 4)
        request = Request(
            include_synonyms=random.random() < 0.5,
            resources=tuple(_draw_asked(random, self._own) for _ in range(count)),
        )
        event = Received(
            request=1,
            message=request,
            version=4,
            on_controller_listener=False,
            principal=draw_principal(random),
            client_host=random.choice(HOSTS),
        )
        found = answers.describe(self._image, request, event, self._authorizer)
        pairs = list(zip(request.resources, found.results, strict=True))
        allowed = [pair for pair in pairs if not self._is_denied(event, *pair)]
        request = replace(request, resources=tuple(asked for asked, _ in allowed))
        found = replace(found, results=tuple(result for _, result in allowed))
        file = self._layers["file"]
        for fault in config_faults(self._image, self._own, request, found, file):
            raise DifferenceError(f"DescribeConfigs: {fault}")
        for asked, result in allowed:
            self._compare_result(request, asked, result)

    def _is_denied(self, event: Received, asked: Asked, result: Result) -> bool:
        """Compare the refusal of a resource whose configurations the client may not describe."""
        if asked.resource_type not in DENIED:
            return False
        kind, error = DENIED[asked.resource_type]
        name = CLUSTER_NAME if kind == CLUSTER else asked.resource_name
        if self._rights.allows(event, DESCRIBE_CONFIGS, kind, name):
            return False
        shown = (result.error_code, result.resource_type, result.resource_name, result.configs)
        due = (error, asked.resource_type, asked.resource_name, ())
        same("the refusal of configurations", shown, due)
        return True

    def _compare_result(self, request: Request, asked: Asked, result: Result) -> None:
        if result.error_code:
            same("the entries of a refused resource", result.configs, ())
            is_unknown_topic = result.error_code == UNKNOWN_TOPIC
            has_reason = bool(result.error_message)
            same("a reason is told, but of unknown topics", has_reason, not is_unknown_topic)
        elif asked.resource_type == BROKER:
            _compare_broker(request, asked, result, self._layers)
        elif asked.resource_type in {GROUP, METRICS}:
            _compare_other(request, asked, result)


def _draw_asked(random: Random, own: int) -> Asked:
    kind = random.choice((TOPIC, TOPIC, BROKER, BROKER, LOGGER, METRICS, GROUP, 3))
    names = {
        TOPIC: ("t", "u", "absent"),
        BROKER: (str(own), str(own), "", "7"),
        LOGGER: (str(own), "", "7"),
        METRICS: ("m", "other"),
        GROUP: ("g", "other"),
    }
    every = (*DYNAMIC, *FIXED, *SECRETS, *OF_TOPICS, *OF_GROUPS, *OF_METRICS, "no.such.key")
    keys = tuple(random.choices(every, k=3)) if random.random() < 0.4 else None
    return Asked(
        resource_type=kind,
        resource_name=random.choice(names.get(kind, ("x",))),
        configuration_keys=random.choice((keys, keys, ())),
    )


def _compare_broker(
    request: Request, asked: Asked, result: Result, layers: dict[str, Layer]
) -> None:
    """Compare the entries of the keys that have a value; the others have their default."""
    is_all = not asked.resource_name
    shown = {entry.name: entry for entry in result.configs}
    same("the order of configurations", [*shown], sorted(shown))
    seen = ["all"] if is_all else [*SOURCES]
    held = {key for source in seen for key in layers[source]}
    wanted = set(asked.configuration_keys or ())
    due = {key for key in held if not wanted or key in wanted}
    same("the keys with a value", due - set(shown), set())
    if is_all:
        same("the keys of all brokers", set(shown), due)
    if wanted:
        same("the keys that nobody has asked for", set(shown) - wanted, set())
    for key in sorted(due):
        entry, is_secret = shown[key], key in SECRETS
        values = [(layers[one][key], SOURCES[one]) for one in seen if key in layers[one]]
        value, source = values[0]
        same(
            f"the entry {key}",
            (entry.value, entry.config_source, entry.is_sensitive, entry.read_only),
            (None if is_secret else value, source, is_secret, key in NOT_DYNAMIC),
        )
        told = [(one.name, one.value, one.source) for one in entry.synonyms]
        right = [(key, None if is_secret else text, origin) for text, origin in values]
        if not request.include_synonyms:
            right = []
        if told[: len(right)] != right or any(one[2] != DEFAULT for one in told[len(right) :]):
            raise DifferenceError(f"the synonyms of {key}: {told}, the reference has {right}")


def _compare_other(request: Request, asked: Asked, result: Result) -> None:
    """Compare the entries of a group or of client metrics."""
    is_group = asked.resource_type == GROUP
    own = (OF_GROUPS if is_group else OF_METRICS) if len(asked.resource_name) == 1 else {}
    source = 8 if is_group else 7
    wanted = set(asked.configuration_keys or ())
    shown = [entry.name for entry in result.configs]
    same("the order of configurations", shown, sorted(shown))
    known = OF_GROUPS if is_group else OF_METRICS
    expected = {key for key in known if not wanted or key in wanted}
    same("the keys of a group or of metrics", expected - set(shown), set())
    for entry in result.configs:
        is_own = entry.name in own
        same(f"the source of {entry.name}", entry.config_source, source if is_own else DEFAULT)
        if is_own:
            same(f"the value of {entry.name}", entry.value, own[entry.name])
        sources = [one.source for one in entry.synonyms]
        due = ([source] if is_own else []) + [DEFAULT]
        same(f"the synonyms of {entry.name}", sources, due if request.include_synonyms else [])


def _image(random: Random, own: int, layers: dict[str, Layer]) -> MetadataImage:
    written: list[Record] = [
        records.TopicRecord(name=name, topic_id=Uuid(name.encode() * 16)) for name in ("t", "u")
    ]
    for name in ("t", "u"):
        values = {key: value for key, value in OF_TOPICS.items() if random.random() < 0.4}
        written += _configs(TOPIC, name, values)
    written += _configs(BROKER, str(own), layers["own"])
    written += _configs(BROKER, "", layers["all"])
    written += _configs(GROUP, "g", OF_GROUPS)
    written += _configs(METRICS, "m", OF_METRICS)
    for number in range(random.randint(0, MOST_ENTRIES)):
        written.append(draw_entry(random, number, KINDS, NAMES, OPERATIONS))
    return apply_all(EMPTY_IMAGE, tuple(written))


def _configs(kind: int, name: str, values: Layer) -> list[Record]:
    return [
        records.ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)
        for key, value in values.items()
    ]
