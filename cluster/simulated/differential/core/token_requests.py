"""Create, renew and expire delegation tokens on a controller, and compare their times (KIP-48)."""

from copy import copy
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.core.deciding_node import DecidingNode
from kraftproof.cluster.simulated.differential.core.token_times import TokenTimes
from kraftproof.cluster.simulated.security import TOKENS
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.controller.security import tokens
from kraftproof.node.wire.messages import (
    Message,
    create_delegation_token_request,
    create_delegation_token_response,
    expire_delegation_token_request,
    renew_delegation_token_request,
)
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from kraftproof.node.wire.records import metadata as records

TokenRemoval = records.RemoveDelegationTokenRecord
NewToken = create_delegation_token_request.CreateDelegationTokenRequest
CLIENTS: Final = (
    *(ANONYMOUS, ANONYMOUS),
    *(Principal(type="User", name=name) for name in ("renewer", "stranger")),
)
"""The clients that change a token: mostly its owner."""


class TokenRequests:
    """The clients of a controller that have tokens."""

    def __init__(self, random: Random, node: DecidingNode) -> None:
        self._random = random
        self._node = node
        self._hmacs: list[bytes] = []
        self._times = TokenTimes(TOKENS)

    def ask(self) -> None:
        """Create a token, or renew or expire an existing token."""
        random, day_ms = self._random, 86_400_000
        message: Message
        if not self._hmacs or random.random() < 0.4:
            module = create_delegation_token_request
            renewer = module.CreatableRenewers(principal_type="User", principal_name="renewer")
            message = module.CreateDelegationTokenRequest(
                renewers=(renewer,) * random.randrange(2),
                max_lifetime_ms=random.choice((-1, 1, 5_000, day_ms)),
            )
        elif random.random() < 0.6:
            message = renew_delegation_token_request.RenewDelegationTokenRequest(
                hmac=random.choice(self._hmacs),
                renew_period_ms=random.choice((-1, 0, 1_000, day_ms, 30 * day_ms)),
            )
        else:
            message = expire_delegation_token_request.ExpireDelegationTokenRequest(
                hmac=random.choice(self._hmacs),
                expiry_time_period_ms=random.choice((-1, 0, 1_000, day_ms, 30 * day_ms)),
            )
        # A copy draws the client, so that recorded seeds keep their runs.
        clients = (ANONYMOUS,) if isinstance(message, NewToken) else CLIENTS
        client = copy(random).choice(clients)
        answer = self._node.ask(message, 2, client)
        now_ms = self._node.now.wall // milliseconds(1)
        self._times.judge(message, answer, now_ms, client)
        removals = tokens.expired_tokens(self._node.image, self._node.now.wall)
        expired = (one.token_id for one in removals if isinstance(one, TokenRemoval))
        self._times.judge_expired(expired, now_ms)
        if isinstance(answer, create_delegation_token_response.CreateDelegationTokenResponse):
            self._hmacs += [answer.hmac] if answer.hmac else []
