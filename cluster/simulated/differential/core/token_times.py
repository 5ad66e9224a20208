"""The times of delegation tokens, from the requests alone (KIP-48)."""

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.config import TokenPolicy
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_delegation_token_request,
    create_delegation_token_response,
    expire_delegation_token_request,
    expire_delegation_token_response,
    renew_delegation_token_request,
    renew_delegation_token_response,
)

Created = create_delegation_token_response.CreateDelegationTokenResponse
Renewed = renew_delegation_token_response.RenewDelegationTokenResponse
Expired = expire_delegation_token_response.ExpireDelegationTokenResponse


class _Token(Struct):
    """The times of a token in milliseconds."""

    expiry: int
    latest: int
    """The largest possible expiry."""


class TokenTimes:
    """The tokens of a controller by their HMAC."""

    def __init__(self, policy: TokenPolicy) -> None:
        self._policy = policy
        self._tokens: dict[bytes, _Token] = {}

    def judge(self, request: Message, answer: Message, now_ms: int) -> None:
        """Compare the times of an answer with those of the request.

        Raises:
            DifferenceError: the answer has another time or error.
        """
        match request, answer:
            case create_delegation_token_request.CreateDelegationTokenRequest(), Created():
                if answer.error_code == ErrorCode.NONE:
                    self._created(request.max_lifetime_ms, answer, now_ms)
            case renew_delegation_token_request.RenewDelegationTokenRequest(), Renewed():
                period_ms, default_ms = request.renew_period_ms, self._policy.default_lifetime_ms
                period_ms = min(period_ms, default_ms) if period_ms > 0 else default_ms
                self._moved(request.hmac, answer, period_ms, now_ms)
            case expire_delegation_token_request.ExpireDelegationTokenRequest(), Expired():
                self._moved(request.hmac, answer, request.expiry_time_period_ms, now_ms)
            case _:
                return

    def _created(self, asked_ms: int, answer: Created, now_ms: int) -> None:
        policy = self._policy
        longest_ms = policy.max_lifetime_ms
        lifetime_ms = min(asked_ms, longest_ms) if asked_ms > 0 else longest_ms
        latest = now_ms + lifetime_ms
        expiry = now_ms + min(lifetime_ms, policy.default_lifetime_ms)
        found = (answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms)
        same("the times of a new token", found, (now_ms, expiry, latest))
        self._tokens[answer.hmac] = _Token(expiry, latest)

    def _moved(self, hmac: bytes, answer: Renewed | Expired, period_ms: int, now_ms: int) -> None:
        """Compare a renewal, or an expiry: a negative period removes the token."""
        token = self._tokens.get(hmac)
        if token is None:
            return
        is_removal = period_ms < 0
        if not is_removal and token.expiry != now_ms:
            error = ErrorCode.DELEGATION_TOKEN_EXPIRED if token.expiry < now_ms else ErrorCode.NONE
            same("the error of a change of a token", answer.error_code, int(error))
        if answer.error_code != ErrorCode.NONE:
            return
        expiry = now_ms if is_removal else min(now_ms + period_ms, token.latest)
        same("the expiry of a changed token", answer.expiry_timestamp_ms, expiry)
        token.expiry = expiry
        if is_removal:
            del self._tokens[hmac]
