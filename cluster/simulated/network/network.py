"""Connections between simulated processes, with the ways in which they are lost.

A connection does as TCP does: refusal by a machine without the process, a reset when either end
dies, silence over a cut link, answers in the order of the requests. A paused process has its
messages buffered by its machine. Time-outs, and who was waiting for an answer, are the owner's
(node/shell/requests_in_flight.py). Not: bytes (transport.py), cuts and delays (links.py).
"""

from collections import deque
from collections.abc import Callable

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.network.endpoints import ClientEndpoint, ServerEndpoint
from kraftproof.cluster.simulated.network.links import Links, Stream
from kraftproof.cluster.simulated.network.transport import Arrived, Outgoing, Transport
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.shell.ports import ConnectionOwner
from kraftproof.node.wire.messages import Message

Request = Send | Forward | Outgoing
"""A request as its sender knows it: a node's effect, or the harness's message."""


def _nobody() -> None:
    """Who serves a connection that was reset: what still arrives on it is refused."""


FEW_CONNECTIONS = 64
"""So many are kept before those that were closed are looked for."""


class Call:
    """One request on its way, at its server, or on its way back."""

    __slots__ = ("connection", "correlation_id", "outgoing", "response")

    def __init__(self, connection: "Connection", correlation_id: int, outgoing: Outgoing) -> None:
        self.connection = connection
        self.correlation_id = correlation_id
        self.outgoing = outgoing
        self.response: Message | None = None

    def answer(self, message: Message) -> None:
        """Send the response, after those of the requests before it on the connection."""
        self.response = message
        self.connection.send_ready()


class Connection:
    """One connection from a client to whatever process serves at the target when it is opened."""

    __slots__ = (
        "_back",
        "_forth",
        "_links",
        "_lookup",
        "_owner",
        "_client",
        "_transport",
        "_served",
        "is_established",
        "is_open",
        "server",
    )

    def __init__(
        self,
        link: Link,
        client: ClientEndpoint,
        lookup: Callable[[], ServerEndpoint | None],
        owner: "ConnectionOwner[Connection, Request]",
        *,
        links: Links,
        transport: Transport,
    ) -> None:
        self._links = links
        self._transport = transport
        self._client = client
        self._lookup = lookup
        self._owner = owner
        self._forth = Stream(link)
        self._back = Stream(Link(link.target, link.source))
        self._served: deque[Call] = deque()
        self.is_established = False
        """Whether what is sent may reach somebody, as far as the sender can know."""
        self.server: ServerEndpoint | None = None
        self.is_open = True

    @property
    def link(self) -> Link:
        """From the machine that opened it to the one that serves."""
        return self._forth.link

    def send(self, correlation_id: int, outgoing: Outgoing) -> None:
        """Send a request; its answer goes to the owner."""
        assert self.is_open, "a new connection takes the place of a closed one"
        call = Call(self, correlation_id, outgoing)
        arriving = self._transport.request(outgoing)
        self._transmit(lambda: self._arrive(call, arriving))

    def open(self, on_open: Callable[[bool], None]) -> None:
        """Establish the connection; tells whether anything listens there."""
        self._transmit(lambda: self._back_to_party(lambda: on_open(self._establish())))

    def close(self) -> None:
        """End the connection; what was sent may have run, or may yet."""
        self.is_open = False
        self._forth.is_given_up = True
        self._back.is_given_up = True

    def reset(self) -> None:
        """The serving process is gone, and its machine says so if it can be heard."""
        self._lookup = _nobody
        self._back_to_party(lambda: self._owner.ended(self))

    def send_ready(self) -> None:
        """Send the responses that no earlier request holds up."""
        while self._served and self._served[0].response is not None:
            call = self._served.popleft()
            response = call.response
            assert response is not None, "the head is ready"
            arriving = self._transport.response(call.outgoing, response)
            self._send_back(call, arriving)

    def _send_back(self, call: Call, arriving: Callable[[], Message]) -> None:
        client, answered = self._client, call.outgoing.message

        def read(request: Request) -> Message:
            client.is_answered(request.message, answered)
            return arriving()

        self._back_to_party(lambda: self._owner.answered(self, call.correlation_id, read))

    def _back_to_party(self, action: Callable[[], None]) -> None:
        self._links.send(self._back, lambda: self._client.hear(action, self))

    def _transmit(self, arrive: Callable[[], None]) -> None:
        """Send forth; until the connection stands both directions are needed.

        What waits for that is given up with the connection, as nothing of it has left.
        """
        if not self.is_established:
            if not self.is_open:
                return
            for stream in (self._back, self._forth):
                if self._links.is_cut(stream.link):
                    self._links.send(stream, lambda: self._transmit(arrive))
                    return
            self.is_established = True
        self._links.send(self._forth, arrive)

    def _establish(self) -> bool:
        server = self._lookup()
        if server is None or not server.accepts():
            return False
        self.server = server
        return True

    def _arrive(self, call: Call, arriving: Callable[[], Arrived]) -> None:
        if self.server is None and not self._establish():
            self.is_established = False
            self.reset()
            return
        if self.server is not self._lookup():
            self.reset()
            return
        assert self.server is not None, "it stands"
        link_faults = self._links.link_faults
        if link_faults is not None and link_faults.resets(self._forth.link):
            self.reset()
            if not link_faults.is_carried_out():
                return
        try:
            arrived = arriving()
        except Exception as error:  # noqa: BLE001 - whatever the codec raises
            self.server.crashed(error)
            return
        self._served.append(call)
        self.server.serve(call, arrived)


class Network:
    """Opens connections between the processes of one cluster."""

    def __init__(
        self,
        links: Links,
        transport: Transport,
        lookup: Callable[[int], ServerEndpoint | None],
        on_crash: Callable[[int, Exception], None],
    ) -> None:
        self.links = links
        self.on_crash = on_crash
        """Told of a node whose answer the codec can't read."""
        self.transport = transport
        self.make_connection = self._plain_connection
        """How a connection is made; a recorder's tell what passes (recorder.py)."""
        self._lookup = lookup
        self._connections: list[Connection] = []
        self._look_at = FEW_CONNECTIONS

    def connect(
        self, link: Link, client: ClientEndpoint, owner: ConnectionOwner[Connection, Request]
    ) -> Connection:
        """Return a new connection; it stands once the first message has arrived."""
        target = link.target
        connection = self.make_connection(link, client, lambda: self._lookup(target), owner)
        self._connections.append(connection)
        if len(self._connections) >= self._look_at:
            self._forget_closed()
        return connection

    def _plain_connection(
        self,
        link: Link,
        client: ClientEndpoint,
        lookup: Callable[[], ServerEndpoint | None],
        owner: ConnectionOwner[Connection, Request],
    ) -> Connection:
        return Connection(link, client, lookup, owner, links=self.links, transport=self.transport)

    def process_died(self, process: object) -> None:
        """Reset every connection to a process that is gone."""
        self._forget_closed()
        for connection in self._connections:
            if connection.server is process:
                connection.reset()

    def _forget_closed(self) -> None:
        self._connections = [connection for connection in self._connections if connection.is_open]
        self._look_at = max(FEW_CONNECTIONS, 2 * len(self._connections))
