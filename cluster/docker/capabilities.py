"""The faults that a Docker cluster can inject, and the check for the extra that it needs.

This file imports no Docker library, so that `kraftproof list` works without the extra.
"""

from importlib.util import find_spec
from typing import Final

from kraftproof.cluster.protocol import CLOCKS, PROXIED, Capability, ClusterError
from kraftproof.cluster.remote.disk.capabilities import DISK_CAPABILITIES

CAPABILITIES: Final = frozenset(
    {
        Capability.KILL,
        Capability.PAUSE,
        Capability.RESTART,
        Capability.PARTITION,
        Capability.LOSS,
        Capability.CPU,
        Capability.MEMORY,
        Capability.TAKEN_PORT,
        Capability.LOST_NAME,
        *PROXIED,
        *CLOCKS,
        *DISK_CAPABILITIES,
    }
)
MISSING_EXTRA: Final = "needs the extra docker: pip install 'kraftproof[docker]'"


def is_extra_installed() -> bool:
    """Return True if the Docker libraries are installed."""
    return all(find_spec(name) is not None for name in ("docker", "testcontainers"))


def require_extra() -> None:
    """Check that the Docker libraries are installed.

    Raises:
        ClusterError: one of them is missing.
    """
    if not is_extra_installed():
        raise ClusterError(f"--backend docker {MISSING_EXTRA}")
