"""Compose the broker part of a node: membership, own answers, forwarding, and the data plane."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId, earliest
from kraftproof.node.core.broker import answers
from kraftproof.node.core.broker.auto_creation import AutoCreator
from kraftproof.node.core.broker.config_changes import CHANGES, ConfigChange, split
from kraftproof.node.core.broker.configs import ConfigAnswers
from kraftproof.node.core.broker.controller_versions import ControllerVersions, Versions
from kraftproof.node.core.broker.data.data_plane import DataPlane
from kraftproof.node.core.broker.forwarding import Forwarder
from kraftproof.node.core.broker.lifecycle import BrokerState
from kraftproof.node.core.broker.membership import Membership
from kraftproof.node.core.broker.metadata import (
    MetadataAnswers,
    denied_creations,
    missing_names,
    with_denials,
)
from kraftproof.node.core.broker.operations import cluster_operations
from kraftproof.node.core.broker.quota_answers import describe_client_quotas
from kraftproof.node.core.broker.resource_list import list_config_resources
from kraftproof.node.core.broker.security.answers import (
    SECURITY_REQUESTS,
    TOKEN_CHANGES,
    refuse_token_change,
    security_answer,
)
from kraftproof.node.core.broker.topic_pages import describe_topic_partitions
from kraftproof.node.core.controller.refusals import not_controller
from kraftproof.node.core.effects import Exit
from kraftproof.node.core.events import (
    BatchesRead,
    DirectoryFailed,
    Flushed,
    Received,
    TimestampFound,
)
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.requests import DATA_REQUESTS
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.describe import describe_acls
from kraftproof.node.core.served import FORWARDED
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    broker_heartbeat_request,
    broker_registration_request,
    describe_acls_request,
    describe_client_quotas_request,
    describe_cluster_request,
    describe_configs_request,
    describe_topic_partitions_request,
    list_config_resources_request,
    metadata_request,
    metadata_response,
)

if TYPE_CHECKING:
    from random import Random


class Broker:
    """The broker part of a node, which serves clients."""

    def __init__(
        self,
        config: NodeConfig,
        raft: Raft,
        committed: CommittedImage,
        outbox: Outbox,
        random: "Random",
        now: Instant,
        *,
        recovered: Sequence[RecoveredLog] = (),
        authorizer: Authorizer | None = None,
    ) -> None:
        self._config = config
        self._raft = raft
        self._committed = committed
        self._outbox = outbox
        self._authorizer = authorizer
        self._membership = Membership(config, raft, committed, outbox, random=random, now=now)
        self._forwarder = Forwarder(config, raft, outbox, random)
        self._versions = ControllerVersions(config, raft, outbox, random)
        self._metadata = MetadataAnswers(config)
        self._creator = AutoCreator(config, outbox, lambda: raft.leader)
        self._leadership: tuple[NodeId, Epoch] | None = None
        """The leader and the epoch of the quorum that the broker has followed."""
        self._configs = ConfigAnswers(config.node_id, dict(config.static_configs))
        self._data = DataPlane(
            config,
            committed,
            outbox,
            recovered,
            controller=lambda: raft.leader,
            broker_epoch=lambda: self._membership.broker_epoch,
            now=now,
            authorizer=authorizer,
            creator=self._creator,
        )

    @property
    def state(self) -> BrokerState:
        """Return the broker's state (631-59)."""
        return self._membership.state

    def receive(self, event: Received, now: Instant) -> None:
        """Answer a client's request, or forward the request to the active controller."""
        if isinstance(event.message, CHANGES):
            self._change_configs(event, event.message, now)
        elif isinstance(event.message, TOKEN_CHANGES):
            self._change_token(event, now)
        elif isinstance(event.message, FORWARDED):
            self._forwarder.receive(event, now)
        elif isinstance(event.message, DATA_REQUESTS):
            self._data.receive(event, now)
        elif isinstance(event.message, SECURITY_REQUESTS):
            answer = security_answer(
                self._committed.image, event, self._config.tokens, self._authorizer
            )
            self._outbox.reply(event, answer)
        else:
            self._outbox.reply(event, self._answer(event))

    def advance(self, now: Instant) -> None:
        """Follow the quorum and the committed image."""
        self._membership.advance(now)
        leadership = (self._raft.leader, self._raft.epoch)
        if leadership != self._leadership:
            self._leadership = leadership
            self._forwarder.advance(now)
            self._versions.advance()
        self._data.advance(now, follows_image=self._membership.is_caught_up)
        if self.state is BrokerState.SHUTTING_DOWN:
            self._data.stop()

    def tick(self, now: Instant) -> None:
        """Act on deadlines."""
        self._membership.tick(now)
        self._forwarder.tick(now)
        self._versions.tick(now)
        self._data.tick(now)

    @property
    def versions(self) -> Versions:
        """Return the API versions that the broker advertises at present."""
        return self._versions.advertised

    @property
    def broker_epoch(self) -> int:
        """Return the epoch of the registration; -1 without a registration."""
        return self._membership.broker_epoch

    def deadline(self) -> Monotonic | None:
        """Return the time of the next tick."""
        return earliest(
            self._membership.deadline(),
            self._forwarder.deadline(),
            self._versions.deadline(),
            self._data.deadline(),
        )

    def disk_work_ended(
        self, event: Flushed | TimestampFound | BatchesRead | DirectoryFailed, now: Instant
    ) -> None:
        """Take the end of a flush of a partition's log, of a search, or of a directory."""
        match event:
            case Flushed():
                self._data.flushed(event)
            case TimestampFound():
                self._data.timestamp_found(event)
            case BatchesRead():
                self._data.batches_read(event, now)
            case DirectoryFailed():
                self._directory_failed(event, now)

    def _directory_failed(self, event: DirectoryFailed, now: Instant) -> None:
        """Go on without a failed log directory; end without any directory (KIP-112)."""
        self._data.directory_failed(event.directory)
        self._membership.directory_failed(event.directory, now)
        if not self._data.replicas.directories.online:
            reason = f"every log directory has failed, the last one now: {event.reason}"
            self._outbox.emit(Exit(status=1, reason=reason))

    def stop(self, now: Instant) -> None:
        """Begin a controlled shutdown, which ends in Exit."""
        self._membership.stop(now)

    def _change_configs(self, event: Received, request: ConfigChange, now: Instant) -> None:
        """Judge the configurations of this broker, and forward the others (KIP-412)."""
        parts = split(request, self._config.node_id)
        if parts.forwarded is None:
            self._outbox.reply(event, parts.merge(None))
        else:
            self._forwarder.receive(replace(event, message=parts.forwarded), now, parts.merge)

    def _create_missing(
        self,
        event: Received,
        request: metadata_request.MetadataRequest,
        answer: metadata_response.MetadataResponse,
    ) -> Message:
        """Create the missing topics of a Metadata request; the client asks again (590-15)."""
        if not (self._creator.is_enabled and request.allow_auto_topic_creation):
            return answer
        missing = missing_names(request, answer)
        if not missing:
            return answer
        denied = denied_creations(self._authorizer, event, missing)
        self._creator.create_named(event, [name for name in missing if name not in denied])
        return with_denials(answer, denied)

    def _change_token(self, event: Received, now: Instant) -> None:
        """Refuse a client that may not ask about tokens, and forward the others (KIP-48)."""
        refused = refuse_token_change(event, self._authorizer)
        if refused is None:
            self._forwarder.receive(event, now)
        else:
            self._outbox.reply(event, refused)

    def _answer(self, event: Received) -> Message:
        image, message = self._committed.image, event.message
        match message:
            case api_versions_request.ApiVersionsRequest():
                return answers.api_versions(
                    image,
                    self._committed.offset,
                    message,
                    event.version,
                    self._versions.advertised,
                )
            case metadata_request.MetadataRequest():
                answer = self._metadata.answer(image, message, event, self._authorizer)
                return self._create_missing(event, message, answer)
            case describe_acls_request.DescribeAclsRequest():
                has_authorizer = self._authorizer is not None
                return describe_acls(image, message, has_authorizer=has_authorizer)
            case describe_cluster_request.DescribeClusterRequest():
                return answers.describe_cluster(
                    self._config,
                    image,
                    self._raft.leader,
                    message,
                    on_controller_listener=False,
                    listener=event.listener,
                    operations=cluster_operations(
                        self._authorizer,
                        event,
                        wanted=message.include_cluster_authorized_operations,
                    ),
                )
            case describe_topic_partitions_request.DescribeTopicPartitionsRequest():
                listener = self._config.client_listener(event.listener)
                return describe_topic_partitions(image, event, message, self._authorizer, listener)
            case list_config_resources_request.ListConfigResourcesRequest():
                return list_config_resources(image, message, event.version)
            case describe_client_quotas_request.DescribeClientQuotasRequest():
                return describe_client_quotas(image, message)
            case describe_configs_request.DescribeConfigsRequest():
                return self._configs.describe(image, message, event, self._authorizer)
            case (
                broker_registration_request.BrokerRegistrationRequest()
                | broker_heartbeat_request.BrokerHeartbeatRequest()
            ):
                return not_controller(event)
            case _:
                raise AssertionError(f"a broker does not serve {type(message).__name__}")
