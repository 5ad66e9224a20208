"""Explains why the operations of one key are not linearizable."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Final

from kraftproof.checkers.explain import subhistory
from kraftproof.checkers.explain.explanation import (
    AlternationCount,
    Constraint,
    ElementCount,
    Explanation,
    LinearizedOperation,
    OperationView,
    SubHistory,
    SumBound,
)
from kraftproof.checkers.explain.linearization.engine_orders import engine_order
from kraftproof.checkers.explain.linearization.linearization import longest_linearization, states_of
from kraftproof.checkers.explain.linearization.longest_prefix import Known, longest_prefix
from kraftproof.checkers.explain.reduction.minimal import Minimised
from kraftproof.checkers.explain.reduction.minimise import minimise
from kraftproof.checkers.explain.reduction.reductions import prefix, until
from kraftproof.checkers.explain.reduction.relevant_values import relevant_values
from kraftproof.checkers.explain.text.candidate_causes import candidate_causes
from kraftproof.checkers.explain.text.message_text import paragraph, prefix_sentence
from kraftproof.checkers.explain.text.operations import answering, operation_view
from kraftproof.checkers.explain.verify.brute_force import (
    is_alternation_count_right,
    is_element_count_right,
    is_linearizable,
    is_sum_bound_right,
)
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import (
    HoldingModel,
    ReducibleModel,
    SummingModel,
    is_reducible,
)
from kraftproof.checkers.text import without_middle

_MOST_STARTS: Final = 12
DEFAULT_SECONDS: Final = 10.0
_PATIENCE: Final = 4
"""Factor on the time limit if the verdict proves that a linearization exists."""


def explain(
    model: SequentialModel,
    key: str,
    operations: Sequence[Operation],
    first_illegal_index: int,
    *,
    history: str = "",
    seconds: float = DEFAULT_SECONDS,
    is_first: bool = True,
) -> Explanation:
    """Return why the operations of a key are not linearizable.

    Args:
        model: the model.
        key: the key.
        operations: all of the key, in the order of their invocations.
        first_illegal_index: the `index` of the first operation whose completion no legal order
        reaches, as
            the verdict's finding names it.
        history: the name of the history.
        seconds: the limit of processor time: for the sub-history, for the linearization, which may
            take four times as long if one is known to exist, and, if none is found, for one of a
            shorter prefix.
        is_first: whether the earlier completions are known to be linearizable.
    """
    first_illegal = next(one for one in operations if one.index == first_illegal_index)
    end = first_illegal.complete_index
    assert end is not None, "an operation that never completed can't be illegal"
    whole = prefix(model, operations, end)
    before = until(model, whole, end - 1)
    proposed = partial(engine_order, model, operations)
    patience = seconds * (_PATIENCE if is_first else 1)
    order = longest_linearization(model, before, patience, partial(proposed, end - 1, patience))
    decided = relevant_values(model, order, whole) if order and is_reducible(model) else ()
    found = minimise(model, whole, seconds, decided)
    done = sum(entry.is_required for entry in whole.entries) - 1
    calls = {entry.operation.index: entry.call for entry in whole.entries}
    answers = answering(operations)
    view = operation_view(first_illegal, answers)
    recorded = {one.index: operation_view(one, answers) for one in _named(operations, found)}
    sub = _sub_history(model, found, whole, recorded, calls) if found.is_invalid else None
    state = _last_state(model, order or ())
    causes: list[str] = []
    if sub is not None:
        states = found.sub.starts if order is None else (state,)
        causes = candidate_causes(model, states, first_illegal, whole, found.sub.entries, answers)
    left = None if order is None else model.describe(state)
    is_first = is_first or order is not None
    known = None if order is None else Known(order, done)
    if known is None:
        known = longest_prefix(model, before, seconds, proposed)
    linearized = None if known is None else known.completed
    return Explanation(
        history=history,
        model=model.name,
        key=key,
        operations=len(operations),
        first_illegal=view,
        is_first=is_first,
        linearizable=done,
        linearized=linearized,
        linearization=None if known is None else tuple(_linearized(model, known.order)),
        sub_history=sub,
        words=paragraph(
            key=key,
            first_illegal=view,
            before=prefix_sentence(done, left, linearized, is_first=is_first),
            sub=sub,
            causes=causes,
        ),
    )


def _named(operations: Sequence[Operation], found: Minimised) -> list[Operation]:
    """The operations of the sub-history, as they were recorded."""
    left = {entry.operation.index for entry in found.sub.entries} if found.is_invalid else set()
    return [one for one in operations if one.index in left]


def _last_state(model: SequentialModel, order: Sequence[Entry]) -> Hashable:
    last = deque(states_of(model, order), maxlen=1)
    return last.pop() if last else model.init()


def _linearized(model: SequentialModel, order: Sequence[Entry]) -> Iterator[LinearizedOperation]:
    text = None
    for entry, state in zip(order, states_of(model, order), strict=True):
        if text is None or not model.is_pure(entry.call):
            text = without_middle(model.describe(state))
        yield LinearizedOperation(index=entry.operation.index, state=text)


def _sub_history(
    model: SequentialModel,
    found: Minimised,
    whole: subhistory.SubHistory,
    recorded: Mapping[int, OperationView],
    calls: Mapping[int, Hashable],
) -> SubHistory:
    sub, total = found.sub, None
    legal = is_linearizable(model, sub)
    is_verified = None if legal is None else not legal
    if sub.surplus is not None:
        is_verified = bool(is_verified) and is_alternation_count_right(sub.surplus, whole)
    if sub.total is not None and isinstance(model, SummingModel):
        is_verified = bool(is_verified) and is_sum_bound_right(model, sub.total, whole)
        total = _total(model.sum_name, sub.total)
    if sub.balance is not None and isinstance(model, HoldingModel):
        is_verified = bool(is_verified) and is_element_count_right(model, sub.balance, whole)
    over_before = _over_before([entry.operation for entry in sub.entries if entry.is_required])
    starts = sorted({without_middle(model.describe(state)) for state in sub.starts})
    return SubHistory(
        since=_since(sub, whole),
        starts=tuple(starts[:_MOST_STARTS]),
        constraints=tuple(
            Constraint(
                operation=recorded[index],
                is_required=entry.is_required,
                meaning=_meaning(model, entry, calls[index]) or recorded[index].text,
                after=over_before(entry.operation),
            )
            for entry in sub.entries
            for index in (entry.operation.index,)
        ),
        is_minimal=found.is_minimal,
        is_verified=is_verified,
        surplus=None if sub.surplus is None else _surplus(sub.surplus),
        total=total,
        balance=None if sub.balance is None else _balance(sub.balance),
    )


def _since(sub: subhistory.SubHistory, whole: subhistory.SubHistory) -> int | None:
    """Return the first event of the sub-history; None if the history begins with this event."""
    if sub.since is None:
        return None
    is_first = all(entry.operation.invoke_index >= sub.since for entry in whole.entries)
    return None if is_first else sub.since


def _total(name: str, found: subhistory.SumBound) -> SumBound:
    return SumBound(
        name=name,
        first=None if found.first is None else found.first.operation.index,
        start=found.start,
        adds=tuple(one.operation.index for one in found.adds),
        amount=found.amount,
        last=found.last.operation.index,
        returned=found.returned,
        is_most=found.is_most,
    )


def _surplus(found: subhistory.AlternationCount) -> AlternationCount:
    inside = [one.operation for own in found.inside for one in own]
    touching = [one.operation for one in found.touching]
    return AlternationCount(
        windows=tuple(
            (None if begin == subhistory.BEGINNING else begin, end) for begin, end in found.windows
        ),
        f=inside[0].f,
        inside=tuple(one.index for one in inside),
        other=touching[0].f if touching else "",
        touching=tuple(one.index for one in touching),
        granted=sum(found.granted),
    )


def _balance(found: subhistory.ElementCount) -> ElementCount:
    return ElementCount(
        items=tuple(without_middle(str(item)) for item in found.items),
        is_taken=found.is_taken,
        f=found.over[0].operation.f,
        over=tuple(one.operation.index for one in found.over),
        other=found.begun[0].operation.f if found.begun else "",
        begun=tuple(one.operation.index for one in found.begun),
        by=found.by,
    )


def _meaning(model: SequentialModel, entry: Entry, recorded: Hashable) -> str | None:
    """Return the reduced call in words; None if the call was not reduced."""
    if entry.call == recorded or not isinstance(model, ReducibleModel):
        return None
    meaning = model.describe_call(entry.call)
    return None if meaning is None else without_middle(meaning)


def _over_before(required: Sequence[Operation]) -> Callable[[Operation], tuple[int, ...]]:
    """Return a function that maps an operation to its immediate real-time predecessors."""
    by_end = sorted(required, key=_end)
    ends = [_end(one) for one in by_end]
    latest = list(accumulate((one.invoke_index for one in by_end), max, initial=0))

    def last_over(operation: Operation) -> tuple[int, ...]:
        over = bisect_left(ends, operation.invoke_index)
        last = by_end[bisect_right(ends, latest[over]) : over]
        return tuple(one.index for one in sorted(last, key=lambda one: one.invoke_index))

    return last_over


def _end(operation: Operation) -> int:
    assert operation.complete_index is not None, "what is required has completed"
    return operation.complete_index
