"""The bank: transfer {from, to, amount} between accounts, and read of all balances.

The model does not know the initial balances: the first read in a legal order shows the balances,
and all later reads have to agree with that read and with the transfers between. So the unknown
total is constant. No balance may be negative at any time, even through a transfer without an
answer; `bank-overdraft` allows negative balances. A failed transfer has no effect. See
`checkers.models.specification` for how such a model is checked.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from typing_extensions import override

from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.operations import Operation, as_text
from kraftproof.checkers.models.bank_reasons import balances_of, overdrawing, wrong_read
from kraftproof.checkers.models.specification import Call, Specification
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.text import as_json

_TRANSFER: Final = frozenset({"from", "to", "amount"})
_Amounts = tuple[tuple[str, int], ...]
_State = tuple[bool, _Amounts, _Amounts]
"""(Whether the balances are known; the balances, or their changes so far; the minimum change)."""


class Bank(Specification):
    """Accounts that are never overdrawn."""

    name = "bank"
    functions = frozenset({"transfer", "read"})
    allows_negative = False

    @override
    def validate(self, operation: Operation) -> None:
        super().validate(operation)
        if operation.f == "transfer" and operation.status != "fail":
            _require_transfer(operation.input)
        if operation.f == "read" and operation.status == "ok":
            _require_balances(operation.output)

    @override
    def init(self) -> Hashable:
        return (False, (), ())

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        unanswered = [one.f == "read" and one.status != "ok" for one in operations]
        made = super().calls(operations)
        return [None if skip else call for skip, call in zip(unanswered, made, strict=True)]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, Call)
        is_known, amounts, least = state
        if call.f == "transfer":
            return self._after(call.input, dict(amounts), dict(least), is_known=is_known)
        found = _balances(call.output)
        if is_known:
            return state if dict(amounts) == found else None
        return self._known(found, dict(amounts), dict(least))

    def _after(
        self, transfer: object, amounts: dict[str, int], least: dict[str, int], *, is_known: bool
    ) -> _State | None:
        """Return the state after a transfer; None if an account is unknown or overdrawn."""
        source, target, amount = _parts(transfer)
        if is_known and not {source, target} <= amounts.keys():
            return None
        for account, change in ((source, -amount), (target, amount)):
            amounts[account] = amounts.get(account, 0) + change
        if self.allows_negative:
            return (is_known, _sorted(amounts), ())
        if is_known:
            is_overdrawn = amounts[source] < 0 or amounts[target] < 0
            return None if is_overdrawn else (True, _sorted(amounts), ())
        for account in (source, target):
            least[account] = min(least.get(account, 0), amounts[account])
        return (False, _sorted(amounts), _sorted(least))

    def _known(
        self, found: Mapping[str, int | None], changes: dict[str, int], least: dict[str, int]
    ) -> _State | None:
        """Return the state after the first read; None if no initial balances lead to the read."""
        balances = {account: held for account, held in found.items() if held is not None}
        if len(balances) < len(found) or not changes.keys() <= balances.keys():
            return None
        if not self.allows_negative:
            at_least = (
                held - changes.get(account, 0) + min(least.get(account, 0), changes.get(account, 0))
                for account, held in balances.items()
            )
            if min(at_least, default=0) < 0 or min(balances.values(), default=0) < 0:
                return None
        return (True, _sorted(balances), ())

    def commutes(self, one: Hashable, other: Hashable) -> bool:
        """Say that two reads do, and two transfers where any balance is allowed."""
        assert isinstance(one, Call)
        assert isinstance(other, Call)
        return one.f == other.f and (self.allows_negative or one.f == "read")

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the read of what the accounts hold at first."""
        _require_balances(value)
        return [("read", None, value)]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return the impossible balance, or a read with another total than `wrong`."""
        if wrong.f != "read":
            return None if self.allows_negative else overdrawing(operations, wrong)
        found = balances_of(wrong)
        for account, held in found.items():
            if held is None:
                return f"account {account} has no balance"
            if held < 0 and not self.allows_negative:
                return f"account {account} is overdrawn"
        reads = [one for one in operations if one.f == "read" and one.status == "ok"]
        for one in reads:
            other = [held for held in balances_of(one).values() if held is not None]
            total = sum(held for held in found.values() if held is not None)
            if sum(other) != total:
                when = "at first" if one.index < 0 else f"of {phrase(one)}"
                return f"its balances come to {total}, those {when} to {sum(other)}"
        return wrong_read(operations, wrong)

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        is_known, amounts, _ = state
        observed = ", ".join(f"{account} = {amount}" for account, amount in amounts)
        if is_known:
            return f"balances {observed}"
        return f"balances unknown, changed by {observed}" if observed else "balances unknown"


class OverdraftBank(Bank):
    """Accounts that may be overdrawn.

    The user has to choose this model, as no history implies it.
    """

    name = "bank-overdraft"
    allows_negative = True

    def has_shape(self, operations: Sequence[Operation]) -> bool:
        """Return false: only `--model` chooses this model."""
        return False


def _sorted(amounts: Mapping[str, int]) -> _Amounts:
    return tuple(sorted(amounts.items()))


def _parts(transfer: object) -> tuple[str, str, int]:
    assert isinstance(transfer, dict)
    return as_text(transfer["from"]), as_text(transfer["to"]), transfer["amount"]


def _balances(value: object) -> dict[str, int | None]:
    assert isinstance(value, dict)
    return {as_text(account): held for account, held in value.items()}


def _require_transfer(value: object) -> None:
    is_whole = isinstance(value, dict) and value.keys() >= _TRANSFER
    if not (is_whole and isinstance(value, dict) and _is_amount(value["amount"])):
        raise ValueError(
            "field value: transfer takes"
            f' {{"from": account, "to": account, "amount": integer}}, not {as_json(value)}'
        )


def _require_balances(value: object) -> None:
    if not (isinstance(value, dict) and all(map(_is_balance, value.values()))):
        raise ValueError(
            f"field value: read answers a map of accounts to balances, not {as_json(value)}"
        )


def _is_balance(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _is_amount(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
