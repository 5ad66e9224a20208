"""Hints of models about reductions, for short explanations of invalid histories.

All hints are optional; without hints, explanations are longer. A reduction is *sound* if every
linearizable history stays linearizable; then an invalid sub-history proves the original history
invalid. tests/checkers/explain/reduction/test_explain_sound.py holds every model to that.
"""

from collections.abc import Collection, Container, Hashable, Sequence
from typing import Final, NamedTuple, Protocol, TypeGuard, runtime_checkable

from typing_extensions import override

from kraftproof.checkers.models import SequentialModel

Events = tuple[int, int | None]


class AllBut(Container[Hashable]):
    """All values except a few.

    Attributes:
        kept: those few.
    """

    def __init__(self, kept: Collection[Hashable]) -> None:
        """Take the few."""
        self.kept = frozenset(kept)

    @override
    def __contains__(self, value: object) -> bool:
        return value not in self.kept


class OrderHint(NamedTuple):
    """A place on a track, and whether it is best taken as soon as that is legal."""

    track: str
    place: int
    is_eager: bool = False


@runtime_checkable
class ReducibleModel(SequentialModel, Protocol):
    """A model that knows sound reductions beyond the reductions valid for every model."""

    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        """Return calls that are legal wherever the call is, with the same successor state."""
        return ()

    def values(self, call: Hashable) -> frozenset[Hashable]:
        """Return the values that the call concerns; `without` can project these out."""
        return frozenset()

    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        """Return the call with some values projected out; None for an empty call.

        What remains of a legal order of calls must be a legal order, though a call that is optional
        may have to be left out of it.
        """
        return call

    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """Return the calls that may be needed to make some of the other calls legal.

        If a call is returned for none of its successors in a legal order, removing the call must
        leave a legal order.
        """
        return calls

    def part(self, call: Hashable) -> Hashable | None:
        """Return the part of the state that the call concerns; None for the whole state.

        The legality of calls on one part must not depend on other parts.
        """
        return None

    def alternates_with(self, call: Hashable) -> Hashable | None:
        """Return the only call that alternates with this call; None without alternation.

        After either call, only the other is legal; no further call affects the two.
        """
        return None

    def any_state(
        self,
        starts: Sequence[Hashable],
        history: Sequence[Hashable],
        window: Sequence[Hashable],
    ) -> Sequence[Hashable] | None:
        """Return representatives of all states in which a window of the history may begin.

        For each state that the history's calls can reach from `starts`, there must be a
        representative that the calls of the window cannot distinguish from the state. None above
        the limit of states.
        """
        return None

    def describe_call(self, call: Hashable) -> str | None:
        """Return the call in words; None if the operation's own text suffices."""
        return None

    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        """Return the position of each call in a legal order, None if the order is unknown.

        The order is only a hint and is replayed. Calls on one track follow their places; None marks
        a pure call, or a call that is placed as late as possible.

        Args:
            calls: the calls, by invocation.
            events: the events of each call: the invocation, and the completion if the call surely
                completed.
        """
        return None


class Tally(NamedTuple):
    """The amount that a call adds to a sum, and bounds on the sum after the call.

    Also a call itself.

    Attributes:
        amount: what it adds.
        least: the minimum sum after the call; None for no bound.
        most: the most.
    """

    amount: int
    least: int | None = None
    most: int | None = None

    @property
    def observed(self) -> int | None:
        """The exact sum after the call; None for no bound, or for a range."""
        return self.least if self.least == self.most else None

    def after(self, before: int) -> int | None:
        """Return the sum after the call; None for a sum that violates the bounds."""
        found = before + self.amount
        is_less = self.least is not None and found < self.least
        return None if is_less or (self.most is not None and found > self.most) else found

    def untold(self) -> "tuple[Tally, ...]":
        """Return the tally without its bounds, if the tally has bounds and adds an amount."""
        fewer = Tally(self.amount)
        return (fewer,) if self.amount and self != fewer else ()

    def bounds(self) -> Sequence[str]:
        """Return the bounds in words; an empty sequence without bounds."""
        if self.observed is not None:
            return (str(self.observed),)
        named = (("at least", self.least), ("at most", self.most))
        return tuple(f"{name} {bound}" for name, bound in named if bound is not None)


@runtime_checkable
class SummingModel(ReducibleModel, Protocol):
    """A model whose state includes a sum; calls add to the sum and return the sum.

    Tallies are calls of the model: legal wherever the sum meets the bounds, whatever the rest of
    the state.

    Attributes:
        sum_name: what the sum is called.
    """

    sum_name: str

    def tally(self, call: Hashable) -> Tally:
        """Return what is left of the call if only the sum counts."""
        ...

    def sum_of(self, state: Hashable) -> int:
        """Return the sum in a state."""
        ...

    def summing_to(self, total: int) -> Hashable | None:
        """Return a state with the given sum; None if no state has the sum."""
        ...


Span = tuple[float, float]
"""The beginning and the end of an operation; infinite for an open end."""


class Change(NamedTuple):
    """The effect of a call on the number of an item inside.

    Attributes: item: the item; None for the next item.
        by: 1 for a put, -1 for a take, 0 for an observation of an empty container.
    """

    item: Hashable | None
    by: int


@runtime_checkable
class HoldingModel(ReducibleModel, Protocol):
    """A model whose state holds items, initially none: an item is put before its take."""

    def change(self, call: Hashable) -> Change:
        """Return the effect of the call on the contents.

        A take of the next item may find nothing and do nothing; a take of a given item is legal
        only while the item is inside.
        """
        ...

    def leaves_before(self, other: Hashable, put: Span, item: Hashable, own: Span) -> bool:
        """Return whether what a call put in has to be out before an item can be taken.

        Args: other: an item put by another call.
            put: the beginning and the end of its put.
            item: the item.
            own: when the first call that put this in began, and when the last was over.
        """
        ...


class ByElement(ReducibleModel, Protocol):
    """A model whose calls are tuples of an action and its only element, or None.

    Elements must be independent: all calls on some elements may be omitted.
    """

    @override
    def values(self, call: Hashable) -> frozenset[Hashable]:
        assert isinstance(call, tuple)
        return frozenset() if call[1] is None else frozenset({call[1]})

    @override
    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        assert isinstance(call, tuple)
        return None if call[1] is not None and call[1] in values else call


_reducible: Final[dict[type[SequentialModel], bool]] = {}
"""The models that were asked, and whether they know reductions."""


def is_reducible(model: SequentialModel) -> TypeGuard[ReducibleModel]:
    """Says whether a model knows reductions; asked for every call, and `isinstance` is slow."""
    known = _reducible.get(type(model))
    if known is None:
        known = _reducible[type(model)] = isinstance(model, ReducibleModel)
    return known
