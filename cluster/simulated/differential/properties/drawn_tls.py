"""Draw the TLS values of listeners, with stores in a value or in a file, and what follows."""

from pathlib import Path
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.mapping_rules import MappingRule
from kraftproof.node.properties.tls import ClientAuth, TlsConfig

KEYS: Final = tuple(
    f"-----BEGIN {kind}PRIVATE KEY-----\nAAAA\n-----END {kind}PRIVATE KEY-----"
    for kind in ("", "EC ", "ENCRYPTED ")
)
CHAINS: Final = tuple(
    "\n".join(f"-----BEGIN CERTIFICATE-----\n{one}\n-----END CERTIFICATE-----" for one in parts)
    for parts in (("AAAA",), ("BBBB", "CCCC"))
)
VERSIONS: Final = (
    ("TLSv1.2", ("TLSv1.2",)),
    ("TLSv1.3", ("TLSv1.3",)),
    ("TLSv1.3 , TLSv1.2", ("TLSv1.3", "TLSv1.2")),
)
RULES: Final = (
    ("DEFAULT", (MappingRule(),)),
    ("", (MappingRule(),)),
    (
        r"RULE:^CN=(\w+)\..*$/$1/L, DEFAULT",
        (MappingRule(r"^CN=(\w+)\..*$", "$1", "L"), MappingRule()),
    ),
    ("RULE:^O=.*$/x/", (MappingRule("^O=.*$", "x", ""),)),
)


class DrawnTls(Struct, frozen=True, kw_only=True):
    """The values of a listener with TLS."""

    values: dict[str, str]
    config: TlsConfig


def draw_tls(random: Random, folder: Path, *, needs_key: bool) -> DrawnTls:
    """Draw the stores and rules of a listener; files are in a folder."""
    values: dict[str, str] = {}
    key_and_chain = None
    if needs_key or random.random() < 0.5:
        key_and_chain = _draw_key(random, folder, values)
    trusted = _draw_trusted(random, folder, values) if random.random() < 0.7 else None
    password = random.choice((None, "word", "p w"))
    if password is not None:
        values["ssl.key.password"] = password
    algorithm = random.choice((None, "https", "HTTPS", ""))
    if algorithm is not None:
        values["ssl.endpoint.identification.algorithm"] = algorithm
    auth = ClientAuth.NONE if trusted is None else random.choice([*ClientAuth])
    if auth is not ClientAuth.NONE or random.random() < 0.3:
        values["ssl.client.auth"] = auth.value
    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    if random.random() < 0.5:
        values["ssl.enabled.protocols"], versions = random.choice(VERSIONS)
    rules: tuple[MappingRule, ...] = (MappingRule(),)
    if random.random() < 0.5:
        values["ssl.principal.mapping.rules"], rules = random.choice(RULES)
    return DrawnTls(
        values=values,
        config=TlsConfig(
            key_and_chain=None if key_and_chain is None else Secret(key_and_chain),
            key_password=None if password is None else Secret(password),
            trusted=trusted,
            client_auth=auth,
            mapping_rules=rules,
            checks_host=algorithm != "",
            versions=versions,
        ),
    )


def _draw_key(random: Random, folder: Path, values: dict[str, str]) -> str:
    key, chain = random.choice(KEYS), random.choice(CHAINS)
    values["ssl.keystore.type"] = "PEM"
    if random.random() < 0.5:
        values["ssl.keystore.key"] = _one_value(random, key)
        values["ssl.keystore.certificate.chain"] = _one_value(random, chain)
        return f"{key}\n{chain}\n"
    text = random.choice((f"{key}\n{chain}\n", f"{chain}\n{key}"))
    values["ssl.keystore.location"] = put(folder, text)
    return text


def _draw_trusted(random: Random, folder: Path, values: dict[str, str]) -> str:
    chain = random.choice(CHAINS)
    values["ssl.truststore.type"] = "PEM"
    if random.random() < 0.5:
        values["ssl.truststore.certificates"] = _one_value(random, chain)
        return chain
    values["ssl.truststore.location"] = put(folder, chain)
    return chain


def _one_value(random: Random, text: str) -> str:
    """Return PEM text with its line ends, or with a backslash and an n for each."""
    return text.replace("\n", "\\n") if random.random() < 0.5 else text


def put(folder: Path, text: str | bytes) -> str:
    """Write a new file; return the path."""
    path = folder / f"{len([*folder.iterdir()])}.pem"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)
