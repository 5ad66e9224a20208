"""The health check of a container, as its image or its user has it."""

from typing import Any, Final

import docker

from kraftproof.cluster.plugin import shortened

_WELL: Final = (None, "none", "healthy")
"""States of the health of a container that has no health check, or has passed the check."""
LINES: Final = 3
"""Number of the last lines of a check that are shown."""


def lack(client: docker.DockerClient, container: str | None) -> str | None:
    """Return why the check of a container has not passed; None if it has, or without a check."""
    if container is None:
        return "it has not started"
    state = client.api.inspect_container(container)["State"]
    health = state.get("Health") or {}
    if state["Running"] and health.get("Status") in _WELL:
        return None
    checks: list[dict[str, Any]] = health.get("Log") or []
    if not checks:
        return "its health check has not ended yet" if state["Running"] else "it has ended"
    said = str(checks[-1]["Output"]).strip().splitlines()[-LINES:]
    printed = " / ".join(map(shortened, said)) or "nothing printed"
    return f"its health check ended with status {checks[-1]['ExitCode']}: {printed}"


def has_check(client: docker.DockerClient, container: str) -> bool:
    """Return whether a container that has started has a check."""
    state = client.api.inspect_container(container)["State"]
    return (state.get("Health") or {}).get("Status") not in (None, "none")
