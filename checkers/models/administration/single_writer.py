"""Judge answers about a state that one writer at a time changes, by the versions of the state.

The changes of a key follow each other, so the states of the key are a sequence of versions. A
change without a known result is the last change of its key. A broker answers from its own image:
an answer may be old, but a broker never goes back. The controller answers from the newest image.
Every rule compares versions by real time, so that no search is needed.
"""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from kraftproof.checkers.findings import finding_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.verdict import Finding

FOREVER: Final = float("inf")
StateT = TypeVar("StateT")


class Version(msgspec.Struct, Generic[StateT], frozen=True, gc=False):
    """A state of a key, and the time in which the state may be the newest."""

    state: StateT
    begin: float
    """The invocation of the change to this state."""
    end: float
    """The completion of the next change; FOREVER without a completed next change."""


class Answer(msgspec.Struct, Generic[StateT], frozen=True):
    """An answer about the state, and the states that it agrees with."""

    operation: Operation
    agrees: Callable[[StateT], bool]
    told: str
    """The answer in words, for a finding."""
    is_newest: bool = False
    """Whether the controller answers, from the newest state."""
    is_final: bool = False
    """Whether the faults have ended and every broker has had the time to catch up."""


def versions_of(
    initial: StateT,
    changes: Sequence[Operation],
    change: Callable[[StateT, Operation], StateT],
) -> list[Version[StateT]]:
    """Return the versions of a key; failed changes make none.

    Raises:
        ValueError: two changes of the key overlap.
    """
    states, begins, ends = [initial], [-FOREVER], [FOREVER]
    done = -FOREVER
    for operation in changes:
        if operation.status == "fail":
            continue
        begin = float(operation.invoke_time or 0)
        if begin < done:
            raise ValueError("field invoke_time: two changes of a key overlap")
        is_done = operation.status == "ok" and operation.complete_time is not None
        done = float(operation.complete_time or 0) if is_done else FOREVER
        ends[-1] = done
        states.append(change(states[-1], operation))
        begins.append(begin)
        ends.append(FOREVER)
    return [Version(*parts) for parts in zip(states, begins, ends, strict=True)]


def judge(
    name: str, key: str, versions: Sequence[Version[StateT]], answers: Sequence[Answer[StateT]]
) -> list[Finding]:
    """Return a finding for each answer that no allowed version agrees with."""
    found: list[Finding] = []
    last: dict[str | None, tuple[float, int]] = {}
    """By broker: the completion of its last answer in order, and the oldest version it can have."""
    for answer in sorted(answers, key=lambda one: one.operation.complete_time or 0):
        begin = float(answer.operation.invoke_time or 0)
        end = float(answer.operation.complete_time or 0)
        fitting = [
            place
            for place, version in enumerate(versions)
            if version.begin < end and answer.agrees(version.state)
        ]
        if not fitting:
            found.append(_finding(name, "known", key, answer, "no state until then fits"))
            continue
        if answer.is_newest or answer.is_final:
            if not any(versions[place].end > begin for place in fitting):
                check = "newest" if answer.is_newest else "latest"
                reason = "the states that fit were replaced before the question"
                found.append(_finding(name, check, key, answer, reason))
            if answer.is_newest:
                continue
        before, oldest = last.get(answer.operation.node, (-FOREVER, 0))
        if before > begin:
            continue
        later = [place for place in fitting if place >= oldest]
        if not later:
            reason = f"broker {answer.operation.node} has answered from a later state before"
            found.append(_finding(name, "order", key, answer, reason))
            continue
        last[answer.operation.node] = (end, later[0])
    return found


def _finding(name: str, check: str, key: str, answer: Answer[StateT], reason: str) -> Finding:
    fact = f"broker {answer.operation.node} {answer.told} for {key}"
    return finding_of(f"{name}/{check}", key, answer.operation, fact, reason)


InputT = TypeVar("InputT")


def read_as(verb: str, value: object, wanted: type[InputT]) -> InputT:
    """Return a value in its form.

    Raises:
        ValueError: the value has another form.
    """
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        raise ValueError(f"field value: {verb} another form: {error}") from None
