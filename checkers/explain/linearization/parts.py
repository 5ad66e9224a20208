"""Makes a legal order from independent parts, one part at a time.

Legal orders of the parts, each in real time, merge into a legal order of the whole in real time
(Herlihy and Wing, "Linearizability", 1990, theorem 1): before each completion, the merge places the
calls of the completing call's part, in the part's order, up to the completing call; each placed
call was invoked by then, and none completed before. So the search costs the sum of the parts and
not their product.
"""

from collections.abc import Callable, Hashable

from kraftproof.checkers.engines.wgl.plan import Plan, plan_of
from kraftproof.checkers.explain.reduction.update_order import order_from_hints
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import OrderHint, is_reducible

OrderOf = Callable[[Plan], list[int] | None]


def in_parts(
    model: SequentialModel, plan: Plan, start: Hashable, order_of: OrderOf
) -> list[int] | None:
    """Return the numbers of calls in an order that is legal from a state.

    None for a history with a single part, or if a part has no order.

    Args:
        model: the model.
        plan: all calls.
        start: the state.
        order_of: returns the order of one part's calls, as numbers in the part's plan.
    """
    parts = _parts(model, plan)
    if len(parts) < 2:
        return None
    hints: list[OrderHint | None] = [None] * len(plan.calls)
    for part, numbers in enumerate(parts):
        order = order_of(plan_of(model, [(plan.operations[n], plan.calls[n]) for n in numbers]))
        if order is None:
            return None
        for place, number in enumerate(order):
            hints[numbers[number]] = OrderHint(str(part), place)
    return order_from_hints(model, plan, hints, start)


def _parts(model: SequentialModel, plan: Plan) -> list[list[int]]:
    """Return the calls of each part; a single part if a call belongs to no part."""
    whole = [list(range(len(plan.calls)))]
    if not is_reducible(model):
        return whole
    found: dict[Hashable, list[int]] = {}
    for number, call in enumerate(plan.calls):
        part = model.part(call)
        if part is None:
            return whole
        found.setdefault(part, []).append(number)
    return list(found.values())
