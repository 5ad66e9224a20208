"""Connections and requests between simulated processes, with the ways in which they are lost.

What TCP does and a request notices is here: refusal by a machine without the process, a reset
when either end dies, silence over a cut link until the time-out, which drops the whole connection
with every request in flight on it; answers in the order of the requests. A paused process has its
messages buffered by its machine. What never left, since no connection ever stood, is told apart.
Not: bytes (passage.py), cuts and delays (links.py).
"""

from collections import deque
from collections.abc import Callable

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.kernel.scheduler import Timer
from kraftproof.cluster.simulated.network.endpoints import Party, Server
from kraftproof.cluster.simulated.network.links import Links, Stream
from kraftproof.cluster.simulated.network.transport import Arrived, Outgoing, Passage
from kraftproof.node.wire.messages import Message

OnAnswer = Callable[[Message | None], None]
OnUnsent = Callable[[], None]


def _nobody() -> None:
    """Who serves a connection that was reset: what still arrives on it is refused."""


FEW_CONNECTIONS = 64
"""So many are kept before those that were closed are looked for."""


class Call:
    """One request on its way, at its server, or on its way back."""

    __slots__ = (
        "_on_answer",
        "_on_unsent",
        "connection",
        "due_ns",
        "is_done",
        "outgoing",
        "response",
    )

    def __init__(
        self,
        connection: "Connection",
        outgoing: Outgoing,
        on_answer: OnAnswer,
        on_unsent: OnUnsent | None,
        due_ns: int,
    ) -> None:
        self._on_unsent = on_unsent
        self.connection = connection
        self.outgoing = outgoing
        self.response: Message | None = None
        self.due_ns = due_ns
        """When its sender gives it up."""
        self.is_done = False
        self._on_answer = on_answer

    def answer(self, message: Message) -> None:
        """Send the response, after those of the requests before it on the connection."""
        self.response = message
        self.connection.send_ready()

    def finish(self, message: Message | None) -> None:
        """Tell the sender once what came of it."""
        if not self.is_done:
            self.is_done = True
            self._on_answer(message)

    def lose(self, *, is_unsent: bool) -> None:
        """There is no answer; the sender hears it apart, if it asked to, that nobody got it."""
        if not is_unsent or self._on_unsent is None:
            self.finish(None)
        elif not self.is_done:
            self.is_done = True
            self._on_unsent()


