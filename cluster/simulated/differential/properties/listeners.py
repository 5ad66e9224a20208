"""Compare listeners: bound and advertised addresses, protocols, and the listener between brokers.

By KIP-631 the names of controller.listener.names determine the purpose of a listener, and by
KIP-103 listener.security.protocol.map its protocol; a name that is a protocol needs no entry.
"""

from random import Random
from typing import Final, NamedTuple

from kraftproof.cluster.simulated.differential.properties.drawn_node import DrawnNode, draw_node
from kraftproof.cluster.simulated.differential.properties.expected import (
    compare_fields,
    compare_refusal,
)
from kraftproof.node.core.base.config import Endpoint
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.properties.listeners import Binding

CLIENT_NAMES: Final = ("PLAINTEXT", "CLIENT", "internal", "A-1")
CONTROLLER_NAMES: Final = ("CONTROLLER", "QUORUM")
HOSTS: Final = (("host-1", "host-1"), ("10.0.0.1", "10.0.0.1"), ("[::1]", "::1"), ("h", "h"))
"""Hosts in the text of an address, and their values."""
EVERY: Final = (("", ""), ("0.0.0.0", "0.0.0.0"), ("[::]", "::"))  # noqa: S104 - as text only
"""The addresses that a listener may bind, and nobody can reach."""
REFUSED: Final = 3
"""Number of refused files in a draw."""
MAP: Final = "listener.security.protocol.map"
BETWEEN: Final = "inter.broker.listener.name"
BY_PROTOCOL: Final = "security.inter.broker.protocol"
NO_ADDRESSES: Final = (
    *("X://host-1", "X://host-1:", "X://host-1:0", "X://host-1:65536", "X://host-1:x"),
    *("://host-1:9", "X:host-1:9", "host-1:9", "X//host-1:9", "X://host-1:-1"),
)


class _Listener(NamedTuple):
    name: str
    bound: tuple[str, str]
    advertised: tuple[str, str] | None
    port: int
    is_controller: bool

    @property
    def text(self) -> str:
        return f"{self.name}://{self.bound[0]}:{self.port}"

    @property
    def advertised_text(self) -> str:
        host = self.advertised[0] if self.advertised else ""
        return f"{self.name}://{host}:{self.port + 1}"

    @property
    def endpoint(self) -> Endpoint:
        given = self.advertised
        return Endpoint(
            name=self.name,
            host=(given or self.bound)[1],
            port=self.port + 1 if given else self.port,
            is_controller=self.is_controller,
        )

    @property
    def binding(self) -> Binding:
        return Binding(
            name=self.name, host=self.bound[1], port=self.port, is_controller=self.is_controller
        )


def compare_configured_listeners(random: Random) -> None:
    """Read listeners in many forms, and then a contradiction that is refused.

    Raises:
        DifferenceError: a field has another value, or listeners are taken or refused wrongly.
    """
    node = draw_node(random)
    named = random.sample(CONTROLLER_NAMES, random.randint(1, 2))
    listeners = _draw_listeners(random, node, named)
    pairs, fields = {**node.pairs}, {**node.fields}
    comma = random.choice((",", " , ", ",,"))
    pairs["listeners"] = comma.join(one.text for one in listeners)
    pairs["controller.listener.names"] = comma.join(named)
    advertised = [one.advertised_text for one in listeners if one.advertised]
    random.shuffle(advertised)
    if advertised or random.random() < 0.3:
        pairs["advertised.listeners"] = comma.join(advertised)
    if random.random() < 0.5:
        every = dict.fromkeys((*named, *(one.name for one in listeners)), "PLAINTEXT")
        if len(named) > 1 and not node.is_controller:
            # The first name alone determines how a broker connects to controllers.
            every[named[1]] = "SSL"
        entries = [f"{name}:{protocol}" for name, protocol in every.items()]
        entries += random.choice(([], ["SASL_SSL:SASL_SSL"], ["OTHER:SSL"]))
        random.shuffle(entries)
        pairs[MAP] = random.choice((",", " , ")).join(entries)
    fields["node.endpoints"] = tuple(one.endpoint for one in listeners)
    fields["bindings"] = tuple(one.binding for one in listeners)
    fields["inter_broker_listener"] = _draw_between(random, listeners, pairs)
    compare_fields(random, pairs, fields)
    for _ in range(REFUSED):
        _refuse(random, node)


