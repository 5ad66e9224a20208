"""Time-outs of reference nodes by profile, as server.properties keys and as values.

`default` is what the KIPs say. See cluster/profiles.py for the profiles' names.
"""

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds

CHAOS = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.election.backoff.max.ms": "500",
    "controller.quorum.request.timeout.ms": "1000",
}

PROFILES: dict[str, dict[str, str]] = {"chaos": CHAOS, "default": {}}


class UnknownProfileError(ValueError):
    """There is no profile of this name."""


def properties(profile: str) -> dict[str, str]:
    """Return the server.properties entries of a profile.

    Raises:
        UnknownProfileError: no profile has the name.
    """
    if profile not in PROFILES:
        known = ", ".join(sorted(PROFILES))
        raise UnknownProfileError(f"time-outs {profile!r}: unknown profile, one of {known}")
    return dict(PROFILES[profile])


def timeouts(profile: str) -> Timeouts:
    """Return a profile as the core takes it.

    Raises:
        UnknownProfileError: no profile has the name.
    """
    values = properties(profile)
    if not values:
        return Timeouts()
    return Timeouts(
        election_ns=milliseconds(int(values["controller.quorum.election.timeout.ms"])),
        election_backoff_max_ns=milliseconds(
            int(values["controller.quorum.election.backoff.max.ms"])
        ),
        fetch_ns=milliseconds(int(values["controller.quorum.fetch.timeout.ms"])),
        request_ns=milliseconds(int(values["controller.quorum.request.timeout.ms"])),
        heartbeat_interval_ns=milliseconds(int(values["broker.heartbeat.interval.ms"])),
        session_ns=milliseconds(int(values["broker.session.timeout.ms"])),
    )
