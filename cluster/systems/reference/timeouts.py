"""Time-outs of reference nodes by profile, as the core takes them; `default` is the KIPs'."""

from kraftproof.cluster.systems.kafka.timeouts import UnknownProfileError, properties
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds

__all__ = ("UnknownProfileError", "properties", "timeouts")


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
