"""What an explanation holds: plain data, as `kraftproof explain --json` prints it.

The fields below are the schema; `schema_version` is raised when one changes its meaning or goes.
"""

from typing import Final

import msgspec

SCHEMA_VERSION: Final = 1


class OperationView(msgspec.Struct, frozen=True, kw_only=True):
    """An operation as it was recorded.

    Attributes:
        index: its number among the history's invocations.
        process: the process that invoked it.
        node: the node that it was sent to, if recorded.
        f: its function.
        input: what it was asked, any JSON.
        output: what it answered, any JSON; null if nobody heard.
        status: ok, fail or info.
        invoke_index: the event of its invocation.
        complete_index: that of its completion; null if there is none.
        error: what the client was told instead of an answer.
        told: what it was asked and what it answered, in words.
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
    told: str


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """An operation of the minimal sub-history, and what of it is needed.

    Attributes:
        operation: the operation.
        is_required: whether it must have taken effect between its two events; otherwise it may
            have done so at any time after its invocation, or never.
        meaning: what of it is needed, in words; shorter than the operation where less is.
        after: the operations of the sub-history that were over before it was invoked; only the
            last of them: what they came after is told there.
    """

    operation: OperationView
    is_required: bool
    meaning: str
    after: tuple[int, ...]


class AlternationCount(msgspec.Struct, frozen=True, kw_only=True):
    """How counting shows that operations which take turns can't have done so.

    Attributes:
        windows: the first and the last event of each window; the first is null if nothing may come
            before it.
        f: the function of which there are too many.
        inside: the operations of that function that lie wholly in one of the windows.
        other: the function that takes turns with it.
        touching: the operations of the other that may have taken effect in one of the windows.
        granted: how many more of `f` than of `other` there may be, over all windows.
    """

    windows: tuple[tuple[int | None, int], ...]
    f: str
    inside: tuple[int, ...]
    other: str
    touching: tuple[int, ...]
    granted: int


class SumBound(msgspec.Struct, frozen=True, kw_only=True):
    """A sum that calls which only add can't have made what it was told to be.

    Attributes:
        name: what the sum is called: sum, version.
        first: the operation that told the sum before; null for the sum at first.
        start: the sum before.
        adds: the operations between.
        amount: what they add.
        last: the operation that told what can't be.
        told: what it told.
        is_most: whether nothing else can have come between, so that it is too much; else they are
            sure to have, and it is too little.
    """

    name: str
    first: int | None
    start: int
    adds: tuple[int, ...]
    amount: int
    last: int
    told: int
    is_most: bool


class ElementCount(msgspec.Struct, frozen=True, kw_only=True):
    """How counting shows that more came out than was put in, or that something was left inside.

    Attributes:
        items: what is counted, in words.
        is_taken: whether too many takes were over; else too few had begun for what had to be out.
        f: the function of `over`.
        over: the takes that were over, or the puts of what had to be out.
        other: the function of `begun`; empty if there are none.
        begun: the puts that had begun, or the takes.
        by: the event by which they were over, out, or begun.
    """

    items: tuple[str, ...]
    is_taken: bool
    f: str
    over: tuple[int, ...]
    other: str
    begun: tuple[int, ...]
    by: int


class SubHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of the history by sound reductions; it is invalid, therefore the whole is.

    Attributes:
        since: the event from which on it looks; null if from the beginning.
        starts: the states that it may begin in, in words.
        constraints: its operations, by invocation.
        is_minimal: whether no sound reduction that we know leaves it invalid; false only if the
            time was over.
        is_verified: whether trying every order, by the definition alone, found no legal one; null
            if there are too many orders to try.
        surplus: if the history was reduced by counting: what was counted; its operations are then
            those that the count leaves over, in the last window that matters.
        total: if it was reduced by adding up: what was added. Where many operations add, one stands
            for all of them.
        balance: if it was reduced by counting what was put in and taken out: what was counted; its
            operations are then those that the count leaves over.
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
        """Returns what was counted; a balance is counted from the beginning up to an event."""
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

    Attributes:
        schema_version: of this form.
        history: the file or run directory.
        model: the model's name.
        key: the key.
        operations: how many operations the key has.
        stuck: the first operation at whose completion no linearization exists.
        is_first: whether it is known to be the first; if not, that was not decided.
        linearizable: how many operations were completed before that.
        linearized: how many of these are in the linearization: all, or as many as were completed
            when the time was over; null if there is none.
        linearization: the longest linearization before it that was found, in order; null if none
            was in the time there was.
        sub_history: the minimal sub-history; null if none was found in the time there was.
        words: all of it, for a person.
    """

    schema_version: int = SCHEMA_VERSION
    history: str
    model: str
    key: str
    operations: int
    stuck: OperationView
    is_first: bool = True
    linearizable: int
    linearized: int | None = None
    linearization: tuple[LinearizedOperation, ...] | None
    sub_history: SubHistory | None
    words: str
