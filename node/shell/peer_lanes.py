"""Requests to peers: a lane, with one connection at a time, for each peer and kind of traffic.

A Fetch may wait at the leader for half a second and answers keep the order of requests, so Fetch
has a lane of its own; so have forwarded requests. The controller listener and the broker's listener
of one node are two peers. Retries are the core's.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, Generic

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Answered, Event, Unanswered
from kraftproof.node.shell.ports import AnswerReader, ConnectionT, Observer, Timers, Transport
from kraftproof.node.shell.requests_in_flight import OnAnswer, OnUnsent, RequestsInFlight
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.messages.generated.fetch_snapshot_request import FetchSnapshotRequest

_FETCHES: Final = frozenset((FetchRequest, FetchSnapshotRequest))


class LaneKind(Enum):
    """Kinds of traffic that must not wait for each other."""

    FETCH = "fetch"
    FORWARD = "forward"
    OTHER = "other"


class Lane(Generic[ConnectionT]):
    """Requests to one peer in order, over a connection that is made when there is a request."""

    __slots__ = (
        "_connection",
        "_destination",
        "_in_flight",
        "_is_to_broker",
        "_timers",
        "_transport",
    )

    def __init__(
        self,
        destination: NodeId,
        transport: Transport[ConnectionT],
        timers: Timers,
        *,
        is_to_broker: bool,
    ) -> None:
        self._destination = destination
        self._is_to_broker = is_to_broker
        self._transport = transport
        self._timers = timers
        self._connection: ConnectionT | None = None
        self._in_flight: RequestsInFlight[Send | Forward] = RequestsInFlight(timers, self.drop)

    def request(
        self, effect: Send | Forward, on_answer: OnAnswer, on_unsent: OnUnsent | None = None
    ) -> None:
        """Send a request; the effect's `connect_ns` bounds the wait for a connection."""
        connection = self._connection
        if connection is None:
            connection = self._transport.connect(
                self._destination, self, is_to_broker=self._is_to_broker
            )
            self._connection = connection
        in_flight, timeout_ns = self._in_flight, effect.timeout_ns
        correlation_id = in_flight.add(effect, timeout_ns, on_answer, on_unsent)
        self._transport.send(connection, correlation_id, effect)
        if isinstance(effect, Forward) and not connection.is_established:
            self._timers.after(effect.connect_ns, lambda: self._drop_unsent(connection))

    def answered(
        self, connection: ConnectionT, correlation_id: int, read: AnswerReader[Send | Forward]
    ) -> None:
        """Resume a request; an answer to no request of this connection is a fault of the peer."""
        if connection is not self._connection:
            return  # the request was reported as lost when its connection was given up
        if not self._in_flight.answer(correlation_id, read):
            self.drop()

    def ended(self, connection: ConnectionT) -> None:
        """Lose what is in flight, unless the connection was given up before."""
        if connection is self._connection:
            self.drop()

    def drop(self) -> None:
        """End the connection; everything in flight is lost."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            self._in_flight.lose_all(is_unsent=not connection.is_established)

    def close(self) -> None:
        """End the connection without a word of what was in flight."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            self._in_flight.forget()

    def _drop_unsent(self, connection: ConnectionT) -> None:
        """Give up a connection that takes too long for a request that waits for it."""
        if connection is self._connection and not connection.is_established:
            self.drop()


class PeerLanes(Generic[ConnectionT]):
    """All lanes of a node; each Send and Forward ends in one Answered or Unanswered."""

    __slots__ = ("_lanes", "_observer", "_post", "_timers", "_transport")

    def __init__(
        self,
        transport: Transport[ConnectionT],
        timers: Timers,
        observer: Observer,
        *,
        post: Callable[[Event], None],
    ) -> None:
        self._transport = transport
        self._timers = timers
        self._observer = observer
        self._post = post
        self._lanes: dict[tuple[NodeId, LaneKind, bool], Lane[ConnectionT]] = {}
        """By node, kind of traffic, and whether the peer is a broker's listener."""

    @property
    def destinations(self) -> set[NodeId]:
        """The voters that a request was sent to."""
        return {destination for destination, _, is_to_broker in self._lanes if not is_to_broker}

    def send(self, effect: Send) -> None:
        """Ask a voter, or a broker."""
        kind = LaneKind.FETCH if type(effect.message) in _FETCHES else LaneKind.OTHER
        lane = self._lane(effect.destination, kind, is_to_broker=effect.is_to_broker)
        lane.request(effect, lambda message: self._answered(effect, message))

    def forward(self, effect: Forward) -> None:
        """Ask a voter on behalf of a client.

        Without a connection the request has certainly not run, which the answer NOT_CONTROLLER
        says as well: the core may send the request elsewhere.
        """
        refusal = EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
        self._lane(effect.destination, LaneKind.FORWARD).request(
            effect,
            lambda message: self._answered(effect, message),
            lambda: self._answered(effect, refusal),
        )

    def close(self) -> None:
        """End all connections."""
        for lane in self._lanes.values():
            lane.close()

    def _lane(
        self, destination: NodeId, kind: LaneKind, *, is_to_broker: bool = False
    ) -> Lane[ConnectionT]:
        lane = self._lanes.get((destination, kind, is_to_broker))
        if lane is None:
            lane = Lane(destination, self._transport, self._timers, is_to_broker=is_to_broker)
            self._lanes[destination, kind, is_to_broker] = lane
        return lane

    def _answered(self, effect: Send | Forward, message: Message | None) -> None:
        if message is None:
            self._post(Unanswered(correlation=effect.correlation))
            return
        self._observer.on_response(effect, message)
        self._post(Answered(correlation=effect.correlation, message=message))
