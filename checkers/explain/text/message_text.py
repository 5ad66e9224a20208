"""Formats an explanation for readers who know neither the engines nor the reductions."""

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
    first_illegal: OperationView,
    before: str,
    sub: SubHistory | None,
    causes: Sequence[str],
) -> str:
    """Return the whole explanation, a few lines of text.

    Args:
        key: the key.
        first_illegal: the first illegal operation.
        before: a sentence on the earlier completions.
        sub: the minimal sub-history.
        causes: sentences on operations that could have enabled the offending operation.
    """
    return "\n".join(
        [
            f"Key {shortened(key)}: {operation_text(first_illegal)}, {_when(first_illegal)},"
            " is not linearizable.",
            before,
            *causes,
            *([] if sub is None else _proof(sub)),
        ]
    )


def prefix_sentence(
    linearizable: int, left: str | None, so_far: int | None = None, *, is_first: bool
) -> str:
    """Return a sentence on the operations completed before the first illegal operation.

    Args: linearizable: the number of operations completed earlier.
        left: the state after their linearization, in words; None without a linearization.
        so_far: the length of the longest prefix with a known order, if not the whole; None without
            an order.
        is_first: whether a linearization of the operations is known to exist.
    """
    if linearizable == 0:
        return "No operation completed earlier."
    count = "operation" if linearizable == 1 else f"{linearizable} operations"
    if not is_first:
        known = "" if so_far is None else f" (the first {so_far} have one)"
        return (
            f"Whether the {count} completed earlier have a legal order was not decided{known}."
            " With this operation no legal order exists."
        )
    has = "has" if linearizable == 1 else "have"
    ends = "" if left is None else f", which leaves {without_middle(left)}"
    return (
        f"The {count} completed earlier {has} a legal order{ends};"
        " no legal order also contains this operation."
    )


def operation_text(operation: OperationView) -> str:
    """Return the operation as: operation 21 (process 3 on node 2, read -> 5)."""
    if operation.index < 0:
        return f"the initial value as stated ({operation.text})"
    where = "" if operation.node is None else f" on node {operation.node}"
    return f"operation {operation.index} (process {operation.process}{where}, {operation.text})"


def _when(operation: OperationView) -> str:
    end = operation.complete_index
    if end is None:
        return f"invoked at event {operation.invoke_index}, never completed"
    return f"events {operation.invoke_index} to {end}"


def _proof(sub: SubHistory) -> list[str]:
    count = len(sub.constraints)
    begins = "" if sub.since is None else f", from any state at event {sub.since}"
    proof = (
        "This operation proves the violation"
        if count == 1
        else f"These {count} operations prove the violation"
    )
    lines = [f"{proof}{begins}:"]
    texts = [_constraint(constraint) for constraint in sub.constraints]
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
            texts[places[0]] = _joined(sub.total)
    hidden = count - _SHOWN_FIRST - _SHOWN_LAST
    for place, one in enumerate(texts):
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
    granted = {0: "no more", 1: "at most one more"}.get(
        surplus.granted, f"at most {surplus.granted} more"
    )
    here = "" if len(spans) == 1 else f", one for each of {len(spans)} windows"
    between = f"between these {left} operations" if left > 1 else "before this operation"
    return [
        f"{f} and {other} alternate, so there can be {granted} {f} than {other}{here}. But"
        f" {where}, {len(surplus.inside)} {f} began and completed, while at most"
        f" {len(surplus.touching)} {other} can have taken effect. After each {other} is matched"
        f" with one {f}, none is left {between}:"
    ]


def _balanced(balance: ElementCount) -> str:
    f, other, items = balance.f, balance.other, f"{len(balance.items)} elements"
    if len(balance.items) <= _SHOWN_FIRST:
        items = _list(balance.items)
    over = f"{len(balance.over)} {f} of {items}"
    begun = f"at most {len(balance.begun)} matching {other}" if other else "no matching operation"
    if balance.is_taken:
        return (
            f"By event {balance.by}, {over} had completed, while {begun} had begun. After each"
            f" {f} is matched, none is left for this {f}:"
        )
    return (
        f"By event {balance.by}, the elements of {over} had to be out, while {begun} had begun."
        f" After each {f} is matched, an element is left inside, as in this shorter history:"
    )


def _added_up(total: SumBound) -> str:
    start = f"The initial {total.name} is {total.start}."
    if total.first is not None:
        start = f"Operation {total.first} returned the {total.name} {total.start}."
    returned = f"operation {total.last} returned {total.returned}"
    count = len(total.adds)
    adds = f"{count} operations" if count > _SHOWN_LAST else f"operations {_list(total.adds)}"
    if count == 1:
        adds = f"operation {total.adds[0]}"
    if total.is_most:
        most = f"only {adds} can have" if count else "no operation can have"
        amount = f", at most {total.amount} in total" if count else ""
        return f"{start} Since then, {most} added to the {total.name}{amount}, but {returned}:"
    if count:
        added = f"{adds} added {total.amount} in between"
        return f"{start} The {total.name} never decreases, and {added}, but {returned}:"
    return f"{start} The {total.name} never decreases, but later {returned}:"


def _joined(total: SumBound) -> str:
    first, last = total.adds[:_SHOWN_FIRST], total.adds[-_SHOWN_LAST:]
    numbers = f"{', '.join(map(str, first))}, … {_list(last)}"
    return f"{len(total.adds)} operations that add {total.amount}: {numbers}"


def _constraint(constraint: Constraint) -> str:
    operation = constraint.operation
    text = operation_text(operation)
    if operation.index >= 0:
        text += f", {_timing(constraint)}"
    if constraint.meaning != operation.text:
        text += f"; only this part matters: {constraint.meaning}"
    return text


def _timing(constraint: Constraint) -> str:
    operation = constraint.operation
    if not constraint.is_required:
        begun = f"invoked at event {operation.invoke_index}"
        if operation.status == "ok":
            return f"{begun}, even if it took effect later than recorded, or never"
        return f"{begun}, which may have taken effect at any later time, or never"
    when = _when(operation)
    after = [number for number in constraint.after if number >= 0]
    if not after:
        return when
    predecessors = "operation" if len(after) == 1 else "operations"
    return f"{when}, invoked after {predecessors} {_list(after)} completed"


def _standing(sub: SubHistory) -> str:
    tried = {
        True: "Every order of these operations was tried: none is legal.",
        False: "But these operations have a legal order: THIS EXPLANATION IS WRONG.",
        None: "These operations have too many orders to try all.",
    }[sub.is_verified]
    if sub.surplus is not None or sub.balance is not None:
        tried += " A second count of all operations gave the same numbers."
    if sub.total is not None:
        tried += " A second addition gave the same sum."
    minimal = (
        "Nothing can be left out."
        if sub.is_minimal
        else "A smaller proof may exist: the time limit ended the search."
    )
    return f"{tried} {minimal}"


def _list(numbers: Sequence[object]) -> str:
    *most, last = [str(number) for number in numbers] or [""]
    return f"{', '.join(most)} and {last}" if most else last
