"""Checks the describes of a connection (KIP-631, "Broker Metadata Management").

A broker answers from its own image, which is the log up to some offset, follows the log and never
goes back. So each answer shows a minimum for the image's part of the log: if a topic is present,
its create and everything answered before this create was requested are in the image; if a topic has
disappeared, its delete and everything answered before are in the image. Later answers over the same
connection, about any topic, may not fall behind that. A process of the history lives as long as its
connection.

An image may lag, and slow is not wrong: that it lags longer than a failover takes, faults apart, is
an availability finding, and that it does not converge in twice that time a safety finding.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from kraftproof.checkers.findings import finding_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft.registrations import NEVER
from kraftproof.checkers.kraft.sessions.disturbed import Disturbed
from kraftproof.checkers.kraft.topic_facts import TopicFacts, created_id, facts_of
from kraftproof.checkers.options import LeaseBounds
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, FindingKind

MONOTONIC: Final = "topics/describe-monotonic"
CONVERGES: Final = "topics/describe-converges"
IDS_UNIQUE: Final = "topics/ids-unique"
LEGAL_NAMES: Final = "topics/legal-names"
NOT_BEFORE_CREATE: Final = "topics/describe-not-before-create"
FAILOVERS_UNTIL_UNBOUNDED: Final = 2
METADATA_TOPIC: Final = "__cluster_metadata"
_LEGAL_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


@dataclass(slots=True, kw_only=True)
class _Connection:
    """The answers of one connection so far.

    Attributes: holds: everything answered before this event is in the broker's image.
        because: the operation whose answer shows the minimum.
        shown: the ids that were shown present.
        gone: the ids that were shown present and then absent, with the operation.
    """

    holds: int = -1
    because: int = -1
    shown: set[str] = field(default_factory=set)
    gone: dict[str, int] = field(default_factory=dict)

    def learn(self, event: int, operation: Operation) -> None:
        if NEVER > event > self.holds:
            self.holds, self.because = event, operation.index


def came_back(operations: Sequence[Operation]) -> list[Finding]:
    """Find answers of brokers that fall behind earlier ones over the same connection."""
    facts = facts_of(operations)
    connections: dict[tuple[str | None, int], _Connection] = {}
    findings = []
    for operation in operations:
        if operation.f != "describe" or operation.status != "ok":
            continue
        connection = connections.setdefault((operation.node, operation.process), _Connection())
        known = facts.get(described_id(operation))
        look = _shown if is_present(operation) else _missing
        why = look(connection, operation, known)
        if why is not None:
            findings.append(_finding(MONOTONIC, operation, why))
    return findings


def _shown(connection: _Connection, operation: Operation, known: TopicFacts | None) -> str | None:
    topic_id = described_id(operation)
    gone_at = connection.gone.get(topic_id)
    if gone_at is not None:
        return f"the same process had already seen the topic deleted (operation {gone_at})"
    connection.shown.add(topic_id)
    if known is None:
        return None
    if known.is_gone_before(connection.holds):
        assert known.gone is not None
        return (
            f"operation {known.gone.index} had removed the topic before the state that the same"
            f" process had already seen (operation {connection.because})"
        )
    connection.learn(known.create.invoke_index, operation)
    return None


def _missing(connection: _Connection, operation: Operation, known: TopicFacts | None) -> str | None:
    topic_id = described_id(operation)
    was_shown = topic_id in connection.shown
    if was_shown:
        connection.gone.setdefault(topic_id, operation.index)
    if known is None or not (was_shown or known.is_made_before(connection.holds)):
        return None
    if _ended(operation) < known.may_go_at:
        proof = "the same process had already seen the topic"
        if not was_shown:
            proof = (
                f"operation {known.create.index} had created the topic before the state that the"
                f" same process had already seen (operation {connection.because})"
            )
        return f"{proof} and no delete had been requested"
    connection.learn(known.may_go_at, operation)
    return None


def lags(operations: Sequence[Operation], bounds: LeaseBounds) -> list[Finding]:
    """Find answers of brokers about one name that are much older than the controller's."""
    facts, disturbed = facts_of(operations), Disturbed(bounds)
    findings = []
    for operation in operations:
        if operation.f != "describe" or operation.status != "ok":
            continue
        known = facts.get(described_id(operation))
        since_ns = None if known is None else _outdated_since(operation, known)
        if since_ns is None or operation.invoke_time is None:
            continue
        now_ns = operation.invoke_time
        late_ns = now_ns - disturbed.undisturbed_since(since_ns, now_ns)
        if late_ns > bounds.failover_ns:
            is_unbounded = late_ns > FAILOVERS_UNTIL_UNBOUNDED * bounds.failover_ns
            kind = FindingKind.SAFETY if is_unbounded else FindingKind.AVAILABILITY
            why = f"that had ceased to be so {late_ns / 1e6:.1f} undisturbed ms before"
            findings.append(_finding(CONVERGES, operation, why, kind))
    return findings


