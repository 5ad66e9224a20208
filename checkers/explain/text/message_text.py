"""An explanation in words that a person understands who knows neither engine nor reduction."""

from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.explain.explanation import (
    AlternationCount,
    Constraint,
    ElementCount,
    OperationView,
    SubHistory,
    SumBound,
)
from kraftproof.checkers.text import shortened, without_middle

_SHOWN_FIRST: Final = 4
_SHOWN_LAST: Final = 8
_SHOWN_WINDOWS: Final = 3


def paragraph(
    *,
    key: str,
    stuck: OperationView,
    before: str,
    sub: SubHistory | None,
    causes: Sequence[str],
) -> str:
    """Returns the whole explanation, a few lines of text.

    Args:
        key: the key.
        stuck: the operation that has no place.
        before: a sentence on what was completed before it.
        sub: the minimal sub-history.
        causes: sentences on operations that could have made it possible.
    """
    return "\n".join(
        [
            f"Key {shortened(key)}: {who(stuck)} can't have happened as recorded ({_when(stuck)}).",
            before,
            *causes,
            *([] if sub is None else _proof(sub)),
        ]
    )


def prefix_sentence(
    linearizable: int, left: str | None, so_far: int | None = None, *, is_first: bool
) -> str:
    """Returns a sentence on the operations completed before the one that has no place.

    Args:
        linearizable: how many they are.
        left: the state that their linearization leaves, in words; None if none was found.
        so_far: of how many of them, if not of all, an order is known; None if of none.
        is_first: whether they are known to have one.
    """
    if linearizable == 0:
        return "It is the first operation to complete."
    count = "The operation" if linearizable == 1 else f"The {linearizable} operations"
    if not is_first:
        some = "" if so_far is None else f", but for the first {so_far}, which have one"
        return (
            f"{count} completed before it may have a legal order or not: that was not decided"
            f"{some}. With it there is none."
        )
    has = "has" if linearizable == 1 else "have"
    ends = "" if left is None else f", which leaves {without_middle(left)}"
    return f"{count} completed before it {has} a legal order{ends}; no legal order goes on with it."


def who(operation: OperationView) -> str:
    """Returns who did what, as: operation 21, process 3 at node 2: read -> 5."""
    if operation.index < 0:
        return f"the initial value, as it was stated: {operation.told}"
    where = "" if operation.node is None else f" at node {operation.node}"
    return f"operation {operation.index}, process {operation.process}{where}: {operation.told}"


def _when(operation: OperationView) -> str:
    end = operation.complete_index
    if end is None:
        return f"invoked at event {operation.invoke_index}, never completed"
    return f"events {operation.invoke_index} to {end}"


def _proof(sub: SubHistory) -> list[str]:
    count = len(sub.constraints)
    begins = "" if sub.since is None else f", whatever the state at event {sub.since} was"
    alone = (
        "This alone is enough to show it" if count == 1 else f"These {count} are enough to show it"
    )
    lines = [f"{alone}{begins}:"]
    told = [_constraint(constraint) for constraint in sub.constraints]
    if sub.surplus is not None:
        lines = _counted(sub.surplus, count)
    if sub.balance is not None:
        lines = [_balanced(sub.balance)]
    if sub.total is not None:
        lines = [_added_up(sub.total)]
        places = [
            n for n, one in enumerate(sub.constraints) if one.operation.index in sub.total.adds
        ]
        if len(places) < len(sub.total.adds):
            told[places[0]] = _joined(sub.total)
    hidden = count - _SHOWN_FIRST - _SHOWN_LAST
    for place, one in enumerate(told):
        if hidden <= 0 or not _SHOWN_FIRST <= place < count - _SHOWN_LAST:
            lines.append(f"- {one}")
        elif place == _SHOWN_FIRST:
            lines.append(f"- … {hidden} more …")
    return [*lines, _standing(sub)]


