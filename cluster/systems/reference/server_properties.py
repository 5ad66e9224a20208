"""The server.properties of a node of ours, the same for processes and containers."""

from collections.abc import Mapping
from typing import Final

from kraftproof.cluster.protocol import Address
from kraftproof.cluster.systems.deployment import Site
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.reference.certificates import Certificates
from kraftproof.cluster.systems.reference.chosen_security import (
    PROTOCOL_KEY,
    has_tls,
    security_settings,
)
from kraftproof.cluster.systems.reference.workload_security import (
    advertised_of,
    listeners_of,
    security_entries,
)

CONTROLLER_LISTENER: Final = "CONTROLLER"
CLIENT_LISTENER: Final = "PLAINTEXT"


def server_properties(
    site: Site, settings: Mapping[str, str], certificates: Certificates | None = None
) -> str:
    """Return the text of a node's file; `settings` is what all nodes have besides."""
    is_controller = site.node.has("controller")
    name = CONTROLLER_LISTENER if is_controller else CLIENT_LISTENER
    own = site.address(PORT)
    voters = []
    for node in site.nodes:
        if node.has("controller"):
            at = site.addresses[node.node_id][PORT]
            voters.append(f"{node.node_id}@{at.peer_host}:{at.port}")
    listeners = f"{name}://{own.host}:{own.port}"
    advertised = {} if is_controller else _advertised(own, name)
    secure: Mapping[str, str] = {}
    if site.options.has_security:
        secure = security_entries(site, name, has_tls=has_tls(settings))
        if not is_controller:
            listeners = listeners_of(site, listeners)
            advertised = {key: advertised_of(site, value) for key, value in advertised.items()}
    entries = {
        "process.roles": "controller" if is_controller else "broker",
        "node.id": str(site.node.node_id),
        "controller.quorum.voters": ",".join(voters),
        "listeners": listeners,
        "controller.listener.names": CONTROLLER_LISTENER,
        "log.dirs": str(site.directory / "data"),
        "auto.create.topics.enable": "false",  # the checks know each creation
        "trace.file": str(site.directory / "trace.jsonl"),
        **advertised,
        **{key: value for key, value in settings.items() if key != PROTOCOL_KEY},
        **security_settings(settings, name),
        **secure,
        **({} if certificates is None else certificates.entries(site)),
    }
    return "".join(f"{key}={value}\n" for key, value in entries.items())


def _advertised(own: Address, name: str) -> dict[str, str]:
    """Return the address by which others reach a broker, if they use another number."""
    peer = own.as_peer
    if peer.host == own.host:
        return {}
    return {"advertised.listeners": f"{name}://{peer.host}:{peer.port}"}
