"""A controller and a broker with an authorizer: the real nodes, in memory. No tests here.

The nodes send as User:node, a super user. A test sends as any principal, directly or in an
Envelope.
"""

from collections.abc import Mapping
from random import Random

from msgspec import structs

from kraftproof.node.core.audit import Audited
from kraftproof.node.core.base.config import (
    AuthorizerPolicy,
    Endpoint,
    NodeConfig,
    ReplicationPolicy,
    Voter,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import EndRequest, Forward, Reply, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import ReplyWithBatches, ReplyWithVolumes
from kraftproof.node.core.node import Node
from kraftproof.node.wire.messages import Message, create_acls_request, create_topics_request
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord
from kraftproof.node.wire.types import Uuid
from tests.node.core.security.rules import ADMIN
from tests.node.core.test_node import World

NODE = Principal(type="User", name="node")
POLICY = AuthorizerPolicy(super_users=("User:admin", "User:node"))
CONTROLLER, BROKER = 1, 2
HOST = "10.0.0.1"


class GuardedWorld(World):
    """Node 1 is the controller, node 2 the broker; `t` is a topic with one partition."""

    settings: Mapping[str, object] = {}
    """Further values of the configuration of both nodes."""

    def __init__(self, policy: AuthorizerPolicy | None = POLICY) -> None:
        self.policy = policy
        self.closed: set[int] = set()
        super().__init__(1, 1)
        self.run(8000)
        topic = create_topics_request.CreatableTopic(
            name="t", num_partitions=1, replication_factor=1
        )
        self.do(
            create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=5000), version=7
        )
        self.run(1000)

    def add(self, node_id: int, *, is_broker: bool) -> None:
        config = NodeConfig(
            node_id=NodeId(node_id),
            cluster_id="cluster",
            is_controller=not is_broker,
            is_broker=is_broker,
            voters=(Voter(node_id=NodeId(1), host="node-1", port=9093),),
            endpoints=(
                Endpoint(
                    name="PLAINTEXT" if is_broker else "CONTROLLER",
                    host=f"node-{node_id}",
                    port=9092,
                    is_controller=not is_broker,
                ),
            ),
            incarnation=Uuid(node_id.to_bytes(16, "big")),
            log_dirs=(Uuid(node_id.to_bytes(8, "big") * 2),),
            replication=ReplicationPolicy(is_enabled=is_broker),
            authorizer=self.policy,
            **self.settings,
        )
        node = Node(config, QuorumState(), (), Random(node_id), self.instant)
        self.nodes[node_id] = node
        self.take(node_id, node.start(self.instant))

    def take(self, node_id, effects) -> None:
        replies = []
        for effect in effects:
            if isinstance(effect, ReplyWithBatches | ReplyWithVolumes):
                replies.append(Reply(request=effect.request, message=effect.message))
            elif isinstance(effect, EndRequest):
                if effect.closes_connection:
                    self.closed.add(effect.request)
                self.asked.pop(effect.request)
            else:
                replies.append(effect)
        super().take(node_id, replies)

    def ask(self, node_id, effect: Send | Forward) -> None:
        is_forwarded = isinstance(effect, Forward)
        self.receive(
            effect.destination,
            effect.message,
            effect.version,
            effect.principal if is_forwarded else NODE,
            forwarded_by=NODE if is_forwarded else None,
            asker=(node_id, effect.correlation),
        )

    def receive(
        self,
        node_id: int,
        message: Message,
        version: int,
        principal: Principal,
        *,
        forwarded_by: Principal | None = None,
        asker=(None, 0),
    ) -> int:
        self.tokens += 1
        self.asked[self.tokens] = (node_id, *asker)
        event = Received(
            request=self.tokens,
            message=message,
            version=version,
            on_controller_listener=node_id == CONTROLLER,
            principal=principal,
            client_host=HOST,
            forwarded_by=forwarded_by,
        )
        self.events.append((node_id, event))
        return self.tokens

    def do(
        self,
        message: Message,
        principal: Principal = ADMIN,
        *,
        at: int = BROKER,
        version: int | None = None,
        forwarded_by: Principal | None = None,
        by_ms: int = 1000,
    ) -> Message | None:
        """Send a request, and return the answer; None without an answer."""
        version = message.MAX_VERSION if version is None else version
        token = self.receive(at, message, version, principal, forwarded_by=forwarded_by)
        self.run(by_ms)
        found = [e.message for _, e in self.effects if type(e) is Reply and e.request == token]
        return found[0] if found else None

    def grant(self, *entries: AccessControlEntryRecord) -> None:
        """Create entries through the broker, and let both nodes see them."""
        creations = tuple(
            create_acls_request.AclCreation(
                resource_type=one.resource_type,
                resource_name=one.resource_name,
                resource_pattern_type=one.pattern_type,
                principal=one.principal,
                host=one.host,
                operation=one.operation,
                permission_type=one.permission_type,
            )
            for one in entries
        )
        answer = self.do(create_acls_request.CreateAclsRequest(creations=creations))
        assert {result.error_code for result in answer.results} <= {0}
        self.run(1000)

    def audited(self) -> list[Audited]:
        return [effect for _, effect in self.effects if isinstance(effect, Audited)]

    @property
    def digest(self) -> int:
        """Return the digest of the controller's image, which each change changes."""
        return self.nodes[CONTROLLER].status().image_digest


def codes_of(answer: object) -> set[int]:
    """Return every error code in an answer."""
    found: set[int] = set()
    if isinstance(answer, tuple):
        for part in answer:
            found |= codes_of(part)
    elif hasattr(answer, "__struct_fields__"):
        for name, value in structs.asdict(answer).items():
            if name == "error_code":
                found.add(value)
            found |= codes_of(value)
    return found
