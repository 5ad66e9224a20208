"""Locks that expire: clients take locks, use protected resources, and give the locks back.

One lock a key, free at first. `lock` answers a fencing token, which is larger than every token
before, and fails while another client has the lock. `use` presents a token to the protected
resource and answers whether the resource took it; `unlock` gives the token back. Clients also
present old tokens, like a client after a pause longer than the lease. The model is
`fencing-lock`.
"""

from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.keyed import FreshValues, KeyedWorkload
from kraftproof.workloads.workload import Completion, Outcome, Value

LOCK_SHARE = 0.35
UNLOCK_SHARE = 0.15
TOKENS_REMEMBERED = 3


@dataclass(slots=True, kw_only=True)
class _Lock:
    """The last tokens that were granted for a key, oldest first."""

    tokens: list[int] = field(default_factory=list)


class Lock(KeyedWorkload[_Lock]):
    """Locks with leases and fencing tokens: finds two holders and accepted old tokens."""

    name: ClassVar[str] = "lock"
    model: ClassVar[str] = "fencing-lock"
    has_own_keys: ClassVar[bool] = True

    @override
    def state(self, values: FreshValues) -> _Lock:
        del values
        return _Lock()

    @override
    def draw(self, random: Random, state: _Lock) -> tuple[str, Value]:
        chance = random.random()
        if not state.tokens or chance < LOCK_SHARE:
            return "lock", None
        if chance < LOCK_SHARE + UNLOCK_SHARE:
            return "unlock", state.tokens[-1]
        return "use", random.choice(state.tokens)

    @override
    def learn(self, state: _Lock, f: str, value: Value, completion: Completion) -> None:
        """Remember a granted token."""
        if f == "lock" and completion.outcome is Outcome.OK:
            state.tokens.append(completion.value)
            del state.tokens[:-TOKENS_REMEMBERED]

    @override
    def reading(self, state: _Lock) -> tuple[str, Value]:
        return ("use", state.tokens[-1]) if state.tokens else ("lock", None)
