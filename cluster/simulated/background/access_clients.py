"""Clients without all rights, in runs with an authorizer, and an administrator of their entries.

The clients send requests of one part each: to brokers, to controllers, and in Envelopes that they
forge. The administrator, a super user, creates and deletes entries all the time. See
invariants/security/authorized_answers.py for the judge.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.cluster.simulated.network.transport import Outgoing
from kraftproof.cluster.systems.reference.requests import acls
from kraftproof.cluster.systems.reference.requests.vocabulary import LEGAL, Vocabulary
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire import messages as wire
from kraftproof.node.wire.codec import encode_request
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import ANONYMOUS, Principal

CLIENTS: Final = 3
MAX_WAIT_NS: Final = milliseconds(2_000)
LONGEST_REST_NS: Final = milliseconds(250)
FOREIGN_BROKER: Final = 7_000
"""A broker id that no node of a run has."""
NAMES: Final = LEGAL[:6]
PRINCIPALS: Final = tuple(Principal(type="User", name=name) for name in ("ann", "bob", "eve"))
ADMIN_SHARE: Final = 0.4
"""Share of the requests that change entries, by the administrator."""
FORGED_SHARE: Final = 0.15
"""Share of a client's requests to controllers that come in an Envelope of the client."""
CLUSTER_SHARE: Final = 0.4
"""Share of the changes of entries that are about the cluster."""
_OF_CLUSTERS: Final = (2, 5, 6, 7, 8, 9, 9)


async def send_with_principals(
    scope: SimulatedScope, network: Network, random: Random, nodes: Sequence[NodeInfo]
) -> None:
    """Send requests of several principals until the run ends."""
    tasks = [
        scope.spawn(_Client(scope, network, Random(f"{random.random()}"), nodes).run())
        for _ in range(CLIENTS)
    ]
    for task in tasks:
        await task


