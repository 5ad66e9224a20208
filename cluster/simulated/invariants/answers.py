"""Invariants of the active controller's answers (docs/glossary.md, "read barrier").

An answer must reflect every record committed before the request arrived, and only committed
records. The checkers of histories judge the contents of the answers.
"""

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog, drop_below
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.security.requests import OF_SECRETS
from kraftproof.cluster.simulated.process_view import ClusterConfig
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    allocate_producer_ids_response,
    alter_client_quotas_request,
    alter_client_quotas_response,
    alter_configs_request,
    alter_configs_response,
    alter_partition_reassignments_request,
    alter_partition_reassignments_response,
    alter_partition_request,
    alter_partition_response,
    assign_replicas_to_dirs_request,
    assign_replicas_to_dirs_response,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
    controller_registration_request,
    controller_registration_response,
    create_acls_request,
    create_acls_response,
    create_partitions_request,
    create_partitions_response,
    create_topics_request,
    create_topics_response,
    delete_acls_request,
    delete_acls_response,
    delete_topics_request,
    delete_topics_response,
    elect_leaders_request,
    elect_leaders_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
    list_partition_reassignments_request,
    list_partition_reassignments_response,
    unregister_broker_request,
    unregister_broker_response,
    update_features_request,
    update_features_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.types import Uuid

OF_THE_CONTROLLER = (
    allocate_producer_ids_request.AllocateProducerIdsRequest,
    alter_client_quotas_request.AlterClientQuotasRequest,
    alter_configs_request.AlterConfigsRequest,
    alter_partition_request.AlterPartitionRequest,
    alter_partition_reassignments_request.AlterPartitionReassignmentsRequest,
    create_acls_request.CreateAclsRequest,
    create_partitions_request.CreatePartitionsRequest,
    delete_acls_request.DeleteAclsRequest,
    elect_leaders_request.ElectLeadersRequest,
    incremental_alter_configs_request.IncrementalAlterConfigsRequest,
    list_partition_reassignments_request.ListPartitionReassignmentsRequest,
    assign_replicas_to_dirs_request.AssignReplicasToDirsRequest,
    controller_registration_request.ControllerRegistrationRequest,
    update_features_request.UpdateFeaturesRequest,
    broker_heartbeat_request.BrokerHeartbeatRequest,
    broker_registration_request.BrokerRegistrationRequest,
    create_topics_request.CreateTopicsRequest,
    delete_topics_request.DeleteTopicsRequest,
    unregister_broker_request.UnregisterBrokerRequest,
    *OF_SECRETS,
)
SAYS_NOTHING = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT})


OF_TOPICS = (
    create_topics_request.CreateTopicsRequest,
    delete_topics_request.DeleteTopicsRequest,
)


class Asked(Struct, frozen=True, kw_only=True, gc=False):
    """The ends of the logs at the arrival of a request."""

    committed_end: int
    """End of the committed log of the cluster."""
    log_end: int
    """End of the log of the receiving node."""


class LinearizableReads(Invariant):
    """The controller answers after a read barrier, and from committed records only.

    The invariant has three conditions. The third is the barrier: a record already in the log at
    the arrival of the request proves nothing by its commit, since its acknowledgements may be
    older than the request. The first condition detects the harm of a missing barrier.
    """

    statement = (
        "An answer of the controller reflects every record committed before the request, is based "
        "on committed records only, and waits for the commit of a record written after the request "
        "unless the controller is the only voter."
    )
    requests: ClassVar[Requests] = OF_THE_CONTROLLER

    def __init__(self, config: ClusterConfig, committed_log: CommittedLog) -> None:
        super().__init__()
        self._is_only_voter = len(config.voters) == 1
        self._committed_log = committed_log
        self._asked: dict[tuple[int, int, int], Asked] = {}

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        if event.on_controller_listener:
            key = (process.node_id, process.incarnation, event.request)
            self._asked[key] = Asked(
                committed_end=self._committed_log.end_offset, log_end=process.log.end_offset
            )

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        asked = self._asked.pop((process.node_id, process.incarnation, event.request), None)
        status = process.status
        if asked is None or status is None or not _is_claim(message):
            return
        name = type(event.message).__name__
        end = status.high_watermark
        if end < asked.committed_end:
            detail = (
                f"{name}: answered at high watermark {end}, but offset {asked.committed_end} had "
                f"committed elsewhere before the request"
            )
            self.monitor.report_violation(self, process, detail)
        elif end < asked.log_end:
            detail = f"{name}: answered at high watermark {end}, below the log end {asked.log_end}"
            self.monitor.report_violation(self, process, detail)
        elif end == asked.log_end and not self._is_only_voter:
            detail = (
                f"{name}: answered at high watermark {end}, without the commit of a record written "
                f"after the request"
            )
            self.monitor.report_violation(self, process, detail)


