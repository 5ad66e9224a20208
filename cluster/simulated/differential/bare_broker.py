"""The configuration of a broker with nothing but an id, for comparisons to replace parts of."""

from typing import Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NodeId

BARE_BROKER: Final = NodeConfig(
    node_id=NodeId(1),
    cluster_id="c",
    is_controller=False,
    is_broker=True,
    voters=(),
    endpoints=(),
)
"""A broker that serves metadata, without replicas, listeners, quotas and rights."""