def _outdated_since(operation: Operation, known: TopicFacts) -> int | None:
    """Return when the answer ceased to be true, if it surely had before it was asked for."""
    if is_present(operation):
        is_old = known.gone is not None and known.is_gone_before(operation.invoke_index)
        return known.gone.complete_time if is_old and known.gone is not None else None
    is_old = known.is_made_before(operation.invoke_index) and _ended(operation) < known.may_go_at
    return known.create.complete_time if is_old else None


def _ended(operation: Operation) -> int:
    assert operation.complete_index is not None
    return operation.complete_index


def _finding(
    check: str, operation: Operation, why: str, kind: FindingKind = FindingKind.SAFETY
) -> Finding:
    what = "present" if is_present(operation) else "absent"
    topic = f"topic {shortened(operation.key)} ({shortened(described_id(operation))})"
    who = operation.node or "a broker"
    who = f"broker {who}" if who.isdecimal() else who
    fact = f"{who} showed {topic} as {what}"
    return finding_of(check, operation.key, operation, fact, why, kind=kind)


def shown_before_create(operations: Sequence[Operation]) -> list[Finding]:
    """Find topics of one name that a describe showed before their create was invoked."""
    seen = {
        created: operation.invoke_index
        for operation in operations
        if (created := created_id(operation)) is not None
    }
    untold = [
        operation.invoke_index
        for operation in operations
        if operation.f == "create" and operation.status == "info"
    ]
    first_untold = min(untold, default=None)
    findings = []
    for operation in operations:
        if operation.f != "describe" or operation.status != "ok" or not is_present(operation):
            continue
        created_at = seen.get(described_id(operation), first_untold)
        if created_at is None or _ended(operation) < created_at:
            why = "no create that can have made it had been invoked"
            findings.append(_finding(NOT_BEFORE_CREATE, operation, why))
    return findings


def illegal_names(operations: Sequence[Operation]) -> list[Finding]:
    """Find the first create of a name that no topic may have, if one succeeded."""
    for operation in operations:
        if created_id(operation) is None or _is_legal(operation.key):
            continue
        fact = f"create of topic {shortened(operation.key)} succeeded"
        reason = "no topic may have the name"
        if operation.key == METADATA_TOPIC:
            reason = "the name is that of the cluster's own log"
        return [finding_of(LEGAL_NAMES, operation.key, operation, fact, reason)]
    return []


def _is_legal(name: str) -> bool:
    return name not in {METADATA_TOPIC, ".", ".."} and bool(_LEGAL_NAME.fullmatch(name))


def ids_given_twice(operations: Iterable[Operation]) -> list[Finding]:
    """Find topic ids that several creates of a run received."""
    first: dict[str, Operation] = {}
    findings = []
    for operation in operations:
        topic_id = created_id(operation)
        if topic_id is None:
            continue
        other = first.setdefault(topic_id, operation)
        if other is not operation:
            fact = f"create of topic {shortened(operation.key)} was given the id {topic_id}"
            reason = (
                f"topic {shortened(other.key)} had been given it before (operation {other.index})"
            )
            findings.append(finding_of(IDS_UNIQUE, operation.key, operation, fact, reason))
    return findings


def described_id(operation: Operation) -> str:
    """Return the topic id that a describe asks for."""
    assert isinstance(operation.input, dict)
    return str(operation.input["id"])


def is_present(operation: Operation) -> bool:
    """Return whether a describe found the topic."""
    return isinstance(operation.output, dict) and operation.output.get("outcome") == "present"
