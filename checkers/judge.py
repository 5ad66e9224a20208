"""Judges one key: an engine for the sequential part, and the model's own properties.

Both the inline engine and the Spark workers end up here, so that their verdicts are the same. A
model that crashes leaves its key unknown, never valid.
"""

import time
from collections.abc import Sequence

import msgspec

from checkers.engines.general import Outcome, check_linearizable
from checkers.history import Operation
from checkers.models import Model, PropertyModel, SequentialModel
from checkers.options import CheckOptions
from checkers.verdict import Finding, FindingKind, KeyVerdict, Verdict, verdict_of_findings, worst


def judge_key(
    model: Model, key: str, operations: Sequence[Operation], options: CheckOptions
) -> KeyVerdict:
    """Returns the verdict on one key's operations, given in the order of their invocations."""
    started = time.monotonic()
    try:
        verdict = _judge(model, key, operations, options)
    except Exception as error:  # noqa: BLE001 a crashed checker is unknown, whatever it died of
        verdict = KeyVerdict(
            key=key,
            model=model.name,
            verdict=Verdict.UNKNOWN,
            operations=len(operations),
            reason=f"the checker crashed: {type(error).__name__}: {error}",
            crashed=True,
        )
    return msgspec.structs.replace(verdict, seconds=time.monotonic() - started)


def _judge(
    model: Model, key: str, operations: Sequence[Operation], options: CheckOptions
) -> KeyVerdict:
    findings: list[Finding] = []
    verdicts: list[Verdict] = []
    reason = None
    if isinstance(model, SequentialModel):
        outcome = check_linearizable(model, operations, options.limits)
        verdicts.append(outcome.verdict)
        reason = outcome.reason
        if outcome.stuck is not None:
            findings.append(_not_linearizable(model, key, outcome, outcome.stuck))
    if isinstance(model, PropertyModel):
        findings.extend(model.check(key, operations, options))
    verdicts.append(verdict_of_findings(findings))
    return KeyVerdict(
        key=key,
        model=model.name,
        verdict=worst(verdicts),
        operations=len(operations),
        findings=tuple(findings),
        reason=reason,
    )


def _not_linearizable(
    model: SequentialModel, key: str, outcome: Outcome, stuck: Operation
) -> Finding:
    sentence = (
        f"key {key}: operation {stuck.index} ({told(stuck)}) has no legal place: the"
        f" {outcome.linearizable} operations completed before it are linearizable and may leave"
        f" {' or '.join(outcome.states)}, with it they are not"
    )
    return Finding(
        check=f"{model.name}/linearizable",
        kind=FindingKind.SAFETY,
        key=key,
        operation_index=stuck.index,
        sentence=sentence,
    )


def told(operation: Operation) -> str:
    """Returns an operation in one phrase, as the findings show it."""
    asked = msgspec.json.encode(operation.input).decode()
    answer = msgspec.json.encode(operation.output).decode()
    where = "" if operation.node is None else f" at {operation.node}"
    events = f"events {operation.invoke_index} to {operation.complete_index}"
    return f"process {operation.process}{where}, {operation.f} {asked} -> {answer}, {events}"
