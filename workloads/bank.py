"""Transfers between accounts: no balance is ever negative, and the total is constant.

A key is a bank with the accounts of ACCOUNTS, each with FIRST_BALANCE at first: a client takes an
account without a balance for an account with FIRST_BALANCE. `transfer` takes {"from", "to",
"amount"} and fails if the balance does not suffice; `read` answers every balance. The model is
`bank`, and the run is judged with these first balances.
"""

import json
from random import Random
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.workloads.keyed import FreshValues, KeyedWorkload
from kraftproof.workloads.workload import Value

ACCOUNTS: Final = ("a", "b", "c", "d")
FIRST_BALANCE: Final = 10
MOST_MOVED = 6
READ_SHARE = 0.5


class Bank(KeyedWorkload[None]):
    """Money moves between accounts: finds changed totals and overdrawn accounts."""

    name: ClassVar[str] = "bank"
    model: ClassVar[str] = "bank"
    initial: ClassVar[tuple[str, ...]] = (json.dumps(dict.fromkeys(ACCOUNTS, FIRST_BALANCE)),)
    has_own_keys: ClassVar[bool] = True

    @override
    def state(self, values: FreshValues) -> None:
        del values

    @override
    def draw(self, random: Random, state: None) -> tuple[str, Value]:
        if random.random() < READ_SHARE:
            return "read", None
        source, target = random.sample(ACCOUNTS, 2)
        amount = random.randint(1, MOST_MOVED)
        return "transfer", {"from": source, "to": target, "amount": amount}
