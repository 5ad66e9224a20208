"""Describe credentials and tokens from the committed image; refuse logins that are too late.

A broker also judges whether a connection may ask about tokens before it forwards the request
(KIP-48). Descriptions of credentials name mechanisms and iterations, and hold no key.
"""

from collections import Counter
from typing import Final

from kraftproof.node.core.base.config import TokenPolicy
from kraftproof.node.core.controller.credential_refusals import (
    NO_PRINCIPAL,
    REQUESTER_SINCE,
    creation_refusal,
)
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.credentials import (
    delegation_tokens,
    format_principal,
    parse_principal,
    scram_credential,
    scram_credentials,
)
from kraftproof.node.core.security.mechanisms import SCRAM_NAMES
from kraftproof.node.core.security.scram import token_hmac
from kraftproof.node.core.security.tokens import (
    USER,
    may_ask_about_tokens,
    owns_or_renews,
    principal_or,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_delegation_token_request,
    describe_delegation_token_request,
    describe_delegation_token_response,
    describe_user_scram_credentials_request,
    describe_user_scram_credentials_response,
    expire_delegation_token_request,
    renew_delegation_token_request,
    sasl_authenticate_request,
    sasl_authenticate_response,
    sasl_handshake_request,
    sasl_handshake_response,
)
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from kraftproof.node.wire.records.metadata import DelegationTokenRecord

TOKEN_CHANGES: Final = (
    create_delegation_token_request.CreateDelegationTokenRequest,
    renew_delegation_token_request.RenewDelegationTokenRequest,
    expire_delegation_token_request.ExpireDelegationTokenRequest,
)
SECURITY_REQUESTS: Final = (
    describe_delegation_token_request.DescribeDelegationTokenRequest,
    describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest,
    sasl_handshake_request.SaslHandshakeRequest,
    sasl_authenticate_request.SaslAuthenticateRequest,
)
"""The requests that a broker answers itself."""


def security_answer(
    image: MetadataImage, event: Received, policy: TokenPolicy, authorizer: Authorizer | None
) -> Message:
    """Return the answer to a request of SECURITY_REQUESTS."""
    match event.message:
        case describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest():
            return describe_scram(image, event.message)
        case describe_delegation_token_request.DescribeDelegationTokenRequest():
            return describe_tokens(image, event, event.message, policy, authorizer)
        case _:
            return late_login(event.message)


def late_login(message: Message) -> Message:
    """Return the answer to a request of a login outside of a login."""
    if isinstance(message, sasl_handshake_request.SaslHandshakeRequest):
        return sasl_handshake_response.SaslHandshakeResponse(
            error_code=ErrorCode.ILLEGAL_SASL_STATE
        )
    return sasl_authenticate_response.SaslAuthenticateResponse(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )


def early_answer(event: Received, authorizer: Authorizer | None) -> Message | None:
    """Return a controller's answer to a late login, or its refusal of a change of tokens."""
    if isinstance(event.message, SECURITY_REQUESTS):
        return late_login(event.message)
    return refuse_token_change(event, authorizer)


