"""What a model may say of reductions, so that an explanation of an invalid history is small.

All of it is optional, and a model that says nothing has longer explanations. A reduction is *sound*
if a linearizable history stays so: only then does an invalid sub-history prove that the history
which it was made of is invalid. tests/checkers/test_explain_sound.py holds every model to that.
"""

from collections.abc import Collection, Container, Hashable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from typing_extensions import override

from kraftproof.checkers.models import SequentialModel

Events = tuple[int, int | None]


class AllBut(Container[Hashable]):
    """All values but a few.

    Attributes:
        kept: those few.
    """

    def __init__(self, kept: Collection[Hashable]) -> None:
        """Takes the few."""
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
    """A model that knows sound reductions beyond those which hold for every model."""

    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        """Returns calls that are legal wherever this one is, and lead to the same state."""
        return ()

    def values(self, call: Hashable) -> frozenset[Hashable]:
        """Returns the values that the call is about, and that `without` can project out."""
        return frozenset()

    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        """Returns the call with some values projected out; None if nothing remains of it.

        What remains of a legal order of calls must be a legal order, though a call that is optional
        may have to be left out of it.
        """
        return call

    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """Returns those of some calls that may be needed for one of others to be legal.

        A call that is returned for none of those that follow it in a legal order must be one that
        can be left out of that order.
        """
        return calls

    def part(self, call: Hashable) -> Hashable | None:
        """Returns the part of the state that the call is about; None if it is about all of it.

        Calls on one part must be legal, or not, whatever became of the others.
        """
        return None

    def alternates_with(self, call: Hashable) -> Hashable | None:
        """Returns the one other call that takes update_order with this one; None if none does.

        After either of them the other is legal, and the same once more is not; nor does it matter
        to them what else has been called.
        """
        return None

    def any_state(
        self,
        starts: Sequence[Hashable],
        history: Sequence[Hashable],
        window: Sequence[Hashable],
    ) -> Sequence[Hashable] | None:
        """Returns states that stand for every one in which a window of the history may begin.

        For each state that the history's calls can lead to from `starts`, there must be one that no
        calls of the window, in any order, tell apart from it. None if there are too many.
        """
        return None

    def describe_call(self, call: Hashable) -> str | None:
        """Returns the call in words; None for what the operation says by itself."""
        return None

    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        """Returns when each call has its turn in some legal order, None if that is not known.

        A hint: what comes of it is replayed. Calls on one track come in the order of their places;
        a turn of None is that of a pure call, or of one that comes as late as it can.

        Args:
            calls: the calls, by invocation.
            events: those of each: its invocation, and its completion if it surely has one.
        """
        return None


class Tally(NamedTuple):
    """What a call adds to a sum, and what it told of the sum after it; a call of its own, too.

    Attributes:
        amount: what it adds.
        least: the least that the sum is then; None if the call didn't tell.
        most: the most.
    """

    amount: int
    least: int | None = None
    most: int | None = None

    @property
    def told(self) -> int | None:
        """The sum that was told; None if it wasn't, or bounds of it were."""
        return self.least if self.least == self.most else None

    def after(self, before: int) -> int | None:
        """Returns the sum after it; None if it can't have told what it did."""
        found = before + self.amount
        is_less = self.least is not None and found < self.least
        return None if is_less or (self.most is not None and found > self.most) else found

    def untold(self) -> "tuple[Tally, ...]":
        """Returns it as one that told nothing, if it told something and also adds."""
        fewer = Tally(self.amount)
        return (fewer,) if self.amount and self != fewer else ()

    def bounds(self) -> Sequence[str]:
        """Returns what it told in words, which are none if it told nothing."""
        if self.told is not None:
            return (str(self.told),)
        named = (("at least", self.least), ("at most", self.most))
        return tuple(f"{name} {bound}" for name, bound in named if bound is not None)


@runtime_checkable
class SummingModel(ReducibleModel, Protocol):
    """A model with a sum in its state, to which calls add and which they tell.

    Tallies are calls of it: legal wherever the sum is as they tell, whatever else there is.

    Attributes:
        sum_name: what the sum is called.
    """

    sum_name: str

    def tally(self, call: Hashable) -> Tally:
        """Returns what is left of the call if only the sum counts."""
        ...

    def sum_of(self, state: Hashable) -> int:
        """Returns the sum in a state."""
        ...

    def summing_to(self, total: int) -> Hashable | None:
        """Returns some state with that sum; None if none has it."""
        ...


Span = tuple[float, float]
"""When something began, and when it was over; infinite if it may never be."""


class Change(NamedTuple):
    """What a call does to how many there are of an item.

    Attributes:
        item: the item; None for whichever is there.
        by: 1 if it puts one in, -1 if it takes one out, 0 if it tells that there is nothing.
    """

    item: Hashable | None
    by: int


@runtime_checkable
class HoldingModel(ReducibleModel, Protocol):
    """A model whose state holds items, at first none: what comes out of it was put in before."""

    def change(self, call: Hashable) -> Change:
        """Returns what the call does to what is held.

        One that takes whichever is there may find nothing and do nothing; one that takes an item
        is legal only where it is held.
        """
        ...

    def leaves_before(self, other: Hashable, put: Span, item: Hashable, own: Span) -> bool:
        """Says whether what a call put in has to be out before an item can be taken.

        Args:
            other: what the call put in.
            put: when that call began, and when it was over.
            item: the item.
            own: when the first call that put this in began, and when the last was over.
        """
        ...


class ByElement(ReducibleModel, Protocol):
    """A model whose calls are tuples of what they do and the one element they do it to, or None.

    Elements must not matter to each other: all calls on some of them may be left out.
    """

    @override
    def values(self, call: Hashable) -> frozenset[Hashable]:
        assert isinstance(call, tuple)
        return frozenset() if call[1] is None else frozenset({call[1]})

    @override
    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        assert isinstance(call, tuple)
        return None if call[1] is not None and call[1] in values else call
