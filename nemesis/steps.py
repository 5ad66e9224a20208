"""What scenarios are made of: steps, and targets named by role. Not: the scenarios."""

from collections.abc import Iterable

from kraftproof.nemesis.fault import ACTIVE_CONTROLLER, STANDBY_CONTROLLER, Fault, Role

FaultStep = tuple[float, float, Fault]
"""Start and stop in seconds since the scenario's begin, and the fault."""

ACTIVE = Role(name=ACTIVE_CONTROLLER)
MOST_STANDBYS = 4
"""As many as a quorum of five has."""


def standby(choice: int) -> Role:
    """Return one of the standbys of that moment."""
    return Role(name=STANDBY_CONTROLLER, choice=choice)


ALL_STANDBYS = tuple(standby(choice) for choice in range(MOST_STANDBYS))


def in_order(steps: Iterable[FaultStep]) -> list[FaultStep]:
    """Return steps by their times."""
    return sorted(steps, key=lambda scene: scene[:2])
