"""Decide CreateDelegationToken, RenewDelegationToken and ExpireDelegationToken (KIP-48, KIP-900).

The times of tokens are times of the wall clock. The log holds the id of a token and its times, but
not its HMAC, which each node computes with the secret of the cluster.
"""

from typing import TYPE_CHECKING

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, WallClock
from kraftproof.node.core.controller.credential_refusals import (
    NO_PRINCIPAL,
    REQUESTER_SINCE,
    creation_refusal,
)
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.credentials import (
    delegation_tokens,
    format_principal,
    is_expired,
)
from kraftproof.node.core.security.scram import token_hmac
from kraftproof.node.core.security.tokens import (
    USER,
    owns_or_renews,
    principal_or,
    token_with_hmac,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_delegation_token_request,
    create_delegation_token_response,
    expire_delegation_token_request,
    expire_delegation_token_response,
    renew_delegation_token_request,
    renew_delegation_token_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.metadata import DelegationTokenRecord
from kraftproof.node.wire.types import Uuid, format_uuid

if TYPE_CHECKING:
    from kraftproof.node.core.controller.decisions import DecisionContext

CreateRequest = create_delegation_token_request.CreateDelegationTokenRequest
RenewRequest = renew_delegation_token_request.RenewDelegationTokenRequest
ExpireRequest = expire_delegation_token_request.ExpireDelegationTokenRequest


def create_token(context: "DecisionContext", request: CreateRequest) -> Outcome:
    """Create a token; the answer holds the HMAC, with which its owner logs in."""
    policy, requester = context.config.tokens, context.principal
    owner = principal_or(request.owner_principal_type, request.owner_principal_name, requester)
    if policy.secret is None:
        error = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        return Outcome(reply=creation_refusal(error, owner, requester, context.version))
    if any(renewer.principal_type != USER for renewer in request.renewers):
        error = ErrorCode.INVALID_PRINCIPAL_TYPE
        return Outcome(reply=creation_refusal(error, owner, requester, context.version))
    shown = requester if context.version >= REQUESTER_SINCE else NO_PRINCIPAL
    now_ms = _milliseconds(context.now.wall)
    lifetime_ms = policy.max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    token = DelegationTokenRecord(
        owner=format_principal(owner),
        requester=format_principal(requester),
        renewers=tuple(
            f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers
        ),
        issue_timestamp=now_ms,
        max_timestamp=now_ms + lifetime_ms,
        expiration_timestamp=now_ms + min(lifetime_ms, policy.default_lifetime_ms),
        token_id=format_uuid(Uuid(context.random.randbytes(16))),
    )
    reply = create_delegation_token_response.CreateDelegationTokenResponse(
        principal_type=owner.type,
        principal_name=owner.name,
        issue_timestamp_ms=token.issue_timestamp,
        expiry_timestamp_ms=token.expiration_timestamp,
        max_timestamp_ms=token.max_timestamp,
        token_id=token.token_id,
        hmac=token_hmac(policy.secret, token.token_id),
        token_requester_principal_type=shown.type,
        token_requester_principal_name=shown.name,
    )
    return Outcome(reply=reply, records=(token,))


def renew_token(context: "DecisionContext", request: RenewRequest) -> Outcome:
    """Move the expiry of a token, never beyond its maximum."""
    token = _changeable(context, request.hmac)
    if isinstance(token, ErrorCode):
        return Outcome(reply=refusal(request, token))
    if is_expired(token, context.now.wall):
        return Outcome(reply=refusal(request, ErrorCode.DELEGATION_TOKEN_EXPIRED))
    period_ms = context.config.tokens.default_lifetime_ms
    if request.renew_period_ms > 0:
        period_ms = min(period_ms, request.renew_period_ms)
    renewed = _until(token, _milliseconds(context.now.wall) + period_ms)
    reply = renew_delegation_token_response.RenewDelegationTokenResponse(
        expiry_timestamp_ms=renewed.expiration_timestamp
    )
    return Outcome(reply=reply, records=(renewed,))


def expire_token(context: "DecisionContext", request: ExpireRequest) -> Outcome:
    """Set the expiry of a token; a negative period removes the token at once."""
    token = _changeable(context, request.hmac)
    if isinstance(token, ErrorCode):
        return Outcome(reply=refusal(request, token))
    now_ms = _milliseconds(context.now.wall)
    written: Record
    if request.expiry_time_period_ms < 0:
        written, expiry_ms = records.RemoveDelegationTokenRecord(token_id=token.token_id), now_ms
    elif is_expired(token, context.now.wall):
        return Outcome(reply=refusal(request, ErrorCode.DELEGATION_TOKEN_EXPIRED))
    else:
        written = _until(token, now_ms + request.expiry_time_period_ms)
        expiry_ms = written.expiration_timestamp
    reply = expire_delegation_token_response.ExpireDelegationTokenResponse(
        expiry_timestamp_ms=expiry_ms
    )
    return Outcome(reply=reply, records=(written,))


def expired_tokens(image: MetadataImage, now: WallClock) -> tuple[Record, ...]:
    """Return the records that remove the tokens whose time is over."""
    return tuple(
        records.RemoveDelegationTokenRecord(token_id=token.token_id)
        for token in delegation_tokens(image)
        if is_expired(token, now)
    )


def _changeable(context: "DecisionContext", data: bytes) -> DelegationTokenRecord | ErrorCode:
    """Return the token with the HMAC, or the error for a client that may not change the token."""
    secret = context.config.tokens.secret
    if secret is None:
        return ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    token = token_with_hmac(context.image, secret, data)
    if token is None:
        return ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    if not owns_or_renews(token, context.principal):
        return ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    return token


def _until(token: DelegationTokenRecord, expiry_ms: int) -> DelegationTokenRecord:
    """Return the token with another expiry, at most its maximum."""
    return DelegationTokenRecord(
        owner=token.owner,
        requester=token.requester,
        renewers=token.renewers,
        issue_timestamp=token.issue_timestamp,
        max_timestamp=token.max_timestamp,
        expiration_timestamp=min(expiry_ms, token.max_timestamp),
        token_id=token.token_id,
        unknown_tags=token.unknown_tags,
    )


def _milliseconds(wall: WallClock) -> int:
    return wall // NANOSECONDS_PER_MS
