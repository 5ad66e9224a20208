"""Hold the credentials and the delegation tokens of an image."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.secrets import (
    DelegationTokenRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)

SECRET_RECORDS: Final[tuple[type[Row], ...]] = (
    UserScramCredentialRecord,
    RemoveUserScramCredentialRecord,
    DelegationTokenRecord,
    RemoveDelegationTokenRecord,
)


class Secrets(Struct, frozen=True):
    """The last record of each credential and of each token."""

    credentials: Mapping[tuple[str, int], UserScramCredentialRecord] = {}
    """By the name of the user and the number of the mechanism."""
    tokens: Mapping[str, DelegationTokenRecord] = {}
    """By the id of the token."""

    def after(self, record: Row) -> "Secrets":
        """Return the credentials and tokens after a record."""
        credentials, tokens = dict(self.credentials), dict(self.tokens)
        match record:
            case UserScramCredentialRecord():
                credentials[record.name, record.mechanism] = record
            case RemoveUserScramCredentialRecord():
                credentials.pop((record.name, record.mechanism), None)
            case DelegationTokenRecord():
                tokens[record.token_id] = record
            case RemoveDelegationTokenRecord():
                tokens.pop(record.token_id, None)
            case _:
                raise AssertionError(f"a {type(record).__name__} is about no secret")
        return Secrets(credentials, tokens)


NO_SECRETS: Final = Secrets()
