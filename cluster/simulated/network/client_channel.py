"""A client's requests over one simulated connection, with the time-outs that a node's have."""

from collections.abc import Callable
from typing import Final

from typing_extensions import override

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.network.endpoints import ClientEndpoint
from kraftproof.cluster.simulated.network.network import Connection, Network, Request
from kraftproof.cluster.simulated.network.transport import Outgoing
from kraftproof.node.shell.ports import AnswerReader, ConnectionOwner, Timers
from kraftproof.node.shell.requests_in_flight import OnAnswer, OnUnsent, RequestsInFlight

POSTED: Final = -1
"""The correlation id of requests without an answer; others count from 0."""


class ClientChannel(ConnectionOwner[Connection, Request]):
    """One connection, and the requests on it that have no answer."""

    __slots__ = ("_in_flight", "connection")

    def __init__(
        self, network: Network, link: Link, client: ClientEndpoint, timers: Timers
    ) -> None:
        self.connection = network.connect(link, client, self)
        self._in_flight: RequestsInFlight[Request] = RequestsInFlight(timers, self.close)

    @property
    def is_open(self) -> bool:
        """Return whether requests may be sent."""
        return self.connection.is_open

    def open(self, on_open: Callable[[bool], None]) -> None:
        """Establish the connection; tells whether anything listens there."""
        self.connection.open(on_open)

    def send(
        self,
        outgoing: Outgoing,
        timeout_ns: int,
        on_answer: OnAnswer,
        on_unsent: OnUnsent | None = None,
    ) -> None:
        """Send a request, which ends in exactly one call of `on_answer`, or of `on_unsent`."""
        correlation_id = self._in_flight.add(outgoing, timeout_ns, on_answer, on_unsent)
        self.connection.send(correlation_id, outgoing)

    def post(self, outgoing: Outgoing) -> None:
        """Send a request that gets no answer, as a Produce with acks=0."""
        self.connection.send(POSTED, outgoing)

    def close(self) -> None:
        """Give up all requests in flight; they may have run, or may yet."""
        self.connection.close()
        self._in_flight.lose_all(is_unsent=not self.connection.is_established)

    @override
    def answered(
        self, connection: Connection, correlation_id: int, read: AnswerReader[Request]
    ) -> None:
        if connection.is_open:
            self._in_flight.answer(correlation_id, read)

    @override
    def ended(self, connection: Connection) -> None:
        self.close()
