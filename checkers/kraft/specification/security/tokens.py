"""Judge the requests about delegation tokens (Kafka 4.3.0, DelegationTokenControlManager; KIP-48).

The specification does not know the wall clock of the controller, the sender of a request, and which
token an HMAC names. It judges how the times of a token may move, and that nothing else changes.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.secrets import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DelegationTokenRecord,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RemoveDelegationTokenRecord,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

Change = RenewDelegationTokenRequest | ExpireDelegationTokenRequest
REFUSALS: Final = frozenset(
    {
        Code.DELEGATION_TOKEN_AUTH_DISABLED,
        Code.DELEGATION_TOKEN_NOT_FOUND,
        Code.DELEGATION_TOKEN_OWNER_MISMATCH,
        Code.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        Code.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
        Code.DELEGATION_TOKEN_EXPIRED,
        Code.INVALID_PRINCIPAL_TYPE,
    }
)
"""The codes of requests that change nothing."""


def wrong_token(
    image: Image, request: CreateDelegationTokenRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of CreateDelegationToken, or None."""
    if not written:
        return None
    if len(written) > 1 or not isinstance(written[0], DelegationTokenRecord):
        return f"{[type(record).__name__ for record in written]} were written"
    token = written[0]
    if token.token_id in image.secrets.tokens:
        return f"the token {token.token_id} exists"
    if not token.issue_timestamp <= token.expiration_timestamp <= token.max_timestamp:
        return f"the times of the token are in no order: {token}"
    lifetime_ms = token.max_timestamp - token.issue_timestamp
    if 0 < request.max_lifetime_ms < lifetime_ms:
        return f"the token lives {lifetime_ms} ms, not {request.max_lifetime_ms} ms"
    renewers = tuple(f"{one.principal_type}:{one.principal_name}" for one in request.renewers)
    return None if token.renewers == renewers else f"the renewers are {token.renewers}"


def wrong_token_answer(written: Sequence[Row], answer: CreateDelegationTokenResponse) -> str | None:
    """Return why an answer to CreateDelegationToken is wrong, given the records, or None."""
    wrong = _wrong_code(written, answer.error_code)
    if wrong is not None or not written:
        return wrong
    token = written[0]
    assert isinstance(token, DelegationTokenRecord), "the records have been judged"
    shown = (
        answer.token_id,
        answer.issue_timestamp_ms,
        answer.expiry_timestamp_ms,
        answer.max_timestamp_ms,
    )
    right = (
        token.token_id,
        token.issue_timestamp,
        token.expiration_timestamp,
        token.max_timestamp,
    )
    return None if shown == right else f"the answer has {shown}, not {right}"


def wrong_change(image: Image, request: Change, written: Sequence[Row]) -> str | None:
    """Return why a batch is no right result of a renewal or an expiration, or None."""
    if not written:
        return None
    record, *others = written
    is_removal = isinstance(request, ExpireDelegationTokenRequest) and (
        request.expiry_time_period_ms < 0
    )
    kind = RemoveDelegationTokenRecord if is_removal else DelegationTokenRecord
    if others or not isinstance(record, kind):
        return f"{[type(each).__name__ for each in written]} were written"
    token = image.secrets.tokens.get(record.token_id)
    if token is None:
        return f"there is no token {record.token_id}"
    if not isinstance(record, DelegationTokenRecord):
        return None
    if record != replace(token, expiration_timestamp=record.expiration_timestamp):
        return f"more than the expiry of token {token.token_id} has changed"
    if record.expiration_timestamp > token.max_timestamp:
        return f"the token expires at {record.expiration_timestamp}, beyond {token.max_timestamp}"
    return None


def wrong_change_answer(
    written: Sequence[Row],
    answer: RenewDelegationTokenResponse | ExpireDelegationTokenResponse,
) -> str | None:
    """Return why an answer to a renewal or an expiration is wrong, given the records, or None."""
    wrong = _wrong_code(written, answer.error_code)
    if wrong is not None or not written or not isinstance(written[0], DelegationTokenRecord):
        return wrong
    right = written[0].expiration_timestamp
    if answer.expiry_timestamp_ms == right:
        return None
    return f"the answer has the expiry {answer.expiry_timestamp_ms}, not {right}"


def _wrong_code(written: Sequence[Row], code: int) -> str | None:
    if written:
        return None if code == Code.NONE else f"{code_name(code)}, but the change was written"
    return None if code in REFUSALS else f"{code_name(code)} without a change"


def likely_token_request(image: Image, written: Sequence[Row]) -> list[Row]:
    """Return the requests that may explain a record of a token."""
    record = written[0]
    if isinstance(record, RemoveDelegationTokenRecord):
        return [ExpireDelegationTokenRequest()]
    if not isinstance(record, DelegationTokenRecord):
        return []
    if record.token_id in image.secrets.tokens:
        expiration = ExpireDelegationTokenRequest(expiry_time_period_ms=0)
        return [RenewDelegationTokenRequest(), expiration]
    renewers = (renewer.partition(":") for renewer in record.renewers)
    return [
        CreateDelegationTokenRequest(
            renewers=tuple(
                CreatableRenewers(principal_type=kind, principal_name=name)
                for kind, _, name in renewers
            )
        )
    ]
