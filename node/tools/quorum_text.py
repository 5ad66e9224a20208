"""Format a DescribeQuorum answer as the lines of kraft-metadata-quorum (KIP-595), like Kafka.

See node/tools/metadata_quorum.py for the request.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from kraftproof.node.wire.messages.generated.describe_quorum_response import (
    Listener,
    Node,
    PartitionData,
    ReplicaState,
)
from kraftproof.node.wire.types import ZERO_UUID, format_uuid

UNKNOWN: Final = -1
_COLUMNS: Final = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)


class Quorum(Struct, frozen=True, kw_only=True):
    """The leader's description of the quorum."""

    cluster_id: str
    partition: PartitionData
    """Voters and observers; the leader exists and is a voter."""
    nodes: tuple[Node, ...]

    @property
    def leader(self) -> ReplicaState:
        """Return the leader's own state."""
        voters = self.partition.current_voters
        return next(voter for voter in voters if voter.replica_id == self.partition.leader_id)


def status_lines(quorum: Quorum) -> list[str]:
    """Return the lines of `describe --status`; the lags are those of the slowest voter."""
    partition, leader = quorum.partition, quorum.leader
    slowest = min(partition.current_voters, key=lambda voter: voter.log_end_offset)
    listeners = {node.node_id: node.listeners for node in quorum.nodes}
    figures = {
        "ClusterId": quorum.cluster_id,
        "LeaderId": partition.leader_id,
        "LeaderEpoch": partition.leader_epoch,
        "HighWatermark": partition.high_watermark,
        "MaxFollowerLag": leader.log_end_offset - slowest.log_end_offset,
        "MaxFollowerLagTimeMs": _lag_ms(leader, slowest),
        "CurrentVoters": _replicas(partition.current_voters, listeners),
        "CurrentObservers": _replicas(partition.observers, {}),
    }
    return [f"{f'{name}:':<24}{figure}" for name, figure in figures.items()]


def replication_lines(quorum: Quorum, now_ms: int | None) -> list[str]:
    """Return the table of `describe --replication`.

    Args:
        quorum: The answer.
        now_ms: The present time, if times are printed relative to the present.
    """
    leader = quorum.leader
    followers = [each for each in quorum.partition.current_voters if each is not leader]
    rows = [
        _COLUMNS,
        _row(leader, leader, "Leader", now_ms),
        *(_row(each, leader, "Follower", now_ms) for each in followers),
        *(_row(each, leader, "Observer", now_ms) for each in quorum.partition.observers),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _row(
    replica: ReplicaState, leader: ReplicaState, status: str, now_ms: int | None
) -> tuple[str, ...]:
    return (
        str(replica.replica_id),
        format_uuid(replica.replica_directory_id),
        str(replica.log_end_offset),
        str(leader.log_end_offset - replica.log_end_offset),
        _moment(replica.last_fetch_timestamp, now_ms),
        _moment(replica.last_caught_up_timestamp, now_ms),
        status,
    )


def _moment(time_ms: int, now_ms: int | None) -> str:
    if now_ms is None or time_ms == UNKNOWN:
        return str(time_ms)
    return f"{now_ms - time_ms} ms ago"


def _lag_ms(leader: ReplicaState, slowest: ReplicaState) -> int:
    times = leader.last_caught_up_timestamp, slowest.last_caught_up_timestamp
    if slowest is leader:
        return 0
    return UNKNOWN if UNKNOWN in times else times[0] - times[1]


def _replicas(replicas: Sequence[ReplicaState], listeners: Mapping[int, Sequence[Listener]]) -> str:
    """Return the replicas in Kafka's format, with directory id and endpoints if known."""
    entries = []
    for replica in replicas:
        fields = [f'"id": {replica.replica_id}']
        if replica.replica_directory_id != ZERO_UUID:
            fields.append(f'"directoryId": "{format_uuid(replica.replica_directory_id)}"')
        endpoints = [
            f'"{listener.name}://{listener.host}:{listener.port}"'
            for listener in listeners.get(replica.replica_id, ())
        ]
        if endpoints:
            fields.append(f'"endpoints": [{", ".join(endpoints)}]')
        entries.append(f"{{{', '.join(fields)}}}")
    return f"[{', '.join(entries)}]"
