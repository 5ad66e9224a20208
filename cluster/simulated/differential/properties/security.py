"""Compare the security of listeners and of connections to other nodes (KIP-103, KIP-631)."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.properties.drawn_logins import (
    MECHANISMS,
    DrawnLogins,
    draw_logins,
)
from kraftproof.cluster.simulated.differential.properties.drawn_node import DrawnNode, draw_node
from kraftproof.cluster.simulated.differential.properties.drawn_tls import DrawnTls, draw_tls
from kraftproof.cluster.simulated.differential.properties.expected import compare_fields
from kraftproof.cluster.simulated.differential.properties.layered_values import Values, layered
from kraftproof.cluster.simulated.differential.properties.security_refusals import (
    refuse_logins,
    refuse_tls,
)
from kraftproof.node.core.base.config import Endpoint
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.properties.listener_security import ListenerSecurity, PeerSecurity
from kraftproof.node.properties.listeners import Binding

REFUSED: Final = 3
"""Number of refused files of each kind in a draw."""
TLS: Final = frozenset({SecurityProtocol.SSL, SecurityProtocol.SASL_SSL})
SASL: Final = frozenset({SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL})
PURPOSES: Final = {"PLAINTEXT": "inter.broker", "CONTROLLER": "controller"}
"""For each listener the part of the key that chooses the mechanism of the node's own login."""


def compare_security(random: Random) -> None:
    """Read listeners with TLS and logins, and then values that are refused.

    Raises:
        DifferenceError: a field has another value, or a value is taken or refused wrongly.
    """
    with TemporaryDirectory(prefix="kraftproof-") as folder:
        node = draw_node(random)
        _Secured(random, node, Path(folder)).compare()
        for _ in range(REFUSED):
            refuse_logins(random, node)
            refuse_tls(random, node, Path(folder))


class _Secured:
    """A node whose listeners have protocols, and the values of each."""

    def __init__(self, random: Random, node: DrawnNode, folder: Path) -> None:
        self.random, self.node = random, node
        self.bound = ("PLAINTEXT",) * node.is_broker + ("CONTROLLER",) * node.is_controller
        every = dict.fromkeys((*self.bound, "CONTROLLER"))
        self.protocols = {name: random.choice([*SecurityProtocol]) for name in every}
        self.secret = random.choice((None, "the secret"))
        self.logins: dict[str, DrawnLogins] = {}
        self.tls: dict[str, DrawnTls] = {}
        for name, protocol in self.protocols.items():
            if protocol in SASL:
                self.logins[name] = draw_logins(random, self.secret)
            if protocol in TLS:
                self.tls[name] = draw_tls(random, folder, needs_key=name in self.bound)
        self.mechanisms = {name: random.choice(MECHANISMS) for name in self.logins}

    def compare(self) -> None:
        """Compare the security of each listener, and of connections to other nodes."""
        node, fields = self.node, {**self.node.fields}
        fields["bindings"] = tuple(self._binding(one) for one in _tuple(node, "bindings"))
        fields["node.endpoints"] = tuple(
            self._endpoint(one) for one in _tuple(node, "node.endpoints")
        )
        fields["controller_peers"] = self._peers("CONTROLLER")
        if node.is_broker:
            fields["broker_peers"] = self._peers("PLAINTEXT")
        if self.secret is not None:
            fields["node.tokens.secret"] = Secret(self.secret)
        compare_fields(self.random, self._pairs(), fields)

    def _pairs(self) -> dict[str, str]:
        random = self.random
        pairs = {**self.node.pairs}
        pairs["listener.security.protocol.map"] = ",".join(
            f"{name}:{protocol.name}" for name, protocol in self.protocols.items()
        )
        if self.secret is not None:
            pairs["delegation.token.secret.key"] = self.secret
        for name, mechanism in self.mechanisms.items():
            pairs[f"sasl.mechanism.{PURPOSES[name]}.protocol"] = mechanism
        logins: dict[str, Values] = {name: one.values for name, one in self.logins.items()}
        tls: dict[str, Values] = {name: one.values for name, one in self.tls.items()}
        every = [*(pairs | layered(random, logins) | layered(random, tls)).items()]
        random.shuffle(every)
        return dict(every)

    def _binding(self, binding: object) -> Binding:
        assert isinstance(binding, Binding)
        name = binding.name
        security = ListenerSecurity(
            protocol=self.protocols[name],
            tls=self.tls[name].config if name in self.tls else None,
            login=self.logins[name].policy if name in self.logins else None,
        )
        return replace(binding, security=security)

    def _endpoint(self, endpoint: object) -> Endpoint:
        assert isinstance(endpoint, Endpoint)
        return replace(endpoint, security_protocol=self.protocols[endpoint.name])

    def _peers(self, name: str) -> PeerSecurity:
        return PeerSecurity(
            protocol=self.protocols[name],
            tls=self.tls[name].config if name in self.tls else None,
            login=self.logins[name].logins[self.mechanisms[name]] if name in self.logins else None,
        )


def _tuple(node: DrawnNode, path: str) -> tuple[object, ...]:
    found = node.fields[path]
    assert isinstance(found, tuple)
    return found
