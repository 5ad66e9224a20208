"""Broker epochs as fencing tokens (KIP-631, "Broker Epochs", "Fencing").

A grant's epoch is larger than that of every grant answered before it was asked for; once a larger
one is granted, or the broker is unregistered, the smaller one is dead; a live one is not called
stale. Time plays no part here: see sessions/leases.py. A sweep over the events takes O(n log n).
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.kraft.registrations import Contact, Registrations
from kraftproof.checkers.verdict import Finding

EPOCHS_INCREASE: Final = "registration/epochs-increase"
STALE_ACCEPTED: Final = "registration/stale-epoch-accepted"
LIVE_REFUSED: Final = "registration/live-epoch-refused"


def check_tokens(registrations: Registrations) -> list[Finding]:
    """Check the epochs of one broker id."""
    return [
        *_epochs_increase(registrations),
        *_stale_accepted(registrations),
        *_live_refused(registrations),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Largest:
    """The largest epoch among the contacts that were answered before a given event."""

    completed: list[int]
    largest: list[Contact]

    @classmethod
    def of(cls, contacts: Iterable[Contact]) -> "_Largest":
        ordered = sorted(contacts, key=lambda contact: contact.completed)
        largest: list[Contact] = []
        for contact in ordered:
            best = largest[-1] if largest else contact
            largest.append(contact if _epoch(contact) > _epoch(best) else best)
        return cls(completed=[contact.completed for contact in ordered], largest=largest)

    def before(self, event: int) -> Contact | None:
        place = bisect_left(self.completed, event)
        return self.largest[place - 1] if place else None


def _epoch(contact: Contact) -> int:
    assert contact.epoch is not None
    return contact.epoch


def _epochs_increase(registrations: Registrations) -> list[Finding]:
    findings = []
    answered = _Largest.of(registrations.grants)
    owners: dict[int, Contact] = {}
    for grant in registrations.grants:
        owner = owners.setdefault(_epoch(grant), grant)
        if owner.incarnation != grant.incarnation:
            fact = f"epoch {grant.epoch} was granted to incarnation {grant.incarnation}"
            why = f"{owner.incarnation} was granted it, too (operation {owner.index})"
            findings.append(registrations.finding(EPOCHS_INCREASE, grant, fact, reason=why))
        earlier = answered.before(grant.invoked)
        if earlier is not None and _epoch(earlier) > _epoch(grant):
            fact = f"epoch {grant.epoch} was granted"
            why = f"{earlier.epoch} had been granted before it began (operation {earlier.index})"
            findings.append(registrations.finding(EPOCHS_INCREASE, grant, fact, reason=why))
    return findings


def _stale_accepted(registrations: Registrations) -> list[Finding]:
    findings = []
    answered = _Largest.of(c for c in registrations.contacts if c.is_grant or c.is_alive)
    granted = {_epoch(grant): grant for grant in reversed(registrations.grants)}
    ends = _ends_of_unregistrations(registrations.contacts)
    may_be_untold = any(c.may_register and not c.is_grant for c in registrations.contacts)
    for heartbeat in registrations.contacts:
        if not heartbeat.is_alive:
            continue
        newer = answered.before(heartbeat.invoked)
        grant = granted.get(_epoch(heartbeat))
        if newer is not None and _epoch(newer) > _epoch(heartbeat):
            did = "granted" if newer.is_grant else "accepted"
            why = f"epoch {newer.epoch} had been {did} before it began (operation {newer.index})"
        elif grant is None and not may_be_untold:
            why = "that epoch was never granted"
        elif grant is not None and ends.between(grant.completed, heartbeat.invoked):
            why = "the broker had been unregistered since that epoch was granted"
        else:
            continue
        fact = f"a heartbeat with epoch {heartbeat.epoch} was accepted"
        findings.append(registrations.finding(STALE_ACCEPTED, heartbeat, fact, reason=why))
    return findings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spans:
    """Answered unregistrations; whether one lies wholly between two events."""

    completed: list[int]
    latest_invoked: list[int]

    def between(self, start: int, end: int) -> bool:
        place = bisect_left(self.completed, end)
        return place > 0 and self.latest_invoked[place - 1] > start


def _ends_of_unregistrations(contacts: Sequence[Contact]) -> _Spans:
    ended = sorted(
        (contact.completed, contact.invoked)
        for contact in contacts
        if contact.outcome == "unregistered"
    )
    latest: list[int] = []
    for _, invoked in ended:
        latest.append(max(invoked, latest[-1] if latest else invoked))
    return _Spans(completed=[completed for completed, _ in ended], latest_invoked=latest)


def _live_refused(registrations: Registrations) -> list[Finding]:
    """Find heartbeats refused as stale although nothing can have ended their epoch."""
    findings = []
    enders = _Enders.of(registrations.contacts)
    granted = {_epoch(grant): grant for grant in reversed(registrations.grants)}
    for heartbeat in registrations.contacts:
        if heartbeat.outcome != "stale" or heartbeat.epoch not in granted:
            continue
        grant = granted[heartbeat.epoch]
        if not grant.precedes(heartbeat):
            continue
        if not enders.any_between(grant, heartbeat):
            fact = f"a heartbeat with epoch {heartbeat.epoch} was refused as stale"
            why = (
                f"that epoch was granted (operation {grant.index}) and no other registration or"
                " unregistration can have ended it"
            )
            findings.append(registrations.finding(LIVE_REFUSED, heartbeat, fact, reason=why))
    return findings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Enders:
    """Operations that may end an epoch, by invocation, with the latest completions so far."""

    invoked: list[int]
    latest: list[tuple[Contact, ...]]

    @classmethod
    def of(cls, contacts: Sequence[Contact]) -> "_Enders":
        enders = [contact for contact in contacts if contact.may_register or contact.may_unregister]
        latest: list[tuple[Contact, ...]] = []
        for contact in enders:
            best = (*(latest[-1] if latest else ()), contact)
            latest.append(tuple(sorted(best, key=lambda ender: -ender.completed)[:2]))
        return cls(invoked=[c.invoked for c in enders], latest=latest)

    def any_between(self, grant: Contact, refused: Contact) -> bool:
        """Return whether another than the grant may have come after it and before the refusal.

        Of the candidates invoked before the refusal, the two with the latest answers are enough,
        since one of the two may be the grant itself.
        """
        place = bisect_left(self.invoked, refused.completed)
        latest = self.latest[place - 1] if place else ()
        return any(c is not grant and c.completed > grant.invoked for c in latest)
