"""Limits of a running container, set and read through the engine, as blocking calls."""

from typing import Any

import docker
from docker.errors import APIError

from kraftproof.cluster.capabilities import Usage
from kraftproof.cluster.docker.engine import one_line
from kraftproof.cluster.docker.pods import MEMORY_LIMIT

CPU_PERIOD_US = 100_000
LEAST_QUOTA_US = 1_000
UNLIMITED = -1
PAGE = 4096
LEAST_MEMORY = 6 << 20
"""Least limit that the engine sets, in bytes: a node that just died uses less."""
ATTEMPTS = 12
"""Attempts to set a limit: a kernel without swap refuses a limit below what it can't take away."""


def limit_cpu(client: docker.DockerClient, container: str, share: float | None) -> None:
    """Limit a container to a share of one processor; None removes the limit."""
    quota = UNLIMITED if share is None else max(LEAST_QUOTA_US, int(share * CPU_PERIOD_US))
    with one_line("limit of processor time"):
        client.api.update_container(container, cpu_period=CPU_PERIOD_US, cpu_quota=quota)


def limit_memory(client: docker.DockerClient, container: str, slack: int | None) -> int | None:
    """Limit a container to its present memory and some bytes; return the limit. None heals.

    Pages of files do not count: the kernel takes these away first, and a node does without most.
    """
    with one_line("limit of memory"):
        if slack is None:
            client.api.update_container(container, mem_limit=MEMORY_LIMIT)
            return None
        for attempt in range(ATTEMPTS):
            limit = max(LEAST_MEMORY, _held(_stats(client, container)) + slack)
            try:
                client.api.update_container(container, mem_limit=limit)
            except APIError:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                return limit
            slack = max(slack, 0) + (PAGE << attempt)
    return None


def usage(client: docker.DockerClient, container: str) -> Usage:
    """Return the usage of a container; zero for a container that is down."""
    with one_line("usage"):
        stats = _stats(client, container)
        state = client.api.inspect_container(container)["State"]
    memory, throttling = stats["memory_stats"], stats["cpu_stats"].get("throttling_data", {})
    met = memory.get("failcnt", 0) if "max_usage" in memory or not memory else None
    return Usage(
        memory=int(memory.get("usage", 0)),
        memory_limit=int(memory.get("limit", 0)),
        at_memory_limit=met,
        throttled=int(throttling.get("throttled_periods", 0)),
        throttled_ns=int(throttling.get("throttled_time", 0)),
        is_out_of_memory=bool(state["OOMKilled"]),
    )


def _held(stats: dict[str, Any]) -> int:
    """Return the memory that the kernel can't take away without swap, in bytes."""
    memory = stats["memory_stats"]
    parts = memory.get("stats", {})
    files = parts.get("cache", parts.get("file", 0))  # cgroup v1, or v2
    return max(int(memory.get("usage", 0)) - int(files), 0)


def _stats(client: docker.DockerClient, container: str) -> dict[str, Any]:
    """Return the engine's figures of a container, without the second sample that takes 1 s."""
    found: dict[str, Any] = client.api.stats(container, stream=False, one_shot=True)
    return found