class _Client:
    """One client at a time, of a principal that changes from request to request."""

    def __init__(
        self, scope: SimulatedScope, network: Network, random: Random, nodes: Sequence[NodeInfo]
    ) -> None:
        self._scope = scope
        self._network = network
        self._random = random
        self._brokers = [node.node_id for node in nodes if node.has("broker")]
        self._controllers = [node.node_id for node in nodes if node.has("controller")]

    async def run(self) -> None:
        """Send requests with rests in between."""
        while True:
            await self._scope.sleep(self._random.randrange(LONGEST_REST_NS))
            if self._random.random() < ADMIN_SHARE:
                await self._ask(self._change(), ANONYMOUS)
            else:
                await self._ask_as_client()

    async def _ask_as_client(self) -> None:
        random = self._random
        principal = random.choice(PRINCIPALS)
        if self._brokers and random.random() < 0.6:
            await self._ask(self._of_client(), principal, at=random.choice(self._brokers))
            return
        message, forwarder = self._of_controller(), None
        if random.random() < FORGED_SHARE:
            message, forwarder = self._forwarded(), principal
            principal = random.choice((ANONYMOUS, *PRINCIPALS))
        at = random.choice(self._controllers)
        await self._ask(message, principal, at=at, forwarded_by=forwarder)

    async def _ask(
        self,
        message: Message,
        principal: Principal,
        *,
        at: int | None = None,
        forwarded_by: Principal | None = None,
    ) -> None:
        node = self._random.choice(self._brokers or self._controllers) if at is None else at
        version = _VERSIONS.get(type(message), message.MAX_VERSION)
        try:
            encode_request(message, version)
        except WireError:
            return  # a number at the limit does not fit
        outgoing = Outgoing(
            message=message,
            version=version,
            principal=principal,
            forwarded_by=forwarded_by,
        )
        try:
            connection = await connect(self._scope, self._network, node, MAX_WAIT_NS)
            await connection.send(outgoing, MAX_WAIT_NS)
        except (ConnectionFailed, OutcomeUnknown):
            return
        connection.close()

    def _change(self) -> Message:
        """Return a change of the entries."""
        random = self._random
        vocabulary = Vocabulary(cluster_id="", brokers=(FOREIGN_BROKER,))
        if random.random() >= CLUSTER_SHARE:
            draw = random.choice((acls.create, acls.create, acls.delete))
            return draw(random, vocabulary)
        principal, operation = random.choice(acls.PRINCIPALS), random.choice(_OF_CLUSTERS)
        if random.random() < 0.5:
            creation = wire.create_acls_request.AclCreation(
                resource_type=4,
                resource_name="kafka-cluster",
                principal=principal,
                host="*",
                operation=operation,
                permission_type=random.choice((2, 3, 3, 3)),
            )
            return wire.create_acls_request.CreateAclsRequest(creations=(creation,))
        wanted = wire.delete_acls_request.DeleteAclsFilter(
            resource_type_filter=4,
            pattern_type_filter=1,
            principal_filter=random.choice((None, principal)),
            operation=random.choice((1, operation)),
            permission_type=1,
        )
        return wire.delete_acls_request.DeleteAclsRequest(filters=(wanted,))

    def _of_client(self) -> Message:
        """Return a request to a broker."""
        random = self._random
        if random.random() < 0.6:
            return self._forwarded()
        if random.random() < 0.2:
            return wire.describe_acls_request.DescribeAclsRequest(
                resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
            )
        module = wire.metadata_request
        asked = module.MetadataRequestTopic(name=random.choice(NAMES))
        return module.MetadataRequest(topics=(asked,), allow_auto_topic_creation=False)

    def _of_controller(self) -> Message:
        """Return a request to a controller, of a client or of a broker."""
        drawn = self._random.random()
        if drawn < 0.2:
            module = wire.allocate_producer_ids_request
            return module.AllocateProducerIdsRequest(broker_id=FOREIGN_BROKER, broker_epoch=1)
        if drawn < 0.4:
            return wire.broker_heartbeat_request.BrokerHeartbeatRequest(
                broker_id=FOREIGN_BROKER, broker_epoch=1
            )
        if drawn < 0.5:
            return wire.describe_quorum_request.DescribeQuorumRequest()
        return self._forwarded()

    def _forwarded(self) -> Message:
        """Return a request that brokers forward."""
        random = self._random
        name = random.choice(NAMES)
        match random.randrange(7):
            case 0:
                topics = wire.create_topics_request
                topic = topics.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
                return topics.CreateTopicsRequest(topics=(topic,), timeout_ms=2_000)
            case 1:
                gone = wire.delete_topics_request
                state = gone.DeleteTopicState(name=name)
                return gone.DeleteTopicsRequest(topics=(state,), timeout_ms=2_000)
            case 2:
                growth = wire.create_partitions_request
                wider = growth.CreatePartitionsTopic(name=name, count=random.choice((1, 2, 3)))
                return growth.CreatePartitionsRequest(topics=(wider,), timeout_ms=2_000)
            case 3:
                configs = wire.incremental_alter_configs_request
                value = str(random.choice((1_000, 2_000)))
                config = configs.AlterableConfig(name="retention.ms", value=value)
                resource = configs.AlterConfigsResource(
                    resource_type=2, resource_name=name, configs=(config,)
                )
                return configs.IncrementalAlterConfigsRequest(resources=(resource,))
            case 4:
                return wire.unregister_broker_request.UnregisterBrokerRequest(
                    broker_id=FOREIGN_BROKER
                )
            case 5:
                listing = wire.list_partition_reassignments_request
                return listing.ListPartitionReassignmentsRequest()
            case _:
                return self._change()


_VERSIONS: Final[dict[type[Message], int]] = {
    wire.broker_heartbeat_request.BrokerHeartbeatRequest: 1,
    wire.metadata_request.MetadataRequest: 12,
}