def refuse_token_change(event: Received, authorizer: Authorizer | None = None) -> Message | None:
    """Return the refusal of a connection that may not change tokens; None to go on.

    The broker has judged the request in an Envelope.
    """
    message = event.message
    if not isinstance(message, TOKEN_CHANGES) or event.forwarded_by is not None:
        return None
    if isinstance(message, create_delegation_token_request.CreateDelegationTokenRequest):
        return _refuse_creation(event, message, authorizer)
    if not may_ask_about_tokens(event):
        return refusal(message, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    return None


def _refuse_creation(
    event: Received,
    request: create_delegation_token_request.CreateDelegationTokenRequest,
    authorizer: Authorizer | None,
) -> Message | None:
    """Refuse a token for another owner without the right, and renewers that are no users."""
    kind, name = request.owner_principal_type, request.owner_principal_name
    owner = principal_or(kind, name, event.principal)
    is_own = (owner.type, owner.name) == (event.principal.type, event.principal.name)
    if not may_ask_about_tokens(event):
        error = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    elif not is_own and authorizer is not None and not _may_create(event, owner, authorizer):
        error = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    elif any(renewer.principal_type != USER for renewer in request.renewers):
        error = ErrorCode.INVALID_PRINCIPAL_TYPE
    else:
        return None
    return creation_refusal(error, owner, event.principal, event.version)


def _may_create(event: Received, owner: Principal, authorizer: Authorizer) -> bool:
    named = format_principal(owner)
    return authorizer.allows(event, Operation.CREATE_TOKENS, ResourceKind.USER, named)


def describe_tokens(
    image: MetadataImage,
    event: Received,
    request: describe_delegation_token_request.DescribeDelegationTokenRequest,
    policy: TokenPolicy,
    authorizer: Authorizer | None = None,
) -> Message:
    """Return the tokens of the named owners that the client may see; null names all owners."""
    if not may_ask_about_tokens(event):
        return refusal(request, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    secret = policy.secret
    if secret is None:
        return refusal(request, ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    owners = None
    if request.owners is not None:
        owners = frozenset(
            format_principal(Principal(type=owner.principal_type, name=owner.principal_name))
            for owner in request.owners
        )
    tokens = [
        token
        for token in delegation_tokens(image)
        if (owners is None or not owners.isdisjoint((token.owner, *token.renewers)))
        and (owns_or_renews(token, event.principal) or _may_see(event, token, authorizer))
    ]
    return describe_delegation_token_response.DescribeDelegationTokenResponse(
        tokens=tuple(
            _described(token, token_hmac(secret, token.token_id), event.version) for token in tokens
        )
    )


def _may_see(event: Received, token: DelegationTokenRecord, authorizer: Authorizer | None) -> bool:
    """Return whether a client may see a token of somebody else; everybody without an authorizer."""
    if authorizer is None:
        return True
    kind, name = ResourceKind.DELEGATION_TOKEN, token.token_id
    if authorizer.allows(event, Operation.DESCRIBE, kind, name, logs=False):
        return True
    return authorizer.allows(
        event, Operation.DESCRIBE_TOKENS, ResourceKind.USER, token.owner, logs=False
    )


def _described(
    token: DelegationTokenRecord, hmac: bytes, version: int
) -> describe_delegation_token_response.DescribedDelegationToken:
    owner = parse_principal(token.owner) or ANONYMOUS
    requester = parse_principal(token.requester) or owner
    if version < REQUESTER_SINCE:
        requester = NO_PRINCIPAL
    renewers = [parse_principal(renewer) for renewer in token.renewers]
    return describe_delegation_token_response.DescribedDelegationToken(
        principal_type=owner.type,
        principal_name=owner.name,
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token.token_id,
        hmac=hmac,
        renewers=tuple(
            describe_delegation_token_response.DescribedDelegationTokenRenewer(
                principal_type=renewer.type, principal_name=renewer.name
            )
            for renewer in renewers
            if renewer is not None
        ),
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
    )


def describe_scram(
    image: MetadataImage,
    request: describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest,
) -> Message:
    """Return the mechanisms and iterations of the named users; no name means all users."""
    module = describe_user_scram_credentials_response
    named = Counter(user.name for user in request.users or ())
    names = named or dict.fromkeys(kept.name for kept in scram_credentials(image))
    return module.DescribeUserScramCredentialsResponse(
        results=tuple(_scram_of(image, name, named[name]) for name in names)
    )


def _scram_of(
    image: MetadataImage, name: str, times: int
) -> describe_user_scram_credentials_response.DescribeUserScramCredentialsResult:
    module = describe_user_scram_credentials_response
    if times > 1:
        return module.DescribeUserScramCredentialsResult(
            user=name,
            error_code=ErrorCode.DUPLICATE_RESOURCE,
            error_message="Cannot describe SCRAM credentials for the same user twice in a single "
            f"request: {name}",
        )
    found = [scram_credential(image, name, number) for number in sorted(SCRAM_NAMES)]
    infos = tuple(
        module.CredentialInfo(mechanism=kept.mechanism, iterations=kept.iterations)
        for kept in found
        if kept is not None
    )
    if not infos:
        return module.DescribeUserScramCredentialsResult(
            user=name,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"Attempt to describe a user credential that does not exist: {name}",
        )
    return module.DescribeUserScramCredentialsResult(user=name, credential_infos=infos)
