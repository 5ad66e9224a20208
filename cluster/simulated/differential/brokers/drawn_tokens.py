"""Draw delegation tokens and credentials, and describe them as a broker should."""

import hmac
from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_delegation_token_response
from kraftproof.node.wire.records.metadata import DelegationTokenRecord, UserScramCredentialRecord

SECRET: Final = Secret("the key of tokens")
SPECIAL: Final = "User:ANONYMOUS"
IDS: Final = ("t-2", "t-1", "t-3")
REQUESTER_SINCE: Final = 3
Described = describe_delegation_token_response.DescribedDelegationToken
Scram = tuple[str, int, list[tuple[int, int]]]
"""A user, the error, and the mechanisms with their iterations."""


def drawn_tokens(random: Random, users: Sequence[str]) -> tuple[DelegationTokenRecord, ...]:
    """Return tokens with owners and renewers among the users."""
    return tuple(
        DelegationTokenRecord(
            owner=random.choice(users),
            requester=random.choice(("", *users)),
            renewers=tuple(random.sample(users, random.choice((0, 1, 2)))),
            issue_timestamp=random.randrange(100),
            max_timestamp=random.randrange(100, 200),
            expiration_timestamp=random.randrange(200, 300),
            token_id=token_id,
        )
        for token_id in random.sample(IDS, random.randint(0, len(IDS)))
    )


def drawn_credentials(random: Random) -> tuple[UserScramCredentialRecord, ...]:
    """Return credentials of two users."""
    return tuple(
        UserScramCredentialRecord(
            name=name,
            mechanism=mechanism,
            salt=b"salt",
            stored_key=b"key",
            server_key=b"other",
            iterations=random.choice((4096, 8192)),
        )
        for name in ("u2", "u1")
        for mechanism in (2, 1)
        if random.random() < 0.6
    )


def may_ask(event: Received) -> bool:
    """Return whether a connection may ask about tokens (KIP-48)."""
    name = f"{event.principal.type}:{event.principal.name}"
    match event.security_protocol.name:
        case "PLAINTEXT":
            return False
        case "SSL" if name == SPECIAL:
            return False
        case _:
            return not event.principal.token_authenticated


def shown_tokens(tokens: Sequence[DelegationTokenRecord], version: int) -> tuple[Described, ...]:
    """Return the descriptions of tokens, in the order of their ids."""
    return tuple(
        _shown(token, version) for token in sorted(tokens, key=lambda token: token.token_id)
    )


def _shown(token: DelegationTokenRecord, version: int) -> Described:
    requester = (token.requester or token.owner) if version >= REQUESTER_SINCE else ":"
    digest = hmac.digest(SECRET.value.encode(), token.token_id.encode(), "sha512")
    return Described(
        principal_type=token.owner.partition(":")[0],
        principal_name=token.owner.partition(":")[2],
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token.token_id,
        hmac=digest,
        renewers=tuple(
            describe_delegation_token_response.DescribedDelegationTokenRenewer(
                principal_type=one.partition(":")[0], principal_name=one.partition(":")[2]
            )
            for one in token.renewers
        ),
        token_requester_principal_type=requester.partition(":")[0],
        token_requester_principal_name=requester.partition(":")[2],
    )


def shown_scram(
    credentials: Sequence[UserScramCredentialRecord], names: Sequence[str]
) -> list[Scram]:
    """Return the credentials of the named users, or of all users in the order of names."""
    wanted = dict.fromkeys(names or sorted(one.name for one in credentials))
    found: list[Scram] = []
    for name in wanted:
        held = sorted((one.mechanism, one.iterations) for one in credentials if one.name == name)
        error = ErrorCode.NONE if held else ErrorCode.RESOURCE_NOT_FOUND
        if names.count(name) > 1:
            error, held = ErrorCode.DUPLICATE_RESOURCE, []
        found.append((name, int(error), held))
    return found
