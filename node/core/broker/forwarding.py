"""Forward changes from clients to the active controller in an Envelope (KIP-590).

A request keeps its client's deadline; the controller receives the remaining time. A request refused
with NOT_CONTROLLER has not run, and is retried until shortly before the deadline. The same holds
for an envelope that the shell could not deliver to any node.

A request with a lost connection may have run. The broker never repeats it, and answers that the
result is unknown. (Kafka repeats the request, so a CreateTopics can run twice.) See node/server for
the envelope's bytes, and answers.py for the broker's own answers.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    NO_NODE,
    Instant,
    Monotonic,
    NodeId,
    milliseconds,
)
from kraftproof.node.core.broker.backoff import backoff_ns
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.controller.timed_request import client_timeout_ns
from kraftproof.node.core.effects import EndRequest
from kraftproof.node.core.events import Received
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_reassignments_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    elect_leaders_request,
    envelope_response,
    list_partition_reassignments_request,
    update_features_request,
)

if TYPE_CHECKING:
    from random import Random

MARGIN_FRACTION: Final = 10
"""Divisor of the client's time for the margin of our answer's way to the client; without the
margin, the client would time out and not learn the result."""
LONGEST_MARGIN_NS: Final = milliseconds(1000)
"""Maximum of the margin in nanoseconds."""


Finish = Callable[[Message], Message]
"""Makes the client's answer from the controller's answer or from a refusal."""


def _as_it_is(answer: Message) -> Message:
    return answer


class _Forwarded:
    """A client's request on its way: deadline, number of refusals, time of the next attempt."""

    __slots__ = ("due", "event", "expires", "finish", "refused")

    def __init__(self, event: Received, expires: Monotonic, finish: Finish) -> None:
        self.event = event
        self.finish = finish
        self.expires = expires
        self.refused = 0
        self.due = Monotonic(0)


class Forwarder:
    """The requests that the broker forwards."""

    def __init__(self, config: NodeConfig, raft: Raft, outbox: Outbox, random: "Random") -> None:
        self._config = config
        self._raft = raft
        self._outbox = outbox
        self._random = random
        self._waiting: list[_Forwarded] = []
        """Requests that are not in flight, since no controller is known or the last controller
        refused."""
        self._leader: NodeId = NO_NODE

    def receive(self, event: Received, now: Instant, finish: Finish = _as_it_is) -> None:
        """Forward a request that only the active controller can answer."""
        expires = Monotonic(now.monotonic + _max_wait_ns(event.message, self._config))
        self._try(_Forwarded(event, expires, finish), now)

    def advance(self, now: Instant) -> None:
        """Retry at once when a new controller is known."""
        if self._raft.leader == self._leader:
            return
        self._leader = self._raft.leader
        if self._leader != NO_NODE:
            for forwarded in self._waiting:
                forwarded.due = now.monotonic

    def tick(self, now: Instant) -> None:
        """Retry the requests whose time has come."""
        due = [forwarded for forwarded in self._waiting if forwarded.due <= now.monotonic]
        self._waiting = [entry for entry in self._waiting if entry.due > now.monotonic]
        for forwarded in due:
            self._try(forwarded, now)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next tick."""
        if not self._waiting:
            return None
        return min([forwarded.due for forwarded in self._waiting])

    def _try(self, forwarded: _Forwarded, now: Instant) -> None:
        leader = self._raft.leader
        if now.monotonic >= forwarded.expires:
            self._refuse(forwarded, ErrorCode.NOT_CONTROLLER, "no active controller was found")
        elif leader == NO_NODE:
            self._wait(forwarded, now)
        else:
            left_ns = forwarded.expires - now.monotonic
            self._outbox.forward(
                leader,
                replace(forwarded.event, message=_bounded(forwarded.event.message, left_ns)),
                timeout_ns=left_ns,
                connect_ns=min(left_ns, self._config.timeouts.request_ns),
                on_answer=lambda answer, then: self._answered(forwarded, answer, then),
            )

    def _answered(self, forwarded: _Forwarded, answer: Message | None, now: Instant) -> None:
        match answer:
            case None:
                reason = "the controller's answer was lost: the request may have been carried out"
                self._refuse(forwarded, ErrorCode.REQUEST_TIMED_OUT, reason)
            case envelope_response.EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER):
                self._wait(forwarded, now)
            case envelope_response.EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION):
                # The client connects again, and asks for the versions again.
                request = forwarded.event.request
                self._outbox.emit(EndRequest(request=request, closes_connection=True))
            case envelope_response.EnvelopeResponse():
                # The failure of the broker's own authorization, not of the client's (590-07).
                reason = "the controller refused this broker's envelope"
                self._refuse(forwarded, ErrorCode.UNKNOWN_SERVER_ERROR, reason)
            case _:
                self._outbox.reply(forwarded.event, forwarded.finish(answer))

    def _wait(self, forwarded: _Forwarded, now: Instant) -> None:
        pause_ns = backoff_ns(self._config.timeouts, forwarded.refused, self._random)
        forwarded.refused += 1
        forwarded.due = Monotonic(min(now.monotonic + pause_ns, forwarded.expires))
        self._waiting.append(forwarded)

    def _refuse(self, forwarded: _Forwarded, error: ErrorCode, reason: str) -> None:
        event = forwarded.event
        self._outbox.reply(event, forwarded.finish(refusal(event.message, error, reason)))


def _max_wait_ns(message: Message, config: NodeConfig) -> int:
    """Return the time for which a client waits for a controller."""
    timeout_ns = client_timeout_ns(message)
    if timeout_ns is None:
        return config.timeouts.request_ns
    return timeout_ns - min(timeout_ns // MARGIN_FRACTION, LONGEST_MARGIN_NS)


def _bounded(message: Message, left_ns: int) -> Message:
    """Return the request with a time-out of at most the remaining time."""
    left_ms = max(1, left_ns // NANOSECONDS_PER_MS)
    match message:
        case (
            create_topics_request.CreateTopicsRequest()
            | create_partitions_request.CreatePartitionsRequest()
            | delete_topics_request.DeleteTopicsRequest()
            | elect_leaders_request.ElectLeadersRequest()
            | update_features_request.UpdateFeaturesRequest()
            | alter_partition_reassignments_request.AlterPartitionReassignmentsRequest()
            | list_partition_reassignments_request.ListPartitionReassignmentsRequest()
        ):
            return replace(message, timeout_ms=min(message.timeout_ms, left_ms))
        case _:
            return message
