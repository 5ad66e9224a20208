"""Parse listeners: bound address, advertised address, purpose and security (KIP-631)."""

from msgspec import Struct

from kraftproof.node.core.base.config import Endpoint
from kraftproof.node.properties.keys import ConfigError, Reader, host_port, names
from kraftproof.node.properties.listener_security import (
    PLAINTEXT_PEERS,
    PLAINTEXT_SECURITY,
    ListenerSecurity,
    PeerSecurity,
    read_listener_security,
    read_peer_security,
    read_protocols,
)

EVERY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - to refuse, not to bind


class Binding(Struct, frozen=True, kw_only=True):
    """An address to listen on."""

    name: str
    host: str
    port: int
    is_controller: bool
    security: ListenerSecurity = PLAINTEXT_SECURITY


def read_bindings(reader: Reader, roles: tuple[str, ...]) -> tuple[Binding, ...]:
    """Return the bindings of `listeners`; the name determines the purpose (631-77)."""
    controller_names = names(reader.required("controller.listener.names", "CONTROLLER"))
    value = reader.required("listeners", "CONTROLLER://127.0.0.1:9093")
    addresses = _addresses("listeners", value)
    protocols = read_protocols(reader, (*(name for name, _, _ in addresses), *controller_names))
    bindings = tuple(
        Binding(
            name=name,
            host=host,
            port=port,
            is_controller=name in controller_names,
            security=read_listener_security(reader, name, protocols[name]),
        )
        for name, host, port in addresses
    )
    _check_roles(bindings, roles, controller_names, value)
    chosen = reader.text("inter.broker.listener.name")
    broker_names = [binding.name for binding in bindings if not binding.is_controller]
    if chosen is not None and "broker" in roles and chosen not in broker_names:
        raise ConfigError(
            f"inter.broker.listener.name={chosen}: is not among the broker's listeners {value}"
        )
    return bindings


def read_inter_broker_listener(reader: Reader, bindings: tuple[Binding, ...]) -> str:
    """Return the name of the listener between brokers: by default the first for clients.

    Without a name, security.inter.broker.protocol selects the first listener of the protocol.

    Raises:
        ConfigError: both keys are set, or no listener has the protocol.
    """
    of_clients = [binding for binding in bindings if not binding.is_controller]
    chosen, protocol = (
        reader.text("inter.broker.listener.name"),
        reader.text("security.inter.broker.protocol"),
    )
    if chosen is not None and protocol is not None:
        raise ConfigError(
            f"security.inter.broker.protocol={protocol}: remove it, "
            f"inter.broker.listener.name={chosen} names the listener"
        )
    if protocol is not None:
        named = [each.name for each in of_clients if each.security.protocol.name == protocol]
        if of_clients and not named:
            raise ConfigError(
                f"security.inter.broker.protocol={protocol}: no listener has this protocol"
            )
        return next(iter(named), "")
    return chosen or next((binding.name for binding in of_clients), "")


def read_controller_peers(reader: Reader) -> PeerSecurity:
    """Return the security of connections to controllers, by the first controller listener."""
    name = names(reader.required("controller.listener.names", "CONTROLLER"))[0]
    protocol = read_protocols(reader, (name,))[name]
    return read_peer_security(reader, name, protocol, "sasl.mechanism.controller.protocol")


def read_broker_peers(reader: Reader, listener: str) -> PeerSecurity:
    """Return the security of connections to other brokers, by the listener between brokers."""
    if not listener:
        return PLAINTEXT_PEERS
    protocol = read_protocols(reader, (listener,))[listener]
    return read_peer_security(reader, listener, protocol, "sasl.mechanism.inter.broker.protocol")


def read_endpoints(reader: Reader, bindings: tuple[Binding, ...]) -> tuple[Endpoint, ...]:
    """Return the advertised address of each listener."""
    value = reader.text("advertised.listeners") or ""
    advertised = {
        name: (host, port) for name, host, port in _addresses("advertised.listeners", value)
    }
    bound = [binding.name for binding in bindings]
    for name in advertised:
        if name not in bound:
            raise ConfigError(f"advertised.listeners={value}: {name} is not among listeners")
    return tuple(_endpoint(binding, advertised) for binding in bindings)


def _endpoint(binding: Binding, advertised: dict[str, tuple[str, int]]) -> Endpoint:
    host, port = advertised.get(binding.name, (binding.host, binding.port))
    if host in EVERY_ADDRESS:
        raise ConfigError(
            f"listeners: {binding.name} binds every address, so advertised.listeners must name "
            "the address for other nodes and clients"
        )
    return Endpoint(
        name=binding.name,
        host=host,
        port=port,
        is_controller=binding.is_controller,
        security_protocol=binding.security.protocol,
    )


def _addresses(key: str, value: str) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    for part in names(value):
        name, separator, address = part.partition("://")
        if not separator or not name:
            raise ConfigError(f"{key}={value}: {part!r} is not NAME://host:port")
        if any(name == earlier for earlier, _, _ in found):
            raise ConfigError(f"{key}={value}: {name} is named twice")
        found.append((name, *host_port(key, address, value)))
    return found


def _check_roles(
    bindings: tuple[Binding, ...],
    roles: tuple[str, ...],
    controller_names: tuple[str, ...],
    value: str,
) -> None:
    bound = {binding.name for binding in bindings}
    if "controller" in roles:
        for name in controller_names:
            if name not in bound:
                raise ConfigError(
                    f"controller.listener.names={','.join(controller_names)}: "
                    f"{name} is not among listeners={value}"
                )
    elif any(binding.is_controller for binding in bindings):
        raise ConfigError(f"listeners={value}: a broker must not bind a controller listener")
    serves_clients = any(not binding.is_controller for binding in bindings)
    if "broker" in roles and not serves_clients:
        raise ConfigError(f"listeners={value}: a broker needs a listener that is no controller's")
    if "broker" not in roles and serves_clients:
        raise ConfigError(
            f"listeners={value}: a controller binds only controller.listener.names="
            f"{','.join(controller_names)}"
        )
