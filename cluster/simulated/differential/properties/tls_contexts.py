"""Compare TLS contexts by handshakes in memory: who is trusted, which versions, whose names."""

import ssl
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.cluster.simulated.differential.properties.sample_keys import (
    CERTIFICATE_A,
    CERTIFICATE_B,
    ENCRYPTED_KEY_A,
    HOST_A,
    HOST_B,
    KEY_A,
    KEY_B,
    PASSWORD,
)
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.mapping_rules import DEFAULT_RULES
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.properties.tls import ClientAuth, TlsConfig
from kraftproof.node.properties.tls_contexts import client_context, server_context

BOTH: Final = ("TLSv1.2", "TLSv1.3")
VERSIONS: Final = (BOTH, BOTH[::-1], BOTH[:1], BOTH[1:])
STORE_A: Final = KEY_A + CERTIFICATE_A
STORES: Final = (
    (STORE_A, None),
    (STORE_A, PASSWORD),
    (ENCRYPTED_KEY_A + CERTIFICATE_A, PASSWORD),
)
"""Stores of A with the passwords of their keys; a key without encryption needs none."""
WRONG_STORES: Final = (
    (KEY_A + CERTIFICATE_B, None),
    (ENCRYPTED_KEY_A + CERTIFICATE_A, None),
    (ENCRYPTED_KEY_A + CERTIFICATE_A, "another"),
    ("no PEM", None),
)
MOST_TURNS: Final = 6


def compare_tls_contexts(random: Random) -> None:
    """Compare what a server and a client agree on, and then a store that is refused.

    Raises:
        DifferenceError: a handshake ends otherwise, or a store is taken or refused wrongly.
    """
    server = _config(
        random.choice(STORES),
        trusted=random.choice((CERTIFICATE_A, CERTIFICATE_B)),
        auth=random.choice([*ClientAuth]),
        versions=random.choice(VERSIONS),
    )
    own = random.choice((None, CERTIFICATE_A, CERTIFICATE_B))
    stores = {None: None, CERTIFICATE_A: STORE_A, CERTIFICATE_B: KEY_B + CERTIFICATE_B}
    client = replace(
        _config(
            (stores[own], None),
            trusted=random.choice((*[CERTIFICATE_A] * 7, CERTIFICATE_B, CERTIFICATE_B, None)),
            auth=ClientAuth.NONE,
            versions=random.choice(VERSIONS),
        ),
        checks_host=random.random() < 0.7,
    )
    host = random.choice((HOST_A, HOST_A, HOST_B))
    _compare_handshake(server, client, own, host)
    _refuse(random, server)


def _config(
    store: tuple[str | None, str | None],
    *,
    trusted: str | None,
    auth: ClientAuth,
    versions: tuple[str, ...],
) -> TlsConfig:
    text, password = store
    return TlsConfig(
        key_and_chain=None if text is None else Secret(text),
        key_password=None if password is None else Secret(password),
        trusted=trusted,
        client_auth=auth,
        mapping_rules=DEFAULT_RULES,
        checks_host=True,
        versions=versions,
    )


def _compare_handshake(server: TlsConfig, client: TlsConfig, own: str | None, host: str) -> None:
    common = sorted({*server.versions} & {*client.versions})
    is_asked = server.client_auth is not ClientAuth.NONE
    is_shown = is_asked and own is not None
    succeeds = (
        bool(common)
        and client.trusted == CERTIFICATE_A
        and (not client.checks_host or host == HOST_A)
        and not (server.client_auth is ClientAuth.REQUIRED and own is None)
        and not (is_shown and own != server.trusted)
    )
    what = (
        f"a handshake of {server.client_auth}, {server.versions} with {client.versions} at {host}"
    )
    found = _handshake(server_context(server), client_context(client), host)
    same(what, found is not None, succeeds)
    if found is not None:
        same(f"the version of {what}", found.version(), common[-1])
        shown = found.getpeercert(binary_form=True)
        expected = ssl.PEM_cert_to_DER_cert(own) if own is not None and is_shown else None
        same(f"the certificate of the client in {what}", shown, expected)


def _handshake(server: ssl.SSLContext, client: ssl.SSLContext, host: str) -> ssl.SSLObject | None:
    """Return the server's end after a handshake; None after a refusal."""
    check("no renegotiation", server.options & ssl.OP_NO_RENEGOTIATION)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname=host),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    try:
        for _ in range(MOST_TURNS):
            waiting = [_is_waiting(end) for end in ends]
            if not any(waiting):
                # In TLS 1.3 a server refuses a client's certificate after the client's handshake.
                return ends[1]
    except ssl.SSLError:
        return None
    return None


def _is_waiting(end: ssl.SSLObject) -> bool:
    try:
        end.do_handshake()
    except ssl.SSLWantReadError:
        return True
    return False


def _refuse(random: Random, server: TlsConfig) -> None:
    make = random.choice((server_context, client_context))
    if random.random() < 0.3:
        wrong = replace(server, trusted=random.choice(("no PEM", CERTIFICATE_A[:200])))
        named("a wrong trust", refused("a wrong trust", ConfigError, make, wrong), "ssl.truststore")
        return
    text, password = random.choice(WRONG_STORES)
    wrong = _config(
        (text, password), trusted=CERTIFICATE_A, auth=server.client_auth, versions=server.versions
    )
    error = refused("a wrong store", ConfigError, make, wrong)
    named("a wrong store", error, "ssl.keystore", "ssl.key.password")
