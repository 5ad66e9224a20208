"""Parse listeners: bound address, advertised address and purpose (KIP-631).

Only PLAINTEXT is supported; SASL and TLS are refused by name.
"""

from msgspec import Struct

from kraftproof.node.core.base.config import Endpoint
from kraftproof.node.properties.keys import ConfigError, Reader, host_port, names

EVERY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - to refuse, not to bind


class Binding(Struct, frozen=True, kw_only=True):
    """An address to listen on."""

    name: str
    host: str
    port: int
    is_controller: bool


def read_bindings(reader: Reader, roles: tuple[str, ...]) -> tuple[Binding, ...]:
    """Return the bindings of `listeners`; the name determines the purpose (631-77)."""
    controller_names = names(reader.required("controller.listener.names", "CONTROLLER"))
    value = reader.required("listeners", "CONTROLLER://127.0.0.1:9093")
    bindings = tuple(
        Binding(name=name, host=host, port=port, is_controller=name in controller_names)
        for name, host, port in _addresses("listeners", value)
    )
    _check_roles(bindings, roles, controller_names, value)
    _check_protocols(reader, (*(binding.name for binding in bindings), *controller_names))
    chosen = reader.text("inter.broker.listener.name")
    broker_names = [binding.name for binding in bindings if not binding.is_controller]
    if chosen is not None and "broker" in roles and chosen not in broker_names:
        raise ConfigError(
            f"inter.broker.listener.name={chosen}: is not among the broker's listeners {value}"
        )
    return bindings


def read_inter_broker_listener(reader: Reader, bindings: tuple[Binding, ...]) -> str:
    """Return the name of the listener between brokers: by default the first for clients."""
    first = next((binding.name for binding in bindings if not binding.is_controller), "")
    return reader.text("inter.broker.listener.name") or first


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
    return Endpoint(name=binding.name, host=host, port=port, is_controller=binding.is_controller)


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


def _check_protocols(reader: Reader, listener_names: tuple[str, ...]) -> None:
    value = reader.text("listener.security.protocol.map")
    protocols = _protocol_map(value) if value is not None else {}
    for name in listener_names:
        protocol = protocols.get(name, name if value is not None else "PLAINTEXT")
        if protocol in {"SASL_PLAINTEXT", "SASL_SSL", "SSL"}:
            raise ConfigError(
                f"listener.security.protocol.map={value}: {name} asks for {protocol}, "
                "only PLAINTEXT is supported"
            )
        if protocol != "PLAINTEXT":
            raise ConfigError(
                f"listener.security.protocol.map={value}: has no protocol for listener {name}; "
                f"add {name}:PLAINTEXT"
            )
    mechanism = reader.text("sasl.mechanism.controller.protocol")
    if mechanism is not None:
        raise ConfigError(
            f"sasl.mechanism.controller.protocol={mechanism}: SASL is not supported; remove it"
        )


def _protocol_map(value: str) -> dict[str, str]:
    protocols: dict[str, str] = {}
    for part in names(value):
        name, colon, protocol = part.partition(":")
        if not colon:
            raise ConfigError(
                f"listener.security.protocol.map={value}: {part!r} is not NAME:PROTOCOL"
            )
        protocols[name.strip()] = protocol.strip()
    return protocols
