"""Delegation tokens: created, renewed, expired and removed by their owner, tried by logins.

Each key is a token. The times of tokens are of the wall clock, so this workload has the faults of
clocks in each simulated run. The model is `tokens`.
"""

from collections.abc import Sequence
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.administration.episodes import Episodes, Step
from kraftproof.workloads.workload import Completion, Outcome

LIFETIMES_MS = (2_000, 10_000, 60_000)
PERIODS_MS = (500, 3_000, 20_000, 100_000)
RENEW_SHARE = 0.5
REMOVE_SHARE = 0.25
DESCRIBE_SHARE = 0.25


class Tokens(Episodes):
    """Tokens live and end: finds tokens that live too long, and logins with removed tokens."""

    name: ClassVar[str] = "tokens"
    model: ClassVar[str] = "tokens"

    def __init__(self) -> None:
        super().__init__()
        self._owner = ""
        self._tokens: dict[str, str] = {}
        """The id of each token by key."""

    @override
    def prepared(self, run_id: str) -> Sequence[str]:
        self._owner = f"owner-{run_id}"
        return (self._owner,)

    @override
    def change(self, random: Random, key: str) -> Step:
        token = self._tokens.get(key)
        if token is None:
            return "create", {"owner": self._owner, "lifetime": random.choice(LIFETIMES_MS)}
        drawn = random.random()
        value = {"owner": self._owner, "token": token, "period": random.choice(PERIODS_MS)}
        if drawn < RENEW_SHARE:
            return "renew", value
        return ("remove" if drawn < RENEW_SHARE + REMOVE_SHARE else "expire"), value

    @override
    def changed(self, key: str, f: str, completion: Completion) -> None:
        if f == "create" and completion.outcome is Outcome.OK:
            self._tokens[key] = completion.value["token"]

    @override
    def question(self, random: Random, key: str) -> Step | None:
        token = self._tokens.get(key)
        if token is None:
            return None
        if random.random() < DESCRIBE_SHARE:
            return "describe", {"owner": self._owner, "token": token}
        return "login", {"token": token}

    @override
    def final(self, random: Random, key: str) -> Step | None:
        token = self._tokens.get(key)
        return None if token is None else ("final", {"token": token})
