"""Choose the log directory of a new replica, as far as the controller can (KIP-858)."""

from kraftproof.node.core.base.directory_ids import UNASSIGNED
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.types import Uuid


def default_directory(image: MetadataImage, node: NodeId) -> Uuid:
    """Return the only directory of a broker, else unassigned until the broker tells."""
    broker = image.brokers.get(node)
    if broker is None or len(broker.log_dirs) != 1:
        return UNASSIGNED
    return broker.log_dirs[0]
