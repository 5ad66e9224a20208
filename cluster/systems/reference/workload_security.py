"""The security of the nodes in a run about security: server.properties, and the values in them."""

from collections.abc import Mapping
from typing import Final

from kraftproof.cluster.systems.deployment import Site
from kraftproof.cluster.systems.kafka.connection import SASL_PORT
from kraftproof.cluster.systems.reference.certificates import SUBJECT

MECHANISM: Final = "SCRAM-SHA-256"
TOKEN_SECRET: Final = "secret of a test cluster"  # noqa: S105 - of clusters that a run makes
TOKEN_LIFETIME_MS: Final = 40_000
"""The longest life of a token, so that tokens end within a run."""
TOKEN_EXPIRY_MS: Final = 8_000
TOKEN_SWEEP_MS: Final = 5_000
LISTENER: Final = "SASL"
SUPER_USER: Final = "User:ANONYMOUS"
"""Nodes and administrators, which do not log in; with TLS their certificates name the user."""


def security_entries(site: Site, listener: str, *, has_tls: bool) -> Mapping[str, str]:
    """Return the entries of a node, besides its listeners and its certificates."""
    plain, login = ("SSL", "SASL_SSL") if has_tls else ("PLAINTEXT", "SASL_PLAINTEXT")
    protocols = dict.fromkeys((listener, "CONTROLLER"), plain)
    is_controller = site.node.has("controller")
    if not is_controller:
        protocols[LISTENER] = login
    entries = {
        "listener.security.protocol.map": ",".join(
            f"{name}:{protocol}" for name, protocol in protocols.items()
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{SUBJECT}" if has_tls else SUPER_USER,
        "delegation.token.secret.key": TOKEN_SECRET,
        "delegation.token.max.lifetime.ms": str(TOKEN_LIFETIME_MS),
        "delegation.token.expiry.time.ms": str(TOKEN_EXPIRY_MS),
        "delegation.token.expiry.check.interval.ms": str(TOKEN_SWEEP_MS),
    }
    if is_controller:
        return entries
    return entries | {
        "inter.broker.listener.name": listener,
        "sasl.enabled.mechanisms": MECHANISM,
    }


def listeners_of(site: Site, plain: str) -> str:
    """Return the listeners of a broker, with the listener for logins."""
    own = site.address(SASL_PORT)
    return f"{plain},{LISTENER}://{own.host}:{own.port}"


def advertised_of(site: Site, plain: str) -> str:
    """Return the advertised listeners of a broker, with the listener for logins."""
    peer = site.address(SASL_PORT).as_peer
    return f"{plain},{LISTENER}://{peer.host}:{peer.port}"
