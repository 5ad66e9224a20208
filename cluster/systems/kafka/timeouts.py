"""Time-outs of nodes that read a server.properties, by profile.

See cluster/profiles.py for the profiles' names. `default` is empty: each system has its own.
"""

from kraftproof.spelling import nearest

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
        raise UnknownProfileError(
            f"time-outs {profile!r}{nearest(profile, PROFILES)}: unknown profile, one of {known}"
        )
    return dict(PROFILES[profile])