class Connection:
    """One connection from a party to whatever process serves at the target when it is opened."""

    __slots__ = (
        "_back",
        "_forth",
        "_links",
        "_lookup",
        "_outstanding",
        "_party",
        "_passage",
        "_served",
        "_stands",
        "_timer",
        "is_open",
        "server",
    )

    def __init__(
        self,
        link: Link,
        party: Party,
        lookup: Callable[[], Server | None],
        *,
        links: Links,
        passage: Passage,
    ) -> None:
        self._links = links
        self._passage = passage
        self._party = party
        self._lookup = lookup
        self._forth = Stream(link)
        self._back = Stream(Link(link.target, link.source))
        self._outstanding: list[Call] = []
        self._served: deque[Call] = deque()
        self._stands = False
        """Whether what is sent may reach somebody, as far as the sender can know."""
        self._timer: Timer | None = None
        """One for all that is outstanding: most answers come long before it rings."""
        self.server: Server | None = None
        self.is_open = True

    @property
    def link(self) -> Link:
        """From the machine that opened it to the one that serves."""
        return self._forth.link

    def send(
        self,
        outgoing: Outgoing,
        timeout_ns: int,
        on_answer: OnAnswer,
        on_unsent: OnUnsent | None = None,
        connect_ns: int | None = None,
    ) -> None:
        """Send a request, which ends in exactly one call of `on_answer`.

        `on_unsent` is called instead, if given, when it has certainly reached nobody; after
        `connect_ns` without a connection that is so.
        """
        assert self.is_open, "a new connection takes the place of a closed one"
        call = Call(self, outgoing, on_answer, on_unsent, self._links.now_ns() + timeout_ns)
        self._outstanding.append(call)
        if self._timer is None or call.due_ns < self._timer.time_ns:
            self._set_timer(timeout_ns)
        arriving = self._passage.request(outgoing)
        self._transmit(lambda: self._arrive(call, arriving))
        if connect_ns is not None and not self._stands:
            self._party.after(connect_ns, lambda: self._give_up_unsent(call))

    def _give_up_unsent(self, call: Call) -> None:
        if self.is_open and not self._stands and not call.is_done:
            self.close()

    def open(self, on_open: Callable[[bool], None]) -> None:
        """Establish the connection; tells whether anything listens there."""
        self._transmit(lambda: self._back_to_party(lambda: on_open(self._establish())))

    def close(self) -> None:
        """Give up all requests in flight; they may have run, or may yet."""
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
        self._forth.is_given_up = True
        self._back.is_given_up = True
        outstanding, self._outstanding = self._outstanding, []
        for call in outstanding:
            call.lose(is_unsent=not self._stands)

    def reset(self) -> None:
        """The serving process is gone, and its machine says so if it can be heard."""
        self._lookup = _nobody
        self._back_to_party(self.close)

    def send_ready(self) -> None:
        """Send the responses that no earlier request holds up."""
        while self._served and self._served[0].response is not None:
            call = self._served.popleft()
            response = call.response
            assert response is not None, "the head is ready"
            arriving = self._passage.response(call.outgoing, response)
            self._send_back(call, arriving)

    def _send_back(self, call: Call, arriving: Callable[[], Message]) -> None:
        self._back_to_party(lambda: self._take_answer(call, arriving))

    def _take_answer(self, call: Call, arriving: Callable[[], Message]) -> None:
        if self.is_open and not call.is_done:
            self._outstanding.remove(call)
            call.finish(arriving())

    def _back_to_party(self, action: Callable[[], None]) -> None:
        self._links.send(self._back, lambda: self._party.hear(action, self))

    def _transmit(self, arrive: Callable[[], None]) -> None:
        """Send forth; until the connection stands both directions are needed.

        What waits for that is given up with the connection, as nothing of it has left.
        """
        if not self._stands:
            if not self.is_open:
                return
            for stream in (self._back, self._forth):
                if self._links.is_cut(stream.link):
                    self._links.send(stream, lambda: self._transmit(arrive))
                    return
            self._stands = True
        self._links.send(self._forth, arrive)

    def _establish(self) -> bool:
        server = self._lookup()
        if server is None or not server.accepts():
            return False
        self.server = server
        return True

    def _arrive(self, call: Call, arriving: Callable[[], Arrived]) -> None:
        if self.server is None and not self._establish():
            self._stands = False
            self.reset()
            return
        if self.server is not self._lookup():
            self.reset()
            return
        assert self.server is not None, "it stands"
        weather = self._links.weather
        if weather is not None and weather.resets(self._forth.link):
            self.reset()
            if not weather.is_carried_out():
                return
        try:
            arrived = arriving()
        except Exception as error:  # noqa: BLE001 - whatever the codec raises
            self.server.crashed(error)
            return
        self._served.append(call)
        self.server.serve(call, arrived)

    def _set_timer(self, delay_ns: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._party.after(delay_ns, self._give_up_overdue)

    def _give_up_overdue(self) -> None:
        """One request that takes too long ends the connection."""
        self._timer = None
        if not self._outstanding:
            return
        left_ns = min([call.due_ns for call in self._outstanding]) - self._links.now_ns()
        if left_ns <= 0:
            self.close()
        else:
            self._set_timer(left_ns)


class Network:
    """Opens connections between the processes of one cluster."""

    def __init__(
        self,
        links: Links,
        passage: Passage,
        lookup: Callable[[int], Server | None],
        on_crash: Callable[[int, Exception], None],
    ) -> None:
        self.links = links
        self.on_crash = on_crash
        """Told of a node whose answer the codec can't read."""
        self.passage = passage
        self.make_connection = self._plain_connection
        """How a connection is made; a recorder's tell what passes (recorder.py)."""
        self._lookup = lookup
        self._connections: list[Connection] = []
        self._look_at = FEW_CONNECTIONS

    def connect(self, link: Link, party: Party) -> Connection:
        """Return a new connection; it stands once the first message has arrived."""
        target = link.target
        connection = self.make_connection(link, party, lambda: self._lookup(target))
        self._connections.append(connection)
        if len(self._connections) >= self._look_at:
            self._forget_closed()
        return connection

    def _plain_connection(
        self, link: Link, party: Party, lookup: Callable[[], Server | None]
    ) -> Connection:
        return Connection(link, party, lookup, links=self.links, passage=self.passage)

    def process_died(self, process: object) -> None:
        """Reset every connection to a process that is gone."""
        self._forget_closed()
        for connection in self._connections:
            if connection.server is process:
                connection.reset()

    def _forget_closed(self) -> None:
        self._connections = [connection for connection in self._connections if connection.is_open]
        self._look_at = max(FEW_CONNECTIONS, 2 * len(self._connections))
