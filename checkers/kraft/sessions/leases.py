"""Broker sessions as leases in real time (KIP-631, "Broker Leases", "Broker ID Conflicts").

No other incarnation gets the id before the last contact of the live one, as it was *invoked*, plus
the session: the controller handled that contact no earlier, and the other registration no later
than it was answered. Only the harness's measurement error and an injected error of *monotonic* rate
widen this; a wall-clock fault widens it by nothing, or else a controller that times sessions by
wall clock would pass. A granted shutdown or an unregistration ends the lease at once; to refuse the
id as taken after a granted shutdown is wrong too.

See expiry.py for leases that end late or never, and `checkers.models.registration` for who is
registered whatever the time.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final

from kraftproof.checkers.kraft.registrations import Contact, Registrations
from kraftproof.checkers.options import LeaseBounds
from kraftproof.checkers.verdict import Finding

LEASE: Final = "registration/lease"
LEASE_WITHOUT_HOLDER: Final = "registration/lease-without-holder"


def check_leases(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    """Check when the sessions of one broker id end, as far as that is early or by shutdown."""
    return [*_taken_over_early(registrations, bounds), *_refused_without_holder(registrations)]


def _taken_over_early(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    findings = []
    grants = sorted(registrations.grants, key=lambda grant: grant.epoch or 0)
    lasting_ns = int(bounds.session_ns * (1 - bounds.rate_error)) - bounds.measurement_ns
    by_epoch = _by_epoch(registrations.contacts)
    unregistered = _LatestEnd(c for c in registrations.contacts if c.may_unregister)
    for held, taken in pairwise(grants):
        if held.incarnation == taken.incarnation or held.epoch == taken.epoch:
            continue
        of_epoch = by_epoch[held.epoch]
        contacts = [contact for contact in of_epoch if contact.is_grant or contact.is_alive]
        last = max(contacts, key=lambda contact: contact.invoke_ns)
        if taken.complete_ns >= last.invoke_ns + lasting_ns:
            continue
        may_be_over = unregistered.invoked_by(taken.completed) > held.invoked or any(
            contact.may_shut_down and contact.invoked <= taken.completed for contact in of_epoch
        )
        if not may_be_over:
            fact = f"incarnation {taken.incarnation} was registered (epoch {taken.epoch})"
            why = _early(held, taken, last, bounds)
            findings.append(registrations.finding(LEASE, taken, fact, reason=why))
    return findings


def _by_epoch(contacts: Iterable[Contact]) -> dict[int | None, list[Contact]]:
    by_epoch: dict[int | None, list[Contact]] = {}
    for contact in contacts:
        by_epoch.setdefault(contact.epoch, []).append(contact)
    return by_epoch


def _early(held: Contact, taken: Contact, last: Contact, bounds: LeaseBounds) -> str:
    return (
        f"that is at most {in_ms(taken.complete_ns - last.invoke_ns)} ms after the last contact"
        f" (operation {last.index}) of incarnation {held.incarnation} (epoch {held.epoch}), whose"
        f" session is {in_ms(bounds.session_ns)} ms"
    )


class _LatestEnd:
    """The latest completion among the contacts that were invoked by some event; O(log n)."""

    def __init__(self, contacts: Iterable[Contact]) -> None:
        """Take contacts by invocation."""
        kept = list(contacts)
        self._invoked = [contact.invoked for contact in kept]
        self._latest = list(accumulate((contact.completed for contact in kept), max))

    def invoked_by(self, event: int) -> int:
        """Return the latest completion; -1 without a contact."""
        place = bisect_right(self._invoked, event)
        return self._latest[place - 1] if place else -1


@dataclass(slots=True, kw_only=True)
class _Lost:
    """The first indeterminate registrations, of at most two incarnations."""

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
    """Find duplicates refused although the last holder had been granted its shutdown."""
    lost = _Lost()
    for contact in registrations.contacts:
        if contact.may_register and not contact.is_grant:
            lost.add(contact)
    holders = _Holders(registrations.grants)
    by_epoch = _by_epoch(registrations.contacts)
    shut_downs: dict[int | None, _ShutDowns] = {}
    findings = []
    for refused in registrations.contacts:
        if refused.outcome != "duplicate" or lost.may_hold_against(refused):
            continue
        holder = holders.last_before(refused.completed)
        if holder is None or not holder.precedes(refused):
            continue
        if holder.epoch not in shut_downs:
            shut_downs[holder.epoch] = _ShutDowns(by_epoch[holder.epoch])
        granted = shut_downs[holder.epoch].for_good(refused)
        if granted is not None:
            fact = f"incarnation {refused.incarnation} was refused as a duplicate"
            why = (
                f"the last holder, epoch {holder.epoch}, had been granted its shutdown (operation"
                f" {granted.index})"
            )
            findings.append(registrations.finding(LEASE_WITHOUT_HOLDER, refused, fact, reason=why))
    return findings


class _Holders:
    """The grant of the largest epoch among those that were invoked before an event; O(log n)."""

    def __init__(self, grants: Sequence[Contact]) -> None:
        """Take grants by invocation; of one epoch's the first counts."""
        self._invoked = [grant.invoked for grant in grants]
        self._last = list(accumulate(grants, _later))

    def last_before(self, event: int) -> Contact | None:
        place = bisect_left(self._invoked, event)
        return self._last[place - 1] if place else None


def _later(one: Contact, other: Contact) -> Contact:
    return max(one, other, key=lambda grant: grant.epoch or 0)


class _ShutDowns:
    """The granted shutdowns of one epoch, and the contacts that show the epoch alive; O(log n)."""

    def __init__(self, contacts: Sequence[Contact]) -> None:
        """Take all contacts of the epoch by invocation."""
        self._granted = [contact for contact in contacts if contact.shut_down_granted]
        earliest = accumulate((contact.completed for contact in self._granted), min)
        self._latest_first = [-completed for completed in earliest]
        self._returned = _LatestEnd(
            contact
            for contact in contacts
            if not contact.shut_down_granted and contact.outcome not in {"duplicate", "stale"}
        )

    def for_good(self, refused: Contact) -> Contact | None:
        """Return the first granted before a refusal, unless the epoch may have come back since."""
        place = bisect_right(self._latest_first, -refused.invoked)
        if place == len(self._granted):
            return None
        granted = self._granted[place]
        came_back = self._returned.invoked_by(refused.completed - 1) > granted.invoked
        return None if came_back else granted


def in_ms(duration_ns: int) -> str:
    """Return a duration as milliseconds, for people."""
    return f"{duration_ns / 1_000_000:.1f}"
