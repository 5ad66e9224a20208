"""A client's connection from the harness to a simulated node."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.kernel.scheduler import Timer
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network import network as net
from kraftproof.cluster.simulated.network.byte_stream import SimulatedStream
from kraftproof.cluster.simulated.network.client_channel import ClientChannel
from kraftproof.cluster.simulated.network.endpoints import ClientEndpoint
from kraftproof.cluster.simulated.network.links import HARNESS, Links, Stream
from kraftproof.cluster.simulated.network.transport import Outgoing
from kraftproof.cluster.systems.kafka.connection import SASL_PORT
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.shell.ports import Timers
from kraftproof.node.wire.messages import Message

PROBE_NS = milliseconds(300)
"""Time-out of a round trip."""


class HarnessEndpoint(ClientEndpoint, Timers):
    """The harness as a machine: never paused, never killed."""

    __slots__ = ("_on_crash", "_scope")

    def __init__(self, scope: SimulatedScope, on_crash: Callable[[int, Exception], None]) -> None:
        self._scope = scope
        self._on_crash = on_crash

    @override
    def hear(self, action: Callable[[], None], connection: net.Connection) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - whatever the codec raises
            self._on_crash(connection.link.target, error)

    @override
    def is_answered(self, asked: Message, answered: Message) -> None:
        assert asked is answered, "the harness gives each connection ids of its own"

    @override
    def now_ns(self) -> int:
        return self._scope.scheduler.now_ns

    @override
    def after(self, delay_ns: int, action: Callable[[], None]) -> Timer:
        return self._scope.scheduler.after(delay_ns, action)


class Sender(Struct, frozen=True):
    """The sender of the requests of a connection."""

    client_id: str = ""
    is_secure: bool = False
    """Whether the connection goes to the SASL listener, and begins with a login."""


PLAIN_SENDER: Final = Sender()


def sender_of(port: str, client_id: str) -> Sender:
    """Return the sender of a connection to a named port."""
    return Sender(client_id=client_id, is_secure=port == SASL_PORT)


class SimulatedConnection(Connection[Message]):
    """Whole messages over one simulated connection."""

    __slots__ = ("_channel", "_scope", "_sender")

    def __init__(
        self, scope: SimulatedScope, channel: ClientChannel, sender: Sender = PLAIN_SENDER
    ) -> None:
        self._scope = scope
        self._sender = sender
        self._channel = channel

    @override
    async def call(self, message: Message, version: int, timeout_ns: int) -> Message:
        outgoing = Outgoing(
            message=message,
            version=version,
            client_id=self._sender.client_id,
            is_secure=self._sender.is_secure,
        )
        return await self.send(outgoing, timeout_ns)

    async def send(self, outgoing: Outgoing, timeout_ns: int) -> Message:
        """Send a request, of any principal, and return the answer.

        Raises:
            ConnectionFailed: the connection is closed.
            OutcomeUnknown: no answer came.
        """
        if not self._channel.is_open:
            raise ConnectionFailed("the connection was closed before")
        answered = self._scope.promise()
        self._channel.send(outgoing, timeout_ns, answered.set)
        answer: Message | None = await answered
        if answer is None:
            raise OutcomeUnknown("the connection broke, or no answer came in time")
        return answer

    async def post(self, message: Message, version: int) -> None:
        """Send a request to which the node sends no answer.

        Raises:
            ConnectionFailed: the connection is closed.
        """
        if not self._channel.is_open:
            raise ConnectionFailed("the connection was closed before")
        self._channel.post(Outgoing(message=message, version=version))

    @override
    def close(self) -> None:
        self._channel.close()


async def connect(
    scope: SimulatedScope,
    network: net.Network,
    node_id: int,
    timeout_ns: int,
    sender: Sender = PLAIN_SENDER,
) -> SimulatedConnection:
    """Open a connection from the harness.

    Raises:
        ConnectionFailed: the node does not listen, or does not answer in time.
    """
    client = HarnessEndpoint(scope, network.on_crash)
    channel = ClientChannel(network, Link(HARNESS, node_id), client, client)
    opened = scope.promise()
    channel.open(opened.set)
    timer = scope.scheduler.after(timeout_ns, lambda: opened.set(False))
    try:
        stands: bool = await opened
    finally:
        timer.cancel()
    if not stands:
        channel.close()
        raise ConnectionFailed(f"node {node_id} does not listen")
    return SimulatedConnection(scope, channel, sender)


async def open_stream(
    scope: SimulatedScope, network: net.Network, node_id: int, timeout_ns: int
) -> SimulatedStream:
    """Open a connection from the harness that carries bytes.

    Raises:
        ConnectionFailed: the node does not listen, or does not answer in time.
    """
    opened = scope.promise()
    stream = network.open_stream(Link(HARNESS, node_id), opened.set)
    if not await scope.wait(opened, timeout_ns):
        stream.close()
        raise ConnectionFailed(f"node {node_id} does not listen")
    return stream


async def is_reached(scope: SimulatedScope, links: Links, link: Link) -> bool:
    """Return whether a message of one node reaches another and an answer returns in time."""
    arrived = scope.promise()
    back = Stream(Link(link.target, link.source))
    links.send(Stream(link), lambda: links.send(back, lambda: arrived.set(True)))
    timer = scope.scheduler.after(PROBE_NS, lambda: arrived.set(False))
    has_arrived: bool = await arrived
    timer.cancel()
    return has_arrived
