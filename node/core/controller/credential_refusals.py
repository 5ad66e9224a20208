"""Answer requests about credentials and tokens with an error in every result."""

from collections.abc import Callable
from typing import Any, Final

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_user_scram_credentials_request,
    alter_user_scram_credentials_response,
    create_delegation_token_request,
    create_delegation_token_response,
    describe_delegation_token_request,
    describe_delegation_token_response,
    describe_user_scram_credentials_request,
    describe_user_scram_credentials_response,
    expire_delegation_token_request,
    expire_delegation_token_response,
    renew_delegation_token_request,
    renew_delegation_token_response,
)
from kraftproof.node.wire.principal import Principal

REQUESTER_SINCE: Final = 3
"""First version of CreateDelegationToken whose answer names the requester (KIP-900)."""
NO_PRINCIPAL: Final = Principal(type="", name="")


def _alter_scram(
    request: alter_user_scram_credentials_request.AlterUserScramCredentialsRequest,
    error: ErrorCode,
    reason: str | None,
) -> Message:
    module = alter_user_scram_credentials_response
    named = [part.name for part in request.deletions]
    names = dict.fromkeys(named + [part.name for part in request.upsertions])
    return module.AlterUserScramCredentialsResponse(
        results=tuple(
            module.AlterUserScramCredentialsResult(
                user=name, error_code=error, error_message=reason
            )
            for name in names
        )
    )


def _describe_scram(_: Message, error: ErrorCode, reason: str | None) -> Message:
    return describe_user_scram_credentials_response.DescribeUserScramCredentialsResponse(
        error_code=error, error_message=reason
    )


def _create_token(_: Message, error: ErrorCode, __: str | None) -> Message:
    return create_delegation_token_response.CreateDelegationTokenResponse(
        error_code=error, issue_timestamp_ms=-1, expiry_timestamp_ms=-1, max_timestamp_ms=-1
    )


def creation_refusal(
    error: ErrorCode, owner: Principal, requester: Principal, version: int
) -> Message:
    """Return the refusal of a token, which names its owner and its requester as an answer does."""
    shown = requester if version >= REQUESTER_SINCE else NO_PRINCIPAL
    return create_delegation_token_response.CreateDelegationTokenResponse(
        error_code=error,
        principal_type=owner.type,
        principal_name=owner.name,
        issue_timestamp_ms=-1,
        expiry_timestamp_ms=-1,
        max_timestamp_ms=-1,
        token_requester_principal_type=shown.type,
        token_requester_principal_name=shown.name,
    )


def _renew_token(_: Message, error: ErrorCode, __: str | None) -> Message:
    return renew_delegation_token_response.RenewDelegationTokenResponse(
        error_code=error, expiry_timestamp_ms=-1
    )


def _expire_token(_: Message, error: ErrorCode, __: str | None) -> Message:
    return expire_delegation_token_response.ExpireDelegationTokenResponse(
        error_code=error, expiry_timestamp_ms=-1
    )


def _describe_token(_: Message, error: ErrorCode, __: str | None) -> Message:
    return describe_delegation_token_response.DescribeDelegationTokenResponse(error_code=error)


# Each function takes the request type of its key, which the type of a dict cannot express.
CREDENTIAL_REFUSALS: Final[dict[type, Callable[[Any, ErrorCode, str | None], Message]]] = {
    alter_user_scram_credentials_request.AlterUserScramCredentialsRequest: _alter_scram,
    describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest: _describe_scram,
    create_delegation_token_request.CreateDelegationTokenRequest: _create_token,
    renew_delegation_token_request.RenewDelegationTokenRequest: _renew_token,
    expire_delegation_token_request.ExpireDelegationTokenRequest: _expire_token,
    describe_delegation_token_request.DescribeDelegationTokenRequest: _describe_token,
}
