"""Draw a broker with its rights, and the committed image of its cluster."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.brokers.drawn_membership import draw_config
from kraftproof.cluster.simulated.differential.brokers.drawn_tokens import (
    SECRET,
    drawn_credentials,
    drawn_tokens,
)
from kraftproof.cluster.simulated.differential.brokers.membership_model import MS, MembershipModel
from kraftproof.cluster.simulated.differential.brokers.membership_play import (
    draw_times,
    grow_image,
)
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    ADMIN,
    GROUP,
    HOSTS,
    IDEMPOTENT_WRITE,
    USERS,
    Rights,
    draw_entry,
    draw_policy,
)
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    CLUSTER,
    CLUSTER_NAME,
    DELETE,
    DESCRIBE,
    READ,
    TOPIC,
    WRITE,
)
from kraftproof.node.core.base.config import NodeConfig, ReplicationPolicy, TokenPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.events import Received
from kraftproof.node.core.log.recovered import LogSpan, RecoveredLog
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, BrokerRegistration, MetadataImage
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import ZERO_UUID, Uuid

USER, CREATE, DESCRIBE_CONFIGS, CREATE_TOKENS = 7, 5, 10, 13
KINDS: Final = (TOPIC, TOPIC, CLUSTER, CLUSTER, GROUP, USER)
NAMES: Final[Mapping[int, Sequence[str]]] = {
    TOPIC: ("a", "b", "*"),
    CLUSTER: (CLUSTER_NAME,),
    GROUP: ("g", "*"),
    USER: ("User:u1", "User:u2", "*"),
}
OPERATIONS: Final[Mapping[int, Sequence[int]]] = {
    TOPIC: (ALL, READ, WRITE, CREATE, DELETE, DESCRIBE),
    CLUSTER: (ALL, CREATE, DESCRIBE, DESCRIBE_CONFIGS, IDEMPOTENT_WRITE),
    GROUP: (ALL, READ, DESCRIBE),
    USER: (ALL, CREATE_TOKENS),
}
MOST_ENTRIES: Final = 12
LED, OTHER_TOPIC = "a", "b"
LOG: Final = LogId(Uuid(b"a" * 16), 0)
"""The partition of the topic `a`, which the broker leads."""
IDS: Final = {LED: LOG.topic_id, OTHER_TOPIC: Uuid(b"b" * 16)}
ELSEWHERE: Final = Uuid(b"e" * 16)
OTHER_BROKER: Final = 6
GROUPS: Final = "group.version"
KEPT: Final = ("log.retention.ms", "7777")
"""A configuration in the file of the broker."""
QUOTA: Final = 1_000_000.0
"""The consumed bytes a second of each client id."""
FOUND: Final = 2
"""The records of the led partition that the broker has found on its disk."""


class _Rights(Rights):
    """The decisions of a broker, which denies everything until its image has records."""

    def __init__(self, view: "View") -> None:
        super().__init__(view.image, view.policy)
        self._is_ready = view.offset > 0 or view.policy is None

    @override
    def allows(self, event: Received, operation: int, kind: int, name: str) -> bool:
        """Return whether a client has a right; a super user needs no image."""
        return self._may(event) and super().allows(event, operation, kind, name)

    @override
    def allows_some(self, event: Received, operation: int, kind: int) -> bool:
        """Return whether a client has a right on any resource."""
        return self._may(event) and super().allows_some(event, operation, kind)

    def _may(self, event: Received) -> bool:
        return self._is_ready or f"{event.principal.type}:{event.principal.name}" == ADMIN


class View:
    """The configuration of a drawn broker, and its newest image."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.config = _config(random)
        policy = self.config.authorizer
        self.policy = policy
        count = random.randint(0, MOST_ENTRIES)
        self.entries = tuple(
            draw_entry(random, one, KINDS, NAMES, OPERATIONS) for one in range(count)
        )
        self.tokens = drawn_tokens(random, (*USERS, ADMIN))
        self.credentials = drawn_credentials(random)
        self.flushes = random.random() < 0.5
        """Whether the led partition flushes each record."""
        self._images = [self._base(LED), self._base(LED, OTHER_TOPIC)]
        self.other_has_groups = random.random() < 0.5
        self.image, self.offset = EMPTY_IMAGE, 0
        self.failed: list[Uuid] = []
        """The failed log directories."""

    @property
    def is_empty(self) -> bool:
        """Return whether the broker has no image yet."""
        return self.image is EMPTY_IMAGE

    def grow(self, membership: MembershipModel) -> None:
        """Take a newer image, maybe with the registration of the broker."""
        random = self.random
        grown, self.offset = grow_image(random, self.config, membership)
        brokers = grown.brokers
        own = brokers.get(self.config.node_id)
        if own is not None:
            brokers = brokers.set(own.broker_id, self._own(own))
        if random.random() < 0.8:
            brokers = brokers.set(NodeId(OTHER_BROKER), self._other())
        image = random.choice(self._images)
        self.image = replace(image, features=grown.features, brokers=brokers)

    def recovered(self) -> tuple[RecoveredLog, ...]:
        """Return the log of the led partition, if the broker keeps replicas."""
        if not self.config.replication.is_enabled:
            return ()
        found = RecoveredLog(
            log=LOG,
            topic=LED,
            directory=self.config.log_dirs[0],
            start_offset=Offset(0),
            end_offset=Offset(FOUND),
            high_watermark=Offset(FOUND),
            spans=(LogSpan(Offset(0), 0, 1),),
            size=100,
        )
        return (found,)

    def allows(self, event: Received, operation: int, kind: int, name: str) -> bool:
        """Return whether the newest image gives a right to a client."""
        return self.rights.allows(event, operation, kind, name)

    @property
    def rights(self) -> Rights:
        """Return the decisions by the newest image."""
        return _Rights(self)

    def event(self, message: Message, version: int, request: int) -> Received:
        """Return the request of a drawn client."""
        random = self.random
        kind, _, name = random.choice((*USERS, *USERS, ADMIN)).partition(":")
        return Received(
            request=request,
            message=message,
            version=version,
            on_controller_listener=False,
            principal=Principal(type=kind, name=name, token_authenticated=random.random() < 0.1),
            client_host=random.choice(HOSTS),
            listener=random.choice([one.name for one in self.config.endpoints] + ["unknown"]),
            security_protocol=random.choice((*SecurityProtocol, SecurityProtocol.SASL_SSL)),
            client_id=f"client-{request}",
            correlation_id=random.randint(0, 99),
        )

    def listener_of(self, event: Received) -> str:
        """Return the name of the client's listener, or of the first listener for clients."""
        names = [one.name for one in self.config.endpoints if not one.is_controller]
        return event.listener if event.listener in names else names[0]

    def _own(self, found: BrokerRegistration) -> BrokerRegistration:
        return replace(found, endpoints=self._endpoints("own"), fenced=self.random.random() < 0.5)

    def _other(self) -> BrokerRegistration:
        return BrokerRegistration(
            broker_id=NodeId(OTHER_BROKER),
            incarnation=ZERO_UUID,
            epoch=Offset(3),
            endpoints=self._endpoints("other"),
            features=(records.BrokerFeature(name=GROUPS),) if self.other_has_groups else (),
            rack="r",
            fenced=self.random.random() < 0.3,
            in_controlled_shutdown=False,
        )

    def _endpoints(self, host: str) -> tuple[records.BrokerEndpoint, ...]:
        return tuple(
            records.BrokerEndpoint(name=one.name, host=host, port=one.port, security_protocol=0)
            for one in self.config.endpoints
            if not one.is_controller
        )

    def _base(self, *topics: str) -> MetadataImage:
        """Return an image without brokers."""
        client = records.EntityData(entity_type="client-id", entity_name=None)
        quota = records.ClientQuotaRecord(
            entity=(client,), key="consumer_byte_rate", value=QUOTA, remove=False
        )
        written: list[Record] = [*self.entries, *self.tokens, *self.credentials, quota]
        if self.flushes:
            flush = records.ConfigRecord(
                resource_type=TOPIC, resource_name=LED, name="flush.messages", value="1"
            )
            written.append(flush)
        for name in topics:
            written += [
                records.TopicRecord(name=name, topic_id=IDS[name]),
                self._partition(name, is_led=name == LED),
            ]
        return apply_all(EMPTY_IMAGE, tuple(written))

    def _partition(self, name: str, *, is_led: bool) -> Record:
        own = self.config.node_id if is_led else OTHER_BROKER
        directory = self.config.log_dirs[0] if is_led and self.config.log_dirs else ELSEWHERE
        return records.PartitionRecord(
            partition_id=0,
            topic_id=IDS[name],
            replicas=(own,),
            isr=(own,),
            leader=own,
            leader_epoch=0,
            partition_epoch=0,
            directories=(directory,),
        )


def _config(random: Random) -> NodeConfig:
    """Draw the configuration of a broker."""
    config = draw_config(random, draw_times(random))
    policy = ReplicationPolicy(
        is_enabled=bool(config.log_dirs) and random.random() < 0.8,
        lag_ns=random.choice((100, 1_000)) * MS,
        checkpoint_interval_ns=random.choice((70, 900)) * MS,
        retention_interval_ns=random.choice((80, 800)) * MS,
    )
    return replace(
        config,
        log_dir_paths=tuple(f"/{place}" for place, _ in enumerate(config.log_dirs)),
        replication=policy,
        authorizer=draw_policy(random),
        tokens=TokenPolicy(secret=None if random.random() < 0.2 else SECRET),
        auto_creates_topics=random.random() < 0.7,
        creates_internal_topics=random.random() < 0.5,
        asks_controller_versions=random.random() < 0.7,
        static_configs=(KEPT,),
    )
