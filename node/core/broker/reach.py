"""Tell which brokers and replicas the clients of a listener reach (KIP-631, KIP-858).

A broker may have no endpoint for the listener, be fenced, or have lost the directory of a replica.
"""

from collections.abc import Mapping

from msgspec import Struct

from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition
from kraftproof.node.wire.types import Uuid


class Reach(Struct, frozen=True):
    """The brokers with an endpoint for the listener."""

    listed: frozenset[NodeId]
    """Fenced and active brokers."""
    active: Mapping[NodeId, frozenset[Uuid]]
    """The working directories of each active broker; none of a broker that names none."""

    def leader_of(self, partition: Partition) -> NodeId:
        """Return the leader of a partition; NO_NODE for a leader without the listener."""
        return partition.leader if partition.leader in self.listed else NO_NODE

    def offline_replicas(self, partition: Partition) -> tuple[NodeId, ...]:
        """Return the replicas that no client can read from."""
        replicas, given = partition.replicas, partition.directories
        # Records of other nodes may name fewer directories than replicas.
        directories = (*given, *(MIGRATING,) * (len(replicas) - len(given)))
        places = zip(replicas, directories, strict=False)
        return tuple([node for node, place in places if not self._is_online(node, place)])

    def _is_online(self, node: NodeId, directory: Uuid) -> bool:
        working = self.active.get(node)
        if working is None or directory == LOST:
            return False
        return not working or directory in working


def reach_of(image: MetadataImage, listener: str) -> Reach:
    """Return the brokers of an image that the clients of a listener reach."""
    listed = [broker for broker in image.brokers.values() if _has_listener(broker, listener)]
    return Reach(
        listed=frozenset([broker.broker_id for broker in listed]),
        active={
            broker.broker_id: frozenset({MIGRATING, UNASSIGNED, *broker.log_dirs})
            if broker.log_dirs
            else frozenset()
            for broker in listed
            if not broker.fenced
        },
    )


def _has_listener(broker: BrokerRegistration, listener: str) -> bool:
    return any(endpoint.name == listener for endpoint in broker.endpoints)