def _draw_listeners(random: Random, node: DrawnNode, named: list[str]) -> list[_Listener]:
    """Draw listeners for the roles of a node; a controller binds each of its names."""
    names = random.sample(CLIENT_NAMES, random.randint(1, 3)) if node.is_broker else []
    names += named if node.is_controller else []
    random.shuffle(names)
    return [
        _Listener(
            name=name,
            bound=(bound := random.choice((*HOSTS, *EVERY))),
            advertised=(random.choice(HOSTS) if bound in EVERY or random.random() < 0.4 else None),
            port=random.choice((1, 9092, 65_534)),
            is_controller=name in named,
        )
        for name in names
    ]


def _draw_between(random: Random, listeners: list[_Listener], pairs: dict[str, str]) -> str:
    """Draw the key for the listener between brokers; return the listener's name."""
    of_clients = [one.name for one in listeners if not one.is_controller]
    if not of_clients:
        return ""
    match random.randrange(4):
        case 0:
            pairs[BETWEEN] = random.choice(of_clients)
            return pairs[BETWEEN]
        case 1:
            pairs[BY_PROTOCOL] = SecurityProtocol.PLAINTEXT.name
        case 2:
            pairs[BETWEEN] = pairs[BY_PROTOCOL] = ""
        case _:
            pass
    return of_clients[0]


def _refuse(random: Random, node: DrawnNode) -> None:
    pairs = {**node.pairs}
    if random.random() < 0.4:
        key = random.choice(("listeners", "advertised.listeners"))
        wrong = random.choice(NO_ADDRESSES)
        pairs[key] = random.choice((wrong, f"PLAINTEXT://h:1,{wrong}", f"{wrong},PLAINTEXT://h:1"))
        address = wrong.partition("://")[2] if wrong.startswith("X://") else wrong
        compare_refusal(random, pairs, f"{key}={pairs[key]}:", repr(address))
        return
    changes, *causes = random.choice(_contradictions(node))
    compare_refusal(random, pairs | changes, *causes)


def _contradictions(node: DrawnNode) -> list[tuple[dict[str, str], *tuple[str, ...]]]:
    """Return changes that contradict the other keys of a node, each with what is named."""
    own = node.pairs["listeners"]
    a_listener = "PLAINTEXT" if node.is_broker else "CONTROLLER"
    twice = f"{a_listener}://h:1,{a_listener}://h:2"
    found: list[tuple[dict[str, str], *tuple[str, ...]]] = [
        ({"listeners": twice}, f"listeners={twice}: {a_listener} is named twice"),
        ({"advertised.listeners": twice}, f"advertised.listeners={twice}: {a_listener}", "twice"),
        ({"advertised.listeners": "O://h:1"}, "advertised.listeners=O://h:1: O", "listeners"),
        ({MAP: "x"}, f"{MAP}=x: 'x' is not NAME:PROTOCOL"),
        ({MAP: f"{a_listener}:HTTP"}, f"{MAP}={a_listener}:HTTP: {a_listener}", "HTTP", "SASL_SSL"),
        ({MAP: "PLAINTEXT:PLAINTEXT"}, f"{MAP}=PLAINTEXT:PLAINTEXT:", "CONTROLLER:PLAINTEXT"),
    ]
    found += [
        (
            {"listeners": ",".join(f"{one.name}://{host}:9" for one in _endpoints(node))},
            f"listeners: {_endpoints(node)[0].name}",
            "advertised.listeners",
        )
        for host, _ in EVERY
    ]
    if node.is_broker:
        found += [
            ({BETWEEN: "X"}, f"{BETWEEN}=X:", own),
            ({BETWEEN: "plaintext"}, f"{BETWEEN}=plaintext:", own),
            ({BY_PROTOCOL: "SSL"}, f"{BY_PROTOCOL}=SSL: no listener"),
            ({BY_PROTOCOL: "PLAINTEXT", BETWEEN: "PLAINTEXT"}, f"{BY_PROTOCOL}=", f"{BETWEEN}="),
        ]
    if node.is_controller:
        names = "controller.listener.names"
        found.append(({names: "CONTROLLER,MORE"}, f"{names}=CONTROLLER,MORE: MORE", own))
    return found + _wrong_roles(node)


def _wrong_roles(node: DrawnNode) -> list[tuple[dict[str, str], *tuple[str, ...]]]:
    """Return listeners that do not fit the roles of a node."""
    both = "PLAINTEXT://h:1,CONTROLLER://h:2"
    if node.is_broker and node.is_controller:
        only = "CONTROLLER://h:1"
        return [({"listeners": only}, f"listeners={only}: a broker needs a listener")]
    if node.is_broker:
        return [({"listeners": both}, f"listeners={both}: a broker must not bind a controller")]
    return [({"listeners": both}, f"listeners={both}: a controller binds only", "CONTROLLER")]


def _endpoints(node: DrawnNode) -> tuple[Endpoint, ...]:
    found = node.fields["node.endpoints"]
    assert isinstance(found, tuple)
    return found
