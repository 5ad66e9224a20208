"""The shell's Transport and Replies in the simulator: both ends of the simulated network."""

from typing import Final

from typing_extensions import override

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.invariants.invariant import InvariantMonitor, ProcessView
from kraftproof.cluster.simulated.network.endpoints import ClientEndpoint
from kraftproof.cluster.simulated.network.network import Call, Connection
from kraftproof.cluster.simulated.network.transport import Outgoing
from kraftproof.cluster.simulated.node.client_hooks import replied_hooks, replying_hooks
from kraftproof.cluster.simulated.node.data_requests import is_data, with_each_partition_once
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.cluster.simulated.node.hang_ups import may_hang_up
from kraftproof.cluster.simulated.node.muted_connections import MutedConnections
from kraftproof.cluster.simulated.node.port_contract import PortContract
from kraftproof.cluster.simulated.node.stream_listener import StreamCall
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.shell.ports import ConnectionOwner, Replies, Transport
from kraftproof.node.wire.messages import Message, fetch_request, fetch_snapshot_request

FETCHES: Final = frozenset(
    (fetch_request.FetchRequest, fetch_snapshot_request.FetchSnapshotRequest)
)


class SimulatedTransport(Transport[Connection]):
    """Connections from one process to its peers."""

    def __init__(
        self,
        process: ProcessView,
        client: ClientEndpoint,
        env: NodeEnvironment,
        contract: PortContract,
    ) -> None:
        self._process = process
        self._contract = contract
        self._client = client
        self._env = env
        self._on_sent = env.monitor.on_sent
        self._on_data_sent = env.monitor.on_data_sent
        self._on_forwarding = env.monitor.on_forwarding

    @override
    def connect(
        self,
        destination: NodeId,
        owner: ConnectionOwner[Connection, Send | Forward],
        *,
        is_to_broker: bool,
    ) -> Connection:
        """Connect to the one listener that a simulated node has."""
        del is_to_broker
        link = Link(self._env.node_id, destination)
        return self._env.network.connect(link, self._client, owner)

    @override
    def send(self, connection: Connection, correlation_id: int, request: Send | Forward) -> None:
        message, version = request.message, request.version
        self._contract.request_begins(request)
        if isinstance(request, Forward):
            self._contract.forward_begins(request, connection)
            for forwarding in self._on_forwarding[type(message)]:
                forwarding(self._process, request)
            outgoing = Outgoing(message=message, version=version, forward=request)
            connection.send(correlation_id, outgoing)
            return
        is_fetch = type(message) in FETCHES
        if connection.carries_fetches != is_fetch:
            if connection.carries_fetches is not None:
                self._contract.lane_is_mixed(request)
            connection.carries_fetches = is_fetch
        hooks = self._on_data_sent if request.is_to_broker else self._on_sent
        for sent in hooks[type(message)]:
            sent(self._process, request)
        connection.send(correlation_id, Outgoing(message=message, version=version))


class SimulatedReplies(Replies[Call | StreamCall]):
    """Answers of one process, as messages or on byte streams."""

    def __init__(
        self,
        process: ProcessView,
        monitor: InvariantMonitor,
        muted: MutedConnections,
        *,
        has_authorizer: bool,
    ) -> None:
        self._process = process
        self._has_authorizer = has_authorizer
        self._monitor = monitor
        self._muted = muted
        self.replied: list[tuple[Received, Message]] = []
        """Answers of the step that is being carried out."""

    @override
    def mute(self, client: Call | StreamCall, duration_ns: int) -> None:
        if isinstance(client, Call):
            self._muted.mute(client.connection, duration_ns)
        else:
            client.mute(duration_ns)

    @override
    def reply(self, client: Call | StreamCall, event: Received, message: Message) -> None:
        if is_data(event):
            judged = with_each_partition_once(event)
            for answered in self._monitor.on_data_answered[type(event.message)]:
                answered(self._process, judged, message)
        else:
            for replying in replying_hooks(self._monitor, event):
                replying(self._process, event, message)
            self.replied.append((event, message))
        client.answer(message)

    @override
    def end(self, client: Call | StreamCall, event: Received, *, closes_connection: bool) -> None:
        if isinstance(client, Call):
            client.end(closes_connection=closes_connection)
            return
        by_right = may_hang_up(event, self._process.event, has_authorizer=self._has_authorizer)
        client.end(closes_connection=closes_connection, by_right=by_right)

    def on_step(self) -> None:
        """Tell the monitor which requests the step has answered."""
        for event, message in self.replied:
            for replied in replied_hooks(self._monitor, event):
                replied(self._process, event, message)
        self.replied.clear()
