"""Compare the removal of expired delegation tokens with their times (KIP-48).

A token expires by the wall clock, which may be set; the interval between two sweeps is a time of
the monotonic clock. The clocks of a run drift, but no run sets its wall clock by hours.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.core.bare_controller import BareController
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import Timeouts, TokenPolicy
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import create_delegation_token_request
from kraftproof.node.wire.records import metadata as records

STEPS: Final = 60
CREATE_VERSION: Final = 3
INTERVALS_MS: Final = (1_000, 60_000, 3_600_000)
LIFETIMES: Final = (0.2, 0.9, 1.0, 1.1, 3.0)
"""The lifetimes of tokens, in intervals of the sweep."""
A_MILLISECOND: Final = milliseconds(1)


def compare_token_sweeps(random: Random) -> None:
    """Create tokens, let time pass, set the wall clock, and compare the tokens that are removed.

    Raises:
        DifferenceError: a token is removed too early, by the wrong clock or twice, or is kept.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()


class _Run:
    """The controller, the expiry of each of its tokens, and the time of the next sweep."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._interval_ms = random.choice(INTERVALS_MS)
        self._interval_ns = milliseconds(self._interval_ms)
        policy = TokenPolicy(
            secret=Secret("a secret"),
            max_lifetime_ms=10 * self._interval_ms,
            default_lifetime_ms=random.choice((2, 10)) * self._interval_ms,
            sweep_interval_ns=self._interval_ns,
        )
        self._controller = BareController(random, Timeouts(), policy)
        self._expiries: dict[str, int] = {}
        """The expiry in milliseconds of the wall clock, by id of the token."""
        self._due_ns = self._interval_ns

    def step(self) -> None:
        """Let something happen, and judge what the controller has written."""
        random, kind = self._random, self._random.random()
        if kind < 0.4:
            self._create()
        elif kind < 0.7:
            parts = random.choice((0.1, 0.5, 0.99, 1.0, 1.2))
            self._controller.now_ns += int(parts * self._interval_ns)
        elif kind < 0.8:
            self._controller.set_wall_clock(random.choice((-5, -1, 1, 5)) * self._interval_ns)
        elif kind < 0.9:
            self._controller.commit()
        else:
            self._tick()
        deadline = self._controller.deadline
        is_in_time = deadline is not None and deadline <= self._due_ns
        check(f"the next tick, at {deadline} ns, is no later than {self._due_ns} ns", is_in_time)

    def _create(self) -> None:
        lifetime_ms = round(self._random.choice(LIFETIMES) * self._interval_ms)
        request = create_delegation_token_request.CreateDelegationTokenRequest(
            max_lifetime_ms=self._random.choice((lifetime_ms, -1)), renewers=()
        )
        self._controller.ask(request, CREATE_VERSION)
        same("the tokens that a creation removes", self._removed(), [])

    def _tick(self) -> None:
        """Let the controller act, whether or not a sweep is due."""
        now_ns, now_ms = self._controller.now_ns, self._controller.wall_ns // A_MILLISECOND
        expected = []
        if now_ns >= self._due_ns:
            self._due_ns = now_ns + self._interval_ns
            expected = sorted(one for one, expiry in self._expiries.items() if expiry < now_ms)
        self._controller.tick()
        same(f"the tokens that a tick at {now_ms} ms removes", self._removed(), expected)
        for token_id in expected:
            del self._expiries[token_id]

    def _removed(self) -> list[str]:
        """Return the ids of the tokens that were removed since the last call; keep the new ones."""
        removed = []
        for _, record in self._controller.taken():
            match record:
                case records.DelegationTokenRecord(token_id=token_id):
                    self._expiries[token_id] = record.expiration_timestamp
                case records.RemoveDelegationTokenRecord(token_id=token_id):
                    removed.append(token_id)
                case _:
                    continue
        return sorted(removed)
