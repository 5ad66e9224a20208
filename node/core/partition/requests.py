"""List the requests about partitions that a broker serves."""

from typing import Final

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

DATA_REQUESTS: Final[tuple[type[Message], ...]] = (
    produce_request.ProduceRequest,
    fetch_request.FetchRequest,
    list_offsets_request.ListOffsetsRequest,
    offset_for_leader_epoch_request.OffsetForLeaderEpochRequest,
    delete_records_request.DeleteRecordsRequest,
    describe_log_dirs_request.DescribeLogDirsRequest,
    describe_producers_request.DescribeProducersRequest,
    init_producer_id_request.InitProducerIdRequest,
    find_coordinator_request.FindCoordinatorRequest,
    offset_fetch_request.OffsetFetchRequest,
    consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest,
)
"""The requests that the data plane serves."""
