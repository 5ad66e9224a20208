"""The invariant that each accepted login has a credential or a token that is valid now.

The broker decides with the image that it has published, and with its own wall clock, which faults
may bend. A token is valid up to its expiry and its maximum, whichever is earlier (KIP-48).
"""

from collections.abc import Sequence
from typing import Final

from kraftproof.node.core.base.types import Instant
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import DelegationTokenRecord, UserScramCredentialRecord

LOGINS_ARE_VALID: Final = (
    "A login is accepted with a committed credential, or with a token in its time, and the "
    "session ends with the token."
)
_NS_PER_MS: Final = 1_000_000


def wrong_login(
    name: str,
    principal: Principal,
    images: Sequence[MetadataImage],
    now: Instant,
    lifetime_ms: int = 0,
) -> str | None:
    """Return why an accepted login is wrong, or None.

    Args:
        name: The name of the user, or the id of the token.
        principal: The principal that the broker gives to the connection.
        images: The images at the messages of the login.
        now: The clocks of the broker at the last message.
        lifetime_ms: The answered lifetime of the session; 0 for no end (KIP-368).
    """
    if principal.token_authenticated:
        problem = _of_token(images[-1], name, now, principal, lifetime_ms)
    else:
        problem = _of_user(images, name, principal)
    return None if problem is None else f"login of {name}: {problem}"


def _of_user(images: Sequence[MetadataImage], name: str, principal: Principal) -> str | None:
    has_credential = any(
        isinstance(one, UserScramCredentialRecord) and one.name == name
        for image in images
        for one in image.others.values()
    )
    if not has_credential:
        return "the user has no credential"
    return None if principal.name == name else f"the principal is {principal.name}"


def _of_token(
    image: MetadataImage, name: str, now: Instant, principal: Principal, lifetime_ms: int
) -> str | None:
    kept = [
        one
        for one in image.others.values()
        if isinstance(one, DelegationTokenRecord) and one.token_id == name
    ]
    if not kept:
        return "there is no such token"
    now_ms, ends = now.wall // _NS_PER_MS, min(kept[0].expiration_timestamp, kept[0].max_timestamp)
    if now_ms > ends:
        return f"the token ended at {ends}, and the clock of the broker is at {now_ms}"
    if lifetime_ms > ends - now_ms or (lifetime_ms == 0 and ends > now_ms):
        return f"the session lasts {lifetime_ms} ms, and the token {ends - now_ms} ms"
    owner = f"{principal.type}:{principal.name}"
    return None if owner == kept[0].owner else f"the principal is {owner}"
