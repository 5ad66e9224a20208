"""Join the cluster, stay in it and leave it as a broker (KIP-631 "Broker Leases").

The broker registers, sends heartbeats to the active controller, opens its client listeners after
recovery, and leaves by a controlled shutdown. At most one request is in flight. See
node/core/controller/brokers.py for the controller's side, and lifecycle.py for the states.

Simplifications: the storage recovers the log before the core starts, so RECOVERY lasts until the
controller unfences the broker. Without a grant within the session time-out, the broker stops
anyway, since the controller then fences the broker.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    NO_NODE,
    Instant,
    Monotonic,
    NodeId,
    Offset,
    earliest,
)
from kraftproof.node.core.broker.backoff import backoff_ns
from kraftproof.node.core.broker.lifecycle import BrokerState, Transition, after
from kraftproof.node.core.broker.registered_listeners import registered_listeners
from kraftproof.node.core.effects import Exit, OpenClientListeners
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.version import METADATA_VERSION, METADATA_VERSION_LEVEL
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.wire.errors import ErrorCode, error_name
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)

if TYPE_CHECKING:
    from random import Random

REGISTRATION_VERSION: Final = 4
HEARTBEAT_VERSION: Final = 1
HeartbeatResponse = broker_heartbeat_response.BrokerHeartbeatResponse
RegistrationResponse = broker_registration_response.BrokerRegistrationResponse


class Membership:
    """The broker's membership as seen by the active controller."""

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
        self._config = config
        self._raft = raft
        self._committed = committed
        self._outbox = outbox
        self._random = random
        self.state = after(BrokerState.NOT_RUNNING, Transition.START)
        self._epoch: Offset | None = None
        self._was_caught_up = False
        self._leader = NO_NODE
        """The last known controller, or NO_NODE."""
        self._in_flight_to: NodeId | None = None
        """The receiver of the request in flight."""
        self._attempt = 0
        self._failures = 0
        self._last_error = "no controller answered"
        self._due = now.monotonic
        self._register_by = self._later(now, config.timeouts.initial_registration_ns)
        self._stop_by: Monotonic | None = None

    @property
    def broker_epoch(self) -> int:
        """Return the epoch of the broker's registration; -1 without a registration."""
        return -1 if self._epoch is None else self._epoch

    @property
    def is_caught_up(self) -> bool:
        """Return whether the image has held the broker's own registration (631-59)."""
        return self._was_caught_up

    def deadline(self) -> Monotonic | None:
        """Return the time of the next tick."""
        if self.state is BrokerState.SHUTTING_DOWN:
            return None
        return earliest(
            self._stop_by,
            self._register_by if self._epoch is None else None,
            self._due if self._in_flight_to is None else None,
        )

    def tick(self, now: Instant) -> None:
        """Give up after a time-out, or send the next request to the controller."""
        if self.state is BrokerState.SHUTTING_DOWN:
            return
        if self._stop_by is not None and now.monotonic >= self._stop_by:
            self._finish("no controller granted the shutdown in time")
        elif self._epoch is None and now.monotonic >= self._register_by:
            self._give_up()
        elif self._in_flight_to is None and now.monotonic >= self._due:
            self._ask(now)

    def advance(self, now: Instant) -> None:
        """Follow the quorum's leader and the broker's image."""
        self._follow_leader(now)
        caught_up = self._epoch is not None and self._committed.offset > self._epoch
        if self.state is BrokerState.STARTING and caught_up:
            self.state = after(self.state, Transition.CATCH_UP)
            self._was_caught_up = True
            self._outbox.emit(OpenClientListeners())
            self._due = now.monotonic

    def _follow_leader(self, now: Instant) -> None:
        """Turn to a new controller at once if the old controller has not answered or has failed."""
        if self._raft.leader == self._leader:
            return
        self._leader = self._raft.leader
        if self._leader == NO_NODE or (self._in_flight_to is None and not self._failures):
            return
        if self._in_flight_to != self._leader:
            # A replaced controller may take long to answer.
            self._in_flight_to = None
            self._failures = 0
            self._due = now.monotonic

    def stop(self, now: Instant) -> None:
        """Begin the controlled shutdown; a second call has no effect."""
        if self.state in {BrokerState.PENDING_CONTROLLED_SHUTDOWN, BrokerState.SHUTTING_DOWN}:
            return
        self.state = after(self.state, Transition.STOP)
        self._stop_by = self._later(now, self._config.timeouts.session_ns)
        self._due = now.monotonic
        if self._epoch is None:
            self._finish("the broker was not registered")

    def _ask(self, now: Instant) -> None:
        leader = self._raft.leader
        if leader == NO_NODE:
            self._retry(now, "no controller is known")
        elif self._epoch is None:
            self._send(
                leader, self._registration(), REGISTRATION_VERSION, self._registration_answered
            )
        else:
            heartbeat = self._heartbeat(self._epoch)
            self._due = self._later(now, self._interval_ns())
            self._send(leader, heartbeat, HEARTBEAT_VERSION, self._heartbeat_answered)

    def _interval_ns(self) -> int:
        timeouts = self._config.timeouts
        if self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN:
            return timeouts.retry_backoff_ns
        return timeouts.heartbeat_interval_ns

    def _send(
        self,
        leader: NodeId,
        message: Message,
        version: int,
        on_answer: Callable[[Message, Instant], None],
    ) -> None:
        self._in_flight_to = leader
        self._attempt += 1
        attempt = self._attempt

        def continuation(answer: Message | None, now: Instant) -> None:
            if attempt != self._attempt or self._in_flight_to is None:
                return  # given up, or superseded by a later attempt
            self._in_flight_to = None
            if self.state is BrokerState.SHUTTING_DOWN:
                return
            if answer is None:
                self._retry(now, f"controller {leader} did not answer")
            else:
                on_answer(answer, now)

        timeout_ns = self._config.timeouts.request_ns
        self._outbox.send(leader, message, version, timeout_ns, continuation)

    def _registration(self) -> Message:
        config = self._config
        return broker_registration_request.BrokerRegistrationRequest(
            broker_id=config.node_id,
            cluster_id=config.cluster_id,
            incarnation_id=config.incarnation,
            listeners=registered_listeners(config),
            features=(
                broker_registration_request.Feature(
                    name=METADATA_VERSION,
                    min_supported_version=METADATA_VERSION_LEVEL,
                    max_supported_version=METADATA_VERSION_LEVEL,
                ),
            ),
            rack=config.rack,
            log_dirs=config.log_dirs,
            previous_broker_epoch=config.previous_broker_epoch,
        )

    def _heartbeat(self, epoch: Offset) -> Message:
        return broker_heartbeat_request.BrokerHeartbeatRequest(
            broker_id=self._config.node_id,
            broker_epoch=epoch,
            current_metadata_offset=self._committed.offset - 1,
            want_fence=self.state is BrokerState.STARTING,
            want_shut_down=self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN,
        )

    def _registration_answered(self, answer: Message, now: Instant) -> None:
        assert isinstance(answer, RegistrationResponse)
        if answer.error_code != ErrorCode.NONE:
            reason = f"the controller answered {error_name(answer.error_code)}"
            if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
                reason += self._unsupported()
            self._retry(now, reason)
            return
        self._failures = 0
        self._epoch = Offset(answer.broker_epoch)
        self._due = now.monotonic

    def _unsupported(self) -> str:
        """Return a phrase about the cluster's features that the node does not support."""
        lacking = [
            f"{name} {level}"
            for name, level in sorted(self._committed.image.features.items())
            if (name, level) != (METADATA_VERSION, METADATA_VERSION_LEVEL)
        ]
        if not lacking:
            return ""
        ours = f"{METADATA_VERSION} {METADATA_VERSION_LEVEL}"
        return f": the cluster has {', '.join(lacking)}, and this node supports {ours} alone"

    def _heartbeat_answered(self, answer: Message, now: Instant) -> None:
        assert isinstance(answer, HeartbeatResponse)
        if answer.error_code == ErrorCode.STALE_BROKER_EPOCH:
            self._on_stale_epoch(now)
        elif answer.error_code != ErrorCode.NONE:
            self._retry(now, f"the controller answered {error_name(answer.error_code)}")
        else:
            self._failures = 0
            self._follow_heartbeat_answer(answer)

    def _follow_heartbeat_answer(self, answer: HeartbeatResponse) -> None:
        if self.state is BrokerState.RECOVERY and not answer.is_fenced:
            self.state = after(self.state, Transition.UNFENCE)
        elif self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN and answer.should_shut_down:
            self._finish("the controlled shutdown has finished")

    def _on_stale_epoch(self, now: Instant) -> None:
        """Register again after the registration is gone.

        A live successor prevents the registration.
        """
        if self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN:
            self._finish("the broker was not registered any more")
            return
        self._epoch = None
        self._register_by = self._later(now, self._config.timeouts.initial_registration_ns)
        self._retry(now, "the broker's epoch had become stale")

    def _retry(self, now: Instant, reason: str) -> None:
        self._last_error = reason
        self._due = self._later(
            now, backoff_ns(self._config.timeouts, self._failures, self._random)
        )
        self._failures += 1

    def _give_up(self) -> None:
        waited_ms = self._config.timeouts.initial_registration_ns // NANOSECONDS_PER_MS
        self.state = after(after(self.state, Transition.STOP), Transition.FINISH)
        reason = (
            f"broker {self._config.node_id} was not registered within {waited_ms} ms "
            f"(initial.broker.registration.timeout.ms): {self._last_error}"
        )
        self._outbox.emit(Exit(status=1, reason=reason))

    def _finish(self, reason: str) -> None:
        self.state = after(self.state, Transition.FINISH)
        self._outbox.emit(Exit(status=0, reason=reason))

    @staticmethod
    def _later(now: Instant, by_ns: int) -> Monotonic:
        return Monotonic(now.monotonic + by_ns)
