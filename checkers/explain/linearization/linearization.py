"""The longest linearization: an actual order of the operations up to where none goes on.

Made of the hints that a model knows (`checkers.explain.reduction.update_order`), else found by the
general engine, which notes its choices, part by part where a model has parts
(`checkers.explain.linearization.parts`). Of a short history the general engine looks at a bounded
number of configurations first. Only then a compiled engine is asked for an order
(`checkers.explain.linearization.engine_orders`), and the general engine goes on. Without a
linearization at the time limit, the explanation omits this part.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final

from kraftproof.checkers.engines.wgl.plan import Plan, plan_of
from kraftproof.checkers.engines.wgl.search import search
from kraftproof.checkers.engines.wgl.trace import Configuration, Trace
from kraftproof.checkers.explain.linearization.parts import OrderOf, in_parts
from kraftproof.checkers.explain.reduction.reductions import helpful
from kraftproof.checkers.explain.reduction.update_order import order_from_hints, update_order
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.budget import Budget
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import OrderHint
from kraftproof.checkers.verdict import Verdict

_MEMORY_BYTES: Final = 200_000_000
_FIRST_BYTES: Final = 16_000_000
"""Memory of the first search: some 40,000 configurations, a second of plain Python."""
_SHORT: Final = 5_000
"""Calls, up to which the general engine searches before a compiled engine is loaded."""


def longest_linearization(
    model: SequentialModel,
    before: SubHistory,
    seconds: float,
    proposed: Callable[[], Sequence[int] | None] = lambda: None,
) -> list[Entry] | None:
    """Return a legal order of all required calls of a sub-history and some optional calls.

    None if the CPU time limit ends the search.

    Args:
        model: the model.
        before: the sub-history, which begins with the history.
        seconds: the limit of processor time.
        proposed: returns the indices of operations in a possibly legal order; None without a
            proposal.
    """
    budget = Budget(seconds)
    plan = plan_of(model, list(helpful(model, before.entries)))
    if not budget.has_time():
        return None

    def searched(plan: Plan) -> list[int] | None:
        trace = Trace()
        found = budget.searched(model, plan, before.starts, _MEMORY_BYTES, trace)
        return _order(model, plan, trace) if found.verdict is Verdict.VALID else None

    def soon(plan: Plan) -> list[int] | None:
        trace = Trace()
        found = search(model, plan, budget.limits(_FIRST_BYTES), before.starts, trace)
        return _order(model, plan, trace) if found.verdict is Verdict.VALID else None

    start = model.init()
    order = (
        update_order(model, plan, start)
        or (_in_parts_or_whole(model, plan, soon) if len(plan.calls) <= _SHORT else None)
        or _as_proposed(model, plan, proposed())
        or _in_parts_or_whole(model, plan, searched)
    )
    return None if order is None else [Entry(plan.operations[n], plan.calls[n]) for n in order]


def _in_parts_or_whole(model: SequentialModel, plan: Plan, order_of: OrderOf) -> list[int] | None:
    return in_parts(model, plan, model.init(), order_of) or order_of(plan)


def _as_proposed(
    model: SequentialModel, plan: Plan, indices: Sequence[int] | None
) -> list[int] | None:
    """Return the numbers of the calls in the order proposed, if it is a legal one."""
    if indices is None:
        return None
    places = {index: place for place, index in enumerate(indices)}
    found = (places.get(operation.index) for operation in plan.operations)
    hints = [None if place is None else OrderHint("order", place) for place in found]
    return order_from_hints(model, plan, hints, model.init())


def _order(model: SequentialModel, plan: Plan, trace: Trace) -> list[int]:
    """Return the numbers of the calls in the search's order."""
    chain = [trace.furthest]
    while (parent := trace.parents.get(_there(chain[-1]))) is not None:
        chain.append(parent)
    chain.reverse()
    optional = [number for number, one in enumerate(plan.operations) if one.status != "ok"]
    placed: list[int] = []
    for number, configuration in enumerate(chain):
        position, linearized, used = _passed(model, plan, _there(configuration), placed)
        if number + 1 < len(chain):
            _, then_linearized, then_used, _ = _there(chain[number + 1])
            if then_used != used:
                placed.append(optional[(then_used ^ used).bit_length() - 1])
            else:
                placed.append(_chosen(plan, position, then_linearized ^ linearized))
    return placed


def _passed(
    model: SequentialModel, plan: Plan, configuration: Configuration, placed: list[int]
) -> tuple[int, int, int]:
    """Go on from a configuration as far as the search did without a choice."""
    position, linearized, used, state = configuration
    while position < len(plan.returns):
        for number in plan.open_pure[position]:
            bit = plan.bits[number]
            if not linearized & bit and model.step(state, plan.calls[number]) is not None:
                linearized |= bit
                placed.append(number)
        returning = plan.bits[plan.returns[position]]
        if not linearized & returning:
            break
        linearized ^= returning
        position += 1
    return position, linearized, used


def _chosen(plan: Plan, position: int, bit: int) -> int:
    return next(number for number in plan.open_updates[position] if plan.bits[number] == bit)


def states_of(model: SequentialModel, order: Iterable[Entry]) -> Iterator[Hashable]:
    """Yield the state after each call of a legal order, as it is and not in its normal form.

    The states are not stored: a state of a set or a list may be as long as the history.
    """
    state = model.init()
    for entry in order:
        following = model.step(state, entry.call)
        assert following is not None, "the search found this order legal"
        state = following
        yield state


def _there(configuration: Configuration | None) -> Configuration:
    assert configuration is not None, "a search looks at one configuration at least"
    return configuration
