"""Refuse wrong values of TLS and of logins; each refusal names the key, and no secret."""

from pathlib import Path
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, named, refused
from kraftproof.cluster.simulated.differential.properties.drawn_logins import (
    jaas_key,
    module_of,
)
from kraftproof.cluster.simulated.differential.properties.drawn_node import DrawnNode
from kraftproof.cluster.simulated.differential.properties.drawn_tls import CHAINS, KEYS, put
from kraftproof.cluster.simulated.differential.properties.layered_values import own_key
from kraftproof.cluster.simulated.differential.properties.written_file import written
from kraftproof.node.properties.config import parse_server_properties
from kraftproof.node.properties.keys import ConfigError

SECRET: Final = "hunter2"  # noqa: S105 - looked for in refusals
MAP: Final = "listener.security.protocol.map"
Change = tuple[dict[str, str | None], str, tuple[str, ...]]
"""Changed keys, the key that the refusal names, what follows the key, and further words."""


def refuse_logins(random: Random, node: DrawnNode) -> None:
    """Refuse a wrong value of a listener with SASL.

    Raises:
        DifferenceError: a value is taken, or the refusal names another key or a secret.
    """
    name = "PLAINTEXT" if node.is_broker else "CONTROLLER"
    mechanism = random.choice(("PLAIN", "SCRAM-SHA-256"))
    line, module = jaas_key(mechanism), module_of(mechanism)
    purpose = "inter.broker" if node.is_broker else "controller"
    own = f"sasl.mechanism.{purpose}.protocol"
    right: dict[str, str] = {
        "sasl.enabled.mechanisms": mechanism,
        own: mechanism,
        line: f'{module} required username=a password={SECRET} user_a="{SECRET}";',
    }
    other = f"Other required username=a password={SECRET};"
    changes: tuple[Change, ...] = (
        ({"sasl.enabled.mechanisms": None}, "sasl.enabled.mechanisms", ("=GSSAPI:",)),
        ({"sasl.enabled.mechanisms": "PLAIN,X"}, "sasl.enabled.mechanisms", ("=X:", "SHA-512")),
        ({"sasl.enabled.mechanisms": "plain"}, "sasl.enabled.mechanisms", ("=plain:",)),
        ({own: None}, own, ("=GSSAPI:", "PLAIN")),
        ({own: "scram"}, own, ("=scram:", "PLAIN")),
        ({line: None}, line, (": is missing", module)),
        ({line: other}, line, (":", "Other", module)),
        ({line: f"{module} required password={SECRET};"}, line, (":", "username")),
        ({line: f"{module} required username=a;"}, line, (":", "password")),
        ({line: f'{module} required username="" password={SECRET};'}, line, (":", "username")),
        ({line: f"{module} required password={SECRET}"}, line, (":", "JAAS")),
        ({"sasl.server.max.receive.size": "63"}, "sasl.server.max.receive.size", ("=63:", "64")),
        ({"sasl.server.max.receive.size": "x"}, "sasl.server.max.receive.size", ("=x:", "64")),
        ({"connections.max.reauth.ms": "-1"}, "connections.max.reauth.ms", ("=-1:", "0")),
    )
    _refuse(random, node, (name, "SASL_PLAINTEXT"), right, random.choice(changes))


def refuse_tls(random: Random, node: DrawnNode, folder: Path) -> None:
    """Refuse a wrong value of a listener with TLS.

    Raises:
        DifferenceError: a value is taken, or the refusal names another key.
    """
    name = "PLAINTEXT" if node.is_broker else "CONTROLLER"
    key, chain, kind = "ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.keystore.type"
    store, trusted, trusted_kind = (
        *("ssl.keystore.location", "ssl.truststore.location"),
        "ssl.truststore.type",
    )
    right = {key: KEYS[0], chain: CHAINS[0], kind: "PEM", trusted_kind: "PEM"}
    gone: dict[str, str | None] = {key: None, chain: None}
    no_key, no_chain = put(folder, CHAINS[0]), put(folder, KEYS[0])
    no_text, missing = put(folder, b"\xff\xfe"), str(folder / "none")
    changes: tuple[Change, ...] = (
        (gone, store, (": is missing",)),
        ({chain: None}, chain, (": is missing",)),
        ({key: None}, key, (": is missing",)),
        ({kind: None}, kind, ("=JKS:", "PEM")),
        ({kind: "PKCS12"}, kind, ("=PKCS12:", "PEM")),
        ({**gone, store: no_key}, store, (f"={no_key}:", "private key")),
        ({**gone, store: no_chain}, store, (f"={no_chain}:", "certificate")),
        ({**gone, store: no_text}, store, (f"={no_text}:", "PEM")),
        ({**gone, store: missing}, store, (f"={missing}:", "No such file")),
        ({**gone, store: no_key, kind: None}, kind, ("=JKS:",)),
        ({trusted: no_chain}, trusted, (f"={no_chain}:", "certificate")),
        ({trusted: missing}, trusted, (f"={missing}:", "No such file")),
        ({trusted: no_key, trusted_kind: "JKS"}, trusted_kind, ("=JKS:",)),
        (
            {"ssl.truststore.certificates": CHAINS[0], trusted_kind: None},
            trusted_kind,
            ("=JKS:",),
        ),
        ({"ssl.client.auth": "required"}, trusted, (": is missing",)),
        ({"ssl.client.auth": "requested"}, trusted, (": is missing",)),
        ({"ssl.client.auth": "maybe"}, "ssl.client.auth", ("=maybe:", "requested")),
        ({"ssl.enabled.protocols": "TLSv1.1"}, "ssl.enabled.protocols", ("=TLSv1.1:", "TLSv1.2")),
        ({"ssl.enabled.protocols": "TLSv1.3,"}, "ssl.enabled.protocols", ("=TLSv1.3,:",)),
        (
            {"ssl.endpoint.identification.algorithm": "http"},
            "ssl.endpoint.identification.algorithm",
            ("=http:", "https"),
        ),
        ({"ssl.principal.mapping.rules": "X"}, "ssl.principal.mapping.rules", ("=X:", "RULE")),
    )
    _refuse(random, node, (name, "SSL"), right, random.choice(changes))


def _refuse(
    random: Random, node: DrawnNode, listener: tuple[str, str], right: dict[str, str], one: Change
) -> None:
    """Refuse changed values of a listener, with or without the prefix of the listener."""
    name, protocol = listener
    changes, key, words = one
    pairs = {**node.pairs}
    protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", name: protocol}
    pairs[MAP] = ",".join(f"{name}:{one}" for name, one in protocols.items())
    is_own = random.random() < 0.5
    for changed, value in (right | changes).items():
        if value is not None:
            is_of_node = changed.startswith("sasl.mechanism.")
            pairs[own_key(name, changed) if is_own and not is_of_node else changed] = value
    text = refused(f"{changes}", ConfigError, parse_server_properties, written(random, pairs))
    is_given = changes.get(key, right.get(key)) is not None
    # A missing line of JAAS is named with the prefix, since Kafka takes no line without one.
    has_prefix = is_own if is_given else key.endswith("jaas.config")
    is_of_node = key.startswith("sasl.mechanism.")
    shown = own_key(name, key) if has_prefix and not is_of_node else key
    named(f"the refusal of {changes}", text, f"{shown}{words[0]}", *words[1:])
    check("a refusal shows no secret", SECRET not in text and "AAAA" not in text)
