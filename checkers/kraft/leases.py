"""Broker sessions as leases in real time (KIP-631, "Broker Leases", "Broker ID Conflicts").

No other incarnation gets the id before the last contact of the live one, as it was *invoked*, plus
the session: the controller handled that contact no earlier, and the other registration no later
than it was answered. Only the harness's measurement error and an injected error of *monotonic* rate
widen this; a wall-clock fault widens it by nothing, or else a controller that times sessions by
wall clock would pass. A granted shutdown or an unregistration ends the lease at once; to refuse the
id as taken after a granted shutdown is wrong too.

Not here: leases that end late or never (`checkers.kraft.expiry`), and who is registered whatever
the time (`checkers.models.registration`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from checkers.kraft.registrations import Contact, Registrations
from checkers.options import LeaseBounds
from checkers.verdict import Finding

LEASE: Final = "registration/lease"
LEASE_WITHOUT_HOLDER: Final = "registration/lease-without-holder"


def check_leases(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    """Checks when the sessions of one broker id end, as far as that is early or by shutdown."""
    return [*_taken_over_early(registrations, bounds), *_refused_without_holder(registrations)]


def _taken_over_early(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    findings = []
    grants = sorted(registrations.grants, key=lambda grant: grant.epoch or 0)
    lasting_ns = int(bounds.session_ns * (1 - bounds.rate_error)) - bounds.measurement_ns
    by_epoch = _by_epoch(registrations.contacts)
    unregisters = [contact for contact in registrations.contacts if contact.may_unregister]
    for held, taken in pairwise(grants):
        if held.incarnation == taken.incarnation or held.epoch == taken.epoch:
            continue
        of_epoch = by_epoch[held.epoch]
        contacts = [contact for contact in of_epoch if contact.is_grant or contact.is_alive]
        last = max(contacts, key=lambda contact: contact.invoke_ns)
        if taken.complete_ns >= last.invoke_ns + lasting_ns:
            continue
        if any(_may_end(c, held, taken) for c in (*unregisters, *of_epoch)):
            continue
        findings.append(registrations.finding(LEASE, taken, _early(held, taken, last, bounds)))
    return findings


def _by_epoch(contacts: Iterable[Contact]) -> dict[int | None, list[Contact]]:
    by_epoch: dict[int | None, list[Contact]] = {}
    for contact in contacts:
        by_epoch.setdefault(contact.epoch, []).append(contact)
    return by_epoch


def _early(held: Contact, taken: Contact, last: Contact, bounds: LeaseBounds) -> str:
    return (
        f"incarnation {taken.incarnation} was registered (epoch {taken.epoch}) at most"
        f" {in_ms(taken.complete_ns - last.invoke_ns)} ms after the last contact (operation"
        f" {last.index}) of incarnation {held.incarnation} (epoch {held.epoch}), whose session is"
        f" {in_ms(bounds.session_ns)} ms"
    )


def _may_end(contact: Contact, held: Contact, taken: Contact) -> bool:
    """Says whether a shutdown or an unregistration may have ended the lease before it was taken."""
    if contact.invoked > taken.completed:
        return False
    return contact.may_shut_down or (contact.may_unregister and contact.completed > held.invoked)


@dataclass(slots=True, kw_only=True)
class _Lost:
    """The first registrations whose answers were lost, of two incarnations at most."""

    first: list[Contact] = field(default_factory=list)

    def add(self, contact: Contact) -> None:
        known = {other.incarnation for other in self.first}
        if len(known) < 2 and contact.incarnation not in known:
            self.first.append(contact)

    def may_hold_against(self, refused: Contact) -> bool:
        return any(
            lost.incarnation != refused.incarnation and lost.invoked < refused.completed
            for lost in self.first
        )


def _refused_without_holder(registrations: Registrations) -> list[Finding]:
    """Finds duplicates refused although the last holder had been granted its shutdown."""
    lost = _Lost()
    for contact in registrations.contacts:
        if contact.may_register and not contact.is_grant:
            lost.add(contact)
    grants = sorted(registrations.grants, key=lambda grant: grant.epoch or 0, reverse=True)
    by_epoch = _by_epoch(registrations.contacts)
    findings = []
    for refused in registrations.contacts:
        if refused.outcome != "duplicate" or lost.may_hold_against(refused):
            continue
        holder = next((grant for grant in grants if grant.invoked < refused.completed), None)
        if holder is None or not holder.precedes(refused):
            continue
        granted = _shut_down_for_good(by_epoch[holder.epoch], refused)
        if granted is not None:
            sentence = (
                f"incarnation {refused.incarnation} was refused as a duplicate although the last"
                f" holder, epoch {holder.epoch}, had been granted its shutdown (operation"
                f" {granted.index})"
            )
            findings.append(registrations.finding(LEASE_WITHOUT_HOLDER, refused, sentence))
    return findings


def _shut_down_for_good(contacts: Sequence[Contact], refused: Contact) -> Contact | None:
    """Returns the granted shutdown of an epoch after which it can't have been in contact again."""
    granted = next((c for c in contacts if c.shut_down_granted and c.precedes(refused)), None)
    if granted is None:
        return None
    came_back = any(
        contact.outcome not in {"duplicate", "stale"}
        and contact.completed > granted.invoked
        and contact.invoked < refused.completed
        and not contact.shut_down_granted
        for contact in contacts
    )
    return None if came_back else granted


def in_ms(duration_ns: int) -> str:
    """Returns a duration as milliseconds, for people."""
    return f"{duration_ns / 1_000_000:.1f}"
