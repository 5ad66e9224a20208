"""Compose the parts of a node into one step and one deadline.

`step(event, now)` passes the event to its part, applies the committed records, lets the controller
and the broker follow, and sends the quorum's messages. The effects are in the order in which the
shell must execute them (effects.py). The parts make every decision.
"""

from collections.abc import Sequence
from random import Random

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import AT_ONCE, Instant, Monotonic, earliest
from kraftproof.node.core.broker.broker import Broker
from kraftproof.node.core.broker.controller_versions import Versions
from kraftproof.node.core.controller.controller import Controller
from kraftproof.node.core.effects import Effect, EndRequest, Exit, Publish
from kraftproof.node.core.events import (
    Answered,
    BatchesRead,
    DirectoryFailed,
    DiskEvent,
    Event,
    Flushed,
    Received,
    RefusedEnvelope,
    SnapshotChecked,
    SnapshotWritten,
    Stop,
    Tick,
    TimestampFound,
    Unanswered,
)
from kraftproof.node.core.gate import HangUp, refused_at_once
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.committed import Apply, CommittedImage
from kraftproof.node.core.metadata.snapshot import NO_HISTORY, History
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.own_answers import own_answer
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.served import QUORUM
from kraftproof.node.core.snapshots import Snapshots
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.records.batch import Batch


