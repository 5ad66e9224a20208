"""Draw the configuration of a broker, and write its registration as the image has it."""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.node.core.base.config import Endpoint, NodeConfig, Timeouts
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.metadata.image import BrokerRegistration
from kraftproof.node.wire.types import ZERO_UUID, Uuid

DIRECTORIES: Final = tuple(Uuid(bytes([one]) * 16) for one in (1, 2, 3))


def draw_config(random: Random, times: Timeouts) -> NodeConfig:
    """Draw a broker; one of its four listeners is for controllers."""
    names = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    controllers = random.randrange(4)
    return replace(
        BARE_BROKER,
        node_id=NodeId(random.randint(1, 5)),
        cluster_id=random.choice(("c", "another")),
        endpoints=tuple(
            Endpoint(
                name=name,
                host=f"host-{name}",
                port=random.randint(1, 9999),
                is_controller=number == controllers,
                security_protocol=SecurityProtocol(number),
            )
            for number, name in enumerate(names)
        ),
        rack=random.choice((None, "a rack")),
        incarnation=Uuid(random.randbytes(16)),
        previous_broker_epoch=random.choice((-1, 3)),
        log_dirs=random.choice(((), DIRECTORIES[:1], DIRECTORIES)),
        timeouts=times,
    )


def registration_of(node: int, epoch: int, directories: tuple[Uuid, ...]) -> BrokerRegistration:
    """Return the registration of a broker in the image."""
    return BrokerRegistration(
        broker_id=NodeId(node),
        incarnation=ZERO_UUID,
        epoch=Offset(epoch),
        endpoints=(),
        features=(),
        rack=None,
        fenced=True,
        in_controlled_shutdown=False,
        log_dirs=directories,
    )
