"""A cluster that random requests are sent to: a cluster of a run, or the addresses of a user."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from kraftproof.cluster.connection import Connection, ConnectionFailed
from kraftproof.cluster.protocol import Cluster, NodeInfo
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.kafka.connection import PORT, connect, connect_to
from kraftproof.cluster.systems.reference.requests.honest import ANSWER_TIMEOUT_NS, cluster_id_of
from kraftproof.cluster.systems.reference.requests.player import ByteStream, OpensStreams
from kraftproof.cluster.systems.reference.requests.sockets import Place, SocketStreams
from kraftproof.cluster.systems.reference.requests.vocabulary import NO_BROKERS, Vocabulary
from kraftproof.node.wire.messages import Message


@runtime_checkable
class OpensStreamsInMemory(Protocol):
    """A cluster whose nodes take byte streams and have no addresses."""

    async def open_stream(self, node_id: int, timeout_ns: int) -> ByteStream:
        """Open a connection.

        Raises:
            ConnectionFailed: refused or no answer.
        """
        ...


class Target:
    """Nodes, the streams to them, and the words of requests to them."""

    def __init__(
        self,
        scope: Scope,
        nodes: Sequence[NodeInfo],
        streams: OpensStreams,
        cluster: Cluster | None,
        places: Sequence[Place],
    ) -> None:
        self.scope = scope
        self.nodes = tuple(nodes)
        self.streams = streams
        self.cluster = cluster
        """The cluster of this run; None for the addresses of a user."""
        self.vocabulary = Vocabulary(cluster_id="", brokers=self._brokers or NO_BROKERS)
        self._places = places
        self._turn = 0

    @classmethod
    def of_cluster(cls, cluster: Cluster) -> "Target":
        """Return a cluster of this run."""
        if isinstance(cluster, OpensStreamsInMemory):
            return cls(cluster.scope, cluster.nodes, cluster, cluster, ())
        places = {}
        for node in cluster.nodes:
            address = cluster.address(node.node_id, PORT)
            places[node.node_id] = (address.host, address.port)
        return cls(cluster.scope, cluster.nodes, SocketStreams(places), cluster, ())

    @classmethod
    def of_addresses(cls, places: Sequence[Place], scope: Scope) -> "Target":
        """Return the brokers that listen at some addresses, numbered from 1 on."""
        nodes = [
            NodeInfo(node_id=number, name=f"{host}:{port}", roles=("broker",))
            for number, (host, port) in enumerate(places, start=1)
        ]
        streams = SocketStreams(dict(enumerate(places, start=1)))
        return cls(scope, nodes, streams, None, places)

    async def learn(self) -> None:
        """Ask a broker for the id of the cluster.

        Raises:
            ConnectionFailed, OutcomeUnknown: no broker answers.
        """
        self.vocabulary.cluster_id = await cluster_id_of(self.connect)

    async def connect(self) -> Connection[Message]:
        """Open a connection of an honest client to the next broker.

        Raises:
            ConnectionFailed: the broker does not listen.
        """
        brokers = self._brokers
        if not brokers:
            raise ConnectionFailed("there is no broker")
        broker = brokers[self._turn % len(brokers)]
        self._turn += 1
        if self.cluster is not None:
            return await connect(self.cluster, broker, ANSWER_TIMEOUT_NS)
        host, port = self._places[broker - 1]
        return await connect_to(host, port, ANSWER_TIMEOUT_NS)

    @property
    def _brokers(self) -> tuple[int, ...]:
        return tuple(node.node_id for node in self.nodes if node.has("broker"))
