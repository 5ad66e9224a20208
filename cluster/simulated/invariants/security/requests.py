"""List the requests to the controller about credentials and delegation tokens."""

from typing import Final

from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_request,
    create_delegation_token_request,
    expire_delegation_token_request,
    renew_delegation_token_request,
)

OF_SECRETS: Final = (
    alter_user_scram_credentials_request.AlterUserScramCredentialsRequest,
    create_delegation_token_request.CreateDelegationTokenRequest,
    renew_delegation_token_request.RenewDelegationTokenRequest,
    expire_delegation_token_request.ExpireDelegationTokenRequest,
)
