"""Explains why a bank can't have had a balance, by an earlier read and the transfers since then.

See `checkers.models.bank` for the model, which decides; every sentence here is certain. A read
shows the balances of one moment. The balance of an account at a later moment is that balance,
changed by all transfers that surely came between, and by any of those that may have come between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.operations import Operation, as_text
from kraftproof.checkers.models.reasons import end_of, is_over, may_count

_MOST_READS: Final = 50
"""Earlier reads, at most, that are compared with a wrong operation, the latest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """The balances that an account can have held when an operation took effect.

    Attributes:
        least: the smallest balance.
        most: the largest balance.
        why: the read, and the transfers since then, in words.
    """

    least: int
    most: int
    why: str

    @property
    def words(self) -> str:
        """The range in words that follow "held"."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


def balances_of(operation: Operation) -> dict[str, int | None]:
    """Return the balances that a read answered."""
    assert isinstance(operation.output, dict)
    return {as_text(account): held for account, held in operation.output.items()}


def change_of(transfer: Operation, account: str) -> int:
    """Return by how much a transfer changes the balance of an account."""
    asked = transfer.input
    assert isinstance(asked, dict)
    gains, loses = as_text(asked["to"]) == account, as_text(asked["from"]) == account
    amount = asked["amount"]
    assert isinstance(amount, int)
    return amount * (int(gains) - int(loses))


def wrong_read(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return which balance a read can't have found; None without an obvious reason."""
    found = balances_of(wrong)
    missing = _missing(operations, wrong, found)
    if missing is not None:
        return missing
    for earlier in _reads_before(operations, wrong):
        for account, before in balances_of(earlier).items():
            held = found.get(account)
            if before is None:
                continue
            if held is None:
                return f"account {account} is missing, of which {phrase(earlier)} read {before}"
            range_ = _range(operations, wrong, earlier, account)
            if not range_.least <= held <= range_.most:
                what = f"it read {held} of account {account}, which held {range_.words} then"
                return f"{what}: {range_.why}"
    return None


def overdrawing(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return why a transfer took more than its account can have held; None if it may not have."""
    assert isinstance(wrong.input, dict)
    source = as_text(wrong.input["from"])
    taken = -change_of(wrong, source)
    for earlier in _reads_before(operations, wrong):
        if balances_of(earlier).get(source) is None:
            continue
        range_ = _range(operations, wrong, earlier, source)
        if taken > range_.most:
            what = f"it took {taken} from account {source}, which held {range_.words} then"
            return f"{what}: {range_.why}"
    return None


def _missing(
    operations: Sequence[Operation], wrong: Operation, found: Mapping[str, int | None]
) -> str | None:
    for one in operations:
        if one.f == "transfer" and is_over(one, wrong):
            assert isinstance(one.input, dict)
            for account in (as_text(one.input["from"]), as_text(one.input["to"])):
                if account not in found:
                    return f"account {account} is missing, which {phrase(one)} had changed"
    return None


def _reads_before(operations: Sequence[Operation], wrong: Operation) -> list[Operation]:
    """Return the reads that were over before an operation began, the latest first."""
    reads = [one for one in operations if one.f == "read" and is_over(one, wrong)]
    return sorted(reads, key=end_of, reverse=True)[:_MOST_READS]


def _range(
    operations: Sequence[Operation], wrong: Operation, earlier: Operation, account: str
) -> _Range:
    """Return what an account can have held, by an earlier read that knows the account."""
    possible = [
        one
        for one in operations
        if one.f == "transfer" and one is not wrong and may_count(one, wrong)
        if end_of(one) > earlier.invoke_index and change_of(one, account)
    ]
    surely = [one for one in possible if is_over(earlier, one) and is_over(one, wrong)]
    before = balances_of(earlier)[account]
    assert before is not None
    base = before + sum(change_of(one, account) for one in surely)
    others = [change_of(one, account) for one in possible if one not in surely]
    return _Range(
        least=base + sum(change for change in others if change < 0),
        most=base + sum(change for change in others if change > 0),
        why=f"{_start(earlier, before)}, and {_changes(surely, possible)}",
    )


def _start(earlier: Operation, before: int) -> str:
    return f"it held {before} at first" if earlier.index < 0 else f"{phrase(earlier)} read {before}"


def _changes(surely: Sequence[Operation], possible: Sequence[Operation]) -> str:
    """Return in words which transfers changed an account."""
    some = "" if len(surely) == len(possible) else "surely "
    if not surely:
        return f"no transfer had {some}changed it since"
    last = phrase(max(surely, key=end_of))
    if len(surely) == 1:
        return f"{last} had {some}changed it since"
    return f"{len(surely)} transfers had {some}changed it since, the last of them {last}"
