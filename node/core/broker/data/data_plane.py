"""Compose the data plane of a broker: replicas, requests about partitions, and periodic work.

After each event, `settle` raises high watermarks, tries the waiting operations of the changed logs,
and sends proposals and Fetches.
"""

from collections.abc import Callable, Sequence

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, earliest
from kraftproof.node.core.broker.auto_creation import AutoCreator
from kraftproof.node.core.broker.data.alter_partition import AlterPartitionSender
from kraftproof.node.core.broker.data.coordinators import Coordinators
from kraftproof.node.core.broker.data.delete_records import DeleteRecordsService
from kraftproof.node.core.broker.data.describe_producers import ProducersService
from kraftproof.node.core.broker.data.directory_assignments import DirectoryAssignments
from kraftproof.node.core.broker.data.fetch import FetchService
from kraftproof.node.core.broker.data.group_requests import describe_offsets, refuse_heartbeat
from kraftproof.node.core.broker.data.list_offsets import ListOffsetsService
from kraftproof.node.core.broker.data.log_dirs import LogDirsService
from kraftproof.node.core.broker.data.produce import ProduceService
from kraftproof.node.core.broker.data.producer_ids import ProducerIds
from kraftproof.node.core.broker.data.retention import Housekeeping
from kraftproof.node.core.events import BatchesRead, Flushed, Received, TimestampFound
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.quotas import CONSUMER_RATE, PRODUCER_RATE
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.purgatory import Purgatory
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.core.quotas.client_rates import ClientRates
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.messages import (
    Message,
    consumer_group_heartbeat_request,
    delete_records_request,
    describe_log_dirs_request,
    describe_producers_request,
    fetch_request,
    find_coordinator_request,
    init_producer_id_request,
    list_offsets_request,
    offset_fetch_request,
    offset_for_leader_epoch_request,
    produce_request,
)
from kraftproof.node.wire.types import Uuid


