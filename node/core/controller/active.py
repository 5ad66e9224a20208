"""The active controller: decisions on the newest image, answers when that has committed.

It holds the image after each batch that it wrote, committed or not, and computes each request
on the newest. Nobody sees what it saw before that is committed: a request that wrote records is
answered when they commit, any other when the read barrier lets it (KIP-631 "Persistence"). Not:
whether this node is the active controller (controller.py).
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from node.core.config import NodeConfig
from node.core.controller.barrier import Answer, ReadBarrier
from node.core.controller.brokers import (
    METADATA_VERSION,
    METADATA_VERSION_LEVEL,
    heartbeat,
    register,
    shutdown_granted,
    unregister,
)
from node.core.controller.fencing import fence
from node.core.controller.outcome import Outcome
from node.core.controller.refusals import not_controller, refusal
from node.core.controller.sessions import Sessions
from node.core.controller.topics import create_topics, delete_topics
from node.core.events import Received
from node.core.metadata.apply import apply_all
from node.core.metadata.committed import CommittedImage
from node.core.outbox import Outbox
from node.core.raft.raft import Raft
from node.core.types import Instant, Monotonic, NodeId, Offset, earliest, milliseconds
from node.wire.errors import ErrorCode
from node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_registration_request,
    create_topics_request,
    delete_topics_request,
    unregister_broker_request,
)
from node.wire.messages import metadata as records
from node.wire.messages.batch import Record

if TYPE_CHECKING:
    from random import Random


class Pending(Struct, frozen=True, kw_only=True):
    """An answer that is shown once the record at `offset` has committed."""

    offset: Offset
    event: Received
    reply: Message
    expires: Monotonic | None = None
    """When the client gives up; None if it has not said."""
    wrote: bool
    """Whether the record is the request's own; if it is lost, so is the request's fate."""


class ActiveController:
    """One epoch of this node at the cluster's head."""

    def __init__(
        self,
        config: NodeConfig,
        raft: Raft,
        committed: CommittedImage,
        outbox: Outbox,
        *,
        random: "Random",
        now: Instant,
    ) -> None:
        assert committed.offset == raft.log.end_offset, "a new leader's log has all committed"
        self._config = config
        self._raft = raft
        self._committed = committed
        self._outbox = outbox
        self._random = random
        self._image = committed.newest
        self._pending: deque[Pending] = deque()
        self._barrier = ReadBarrier()
        self._sessions = Sessions(config.timeouts.session_ns)
        self._sessions.lease(
            [
                broker.broker_id
                for broker in self._image.sorted_brokers()
                if not shutdown_granted(broker)
            ],
            now,
        )
        if committed.has_open_transaction:
            # Its leader is gone, and nobody else knows what was to follow (KIP-868).
            self._write((records.AbortTransactionRecord(reason="Controller failover"),), now)
        if METADATA_VERSION not in self._image.features:
            level = records.FeatureLevelRecord(
                name=METADATA_VERSION, feature_level=METADATA_VERSION_LEVEL
            )
            self._write((level,), now)

    def receive(self, event: Received, now: Instant) -> None:
        """Decide a request now, and answer it when that is safe."""
        outcome = DECISIONS[type(event.message)].decide(self, event.message, now)
        if outcome.contact is not None:
            self._sessions.lease([outcome.contact], now)
        if outcome.records:
            offset = self._write(outcome.records, now)
            self._pending.append(
                Pending(
                    offset=offset,
                    event=event,
                    reply=outcome.reply,
                    expires=client_deadline(event.message, now),
                    wrote=True,
                )
            )
        else:
            self._barrier.wait(Answer(event, outcome.reply))
            self._raise_barrier(now)

    def advance(self, now: Instant) -> None:
        """Answer all whose records have committed."""
        high_watermark = self._raft.high_watermark
        while self._pending and self._pending[0].offset < high_watermark:
            pending = self._pending.popleft()
            self._outbox.reply(pending.event, pending.reply)
        self._barrier.committed(high_watermark)
        self._raise_barrier(now)

    def tick(self, now: Instant) -> None:
        """Answer who can wait no more; fence the brokers whose lease has run out, in one batch."""
        self._expire(now)
        image = self._image
        written: tuple[Record, ...] = ()
        for broker_id in self._sessions.expire(now):
            broker = image.brokers.get(broker_id)
            if broker is None or broker.fenced:
                continue
            # On the image that the one before has left: two brokers of one partition may go.
            fencing = fence(image, broker)
            image = apply_all(image, fencing)
            written += fencing
        if written:
            self._write(written, now)

    def deadline(self) -> Monotonic | None:
        """When the next lease or the next client's time runs out."""
        return earliest(self._sessions.deadline(), *(entry.expires for entry in self._pending))

    def _expire(self, now: Instant) -> None:
        """Tell clients whose time is up that the fate of their request is unknown."""
        expired = [
            pending
            for pending in self._pending
            if pending.expires is not None and pending.expires <= now.monotonic
        ]
        for pending in expired:
            self._pending.remove(pending)
            reason = "the change was not known to have committed within the request's time"
            reply = refusal(pending.event.message, ErrorCode.REQUEST_TIMED_OUT, reason)
            self._outbox.reply(pending.event, reply)

    def resign(self) -> None:
        """Answer all who wait; what was written may yet commit, under another leader (631-13)."""
        for pending in self._pending:
            reply = not_controller(pending.event)
            if pending.wrote:
                reason = "leadership was lost before the change was known to have committed"
                reply = refusal(pending.event.message, ErrorCode.REQUEST_TIMED_OUT, reason)
            self._outbox.reply(pending.event, reply)
        for answer in self._barrier.take():
            self._outbox.reply(answer.event, not_controller(answer.event))
        self._committed.withdraw()

    def decide_heartbeat(
        self, message: broker_heartbeat_request.BrokerHeartbeatRequest, _: Instant
    ) -> Outcome:
        """Renew a broker's lease."""
        return heartbeat(self._image, message)

    def decide_register(
        self, message: broker_registration_request.BrokerRegistrationRequest, now: Instant
    ) -> Outcome:
        """Register a broker."""
        return register(
            self._image,
            message,
            cluster_id=self._config.cluster_id,
            next_offset=self._raft.log.end_offset,
            is_live=self._sessions.is_live(NodeId(message.broker_id), now),
        )

    def decide_unregister(
        self, message: unregister_broker_request.UnregisterBrokerRequest, _: Instant
    ) -> Outcome:
        """Remove a registration."""
        return unregister(self._image, message)

    def decide_create_topics(
        self, message: create_topics_request.CreateTopicsRequest, _: Instant
    ) -> Outcome:
        """Create topics."""
        return create_topics(self._image, message, self._config, self._random)

    def decide_delete_topics(
        self, message: delete_topics_request.DeleteTopicsRequest, _: Instant
    ) -> Outcome:
        """Delete topics."""
        return delete_topics(self._image, message)

    def _write(self, written: tuple[Record, ...], now: Instant) -> Offset:
        """Append a batch; it also covers the answers that waited for any record."""
        offset = self._raft.propose(written, now)
        self._image = self._committed.after(self._image, self._raft.log.last)
        self._committed.offer(Offset(offset + 1), self._raft.epoch, self._image)
        for answer in self._barrier.take():
            self._pending.append(
                Pending(offset=offset, event=answer.event, reply=answer.reply, wrote=False)
            )
        return offset

    def _raise_barrier(self, now: Instant) -> None:
        if self._barrier.needs_record():
            self._barrier.raised(self._write((records.NoOpRecord(),), now))


