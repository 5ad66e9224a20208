"""Steps of fault scenarios, and targets of steps by role."""

from collections.abc import Iterable

from kraftproof.nemesis.fault import ACTIVE_CONTROLLER, STANDBY_CONTROLLER, Fault, Role

FaultStep = tuple[float, float, Fault]
"""Start and end of a fault in seconds after the start of the scenario, and the fault."""

ACTIVE = Role(name=ACTIVE_CONTROLLER)
MOST_STANDBYS = 4
"""Number of standbys in a quorum of five voters."""


def standby(choice: int) -> Role:
    """Return the role of a standby controller; the role is resolved when the fault starts."""
    return Role(name=STANDBY_CONTROLLER, choice=choice)


ALL_STANDBYS = tuple(standby(choice) for choice in range(MOST_STANDBYS))


def in_order(steps: Iterable[FaultStep]) -> list[FaultStep]:
    """Return the steps sorted by start and end."""
    return sorted(steps, key=lambda scene: scene[:2])
