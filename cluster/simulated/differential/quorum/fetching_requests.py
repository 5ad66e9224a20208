"""Write the requests that a replica of the metadata log has to send."""

from typing import Final

from kraftproof.cluster.simulated.differential.quorum.fetching_answers import TOPIC, TOPIC_ID
from kraftproof.cluster.simulated.differential.quorum.fetching_model import FetchingModel
from kraftproof.cluster.simulated.differential.quorum.fetching_values import Download
from kraftproof.node.wire.messages import Message, fetch_request, fetch_snapshot_request

CLUSTER: Final = "a-cluster"
VERSIONS: Final = {fetch_request.FetchRequest: 18, fetch_snapshot_request.FetchSnapshotRequest: 1}
MAX_BYTES: Final = 8 << 20
NO_UPDATES: Final = (1 << 63) - 1
"""The high watermark of a controller, which does not ask for each new one (KIP-1166)."""


def slice_request(model: FetchingModel, download: Download, slice_bytes: int) -> Message:
    """Return the FetchSnapshot of the next slice."""
    end, epoch = download.snapshot
    partition = fetch_snapshot_request.PartitionSnapshot(
        partition=0,
        current_leader_epoch=model.epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(end_offset=end, epoch=epoch),
        position=download.position,
    )
    topic = fetch_snapshot_request.TopicSnapshot(name=TOPIC, partitions=(partition,))
    return fetch_snapshot_request.FetchSnapshotRequest(
        cluster_id=CLUSTER, replica_id=model.own, max_bytes=slice_bytes, topics=(topic,)
    )


def fetch_request_of(model: FetchingModel, *, is_broker: bool) -> Message:
    """Return the Fetch from the end of the log."""
    partition = fetch_request.FetchPartition(
        partition=0,
        current_leader_epoch=model.epoch,
        fetch_offset=model.end,
        last_fetched_epoch=model.last_epoch,
        log_start_offset=model.start[0],
        partition_max_bytes=MAX_BYTES,
        high_watermark=model.watermark if is_broker else NO_UPDATES,
    )
    return fetch_request.FetchRequest(
        cluster_id=CLUSTER,
        replica_state=fetch_request.ReplicaState(replica_id=model.own),
        max_wait_ms=model.wait_ms(),
        max_bytes=MAX_BYTES,
        topics=(fetch_request.FetchTopic(topic_id=TOPIC_ID, partitions=(partition,)),),
    )
