"""Broker sessions as leases in real time (KIP-631, "Broker Leases", "Broker ID Conflicts").

Safety: no other incarnation gets the id before the last contact of the live one, as it was
*invoked*, plus
the session: the controller handled that contact no earlier, and the other registration no later
than it was answered. Only the harness's measurement error and an injected error of *monotonic* rate
widen this; a wall-clock fault widens it by nothing, or else a controller that times sessions by
wall clock would pass. A granted shutdown or an unregistration ends the lease at once.

Availability, apart: an id without contact is free again after session + failover + disturbances. It
is a safety finding, `lease-expiry`, only when the wait is beyond any such reason: more than five
sessions. A lease that is refused though nothing can hold it is a safety finding too.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from checkers.kraft.registrations import Contact, Registrations
from checkers.options import LeaseBounds
from checkers.verdict import Finding, FindingKind

LEASE: Final = "registration/lease"
LEASE_WITHOUT_HOLDER: Final = "registration/lease-without-holder"
LEASE_EXPIRY: Final = "registration/lease-expiry"
SESSIONS_UNTIL_UNBOUNDED: Final = 5


def check_leases(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    """Checks the sessions of one broker id."""
    return [
        *_taken_over_early(registrations, bounds),
        *_refused_without_holder(registrations),
        *_refused_for_long(registrations, bounds),
    ]


def _taken_over_early(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    findings = []
    grants = sorted(registrations.grants, key=lambda grant: grant.epoch or 0)
    lasting_ns = int(bounds.session_ns * (1 - bounds.rate_error)) - bounds.measurement_ns
    for held, taken in pairwise(grants):
        if held.incarnation == taken.incarnation or held.epoch == taken.epoch:
            continue
        contacts = [c for c in registrations.contacts if _is_contact_of(c, held)]
        last = max(contacts, key=lambda contact: contact.invoke_ns)
        if taken.complete_ns >= last.invoke_ns + lasting_ns:
            continue
        if any(_may_end(c, held, taken) for c in registrations.contacts):
            continue
        findings.append(registrations.finding(LEASE, taken, _early(held, taken, last, bounds)))
    return findings


def _early(held: Contact, taken: Contact, last: Contact, bounds: LeaseBounds) -> str:
    return (
        f"incarnation {taken.incarnation} was registered (epoch {taken.epoch}) at most"
        f" {_ms(taken.complete_ns - last.invoke_ns)} ms after the last contact (operation"
        f" {last.index}) of incarnation {held.incarnation} (epoch {held.epoch}), whose session is"
        f" {_ms(bounds.session_ns)} ms"
    )


def _is_contact_of(contact: Contact, held: Contact) -> bool:
    return (contact.is_grant or contact.is_alive) and contact.epoch == held.epoch


def _may_end(contact: Contact, held: Contact, taken: Contact) -> bool:
    """Says whether a shutdown or an unregistration may have ended the lease before it was taken."""
    if contact.invoked > taken.completed:
        return False
    if contact.may_unregister:
        return contact.completed > held.invoked
    return contact.may_shut_down and contact.epoch == held.epoch


def _refused_without_holder(registrations: Registrations) -> list[Finding]:
    """Finds duplicates refused although no other incarnation can hold a lease."""
    findings = []
    for refused in registrations.contacts:
        if refused.outcome != "duplicate":
            continue
        holders = [c for c in registrations.contacts if _may_hold(c, refused)]
        if all(_has_ended(holder, refused, registrations) for holder in holders):
            why = (
                f"every lease before it had ended (the last of operation {holders[-1].index})"
                if holders
                else "no other incarnation had asked for the id"
            )
            sentence = (
                f"incarnation {refused.incarnation} was refused as a duplicate although {why}"
            )
            findings.append(registrations.finding(LEASE_WITHOUT_HOLDER, refused, sentence))
    return findings


def _may_hold(contact: Contact, refused: Contact) -> bool:
    is_other = contact.incarnation != refused.incarnation
    return contact.may_register and is_other and contact.invoked < refused.completed


def _has_ended(holder: Contact, refused: Contact, registrations: Registrations) -> bool:
    """Says whether the lease had surely ended, for good, before the refusal was asked for."""
    for contact in registrations.contacts:
        if not contact.precedes(refused):
            continue
        if contact.outcome == "unregistered" and holder.precedes(contact):
            return True
        if holder.is_grant and contact.is_grant and _succeeds(contact, holder):
            return True
        if contact.shut_down_granted and contact.epoch == holder.epoch and holder.is_grant:
            return not _contacted_after(holder, contact, refused, registrations)
    return False


def _succeeds(contact: Contact, holder: Contact) -> bool:
    is_larger = (contact.epoch or 0) > (holder.epoch or 0)
    return is_larger and contact.incarnation != holder.incarnation


def _contacted_after(
    holder: Contact, granted: Contact, refused: Contact, registrations: Registrations
) -> bool:
    """Says whether the incarnation may have been in contact after its shutdown was granted."""
    return any(
        contact.f != "unregister"
        and contact.outcome not in {"duplicate", "stale"}
        and contact.completed > granted.invoked
        and contact.invoked < refused.completed
        and not contact.shut_down_granted
        and (contact.epoch == holder.epoch or contact.incarnation == holder.incarnation)
        for contact in registrations.contacts
    )


def _refused_for_long(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    findings = []
    for refused in registrations.contacts:
        if refused.outcome != "duplicate":
            continue
        last_ns = _last_contact_ns(registrations.contacts, refused)
        if last_ns is None:
            continue
        waited_ns = refused.invoke_ns - last_ns
        lasting_ns = int(bounds.session_ns * (1 + bounds.rate_error)) + bounds.measurement_ns
        disturbed_ns = _disturbed_ns(bounds, last_ns, refused.invoke_ns)
        if waited_ns <= lasting_ns + bounds.failover_ns + disturbed_ns:
            continue
        is_unbounded = waited_ns > SESSIONS_UNTIL_UNBOUNDED * bounds.session_ns + disturbed_ns
        kind = FindingKind.SAFETY if is_unbounded else FindingKind.AVAILABILITY
        sentence = (
            f"incarnation {refused.incarnation} was refused as a duplicate {_ms(waited_ns)} ms"
            f" after the last contact of any other, with a session of {_ms(bounds.session_ns)} ms"
            f" and {_ms(disturbed_ns)} ms of disturbance"
        )
        findings.append(registrations.finding(LEASE_EXPIRY, refused, sentence, kind))
    return findings


def _last_contact_ns(contacts: Iterable[Contact], refused: Contact) -> int | None:
    """The latest time at which another incarnation may have been in contact."""
    times = [
        min(contact.complete_ns, refused.complete_ns)
        for contact in contacts
        if contact.f != "unregister"
        and contact.outcome not in {"duplicate", "stale"}
        and contact.invoked < refused.completed
        and contact.incarnation != refused.incarnation
    ]
    return max(times, default=None)


def _disturbed_ns(bounds: LeaseBounds, start_ns: int, end_ns: int) -> int:
    """How much longer the disturbances of a span may have kept a lease.

    Each may have cost its own length, a failover, and a full new lease from the new active
    controller.
    """
    return sum(
        min(end, end_ns) - max(start, start_ns) + bounds.failover_ns + bounds.session_ns
        for start, end in bounds.disturbed
        if start < end_ns and end > start_ns
    )


def _ms(duration_ns: int) -> str:
    return f"{duration_ns / 1_000_000:.1f}"
