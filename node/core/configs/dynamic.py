"""Read the configurations of a broker that take effect while the broker runs (KIP-226).

A dynamic value of this broker comes first, then a dynamic value of all brokers, then the file. The
defaults of topics are read in node/core/partition/settings.py. A key of Kafka that can change
while a broker runs, and that is not listed here, is stored without effect.
"""

from typing import Final

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.effective import SetConfigs, layers_of
from kraftproof.node.core.configs.generated.resources import BROKER_DEFINITIONS
from kraftproof.node.core.configs.values import is_legal
from kraftproof.node.core.metadata.image import MetadataImage

MAX_CONNECTIONS: Final = "max.connections"
PRODUCER_EXPIRATION: Final = "producer.id.expiration.ms"
UNCLEAN_ELECTIONS: Final = "unclean.leader.election.enable"
TOPIC_DEFAULTS: Final = (
    "log.cleanup.policy",
    "log.flush.interval.messages",
    "log.message.timestamp.after.max.ms",
    "log.message.timestamp.before.max.ms",
    "log.message.timestamp.type",
    "log.retention.bytes",
    "log.retention.ms",
    "log.segment.bytes",
    "message.max.bytes",
    "min.insync.replicas",
)
EFFECTIVE_WHILE_RUNNING: Final = (
    *TOPIC_DEFAULTS,
    MAX_CONNECTIONS,
    PRODUCER_EXPIRATION,
    UNCLEAN_ELECTIONS,
)
"""The keys whose dynamic values have an effect without a restart."""
BOUND_AT_START: Final = frozenset({"listeners", "listener.security.protocol.map"})
"""Keys that Kafka changes while a broker runs, and that this node reads at its start only."""
_DYNAMIC: Final = {definition.name: definition for definition in BROKER_DEFINITIONS}
_NO_FILE: Final[SetConfigs] = {}
assert _DYNAMIC.keys() >= set(EFFECTIVE_WHILE_RUNNING)


def broker_number(image: MetadataImage, node_id: NodeId, name: str, static: int) -> int:
    """Return a broker's whole number; `static` is the value of the file or the default.

    The controller stores any text as the value of a broker; an illegal value is ignored.
    """
    for text, _ in layers_of(image, node_id, _NO_FILE).found(name):
        if is_legal(_DYNAMIC[name], text):
            return int(text)
    return static
