"""Broker sessions that end late or never (KIP-631, "Broker Leases").

An id without contact is free again after a session and the time in which a controller acts. A fault
may bring a new active controller, which first gives every registered broker a full lease (Kafka's
BrokerHeartbeatManager), so the time counts from the end of the last fault and a failover. A later
answer is an availability finding. It is a safety finding, `lease-expiry`, after five sessions
without contact if twice that time has passed since the last fault.
"""

from typing import Final

from kraftproof.checkers.kraft.registrations import Contact, Registrations
from kraftproof.checkers.kraft.sessions.disturbed import Disturbed
from kraftproof.checkers.kraft.sessions.leases import in_ms
from kraftproof.checkers.options import LeaseBounds
from kraftproof.checkers.verdict import Finding, FindingKind

LEASE_EXPIRY: Final = "registration/lease-expiry"
SESSIONS_UNTIL_UNBOUNDED: Final = 5


def check_expiry(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    """Find registrations that were refused long after the last contact of anybody else."""
    findings = []
    lasting_ns = int(bounds.session_ns * (1 + bounds.rate_error)) + bounds.measurement_ns
    slow_ns = lasting_ns + bounds.failover_ns
    unbounded_ns = max(SESSIONS_UNTIL_UNBOUNDED * bounds.session_ns, slow_ns)
    disturbed = Disturbed(bounds)
    for refused, last_ns in _last_contacts(registrations):
        silent_ns = refused.invoke_ns - last_ns
        waited_ns = refused.invoke_ns - disturbed.undisturbed_since(last_ns, refused.invoke_ns)
        if waited_ns <= slow_ns:
            continue
        is_unbounded = silent_ns > unbounded_ns and waited_ns > min(2 * slow_ns, unbounded_ns)
        kind = FindingKind.SAFETY if is_unbounded else FindingKind.AVAILABILITY
        fact = f"incarnation {refused.incarnation} was refused as a duplicate"
        why = (
            f"the last contact of any other was {in_ms(silent_ns)} ms before,"
            f" {in_ms(waited_ns)} ms of them undisturbed, and a session is"
            f" {in_ms(bounds.session_ns)} ms"
        )
        findings.append(registrations.finding(LEASE_EXPIRY, refused, fact, kind, why))
    return findings


def _last_contacts(registrations: Registrations) -> list[tuple[Contact, int]]:
    """Return each refused registration with the last time another may have been in contact.

    A sweep by invocation that keeps the two latest contacts of different incarnations: at least one
    belongs to another incarnation than the refused one.
    """
    events = sorted(
        [
            (contact.invoked, 1, contact)
            for contact in registrations.contacts
            if _is_contact(contact)
        ]
        + [(c.completed, 0, c) for c in registrations.contacts if c.outcome == "duplicate"],
        key=lambda event: event[:2],
    )
    latest: dict[str | None, int] = {}
    found = []
    for _, is_contact, contact in events:
        if is_contact:
            before = latest.get(contact.incarnation, 0)
            latest[contact.incarnation] = max(before, contact.complete_ns)
            if len(latest) > 2:
                del latest[min(latest, key=latest.__getitem__)]
            continue
        times = [time for who, time in latest.items() if who != contact.incarnation]
        if times:
            found.append((contact, min(max(times), contact.complete_ns)))
    return found


def _is_contact(contact: Contact) -> bool:
    return contact.f != "unregister" and contact.outcome not in {"duplicate", "stale"}
