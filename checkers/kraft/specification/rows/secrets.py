"""Define requests and records about SCRAM credentials and delegation tokens as rows.

A live log of which keys are hidden has texts in place of bytes, which are only compared.
"""

from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.rows import Row


class UserScramCredentialRecord(Row, frozen=True, kw_only=True, gc=False):
    """A SCRAM credential of a user (KIP-554)."""

    name: str
    mechanism: int
    salt: Id
    stored_key: Id
    server_key: Id
    iterations: int


class RemoveUserScramCredentialRecord(Row, frozen=True, kw_only=True, gc=False):
    """A credential is removed."""

    name: str
    mechanism: int


class DelegationTokenRecord(Row, frozen=True, kw_only=True, gc=False):
    """A delegation token with its times in milliseconds of the wall clock (KIP-48)."""

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int
    token_id: str


class RemoveDelegationTokenRecord(Row, frozen=True, kw_only=True, gc=False):
    """A token is removed."""

    token_id: str


class ScramCredentialDeletion(Row, frozen=True, kw_only=True, gc=False):
    """A credential to remove."""

    name: str
    mechanism: int


class ScramCredentialUpsertion(Row, frozen=True, kw_only=True, gc=False):
    """A credential to set."""

    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes


class AlterUserScramCredentialsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Credentials to change."""

    deletions: tuple[ScramCredentialDeletion, ...] = ()
    upsertions: tuple[ScramCredentialUpsertion, ...] = ()


class AlterUserScramCredentialsResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a user."""

    user: str
    error_code: int = 0


class AlterUserScramCredentialsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of AlterUserScramCredentials."""

    results: tuple[AlterUserScramCredentialsResult, ...] = ()


class CreatableRenewers(Row, frozen=True, kw_only=True, gc=False):
    """A principal that may renew a token."""

    principal_type: str
    principal_name: str


class CreateDelegationTokenRequest(Row, frozen=True, kw_only=True, gc=False):
    """A token to create."""

    renewers: tuple[CreatableRenewers, ...] = ()
    max_lifetime_ms: int = -1


class CreateDelegationTokenResponse(Row, frozen=True, kw_only=True, gc=False):
    """The created token."""

    error_code: int = 0
    token_id: str = ""
    issue_timestamp_ms: int = -1
    expiry_timestamp_ms: int = -1
    max_timestamp_ms: int = -1


class RenewDelegationTokenRequest(Row, frozen=True, kw_only=True, gc=False):
    """A token to renew; the HMAC names the token."""

    renew_period_ms: int = -1


class RenewDelegationTokenResponse(Row, frozen=True, kw_only=True, gc=False):
    """The new expiry."""

    error_code: int = 0
    expiry_timestamp_ms: int = -1


class ExpireDelegationTokenRequest(Row, frozen=True, kw_only=True, gc=False):
    """A token to expire; a negative period removes the token."""

    expiry_time_period_ms: int = -1


class ExpireDelegationTokenResponse(Row, frozen=True, kw_only=True, gc=False):
    """The new expiry, or the time of the removal."""

    error_code: int = 0
    expiry_timestamp_ms: int = -1
