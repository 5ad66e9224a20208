"""Define a version-neutral class for each request and response.

`Message` is the base of requests and responses. The line
`from kraftproof.node.wire.messages import vote_request` imports the module with `VoteRequest` and
its parts. Records are in node.wire.records; see node.wire.codec for bytes.

The generated modules are loaded on first use, since a program uses few modules.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from kraftproof.node.wire.schema import Message

if TYPE_CHECKING:
    from kraftproof.node.wire.messages.generated import (
        allocate_producer_ids_request,
        allocate_producer_ids_response,
        alter_partition_request,
        alter_partition_response,
        api_versions_request,
        api_versions_response,
        begin_quorum_epoch_request,
        begin_quorum_epoch_response,
        broker_heartbeat_request,
        broker_heartbeat_response,
        broker_registration_request,
        broker_registration_response,
        create_partitions_request,
        create_partitions_response,
        create_topics_request,
        create_topics_response,
        delete_records_request,
        delete_records_response,
        delete_topics_request,
        delete_topics_response,
        describe_cluster_request,
        describe_cluster_response,
        describe_configs_request,
        describe_configs_response,
        describe_quorum_request,
        describe_quorum_response,
        end_quorum_epoch_request,
        end_quorum_epoch_response,
        envelope_request,
        envelope_response,
        fetch_request,
        fetch_response,
        fetch_snapshot_request,
        fetch_snapshot_response,
        find_coordinator_request,
        find_coordinator_response,
        init_producer_id_request,
        init_producer_id_response,
        list_offsets_request,
        list_offsets_response,
        metadata_request,
        metadata_response,
        offset_for_leader_epoch_request,
        offset_for_leader_epoch_response,
        produce_request,
        produce_response,
        unregister_broker_request,
        unregister_broker_response,
        vote_request,
        vote_response,
    )

__all__ = (
    "Message",
    "allocate_producer_ids_request",
    "allocate_producer_ids_response",
    "alter_partition_request",
    "alter_partition_response",
    "api_versions_request",
    "api_versions_response",
    "begin_quorum_epoch_request",
    "begin_quorum_epoch_response",
    "broker_heartbeat_request",
    "broker_heartbeat_response",
    "broker_registration_request",
    "broker_registration_response",
    "create_partitions_request",
    "create_partitions_response",
    "create_topics_request",
    "create_topics_response",
    "delete_records_request",
    "delete_records_response",
    "delete_topics_request",
    "delete_topics_response",
    "describe_cluster_request",
    "describe_cluster_response",
    "describe_configs_request",
    "describe_configs_response",
    "describe_quorum_request",
    "describe_quorum_response",
    "end_quorum_epoch_request",
    "end_quorum_epoch_response",
    "envelope_request",
    "envelope_response",
    "fetch_request",
    "fetch_response",
    "fetch_snapshot_request",
    "fetch_snapshot_response",
    "find_coordinator_request",
    "find_coordinator_response",
    "init_producer_id_request",
    "init_producer_id_response",
    "list_offsets_request",
    "list_offsets_response",
    "metadata_request",
    "metadata_response",
    "offset_for_leader_epoch_request",
    "offset_for_leader_epoch_response",
    "produce_request",
    "produce_response",
    "unregister_broker_request",
    "unregister_broker_response",
    "vote_request",
    "vote_response",
)


if not TYPE_CHECKING:  # otherwise mypy accepts any misspelt module name

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(f"module {__name__} has no attribute {name}")
        return importlib.import_module(f"{__name__}.generated.{name}")
