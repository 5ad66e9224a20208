"""Read SCRAM credentials and delegation tokens from an image (KIP-554, KIP-48).

An image keeps each credential and each token as its last record; see kept_records.py.
"""

from collections.abc import Iterator
from typing import Final

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, WallClock
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import DelegationTokenRecord, UserScramCredentialRecord

_USER: Final = "User"


def scram_credential(
    image: MetadataImage, user: str, mechanism: int
) -> UserScramCredentialRecord | None:
    """Return the credential of a user for the number of a mechanism."""
    kept = image.others.get(("scram", user, mechanism))
    return kept if isinstance(kept, UserScramCredentialRecord) else None


def scram_credentials(image: MetadataImage) -> Iterator[UserScramCredentialRecord]:
    """Yield all credentials in the order of users and mechanisms."""
    found = [kept for kept in image.others.values() if isinstance(kept, UserScramCredentialRecord)]
    yield from sorted(found, key=lambda kept: (kept.name, kept.mechanism))


def token_named(image: MetadataImage, token_id: str) -> DelegationTokenRecord | None:
    """Return the delegation token with the id."""
    kept = image.others.get(("token", token_id))
    return kept if isinstance(kept, DelegationTokenRecord) else None


def delegation_tokens(image: MetadataImage) -> Iterator[DelegationTokenRecord]:
    """Yield all delegation tokens in the order of their ids."""
    found = [kept for kept in image.others.values() if isinstance(kept, DelegationTokenRecord)]
    yield from sorted(found, key=lambda kept: kept.token_id)


def is_expired(token: DelegationTokenRecord, now: WallClock) -> bool:
    """Return whether a token has expired, or has reached its maximum lifetime."""
    now_ms = now // NANOSECONDS_PER_MS
    return now_ms > min(token.expiration_timestamp, token.max_timestamp)


def parse_principal(text: str) -> Principal | None:
    """Return the principal of `User:alice`; None without a type or a name."""
    kind, colon, name = text.partition(":")
    return Principal(type=kind, name=name) if colon and kind and name else None


def user_principal(name: str) -> Principal:
    """Return the principal of a user's name."""
    return Principal(type=_USER, name=name)


def format_principal(principal: Principal) -> str:
    """Return `User:alice`."""
    return f"{principal.type}:{principal.name}"
