"""The faults that a cluster behind ssh can inject, and the check for the extra that it needs.

This file imports no paramiko, so that `kraftproof list` works without the extra. A host may allow
fewer faults: see probe.py.
"""

from importlib.util import find_spec
from typing import Final

from kraftproof.cluster.protocol import CLOCKS, Capability, ClusterError

CAPABILITIES: Final = frozenset(
    {
        Capability.KILL,
        Capability.PAUSE,
        Capability.RESTART,
        Capability.PARTITION,
        Capability.LOSS,
        *CLOCKS,
    }
)
MISSING_EXTRA: Final = "needs the extra ssh: pip install 'kraftproof[ssh]'"


def is_extra_installed() -> bool:
    """Return True if paramiko is installed."""
    return find_spec("paramiko") is not None


def require_extra() -> None:
    """Check that paramiko is installed.

    Raises:
        ClusterError: it is missing.
    """
    if not is_extra_installed():
        raise ClusterError(f"--backend ssh {MISSING_EXTRA}")
