"""Connections between simulated processes, with the ways in which they are lost.

A connection does as TCP does: refusal by a machine without the process, a reset when either end
dies, silence over a cut link, answers in the order of the requests. A paused process has its
messages buffered by its machine. Time-outs, and who was waiting for an answer, are the owner's
(node/shell/requests_in_flight.py). Not: bytes (transport.py), cuts and delays (links.py).
"""

from collections import deque
from collections.abc import Callable

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.network.byte_stream import SimulatedStream
from kraftproof.cluster.simulated.network.endpoints import ClientEndpoint, ServerEndpoint
from kraftproof.cluster.simulated.network.links import HARNESS, Links, Stream
from kraftproof.cluster.simulated.network.transport import Arrived, Outgoing, Transport
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.shell.ports import ConnectionOwner
from kraftproof.node.wire.messages import Message

Request = Send | Forward | Outgoing
"""A request as its sender knows it: a node's effect, or the harness's message."""


def _nobody() -> None:
    """Return no server: a connection that was reset refuses later messages."""


FEW_CONNECTIONS = 64
"""Number of connections from which closed connections are removed from the list."""


class Call:
    """A request in flight, at its server, or with its response in flight."""

    __slots__ = ("connection", "correlation_id", "outgoing", "response")

    def __init__(self, connection: "Connection", correlation_id: int, outgoing: Outgoing) -> None:
        self.connection = connection
        self.correlation_id = correlation_id
        self.outgoing = outgoing
        self.response: Message | None = None

    def answer(self, message: Message) -> None:
        """Send the response, after the responses to earlier requests of the connection."""
        self.response = message
        self.connection.send_ready()

    def end(self, *, closes_connection: bool) -> None:
        """End the request without a response, and maybe the connection."""
        self.connection.leave_out(self)
        if closes_connection:
            self.connection.reset()


class Connection:
    """A connection from a client to the process that serves at the target at its opening."""

    __slots__ = (
        "_back",
        "_client",
        "_client",
        "_forth",
        "_links",
        "_lookup",
        "_owner",
        "_served",
        "_transport",
        "carries_fetches",
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
        self.carries_fetches: bool | None = None
        """Whether a node has sent Fetches, or other requests; None before the first request."""
        self.server: ServerEndpoint | None = None
        self.is_open = True

    @property
    def link(self) -> Link:
        """The link from the machine of the client to the machine of the server."""
        return self._forth.link

    def send(self, correlation_id: int, outgoing: Outgoing) -> None:
        """Send a request; its answer goes to the owner."""
        assert self.is_open, "a new connection takes the place of a closed one"
        call = Call(self, correlation_id, outgoing)
        arriving = self._transport.request(outgoing)
        self._transmit(lambda: self._arrive(call, arriving))

    def open(self, on_open: Callable[[bool], None]) -> None:
        """Establish the connection; `on_open` gets whether a server listens."""
        self._transmit(lambda: self._back_to_party(lambda: on_open(self._establish())))

    def close(self) -> None:
        """Give up every request in flight; a server may have run it, or may still run it."""
        self.is_open = False
        self._forth.is_given_up = True
        self._back.is_given_up = True

    def reset(self) -> None:
        """Report to the client that the server process is gone, if the link back is up."""
        self._lookup = _nobody
        self._back_to_party(lambda: self._owner.ended(self))

    def send_ready(self) -> None:
        """Send the responses whose earlier requests have been answered."""
        while self._served and self._served[0].response is not None:
            call = self._served.popleft()
            response = call.response
            assert response is not None, "the head is ready"
            failed = self._links.failed_answers
            if failed is not None and self.link.source != HARNESS:
                response = failed.changed(response)
            arriving = self._transport.response(call.outgoing, response)
            self._send_back(call, arriving)

    def leave_out(self, call: Call) -> None:
        """Send no response to a request; later responses do not wait for one."""
        self._served.remove(call)
        self.send_ready()

    def _send_back(self, call: Call, arriving: Callable[[], Message]) -> None:
        client, answered = self._client, call.outgoing.message

        def read(request: Request) -> Message:
            client.is_answered(request.message, answered)
            return arriving()

        self._back_to_party(lambda: self._owner.answered(self, call.correlation_id, read))

    def _back_to_party(self, action: Callable[[], None]) -> None:
        self._links.send(self._back, lambda: self._client.hear(action, self))

    def _transmit(self, arrive: Callable[[], None]) -> None:
        """Send a message to the server; before the handshake, both directions must be up.

        A message that waits for the handshake is unsent, and is given up with the connection.
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
        failed = self._links.failed_answers
        if failed is not None and self.link.source != HARNESS:
            is_forwarded = call.outgoing.forward is not None
            refusal = failed.refusal(arrived.message, is_forwarded=is_forwarded)
            if refusal is not None:
                call.answer(refusal)
                return
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
        """Called with a node whose response the codec cannot read."""
        self.transport = transport
        self.make_connection = self._plain_connection
        """Factory of connections; a recorder replaces the factory (trace/recorder.py)."""
        self._lookup = lookup
        self._connections: list[Connection] = []
        self._streams: list[SimulatedStream] = []
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

    def open_stream(self, link: Link, on_open: Callable[[bool], None]) -> SimulatedStream:
        """Begin a connection that carries bytes; `on_open` gets whether a server listens."""
        self._streams = [stream for stream in self._streams if not stream.is_over]
        stream = SimulatedStream(self.links, link, lambda: self._lookup(link.target))
        self._streams.append(stream)
        stream.open(on_open)
        return stream

    def process_died(self, process: object) -> None:
        """Reset every connection to a process that has ended."""
        for stream in self._streams:
            if stream.server is process:
                stream.reset()
        self._forget_closed()
        for connection in self._connections:
            if connection.server is process:
                connection.reset()

    def _forget_closed(self) -> None:
        self._connections = [connection for connection in self._connections if connection.is_open]
        self._look_at = max(FEW_CONNECTIONS, 2 * len(self._connections))
