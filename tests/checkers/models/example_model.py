"""A stock of goods: restock, take, count. The worked example of docs/checkers.md."""

from kraftproof.checkers.models.specification import Specification


class Stock(Specification):
    """How many there are; `take` answers "taken", or "short" if there are too few."""

    name = "stock"
    functions = frozenset({"restock", "take", "count"})

    def init(self):
        return 0

    def step(self, state, call):
        if call.f == "restock":
            return state + call.input
        if call.f == "count":
            return state if call.output == state else None
        if call.output == "short":
            return state if state < call.input else None
        return state - call.input if state >= call.input else None

    # All below are hints: without them the verdicts are the same, and come later.

    def is_pure(self, call):
        return call.f == "count" or call.output == "short"

    def commutes(self, one, other):
        return not self.is_pure(one) and one.f == other.f