class Node:
    """A controller, a broker or both (631-02), created from the recovered state."""

    def __init__(
        self,
        config: NodeConfig,
        durable: QuorumState,
        batches: Sequence[Batch],
        random: Random,
        now: Instant,
        *,
        history: History = NO_HISTORY,
        apply: Apply = apply_batch,
        partitions: Sequence[RecoveredLog] = (),
    ) -> None:
        self._config = config
        self._outbox = Outbox()
        self._committed = CommittedImage(apply)
        if history.newest is not None:
            self._committed.load(history.newest)
        log = Log(batches, history.log_start)
        self._raft = Raft(config, durable, log, self._outbox, random, now, history.kept)
        self._raft.remember_committed(history.high_watermark)
        shared = (config, self._raft, self._committed, self._outbox, random)
        policy, following = config.authorizer, (self._committed, self._outbox)
        self._authorizer = None if policy is None else Authorizer(policy, *following)
        self._controller: Controller | None = None
        self._broker: Broker | None = None
        if config.is_controller:
            self._controller = Controller(*shared, authorizer=self._authorizer)
        if config.is_broker:
            self._broker = Broker(*shared, now, recovered=partitions, authorizer=self._authorizer)
        self._snapshots = Snapshots(
            config.snapshots, self._raft, self._committed, self._outbox, now
        )
        self._pending_exit: Exit | None = None
        """A successful Exit, held back until the quorum is informed."""
        self._is_over = False

    def start(self, now: Instant) -> list[Effect]:
        """Start the node; called once, before the first step."""
        self._raft.start(now)
        if self._committed.offset:
            self._publish()
        return self._finish_step(now)

    def step(self, event: Event, now: Instant) -> list[Effect]:
        """Handle an event and return the effects; after Exit the node ignores events."""
        if self._is_over:
            return []
        self._raft.check_leadership(now)
        match event:
            case Received():
                self._receive(event, now)
            case Answered():
                self._outbox.resume(event.correlation, event.message, now)
            case Flushed():
                self._end_disk_work(event, now)
            case Tick():
                self._tick(now)
            case Unanswered():
                self._outbox.resume(event.correlation, None, now)
            case SnapshotChecked():
                self._take_snapshot(event, now)
            case Stop():
                self._stop(now)
            case _:
                self._end_disk_work(event, now)
        return self._finish_step(now)

    def deadline(self) -> Monotonic | None:
        """Return the latest time of the next Tick; None if no part waits for a time."""
        if self._is_over:
            return None
        if self._committed.is_behind:
            return AT_ONCE
        return earliest(
            self._raft.deadline(),
            self._snapshots.deadline(),
            None if self._controller is None else self._controller.deadline(),
            None if self._broker is None else self._broker.deadline(),
        )

    def status(self) -> NodeStatus:
        """Return the node's status after a step."""
        committed, broker = self._committed, self._broker
        broker_state = None if broker is None else broker.state
        return self._raft.status(committed.offset, committed.image.digest, broker_state)

    def _end_disk_work(self, event: DiskEvent, now: Instant) -> None:
        match event:
            case Flushed(log=log) if log == METADATA_LOG:
                self._raft.flushed_event(event)
            case SnapshotWritten():
                self._snapshots.written(event, now)
            case Flushed() | TimestampFound() | BatchesRead() | DirectoryFailed() if (
                self._broker is not None
            ):
                self._broker.disk_work_ended(event, now)
            case _:
                pass  # a controller has no partitions; ProducersRead is the storage's own

    @property
    def client_versions(self) -> Versions:
        """Return the API versions that the broker advertises to clients."""
        assert self._broker is not None, "only brokers have client listeners"
        return self._broker.versions

    @property
    def broker_epoch(self) -> int:
        """Return the epoch of the broker's registration; -1 without a registration."""
        return -1 if self._broker is None else self._broker.broker_epoch

    def _tick(self, now: Instant) -> None:
        self._raft.tick(now)
        if self._controller is not None:
            self._controller.tick(now)
        if self._broker is not None:
            self._broker.tick(now)

    def _receive(self, event: Received, now: Instant) -> None:
        """Route a request by listener, then by message (631-03)."""
        if self._authorizer is not None or type(event.message) is RefusedEnvelope:
            refused = refused_at_once(self._authorizer, event)
            if isinstance(refused, HangUp):
                self._outbox.emit(EndRequest(request=event.request, closes_connection=True))
                return
            if refused is not None:
                self._outbox.reply(event, refused)
                return
        if not event.on_controller_listener:
            assert self._broker is not None, "only brokers have client listeners"
            self._broker.receive(event, now)
        elif isinstance(event.message, QUORUM):
            self._raft.receive(event, now)
        else:
            self._receive_as_controller(event, now)

    def _receive_as_controller(self, event: Received, now: Instant) -> None:
        assert self._controller is not None, "only controllers have controller listeners"
        leader = self._raft.leader
        answer = own_answer(event, self._config, self._committed, leader, self._authorizer)
        if answer is None:
            self._controller.receive(event, now)
        else:
            self._outbox.reply(event, answer)

    def _take_snapshot(self, event: SnapshotChecked, now: Instant) -> None:
        """Replace the image by the leader's snapshot, if the quorum accepts the snapshot."""
        if self._raft.snapshot_checked(event, now) and event.loaded is not None:
            self._committed.load(event.loaded)
            self._snapshots.installed(now)
            self._publish()

    def _stop(self, now: Instant) -> None:
        """Begin the shutdown; a broker first asks the controller, a controller just leaves."""
        if self._broker is not None:
            self._broker.stop(now)
        elif self._pending_exit is None:
            self._schedule_exit(Exit(status=0, reason="stopped"), now)

    def _schedule_exit(self, pending_exit: Exit, now: Instant) -> None:
        self._pending_exit = pending_exit
        self._raft.stop(now)

    def _finish_step(self, now: Instant) -> list[Effect]:
        """Let every part follow the event, and return the effects of the step."""
        self._raft.settle(now)
        if not self._apply_committed():
            return self._finish(self._outbox.drain())
        settled = len(self._outbox.effects)
        if self._controller is not None:
            self._controller.advance(now)
        if self._broker is not None:
            self._broker.advance(now)
        self._snapshots.advance(now)
        if len(self._outbox.effects) != settled:
            self._raft.settle(now)
        if not self._outbox.has_exit and self._pending_exit is None:
            return self._outbox.drain()
        effects = self._hold_back_exit(self._outbox.drain(), now)
        if self._pending_exit is not None and self._raft.has_stopped(now):
            effects.append(self._pending_exit)
        return self._finish(effects)

    def _apply_committed(self) -> bool:
        """Apply records up to the high watermark.

        Return False if a committed record can't be applied.
        """
        high_watermark = self._raft.high_watermark
        if high_watermark == self._committed.offset and not self._committed.is_behind:
            return True
        try:
            moved = self._committed.advance(self._raft.log, high_watermark)
        except ApplyError as error:
            self._outbox.emit(Exit(status=1, reason=str(error)))
            return False
        if moved:
            self._publish()
        return True

    def _publish(self) -> None:
        self._outbox.emit(Publish(offset=self._committed.offset, image=self._committed.image))

    def _hold_back_exit(self, effects: list[Effect], now: Instant) -> list[Effect]:
        """Hold back a broker's successful Exit until the node has left the quorum, too."""
        kept: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Exit) and effect.status == 0:
                self._schedule_exit(effect, now)
            else:
                kept.append(effect)
        if self._pending_exit is not None:
            self._raft.settle(now)
            kept.extend(self._outbox.drain())
        return kept

    def _finish(self, effects: list[Effect]) -> list[Effect]:
        """Remove the effects after an Exit, the last effect of a node."""
        for index, effect in enumerate(effects):
            if isinstance(effect, Exit):
                self._is_over = True
                return effects[: index + 1]
        return effects