class DataPlane:
    """The replicas of a broker and the requests about them."""

    def __init__(
        self,
        config: NodeConfig,
        committed: CommittedImage,
        outbox: Outbox,
        recovered: Sequence[RecoveredLog],
        *,
        controller: Callable[[], NodeId],
        broker_epoch: Callable[[], int],
        now: Instant,
        authorizer: Authorizer | None = None,
        creator: AutoCreator | None = None,
    ) -> None:
        policy = config.replication
        self._policy = policy
        self._committed = committed
        self._outbox = outbox
        self._broker_epoch = broker_epoch
        self.replicas = Replicas(config, outbox, recovered, broker_epoch=broker_epoch)
        self._authorizer = authorizer
        self._coordinators = Coordinators(config, committed, authorizer, creator)
        self._purgatory = Purgatory()
        shared = (self.replicas, self._purgatory, committed, outbox)
        produced = ClientRates(PRODUCER_RATE, config.byte_quotas, committed)
        consumed = ClientRates(CONSUMER_RATE, config.byte_quotas, committed)
        self._produce = ProduceService(*shared, config.client_listener, produced, authorizer)
        self._fetch = FetchService(*shared, config.client_listener, consumed, authorizer)
        self._deletions = DeleteRecordsService(*shared, authorizer)
        self._list_offsets = ListOffsetsService(self.replicas, committed, outbox, authorizer)
        self._housekeeping = Housekeeping(self.replicas, policy, outbox, now)
        node_id, timeout_ns = config.node_id, config.timeouts.request_ns
        self._proposals = AlterPartitionSender(
            node_id,
            self.replicas,
            outbox,
            leader=controller,
            broker_epoch=broker_epoch,
            timeout_ns=timeout_ns,
        )
        self._assignments = DirectoryAssignments(
            node_id,
            self.replicas,
            outbox,
            leader=controller,
            broker_epoch=broker_epoch,
            timeout_ns=timeout_ns,
        )
        self._log_dirs = LogDirsService(config, self.replicas, outbox)
        self._producers = ProducersService(self.replicas, committed, authorizer)
        self._producer_ids = ProducerIds(
            node_id,
            outbox,
            leader=controller,
            broker_epoch=broker_epoch,
            timeout_ns=timeout_ns,
            authorizer=authorizer,
        )
        self._next_lag_check = Monotonic(now.monotonic + policy.lag_ns // 2)

    def receive(self, event: Received, now: Instant) -> None:
        """Serve a request about partitions."""
        match event.message:
            case produce_request.ProduceRequest() as request:
                self._produce.receive(event, request, now)
            case fetch_request.FetchRequest() as request:
                self._fetch.receive(event, request, now)
            case list_offsets_request.ListOffsetsRequest() as request:
                self._list_offsets.receive(event, request)
            case delete_records_request.DeleteRecordsRequest() as request:
                self._deletions.receive(event, request, now)
            case describe_log_dirs_request.DescribeLogDirsRequest() as request:
                self._log_dirs.receive(event, request)
            case init_producer_id_request.InitProducerIdRequest() as request:
                self._producer_ids.receive(event, request, now)
            case _:
                self._outbox.reply(event, self._answer(event))

    def _answer(self, event: Received) -> Message:
        """Return the answer to a request that never waits."""
        match event.message:
            case offset_for_leader_epoch_request.OffsetForLeaderEpochRequest() as request:
                return self._list_offsets.epoch_ends(event, request)
            case describe_producers_request.DescribeProducersRequest() as request:
                return self._producers.describe(event, request)
            case consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest() as request:
                return refuse_heartbeat(event, request, self._authorizer)
            case offset_fetch_request.OffsetFetchRequest() as request:
                return describe_offsets(self._committed.image, event, request, self._authorizer)
            case find_coordinator_request.FindCoordinatorRequest() as request:
                return self._coordinators.find(event, request)
            case message:
                raise AssertionError(f"the data plane does not serve {type(message).__name__}")

    def flushed(self, event: Flushed) -> None:
        """Take the end of an fsync of a partition's log."""
        self.replicas.flushed(event)

    def directory_failed(self, directory: Uuid) -> None:
        """Take the partitions of a failed log directory offline."""
        self.replicas.fail(directory)

    def timestamp_found(self, event: TimestampFound) -> None:
        """Take the result of a search."""
        self._list_offsets.found(event)

    def batches_read(self, event: BatchesRead, now: Instant) -> None:
        """Count the rest of an answer's bytes for the quota of its consumer."""
        self._fetch.batches_read(event, now)

    def advance(self, now: Instant, *, follows_image: bool) -> None:
        """Follow the image, and let every waiting part go on."""
        if not self._policy.is_enabled:
            return
        if follows_image:
            self.replicas.follow(self._committed.image, self._committed.changed_topics, now)
        self._try_waiting(now)
        self._proposals.settle(now)
        self._assignments.settle(self.replicas.image, now)
        self.replicas.settle(now)

    def tick(self, now: Instant) -> None:
        """Act on deadlines."""
        self._purgatory.tick(now)
        self._producer_ids.tick(now)
        self._housekeeping.tick(now)
        if now.monotonic >= self._next_lag_check:
            self._next_lag_check = Monotonic(now.monotonic + self._policy.lag_ns // 2)
            for replica in self.replicas.led():
                if replica.leader is not None:
                    replica.leader.shrink_lagging(now.monotonic)
                    self.replicas.note_change(replica.log)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next tick."""
        if not self._policy.is_enabled:  # without replicas, nothing waits for one
            return self._producer_ids.deadline()
        return earliest(
            self._purgatory.deadline(),
            self._producer_ids.deadline(),
            self._housekeeping.deadline(),
            self._proposals.deadline(),
            self._assignments.deadline(),
            self.replicas.deadline(),
            self._next_lag_check if self.replicas.by_log else None,
        )

    def stop(self) -> None:
        """Write the checkpoints at the end of a controlled shutdown."""
        self._housekeeping.write_checkpoints()

    def _try_waiting(self, now: Instant) -> None:
        """Raise the high watermarks, and try the operations of the changed logs."""
        logs = self.replicas.take_changes()
        if not logs:
            return
        for log in logs:
            replica = self.replicas.by_log.get(log)
            if replica is not None:
                replica.advance_high_watermark(now)
        self._purgatory.check(logs, now)
        for log in logs:
            self._proposals.note(log)