def client_deadline(message: Message, now: Instant) -> Monotonic | None:
    """Return until when a request's client waits, if it says so."""
    match message:
        case (
            create_topics_request.CreateTopicsRequest(timeout_ms=timeout_ms)
            | delete_topics_request.DeleteTopicsRequest(timeout_ms=timeout_ms)
        ) if timeout_ms > 0:
            return Monotonic(now.monotonic + milliseconds(timeout_ms))
        case _:
            return None


class Decision(Struct, frozen=True, kw_only=True):
    """One request that the active controller serves."""

    decide: Callable[[ActiveController, Any, Instant], Outcome]
    """Takes the request type that the entry is filed under: which a dict's type can't say."""
    is_forwarded: bool
    """Whether it is a client's, which brokers pass on in an Envelope; or else a broker's own."""


DECISIONS: Final[Mapping[type[Message], Decision]] = {
    broker_heartbeat_request.BrokerHeartbeatRequest: Decision(
        decide=ActiveController.decide_heartbeat, is_forwarded=False
    ),
    broker_registration_request.BrokerRegistrationRequest: Decision(
        decide=ActiveController.decide_register, is_forwarded=False
    ),
    create_topics_request.CreateTopicsRequest: Decision(
        decide=ActiveController.decide_create_topics, is_forwarded=True
    ),
    delete_topics_request.DeleteTopicsRequest: Decision(
        decide=ActiveController.decide_delete_topics, is_forwarded=True
    ),
    unregister_broker_request.UnregisterBrokerRequest: Decision(
        decide=ActiveController.decide_unregister, is_forwarded=True
    ),
}
"""All that the active controller decides. What it advertises, what a broker forwards and what an
Envelope may hold are made from this (node/core/served.py)."""