def _counted(surplus: AlternationCount, left: int) -> list[str]:
    f, other, windows = surplus.f, surplus.other, surplus.windows
    first = "the beginning" if windows[0][0] is None else f"event {windows[0][0]}"
    spans = [f"{first} to event {windows[0][1]}"]
    spans += [f"event {begin} to event {end}" for begin, end in windows[1:]]
    where = f"from {_list(spans)}"
    if len(spans) > _SHOWN_WINDOWS:
        where = f"in {len(spans)} windows from {first} to event {windows[-1][1]}"
    granted = {0: "no more", 1: "one more"}.get(surplus.granted, f"{surplus.granted} more")
    here = "" if len(spans) == 1 else f", with one for each of {len(spans)} windows"
    between = f"between these {left}" if left > 1 else "before this one"
    return [
        f"{f} and {other} take turns, so there can be {granted} of {f} than of {other}{here}. But"
        f" {where}, {len(surplus.inside)} of {f} began and were over, while at most"
        f" {len(surplus.touching)} of {other} can have taken effect. Each of these set against one"
        f" {f}, none is left to come {between}:"
    ]


def _balanced(balance: ElementCount) -> str:
    f, other, items = balance.f, balance.other, f"{len(balance.items)} elements"
    if len(balance.items) <= _SHOWN_FIRST:
        items = _list(balance.items)
    over = f"{len(balance.over)} {f} of {items}"
    begun = f"at most {len(balance.begun)} {other}" if other else "none"
    if balance.is_taken:
        return (
            f"By event {balance.by}, {over} were over, while {begun} that can have put it in had"
            f" begun. Each of these set against one {f}, none is left for this one:"
        )
    return (
        f"By event {balance.by}, what {over} had put in had to be out, while {begun} that can have"
        f" taken it had begun. Each of these set against one {f}, something is left inside, as if"
        " there were only these:"
    )


def _added_up(total: SumBound) -> str:
    start = f"The {total.name} is {total.start} at first."
    if total.first is not None:
        start = f"Operation {total.first} tells that the {total.name} is {total.start}."
    told = f"operation {total.last} tells {total.told}"
    count = len(total.adds)
    adds = f"{count} operations" if count > _SHOWN_LAST else f"operations {_list(total.adds)}"
    if count == 1:
        adds = f"operation {total.adds[0]}"
    if total.is_most:
        most = f"at most {adds} can" if count else "nothing can"
        return f"{start} Since then {most} have added to it, {total.amount} in all, but {told}:"
    later = f"{adds} added {total.amount} since then" if count else "it is asked later"
    return f"{start} Nothing takes from it, and {later}, but {told}:"


def _joined(total: SumBound) -> str:
    first, last = total.adds[:_SHOWN_FIRST], total.adds[-_SHOWN_LAST:]
    numbers = f"{', '.join(map(str, first))}, … {_list(last)}"
    return f"{len(total.adds)} operations that add {total.amount}: {numbers}"


def _constraint(constraint: Constraint) -> str:
    operation = constraint.operation
    told = who(operation)
    if constraint.meaning != operation.told:
        told += f", of which only this is needed: {constraint.meaning}"
    if operation.index < 0:
        return told
    if not constraint.is_required:
        begun = f"{told} (invoked at event {operation.invoke_index})"
        if operation.status == "ok":
            return f"{begun}, even if it took effect later than recorded, or never"
        return f"{begun}, which may have taken effect at any time since, or never"
    told += f" ({_when(operation)})"
    after = [number for number in constraint.after if number >= 0]
    if not after:
        return told
    one = "operation" if len(after) == 1 else "operations"
    were = "was" if len(after) == 1 else "were"
    return f"{told}, begun when {one} {_list(after)} {were} over"


def _standing(sub: SubHistory) -> str:
    tried = {
        True: "Every order of them was tried: none is legal.",
        False: "But an order of them was found that is legal: THIS EXPLANATION IS WRONG.",
        None: "There are too many orders of them to try all.",
    }[sub.is_verified]
    if sub.surplus is not None or sub.balance is not None:
        tried += " They were all counted once more."
    if sub.total is not None:
        tried += " What they add was added up once more."
    minimal = (
        "Nothing of it can be left out."
        if sub.is_minimal
        else "It may not be the smallest: the time was over."
    )
    return f"{tried} {minimal}"


def _list(numbers: Sequence[object]) -> str:
    *most, last = [str(number) for number in numbers] or [""]
    return f"{', '.join(most)} and {last}" if most else last
