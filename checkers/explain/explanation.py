"""The fields of an explanation: plain data, as `kraftproof explain --json` prints.

The fields below are the schema; `schema_version` is raised when one changes its meaning or goes.
"""

from typing import Final

import msgspec

SCHEMA_VERSION: Final = 2


class OperationView(msgspec.Struct, frozen=True, kw_only=True):
    """An operation as recorded.

    Attributes:
        index: its number among the history's invocations.
        process: the process that invoked the operation.
        node: the node that received the operation, if recorded.
        f: its function.
        input: the argument, any JSON.
        output: the answer, any JSON; null if the client got no answer.
        status: ok, fail or info.
        invoke_index: the event of the invocation.
        complete_index: the event of the completion; null for an operation that never completed.
        error: the error that the client received instead of an answer.
        text: the operation with its argument and answer, in words.
    """

    index: int
    process: int
    node: str | None
    f: str
    input: object
    output: object
    status: str
    invoke_index: int
    complete_index: int | None
    error: str | None
    text: str


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """An operation of the minimal sub-history, and the part of the operation that the proof needs.

    Attributes:
        operation: the operation.
        is_required: true if the operation must take effect between its two events; an optional
            operation takes effect at any time after its invocation, or never.
        meaning: the needed part, in words; shorter than the operation if the proof needs less.
        after: the immediate real-time predecessors: operations of the sub-history that completed
            before this operation was invoked; earlier predecessors follow transitively.
    """

    operation: OperationView
    is_required: bool
    meaning: str
    after: tuple[int, ...]


class AlternationCount(msgspec.Struct, frozen=True, kw_only=True):
    """Proves by counting that alternating operations cannot have alternated.

    Attributes:
        windows: the first and the last event of each window; the first is null if nothing may come
            before it.
        f: the function with too many operations.
        inside: the operations of `f` that lie wholly in one of the windows.
        other: the function that alternates with `f`.
        touching: the operations of `other` that may have taken effect in one of the windows.
        granted: the allowed excess of `f` over `other`, summed over all windows.
    """

    windows: tuple[tuple[int | None, int], ...]
    f: str
    inside: tuple[int, ...]
    other: str
    touching: tuple[int, ...]
    granted: int


class SumBound(msgspec.Struct, frozen=True, kw_only=True):
    """Proves by addition that an operation returned an impossible sum.

    Attributes:
        name: what the sum is called: sum, version.
        first: the operation that returned the earlier sum; null for the initial sum.
        start: the sum before.
        adds: the operations between.
        amount: what they add.
        last: the operation that returned the impossible sum.
        returned: the returned sum.
        is_most: true if only the operations in `adds` can have come between, so that the returned
            sum is too high; false if all of `adds` must have come between, so that the sum is too
            low.
    """

    name: str
    first: int | None
    start: int
    adds: tuple[int, ...]
    amount: int
    last: int
    returned: int
    is_most: bool


class ElementCount(msgspec.Struct, frozen=True, kw_only=True):
    """Proves by counting that more elements were taken than put, or that an element must remain.

    Attributes: items: the counted items, in words.
        is_taken: whether too many takes were over; else too few had begun for what had to be out.
        f: the function of `over`.
        over: the completed takes, or the puts whose elements had to be out.
        other: the function of `begun`; empty if `begun` is empty.
        begun: the puts that had begun, or the takes.
        by: the event at which the operations are counted.
    """

    items: tuple[str, ...]
    is_taken: bool
    f: str
    over: tuple[int, ...]
    other: str
    begun: tuple[int, ...]
    by: int


class SubHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The reduced history.

    Each reduction is sound, so its violation proves the violation of the whole.

    Attributes: since: the event at which the sub-history begins; null for the beginning of the
        history.
        starts: the possible initial states, in words.
        constraints: its operations, by invocation.
        is_minimal: whether no sound reduction that we know leaves it invalid; false only if the
            time was over.
        is_verified: whether trying every order, by the definition alone, found no legal one; null
            if there are too many orders to try.
        surplus: for a history reduced by counting alternating operations, the counts; the remaining
            operations are the unmatched operations of the last relevant window.
        total: for a history reduced by addition, the sums. One entry may stand for many additions.
        balance: for a history reduced by counting puts and takes, the counts; the remaining
            operations are the unmatched operations.
    """

    since: int | None
    starts: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    is_minimal: bool
    is_verified: bool | None
    surplus: AlternationCount | None = None
    total: SumBound | None = None
    balance: ElementCount | None = None

    def counted(self) -> AlternationCount | None:
        """Return what was counted; a balance is counted from the beginning up to an event."""
        if self.balance is None:
            return self.surplus
        return AlternationCount(
            windows=((None, self.balance.by),),
            f=self.balance.f,
            inside=self.balance.over,
            other=self.balance.other,
            touching=self.balance.begun,
            granted=0,
        )


class LinearizedOperation(msgspec.Struct, frozen=True, kw_only=True):
    """One place of a linearization: the operation's index, and the state after it, in words."""

    index: int
    state: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why one key of a history is not linearizable.

    Attributes: schema_version: the version of this schema.
        history: the file or run directory.
        model: the model's name.
        key: the key.
        operations: how many operations the key has.
        first_illegal: the first operation at whose completion no linearization exists.
        is_first: whether it is known to be the first; if not, that was not decided.
        linearizable: how many operations were completed before that.
        linearized: the number of completed operations in the linearization: all, or the number
            reached at the time limit; null without a linearization.
        linearization: the longest linearization found before the offending operation, in order;
            null if the time limit ended the search.
        sub_history: the minimal sub-history; null if the time limit ended the search.
        words: the whole explanation as text.
    """

    schema_version: int = SCHEMA_VERSION
    history: str
    model: str
    key: str
    operations: int
    first_illegal: OperationView
    is_first: bool = True
    linearizable: int
    linearized: int | None = None
    linearization: tuple[LinearizedOperation, ...] | None
    sub_history: SubHistory | None
    words: str
