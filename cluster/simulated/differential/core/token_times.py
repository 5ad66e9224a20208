"""The times and the renewers of delegation tokens, from the requests alone (KIP-48)."""

from collections.abc import Iterable

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
from kraftproof.node.wire.principal import ANONYMOUS, Principal

Created = create_delegation_token_response.CreateDelegationTokenResponse
Renewed = renew_delegation_token_response.RenewDelegationTokenResponse
Expired = expire_delegation_token_response.ExpireDelegationTokenResponse


class _Token(Struct):
    """The times of a token in milliseconds, and who may change the token."""

    token_id: str
    expiry: int
    latest: int
    """The largest possible expiry."""
    changers: frozenset[tuple[str, str]]
    """The owner and the renewers, each by type and name."""


class TokenTimes:
    """The tokens of a controller by their HMAC."""

    def __init__(self, policy: TokenPolicy) -> None:
        self._policy = policy
        self._tokens: dict[bytes, _Token] = {}

    def judge(
        self, request: Message, answer: Message, now_ms: int, principal: Principal = ANONYMOUS
    ) -> None:
        """Compare the times of an answer with those of a client's request.

        Raises:
            DifferenceError: the answer has another time or error.
        """
        match request, answer:
            case create_delegation_token_request.CreateDelegationTokenRequest(), Created():
                if answer.error_code == ErrorCode.NONE:
                    named = request.renewers
                    renewers = {(one.principal_type, one.principal_name) for one in named}
                    changers = frozenset({*renewers, (principal.type, principal.name)})
                    self._created(request.max_lifetime_ms, answer, now_ms, changers)
            case renew_delegation_token_request.RenewDelegationTokenRequest(), Renewed():
                period_ms, default_ms = request.renew_period_ms, self._policy.default_lifetime_ms
                period_ms = min(period_ms, default_ms) if period_ms > 0 else default_ms
                self._moved(request.hmac, answer, period_ms, now_ms, principal)
            case expire_delegation_token_request.ExpireDelegationTokenRequest(), Expired():
                period_ms = request.expiry_time_period_ms
                self._moved(request.hmac, answer, period_ms, now_ms, principal)
            case _:
                return

    def judge_expired(self, found: Iterable[str], now_ms: int) -> None:
        """Compare the ids of expired tokens; other clients may have tokens as well.

        Raises:
            DifferenceError: a token is missing, or has not expired.
        """
        due = {token.token_id: token.expiry < now_ms for token in self._tokens.values()}
        expired = {token_id for token_id, is_due in due.items() if is_due}
        same("the expired tokens", due.keys() & set(found), expired)

    def _created(
        self, asked_ms: int, answer: Created, now_ms: int, changers: frozenset[tuple[str, str]]
    ) -> None:
        policy = self._policy
        longest_ms = policy.max_lifetime_ms
        lifetime_ms = min(asked_ms, longest_ms) if asked_ms > 0 else longest_ms
        latest = now_ms + lifetime_ms
        expiry = now_ms + min(lifetime_ms, policy.default_lifetime_ms)
        found = (answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms)
        same("the times of a new token", found, (now_ms, expiry, latest))
        self._tokens[answer.hmac] = _Token(answer.token_id, expiry, latest, changers)

    def _moved(
        self,
        hmac: bytes,
        answer: Renewed | Expired,
        period_ms: int,
        now_ms: int,
        principal: Principal,
    ) -> None:
        """Compare a renewal, or an expiry: a negative period removes the token."""
        token = self._tokens.get(hmac)
        if token is None:
            return
        if (principal.type, principal.name) not in token.changers:
            error = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
            same("the error of a stranger's change of a token", answer.error_code, int(error))
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
