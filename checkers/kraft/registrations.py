"""The operations of one broker id, read once for the checks of tokens and leases.

Values only, no judgement. Times are the history's nanoseconds; `before` and `index` are its logical
clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, FindingKind

NEVER: Final = 1 << 62
"""Later than any event: when an operation whose answer was lost may still take effect."""


class Contact(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An operation on a broker id.

    Attributes:
        f: register, heartbeat or unregister.
        outcome: the answer, None for a lost answer.
        incarnation: who asked, if said.
        epoch: the epoch granted, or the one a heartbeat carried.
        invoked, completed: its two events; completed is NEVER where the answer was lost.
        caught_up: whether the heartbeat claims all metadata up to its registration.
        is_foreign: whether it names another cluster.
        may_shut_down: whether its shutdown was granted, or may have been by an answer that was
        lost.
        invoke_ns, complete_ns: their times; complete_ns is when the asker gave up if there was no
        answer.
    """

    index: int
    f: str
    outcome: str | None
    incarnation: str | None
    epoch: int | None
    invoked: int
    completed: int
    invoke_ns: int
    complete_ns: int
    fenced: bool
    want_fence: bool
    want_shut_down: bool
    shut_down_granted: bool
    may_shut_down: bool
    caught_up: bool = True
    is_foreign: bool = False

    @property
    def is_grant(self) -> bool:
        """Return whether this is a registration that is known to have been granted."""
        return self.outcome == "registered"

    @property
    def is_alive(self) -> bool:
        """Return whether this is a heartbeat that was answered as of a live broker."""
        return self.outcome == "alive"

    @property
    def may_register(self) -> bool:
        """Return whether this may have registered an incarnation."""
        return self.f == "register" and self.outcome != "duplicate"

    @property
    def may_unregister(self) -> bool:
        """Return whether this may have unregistered the broker."""
        return self.f == "unregister" and self.outcome != "absent"

    def precedes(self, other: "Contact") -> bool:
        """Return whether the operation was answered before the other was requested."""
        return self.completed < other.invoked


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrations:
    """The operations on one broker id that may have taken effect, by invocation."""

    key: str
    contacts: tuple[Contact, ...]

    @classmethod
    def of(cls, key: str, operations: Sequence[Operation]) -> "Registrations":
        """Read the operations of a key."""
        happened = [operation for operation in operations if operation.status != "fail"]
        return cls(key=key, contacts=tuple(map(_contact, happened)))

    @property
    def grants(self) -> tuple[Contact, ...]:
        """The registrations known to have been granted."""
        return tuple(contact for contact in self.contacts if contact.is_grant)

    def finding(
        self,
        check: str,
        contact: Contact,
        fact: str,
        kind: FindingKind = FindingKind.SAFETY,
        reason: str = "",
    ) -> Finding:
        """Return a finding about an operation on this broker id.

        Args:
            check: what was checked.
            contact: the operation.
            fact: the event, in words that continue "broker 3: ".
            kind: safety (a wrong result) or availability (a slow result).
            reason: why that can't be.
        """
        text = f"broker {shortened(self.key)}: {fact}"
        return Finding(
            check=check,
            kind=kind,
            key=self.key,
            operation_index=contact.index,
            fact=text,
            sentence=f"{text}; {reason}" if reason else text,
            reason=reason,
        )


def _contact(operation: Operation) -> Contact:
    answered = operation.status == "ok"
    asked = operation.input if isinstance(operation.input, dict) else {}
    said = operation.output if answered and isinstance(operation.output, dict) else {}
    epoch = said.get("epoch", asked.get("epoch"))
    invoke_ns = operation.invoke_time or 0
    complete_ns = operation.complete_time
    completed = operation.complete_index if answered else None
    return Contact(
        index=operation.index,
        f=operation.f,
        outcome=said.get("outcome"),
        incarnation=asked.get("incarnation"),
        epoch=epoch,
        invoked=operation.invoke_index,
        completed=NEVER if completed is None else completed,
        invoke_ns=invoke_ns,
        complete_ns=NEVER if complete_ns is None else complete_ns,
        fenced=bool(said.get("fenced")),
        want_fence=bool(asked.get("want_fence")),
        want_shut_down=bool(asked.get("want_shut_down")),
        shut_down_granted=bool(said.get("should_shut_down")),
        may_shut_down=bool(said.get("should_shut_down", asked.get("want_shut_down"))),
        caught_up=bool(asked.get("caught_up", True)),
        is_foreign="cluster" in asked,
    )