class AcknowledgedIsCommitted(Invariant):
    """Clients can rely on the answers to CreateTopics and DeleteTopics.

    StateMachineSafety checks that committed records stay, and the final checks compare the images
    with the log.
    """

    statement = "An acknowledged change has committed, and a refused change was never written."
    requests: ClassVar[Requests] = OF_TOPICS

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._created: dict[Uuid, str] = {}
        self._removed: set[Uuid] = set()  # asked for membership only
        self._committed_at: dict[int, list[Uuid]] = {}
        self._stepping: dict[int, tuple[int, int]] = {}
        self._written: dict[tuple[int, int, int], list[str]] = {}
        committed_log.subscribers.append(self._committed)

    def _committed(self, batch: Batch, time_ns: int) -> None:
        del time_ns
        topics = []
        for record in batch.records:
            if isinstance(record, records.TopicRecord):
                self._created[record.topic_id] = record.name
            elif isinstance(record, records.RemoveTopicRecord):
                self._removed.add(record.topic_id)
            else:
                continue
            topics.append(record.topic_id)
        if topics:
            self._committed_at[batch.base_offset] = topics

    @override
    def on_pruned(self, below: int) -> None:
        """Drop the topics of pruned batches, whose requests were answered at their commit."""
        for topics in drop_below(self._committed_at, below):
            for topic in topics:
                self._created.pop(topic, None)
                self._removed.discard(topic)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        if isinstance(event.message, create_topics_request.CreateTopicsRequest):
            self._stepping[process.node_id] = (process.incarnation, event.request)

    @override
    def on_step(self, process: ProcessView) -> None:
        if self._stepping:
            self._stepping.pop(process.node_id, None)

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        """Attribute the records to the request of the step that appends the records."""
        request = self._stepping.get(process.node_id) if self._stepping else None
        if request is not None:
            names = [r.name for r in batch.records if isinstance(r, records.TopicRecord)]
            if names:
                self._written.setdefault((process.node_id, *request), []).extend(names)

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """Check answers of controllers only: a broker may relay one of an unfinished step."""
        if not event.on_controller_listener:
            return
        match event.message, message:
            case (
                create_topics_request.CreateTopicsRequest() as request,
                create_topics_response.CreateTopicsResponse(),
            ):
                self._judge_creation(process, event, request, message)
            case (
                delete_topics_request.DeleteTopicsRequest(),
                delete_topics_response.DeleteTopicsResponse(responses=results),
            ):
                for result in results:
                    if not result.error_code and result.topic_id not in self._removed:
                        detail = f"topic {result.name}: the deletion is acknowledged, not committed"
                        self.monitor.report_violation(self, process, detail)
            case _:
                return

    def _judge_creation(
        self,
        process: ProcessView,
        event: Received,
        request: create_topics_request.CreateTopicsRequest,
        message: create_topics_response.CreateTopicsResponse,
    ) -> None:
        written = self._written.pop((process.node_id, process.incarnation, event.request), [])
        for topic in message.topics:
            if topic.error_code == ErrorCode.NONE:
                is_done = request.validate_only or self._created.get(topic.topic_id) == topic.name
                detail = f"topic {topic.name}: the creation is acknowledged, not committed"
            else:
                is_done = topic.error_code == ErrorCode.REQUEST_TIMED_OUT
                is_done = is_done or topic.name not in written
                detail = f"topic {topic.name}: refused with {topic.error_code}, but written"
            if not is_done:
                self.monitor.report_violation(self, process, detail)


def _is_claim(message: Message) -> bool:
    codes = list(_error_codes(message))
    return bool(codes) and not any(code in SAYS_NOTHING for code in codes)


def _error_codes(message: Message) -> Iterator[int]:
    match message:
        case (
            broker_heartbeat_response.BrokerHeartbeatResponse(error_code=code)
            | broker_registration_response.BrokerRegistrationResponse(error_code=code)
            | unregister_broker_response.UnregisterBrokerResponse(error_code=code)
            | alter_partition_response.AlterPartitionResponse(error_code=code)
            | allocate_producer_ids_response.AllocateProducerIdsResponse(error_code=code)
            | alter_partition_reassignments_response.AlterPartitionReassignmentsResponse(
                error_code=code
            )
            | list_partition_reassignments_response.ListPartitionReassignmentsResponse(
                error_code=code
            )
            | elect_leaders_response.ElectLeadersResponse(error_code=code)
            | assign_replicas_to_dirs_response.AssignReplicasToDirsResponse(error_code=code)
            | controller_registration_response.ControllerRegistrationResponse(error_code=code)
            | update_features_response.UpdateFeaturesResponse(error_code=code)
        ):
            yield code
        case create_topics_response.CreateTopicsResponse(topics=topics):
            yield from (topic.error_code for topic in topics)
        case (
            delete_topics_response.DeleteTopicsResponse(responses=results)
            | create_partitions_response.CreatePartitionsResponse(results=results)
            | create_acls_response.CreateAclsResponse(results=results)
            | delete_acls_response.DeleteAclsResponse(filter_results=results)
            | alter_configs_response.AlterConfigsResponse(responses=results)
            | alter_client_quotas_response.AlterClientQuotasResponse(entries=results)
            | incremental_alter_configs_response.IncrementalAlterConfigsResponse(responses=results)
        ):
            yield from (result.error_code for result in results)
        case _:
            return
