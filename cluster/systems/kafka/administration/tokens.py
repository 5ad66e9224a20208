"""Delegation tokens in Kafka's protocol: of one owner, who also changes and describes them.

A key of the workload is one token. The client remembers the id of each token by its key, which the
workload passes on to the clients that did not create the token.
"""

from random import Random
from typing import Final, cast

from typing_extensions import override

from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.administration.logins import (
    password_of,
    token_login,
    user_login,
)
from kraftproof.cluster.systems.kafka.administration.secure_client import (
    Altered,
    SecureClient,
)
from kraftproof.cluster.systems.system import Completion, Outcome, Value
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.scram import token_hmac
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_delegation_token_request,
    create_delegation_token_response,
    describe_delegation_token_request,
    describe_delegation_token_response,
    expire_delegation_token_request,
    expire_delegation_token_response,
    renew_delegation_token_request,
    renew_delegation_token_response,
)
from kraftproof.node.wire.schema import Message

CREATE_VERSION: Final = 3
CHANGE_VERSION: Final = 2
DESCRIBE_VERSION: Final = 3
RENEWER: Final = create_delegation_token_request.CreatableRenewers(
    principal_type="User", principal_name="renewer"
)
"""A user who may renew each token, too; a renewal by the owner must leave the user in place."""
AT_ONCE: Final = -1
"""The period of ExpireDelegationToken that removes the token."""


class TokensClient(SecureClient):
    """Delegation tokens, through one broker."""

    def __init__(self, cluster: Cluster, random: Random, secret: str) -> None:
        super().__init__(cluster, random)
        self._secret = secret
        """The secret of the cluster, from which the password of a token follows."""

    @override
    async def _as_a_user(self, f: str, key: str, value: Value) -> Completion | None:
        if f == "prepare":
            return None
        if f in {"login", "final"}:
            result = await self._log_in(token_login(value["token"], self._secret))
            return Completion(outcome=Outcome.OK, value={"accepted": result.is_accepted})
        owner = value["owner"]
        request, version = self._of_owner(f, value)
        login = user_login(owner, password_of(owner))
        return self._told(f, value, await self._call_as(login, request, version))

    def _of_owner(self, f: str, value: Value) -> tuple[Message, int]:
        if f == "create":
            request: Message = create_delegation_token_request.CreateDelegationTokenRequest(
                renewers=(RENEWER,), max_lifetime_ms=value["lifetime"]
            )
            return request, CREATE_VERSION
        if f == "describe":
            module = describe_delegation_token_request
            return module.DescribeDelegationTokenRequest(owners=None), DESCRIBE_VERSION
        hmac = token_hmac(Secret(self._secret), value["token"])
        if f == "renew":
            request = renew_delegation_token_request.RenewDelegationTokenRequest(
                hmac=hmac, renew_period_ms=value["period"]
            )
        else:
            period_ms = AT_ONCE if f == "remove" else value["period"]
            request = expire_delegation_token_request.ExpireDelegationTokenRequest(
                hmac=hmac, expiry_time_period_ms=period_ms
            )
        return request, CHANGE_VERSION

    def _told(self, f: str, value: Value, answer: Message) -> Completion:
        """Return the completion of an operation of the owner."""
        code = getattr(answer, "error_code", ErrorCode.NONE)
        if code != ErrorCode.NONE:
            return self._refused(f, code)
        match answer:
            case create_delegation_token_response.CreateDelegationTokenResponse():
                told: dict[str, object] = {
                    "token": answer.token_id,
                    "issued": answer.issue_timestamp_ms,
                    "expiry": answer.expiry_timestamp_ms,
                    "maximum": answer.max_timestamp_ms,
                }
            case (
                renew_delegation_token_response.RenewDelegationTokenResponse()
                | expire_delegation_token_response.ExpireDelegationTokenResponse()
            ):
                told = {"expiry": answer.expiry_timestamp_ms}
            case _:
                module = describe_delegation_token_response
                tokens = cast("module.DescribeDelegationTokenResponse", answer).tokens
                found = [one for one in tokens if one.token_id == value["token"]]
                told = {
                    "expiry": found[0].expiry_timestamp if found else None,
                    "maximum": found[0].max_timestamp if found else None,
                }
        return Completion(outcome=Outcome.OK, value=told)

    @override
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        return self._prepared(key)

    @override
    def _completion(self, f: str, answer: Message) -> Completion:
        return self._altered(f, cast("Altered", answer))
