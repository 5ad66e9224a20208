"""Build the requests of a broker about its membership: registration and heartbeat (KIP-631)."""

from collections.abc import Collection
from typing import Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.broker.lifecycle import BrokerState
from kraftproof.node.core.broker.registered_listeners import registered_listeners
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.version import (
    DIRECTORIES_FROM,
    LARGEST_LEVEL,
    LEAST_LEVEL,
    METADATA_VERSION,
)
from kraftproof.node.wire.messages import broker_heartbeat_request, broker_registration_request
from kraftproof.node.wire.types import Uuid

REGISTRATION_VERSION: Final = 4
HEARTBEAT_VERSION: Final = 1


def registration_request(
    config: NodeConfig, failed: Collection[Uuid]
) -> broker_registration_request.BrokerRegistrationRequest:
    """Return the registration of a broker without its failed log directories."""
    return broker_registration_request.BrokerRegistrationRequest(
        broker_id=config.node_id,
        cluster_id=config.cluster_id,
        incarnation_id=config.incarnation,
        listeners=registered_listeners(config),
        features=(
            broker_registration_request.Feature(
                name=METADATA_VERSION,
                min_supported_version=LEAST_LEVEL,
                max_supported_version=LARGEST_LEVEL,
            ),
        ),
        rack=config.rack,
        log_dirs=tuple(each for each in config.log_dirs if each not in failed),
        previous_broker_epoch=config.previous_broker_epoch,
    )


def lacks_directories(config: NodeConfig, image: MetadataImage, epoch: Offset) -> bool:
    """Return whether a registration is from before KIP-858, and the cluster's level is later.

    The same incarnation then registers again, and keeps its epoch.
    """
    own = image.brokers.get(config.node_id)
    if own is None or own.epoch != epoch or own.log_dirs or not config.log_dirs:
        return False
    return image.features.get(METADATA_VERSION, 0) >= DIRECTORIES_FROM


def heartbeat_request(
    node_id: NodeId, epoch: Offset, end: Offset, state: BrokerState, failed: tuple[Uuid, ...]
) -> broker_heartbeat_request.BrokerHeartbeatRequest:
    """Return the heartbeat of a broker whose image ends at an offset."""
    return broker_heartbeat_request.BrokerHeartbeatRequest(
        broker_id=node_id,
        broker_epoch=epoch,
        current_metadata_offset=end - 1,
        want_fence=state is BrokerState.STARTING,
        want_shut_down=state is BrokerState.PENDING_CONTROLLED_SHUTDOWN,
        offline_log_dirs=failed,
    )


def unsupported_features(image: MetadataImage) -> str:
    """Return a phrase about the cluster's features that the node does not support."""
    lacking = [
        f"{name} {level}"
        for name, level in sorted(image.features.items())
        if name != METADATA_VERSION or not LEAST_LEVEL <= level <= LARGEST_LEVEL
    ]
    if not lacking:
        return ""
    ours = f"{METADATA_VERSION} {LEAST_LEVEL} to {LARGEST_LEVEL}"
    return f": the cluster has {', '.join(lacking)}, and this node supports {ours} alone"
