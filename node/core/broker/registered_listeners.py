"""List the listeners of a broker for its registration (631-41)."""

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.wire.messages import broker_registration_request


def registered_listeners(config: NodeConfig) -> tuple[broker_registration_request.Listener, ...]:
    """Return the client listeners with their advertised addresses and protocols."""
    return tuple(
        broker_registration_request.Listener(
            name=each.name,
            host=each.host,
            port=each.port,
            security_protocol=each.security_protocol,
        )
        for each in config.endpoints
        if not each.is_controller
    )
