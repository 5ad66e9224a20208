"""The reference system: our own node, as kraft-node runs it or the simulator steps it.

It declares look-ups linearizable, since its read barrier makes them so; a broker's own image is
monotonic for each connection. Not: how nodes are started (the backends do that).
"""

from collections.abc import Iterable, Mapping
from random import Random
from typing import Final

from typing_extensions import override

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.reference import files
from kraftproof.cluster.systems.reference.registration import RegistrationClient
from kraftproof.cluster.systems.reference.topics import TopicsClient
from kraftproof.cluster.systems.system import Client, Guarantee, System, SystemUnavailableError
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_quorum_request,
    describe_quorum_response,
    metadata_request,
    metadata_response,
)

METADATA_VERSION: Final = 12
DESCRIBE_QUORUM_VERSION: Final = 1
ASK_TIMEOUT_NS: Final = 400_000_000
PREPARE_TIMEOUT_NS: Final = 5_000_000_000
ACTIVE: Final = "active-controller"
STANDBY: Final = "standby-controller"


class ReferenceSystem(System):
    """Our own KRaft cluster: controllers and brokers in Python."""

    def __init__(self) -> None:
        self._cluster_id = ""

    @property
    @override
    def name(self) -> str:
        return "reference"

    @property
    @override
    def guarantees(self) -> Mapping[str, Guarantee]:
        return {
            "create": Guarantee.LINEARIZABLE,
            "delete": Guarantee.LINEARIZABLE,
            "lookup": Guarantee.LINEARIZABLE,
            "describe": Guarantee.SESSION_MONOTONIC,
            "register": Guarantee.LEASE,
            "heartbeat": Guarantee.LEASE,
            "unregister": Guarantee.LEASE,
        }

    @override
    async def prepare(self, cluster: Cluster) -> None:
        broker = next(node.node_id for node in cluster.nodes if node.is_broker)
        connection = await cluster.connect(broker, PREPARE_TIMEOUT_NS)
        request = metadata_request.MetadataRequest(topics=())
        answer = await connection.call(request, METADATA_VERSION, PREPARE_TIMEOUT_NS)
        connection.close()
        assert isinstance(answer, metadata_response.MetadataResponse)
        self._cluster_id = answer.cluster_id or ""

    @override
    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        if workload == "topics":
            return TopicsClient(cluster, random)
        if workload == "registration":
            return RegistrationClient(cluster, self._cluster_id, random)
        raise SystemUnavailableError(f"the reference system has no client for {workload!r}")

    @override
    async def roles(self, cluster: Cluster) -> Mapping[str, tuple[int, ...]]:
        controllers = [node.node_id for node in cluster.nodes if node.is_controller]
        asked = [cluster.scope.spawn(_led_epoch(cluster, node_id)) for node_id in controllers]
        epochs = {node_id: await task for node_id, task in zip(controllers, asked, strict=True)}
        leading = [node_id for node_id in controllers if epochs[node_id] >= 0]
        if not leading:
            return {}
        active = max(leading, key=epochs.__getitem__)
        standby = tuple(node_id for node_id in controllers if node_id != active)
        return {ACTIVE: (active,), STANDBY: standby or (active,)}

    @override
    def rows(self, cluster: Cluster, table: str) -> list[dict[str, object]] | None:
        decode = files.DECODERS.get(table)
        if decode is None:
            return None
        found = [
            row
            for node in cluster.nodes
            for row in decode(cluster.node_files(node.node_id), node.node_id)
        ]
        if table == "trace" and isinstance(cluster.scope, LiveScope):
            _tell_run_time(found, cluster.scope.origin_ns)
        return found


def _tell_run_time(trace: Iterable[dict[str, object]], origin_ns: int) -> None:
    """Add the time of the run to what nodes of this machine wrote: they share its clock."""
    for row in trace:
        assert isinstance(row["time"], int)
        row["run_time"] = row["time"] - origin_ns


async def _led_epoch(cluster: Cluster, node_id: int) -> int:
    """The epoch that a controller says it leads; -1 if it leads none or does not answer."""
    connection: Connection | None = None
    try:
        connection = await cluster.connect(node_id, ASK_TIMEOUT_NS)
        answer = await connection.call(_WHO_LEADS, DESCRIBE_QUORUM_VERSION, ASK_TIMEOUT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return -1
    finally:
        if connection is not None:
            connection.close()
    assert isinstance(answer, describe_quorum_response.DescribeQuorumResponse)
    if answer.error_code != ErrorCode.NONE or not answer.topics:
        return -1
    partition = answer.topics[0].partitions[0]
    leads = partition.error_code == ErrorCode.NONE and partition.leader_id == node_id
    return partition.leader_epoch if leads else -1


_WHO_LEADS: Final = describe_quorum_request.DescribeQuorumRequest(
    topics=(
        describe_quorum_request.TopicData(
            topic_name="__cluster_metadata",
            partitions=(describe_quorum_request.PartitionData(partition_index=0),),
        ),
    )
)
