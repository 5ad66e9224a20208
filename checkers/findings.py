"""Puts findings into words: what, where, when and under which fault, the plain fact first.

"read of k1 on node 2 returned 3 at 12.412 s, 0.8 s after kill of node 2 (in force); write 4
(operation 17) had completed before it began and nothing set the value back (operation 21)". A check
gives the fact and the reason; the rest comes from the operation and the faults of the run. See
`checkers.judge.reasons` for why a history's answer can't be.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kraftproof.checkers.history.faults import FaultSpan, faults_near
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import shortened, shown
from kraftproof.checkers.verdict import Finding, FindingKind, NearFault

_EPOCH_NS: Final = 10**17
"""Times from here on are taken for a wall clock's, which counts from 1970; ns."""
_FAULTS_NAMED: Final = 3
_READS: Final = frozenset({"read", "get"})
"""Functions whose input says nothing."""

Faults = Sequence[FaultSpan] | None
"""The time spans of a run's faults; None for a bare history."""


def located(finding: Finding, operation: Operation | None, faults: Faults) -> Finding:
    """Return a finding with its time, its node, its events and the faults near its time.

    Args: finding: the finding of a check; its known time and node are kept.
        operation: the operation that the finding names, if any.
        faults: those of the run.
    """
    fact = finding.fact or finding.sentence
    time_ns, node, events = finding.time_ns, finding.node, finding.events
    if operation is not None:
        completed = operation.complete_time
        time_ns = time_ns if time_ns is not None else completed
        time_ns = time_ns if time_ns is not None else operation.invoke_time
        node = node or operation.node
        ends = (operation.invoke_index, operation.complete_index)
        events = events or tuple(one for one in ends if one is not None)
    near = () if time_ns is None or faults is None else faults_near(faults, time_ns)
    placed = msgspec.structs.replace(
        finding, fact=fact, time_ns=time_ns, node=node, events=events, faults=near
    )
    is_before_all = bool(faults) and not near and time_ns is not None
    return msgspec.structs.replace(placed, sentence=_sentence(placed, is_before_all=is_before_all))


def located_all(
    findings: Iterable[Finding], operations: Iterable[Operation], faults: Faults
) -> list[Finding]:
    """Return findings with time and node, taken from the operations that the findings name."""
    found = list(findings)
    wanted = {finding.operation_index for finding in found} - {None}
    by_index: Mapping[int | None, Operation] = {}
    if wanted:
        by_index = {one.index: one for one in operations if one.index in wanted}
    return [located(finding, by_index.get(finding.operation_index), faults) for finding in found]


def fact_of(operation: Operation) -> str:
    """Return what an operation did, as: read of k1 on node 2 returned 3."""
    place = "" if operation.node is None else f" on {node_text(operation.node)}"
    if operation.f in _READS:  # some harnesses write the answer into the question, too
        operation = msgspec.structs.replace(operation, input=None)
    what = f"{operation.f}{_of(operation)}{place}"
    if operation.status != "ok":
        return f"{what} stayed without an answer"
    if operation.output is None and operation.input is not None:
        return f"{what} succeeded"
    is_echo = type(operation.output) is type(operation.input)  # 1 == True
    if is_echo and operation.output == operation.input and operation.input is not None:
        return f"{what} succeeded"
    return f"{what} returned {shown(operation.output)}"


def phrase(operation: Operation) -> str:
    """Return an operation that a reason names, as: write 4 (operation 17)."""
    asked = "" if operation.input is None else f" {shown(operation.input)}"
    which = "the initial value" if operation.index < 0 else f"operation {operation.index}"
    return f"{operation.f}{asked} ({which})"


def node_text(node: str) -> str:
    """Return a node's name in a sentence: node 2 for a number, else the name as it is."""
    return f"node {node}" if node.isdecimal() else shortened(node)


def _of(operation: Operation) -> str:
    asked = "" if operation.input is None else f" {shown(operation.input)}"
    if operation.key == "null":
        return asked
    is_word = any(letter.isalpha() for letter in operation.key)
    key = shortened(operation.key) if is_word else f"key {shortened(operation.key)}"
    return f"{asked} on {key}" if asked else f" of {key}"


def moment_text(time_ns: int) -> str:
    """Return a moment in words: 12.412 s of a run, or the time of day of a wall clock, in UTC."""
    if time_ns < _EPOCH_NS:
        return f"{time_ns / 1e9:.3f} s"
    milliseconds = time_ns // 1_000_000
    seconds = milliseconds // 1000 % 86_400
    return (
        f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{milliseconds % 1000:03}"
        " UTC"
    )


def fault_text(fault: NearFault) -> str:
    """Return a fault and how long before, as: 0.8 s after kill of node 2 (in force)."""
    named = f"{fault.kind} of {fault.target}" if fault.target else fault.kind
    after = f"{_duration(fault.seconds_before)} after"
    return f"{after} {named} (in force)" if fault.is_in_force else f"{after} {named} was healed"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"


def _sentence(finding: Finding, *, is_before_all: bool) -> str:
    at = "" if finding.time_ns is None else f" at {moment_text(finding.time_ns)}"
    under = "".join(f", {fault_text(one)}" for one in finding.faults[:_FAULTS_NAMED])
    hidden = len(finding.faults) - _FAULTS_NAMED
    more = f" and {hidden} more in force" if hidden > 0 else ""
    if is_before_all:
        under = ", before any fault"
    why = f"; {finding.reason}" if finding.reason else ""
    index = finding.operation_index
    which = "" if index is None else f" (operation {index})"
    return f"{finding.fact}{at}{under}{more}{why}{which}"


def finding_of(
    check: str,
    key: str | None,
    operation: Operation,
    fact: str,
    reason: str = "",
    *,
    kind: FindingKind = FindingKind.SAFETY,
) -> Finding:
    """Return the finding of a check about one operation.

    Args:
        check: the name of the check.
        key: the key whose operations were checked.
        operation: the operation.
        fact: what happened.
        reason: the violated rule, or the evidence.
        kind: the kind of the finding.
    """
    return Finding(
        check=check,
        kind=kind,
        sentence=fact,
        key=key,
        operation_index=operation.index,
        fact=fact,
        reason=reason,
    )


def violation_finding(
    *,
    invariant: str,
    statement: str,
    detail: str,
    node: int | None,
    time_ns: int | None,
    faults: Faults,
) -> Finding:
    """Return the finding of an invariant that did not hold in a simulated run.

    Args:
        invariant: its name.
        statement: the promise of the invariant, a sentence.
        detail: what was seen instead.
        node: the node that broke the promise.
        time_ns: when, in the time of the run.
        faults: those of the run.
    """
    seen = shortened(detail) or "it did not hold"
    fact = seen if node is None else f"node {node}: {seen}"
    promise = f"{statement[:1].lower()}{statement[1:]}".rstrip(".")
    found = Finding(
        check=invariant,
        kind=FindingKind.SAFETY,
        fact=fact,
        sentence=fact,
        reason=f"the promise of {invariant} is that {promise}",
        node=None if node is None else str(node),
        time_ns=time_ns,
    )
    return located(found, None, faults)
