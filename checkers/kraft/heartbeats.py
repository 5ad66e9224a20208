"""Checks the answers to a broker's requests in its heartbeats (KIP-631, "BrokerHeartbeat").

A broker that asks for a fence is fenced, and a broker that asks for no fence is soon unfenced; only
a broker that asks to shut down is told to shut down. A broker that has asked to shut down is in
controlled shutdown, where the controller decides on the fence alone. Not here: epochs and time
(`checkers.kraft.tokens`, `checkers.kraft.sessions.leases`).

A broker that has caught up may stay fenced for a while, if the history does not show the time of
catching up: hence only a fence longer than a session is wrong. A registration that names another
cluster must be refused.
"""

from collections.abc import Iterable
from typing import Final

from kraftproof.checkers.kraft.registrations import Contact, Registrations
from kraftproof.checkers.kraft.sessions.leases import in_ms
from kraftproof.checkers.options import LeaseBounds
from kraftproof.checkers.verdict import Finding

FENCE_IGNORED: Final = "registration/fence-ignored"
UNFENCE_IGNORED: Final = "registration/unfence-ignored"
SHUTDOWN_UNASKED: Final = "registration/shutdown-unasked"
FOREIGN_ACCEPTED: Final = "registration/foreign-accepted"


def check_heartbeats(registrations: Registrations, bounds: LeaseBounds) -> list[Finding]:
    """Check the heartbeats of one broker id, epoch by epoch."""
    by_epoch: dict[int | None, list[Contact]] = {}
    for contact in registrations.contacts:
        if contact.f == "heartbeat":
            by_epoch.setdefault(contact.epoch, []).append(contact)
    findings = list(_foreign(registrations))
    for heartbeats in by_epoch.values():
        findings += _of_the_moment(registrations, heartbeats)
        findings += _kept_fenced(registrations, heartbeats, bounds)
    return findings


def _foreign(registrations: Registrations) -> Iterable[Finding]:
    for grant in registrations.grants:
        if grant.is_foreign:
            fact = f"incarnation {grant.incarnation} was registered"
            why = "its request names another cluster"
            yield registrations.finding(FOREIGN_ACCEPTED, grant, fact, reason=why)


def _of_the_moment(registrations: Registrations, heartbeats: list[Contact]) -> Iterable[Finding]:
    asked = min((c.invoked for c in heartbeats if c.want_shut_down), default=None)
    for contact in heartbeats:
        may_be_stopping = asked is not None and asked < contact.completed
        if contact.is_alive and contact.shut_down_granted and not may_be_stopping:
            fact = "a heartbeat was answered that it should shut down"
            why = f"epoch {contact.epoch} had not asked for that"
            yield registrations.finding(SHUTDOWN_UNASKED, contact, fact, reason=why)
        if contact.is_alive and contact.want_fence and not contact.fenced and not may_be_stopping:
            fact = "a heartbeat was answered that it is not fenced"
            yield registrations.finding(FENCE_IGNORED, contact, fact, reason="it asked to be")


def _kept_fenced(
    registrations: Registrations, heartbeats: list[Contact], bounds: LeaseBounds
) -> Iterable[Finding]:
    first: Contact | None = None
    for contact in heartbeats:
        if contact.want_shut_down:
            return
        if contact.want_fence or not contact.caught_up or (contact.is_alive and not contact.fenced):
            first = None
        elif contact.is_alive and first is None:
            first = contact
        elif contact.is_alive and first is not None:
            waited_ns = contact.invoke_ns - first.complete_ns
            if waited_ns > bounds.session_ns + bounds.measurement_ns:
                fact = "a heartbeat was answered that it is fenced"
                why = (
                    f"it has wanted no fence for {in_ms(waited_ns)} ms, since operation"
                    f" {first.index}"
                )
                yield registrations.finding(UNFENCE_IGNORED, contact, fact, reason=why)
                return
