"""Observations of a quorum, as rows of the table `trace`, for nodes that write no trace.

The leader knows the end of each replica's log as of the last Fetch. Below that end and the high
watermark the replica's log is committed, so the nodes' logs must agree there.
"""

from collections.abc import Iterable
from typing import Final

from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.kafka.quorum import LedQuorum, led_quorums

WAIT_NS: Final = 15_000_000_000
"""Longest wait for a leader and for replicas that lag."""
PAUSE_NS: Final = 200_000_000


async def settled_quorum(
    cluster: Cluster, controllers: Iterable[int], port: str = PORT
) -> LedQuorum | None:
    """Wait until all nodes have the log up to one high watermark; return the last description.

    Without a leader within the time limit, return None.
    """
    voters, deadline_ns = list(controllers), cluster.scope.now() + WAIT_NS
    nodes = {node.node_id for node in cluster.nodes}
    last: LedQuorum | None = None
    wanted = -1
    while cluster.scope.now() < deadline_ns:
        led = await led_quorums(cluster, voters, port)
        if led:
            last = max(led, key=lambda one: one.epoch)
            wanted = last.high_watermark if wanted < 0 else wanted
            ends = [last.log_ends.get(node_id, -1) for node_id in nodes]
            if last.high_watermark >= wanted >= 0 and min(ends) >= wanted:
                return last
        await cluster.scope.sleep(PAUSE_NS)
    return last


def trace_rows(quorum: LedQuorum, now_ns: int) -> list[dict[str, object]]:
    """Return a row for each replica whose log end the leader knows."""
    return [
        {
            "seq": 0,
            "time": now_ns,
            "node": node_id,
            "incarnation": 0,
            "event": "described",
            "role": "leader" if node_id == quorum.leader_id else "follower",
            "epoch": quorum.epoch,
            "high_watermark": min(quorum.high_watermark, log_end),
            "log_end": log_end,
            "run_time": now_ns,
        }
        for node_id, log_end in sorted(quorum.log_ends.items())
        if log_end >= 0 and quorum.high_watermark >= 0
    ]
