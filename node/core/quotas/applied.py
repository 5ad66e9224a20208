"""Find the quota of a client: the most specific entity with the wanted key decides (KIP-55).

A quota of an entity without client id is shared by all clients of the user, and the other way
round. A default gives each user, client id or pair a budget of its own.
"""

from enum import Enum
from typing import Final

from msgspec import Struct

from kraftproof.node.core.metadata.quotas import CLIENT_ID, USER, Quotas

ClientKey = tuple[str | None, str | None]
"""The user and the client id that share a budget; None for all."""


class AppliedQuota(Struct, frozen=True):
    """The quota that applies to a client, and the clients that share its budget."""

    shared_by: ClientKey
    bound: float
    """Units a second."""


class _Match(Enum):
    """The way in which an entity names a client."""

    NAME = 1
    DEFAULT = 2
    MISSING = 3


_LEVELS: Final = (
    (_Match.NAME, _Match.NAME),
    (_Match.NAME, _Match.DEFAULT),
    (_Match.NAME, _Match.MISSING),
    (_Match.DEFAULT, _Match.NAME),
    (_Match.DEFAULT, _Match.DEFAULT),
    (_Match.DEFAULT, _Match.MISSING),
    (_Match.MISSING, _Match.NAME),
    (_Match.MISSING, _Match.DEFAULT),
)
"""The ways for user and client id, the most specific entity first."""


def applied_quota(quotas: Quotas, key: str, user: str, client_id: str) -> AppliedQuota | None:
    """Return the quota of a client; None if no quota applies.

    No request can set a quota that is not greater than 0, so a record with such a quota is ignored.
    """
    for of_user, of_client in _LEVELS:
        parts: list[tuple[str, str | None]] = []
        if of_client is not _Match.MISSING:
            parts.append((CLIENT_ID, client_id if of_client is _Match.NAME else None))
        if of_user is not _Match.MISSING:
            parts.append((USER, user if of_user is _Match.NAME else None))
        bound = quotas.of(tuple(parts)).get(key)
        if bound is not None and bound > 0:
            shared_by = (
                None if of_user is _Match.MISSING else user,
                None if of_client is _Match.MISSING else client_id,
            )
            return AppliedQuota(shared_by, bound)
    return None
