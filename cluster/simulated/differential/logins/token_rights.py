"""Compare who may ask about delegation tokens and change them, and the keys of passwords.

Clients without a login, clients of PLAINTEXT and clients that logged in with a token may not
ask. A token belongs to its owner and its renewers, by type and name of the principal (KIP-48).
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.logins.drawn_accounts import SALTS, USERS
from kraftproof.cluster.simulated.differential.logins.scram_reference import (
    NUMBERS,
    keys_of_password,
    token_password,
)
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, WallClock
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.security import credentials, scram, tokens
from kraftproof.node.wire.messages import describe_delegation_token_request
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records import metadata as records

TYPES: Final = ("User", "Group")
NAMES: Final = (*USERS[:3], "ANONYMOUS", "a:b")
IDS: Final = ("t-3", "t-1", "t-2", "t-0")
SECRETS: Final = ("key", "other key")
PASSWORDS: Final = ("secret", "päss")
NOW_MS: Final = 1_700_000_000_000


def compare_token_rights(random: Random) -> None:
    """Compare the rights of drawn clients, the tokens of an image, and keys of passwords.

    Raises:
        DifferenceError: a client has another right, or a token or a key is another.
    """
    for _ in range(4):
        _compare_asking(random)
    _compare_tokens(random)
    mechanism, password = random.choice(tuple(NUMBERS)), random.choice(PASSWORDS)
    salt, iterations = random.choice(SALTS), random.choice((1, 2, 5, 4096))
    found = scram.password_keys(NUMBERS[mechanism], password, salt, iterations)
    keys = keys_of_password(mechanism, password, salt, iterations)
    expected = (salt, keys.stored_key, keys.server_key, iterations)
    shown = (found.salt, found.stored_key, found.server_key, found.iterations)
    same(f"the keys of a password with {mechanism}", shown, expected)
    for number in range(-1, 5):
        known = number in NUMBERS.values()
        same(f"mechanism {number} is known", scram.is_known_number(number), known)


def _compare_asking(random: Random) -> None:
    protocol = random.choice(tuple(SecurityProtocol))
    principal = Principal(
        type=random.choice((TYPES[0], *TYPES)),
        name=random.choice(NAMES),
        token_authenticated=random.random() < 0.3,
    )
    event = Received(
        request=0,
        on_controller_listener=False,
        client_host="",
        message=describe_delegation_token_request.DescribeDelegationTokenRequest(),
        version=3,
        principal=principal,
        security_protocol=protocol,
    )
    is_known = (principal.type, principal.name) != ("User", "ANONYMOUS")
    allowed = {"PLAINTEXT": False, "SSL": is_known}.get(protocol.name, True)
    expected = allowed and not principal.token_authenticated
    same(f"{principal} over {protocol.name} asks", tokens.may_ask_about_tokens(event), expected)


def _compare_tokens(random: Random) -> None:
    written = [
        records.DelegationTokenRecord(
            owner=_drawn(random),
            renewers=tuple(_drawn(random) for _ in range(random.randrange(3))),
            max_timestamp=NOW_MS + random.choice((-1, 0, 1, 5)),
            expiration_timestamp=NOW_MS + random.choice((-1, 0, 1, 5)),
            token_id=token_id,
        )
        for token_id in random.sample(IDS, random.randrange(len(IDS) + 1))
    ]
    image = apply_all(EMPTY_IMAGE, tuple(written))
    by_id = {token.token_id: token for token in written}
    shown = [token.token_id for token in credentials.delegation_tokens(image)]
    same("the tokens of an image", shown, sorted(by_id))
    secret = random.choice(SECRETS)
    for token_id in IDS:
        hmac = token_password(random.choice((secret, secret, "wrong")), token_id)
        right = hmac == token_password(secret, token_id)
        same(
            "the password of a token", scram.token_password(Secret(secret), token_id) == hmac, right
        )
        data = scram.token_hmac(Secret(secret), token_id) if right else b"wrong"
        found = tokens.token_with_hmac(image, Secret(secret), data)
        expected = by_id.get(token_id) if right else None
        same("the token with an HMAC", found, expected)
        same("the token with an id", credentials.token_named(image, token_id), by_id.get(token_id))
    for token in written:
        text = _drawn(random)
        kind, _, name = text.partition(":")
        owns = text in (token.owner, *token.renewers)
        same("a change", tokens.owns_or_renews(token, Principal(type=kind, name=name)), owns)
        now = WallClock(NOW_MS * NANOSECONDS_PER_MS + random.choice((0, 999_999)))
        ends_ms = min(token.max_timestamp, token.expiration_timestamp)
        same("an expired token", credentials.is_expired(token, now), ends_ms < NOW_MS)
    _compare_names(random)


def _compare_names(random: Random) -> None:
    """Compare principals of texts, and those that a request may name."""
    text = random.choice(("User:alice", "Group:a:b", "User:", ":alice", "alice", "", ":"))
    kind, colon, name = text.partition(":")
    expected = Principal(type=kind, name=name) if kind and colon and name else None
    same(f"the principal of {text!r}", credentials.parse_principal(text), expected)
    if expected is not None:
        same("the text of a principal", credentials.format_principal(expected), text)
    default = Principal(type="User", name="asking")
    kind_or = random.choice((None, "", "User", "Group"))
    name_or = random.choice((None, "", "bob"))
    named = Principal(type=kind_or or "User", name=name_or) if name_or else default
    same("the principal of a request", tokens.principal_or(kind_or, name_or, default), named)


def _drawn(random: Random) -> str:
    return f"{random.choice((TYPES[0], *TYPES))}:{random.choice(NAMES)}"
