"""Owner of what a run makes outside of its own process: containers, networks, runs on hosts.

Whoever finds such a thing later can tell whether its owner still runs.
"""

import os
from enum import Enum

import msgspec

from kraftproof.cluster.processes import BOOT_ID, Identity, identify, is_alive


class Life(Enum):
    """State of the owner of a run."""

    ALIVE = "alive"
    DEAD = "dead"
    OTHER_BOOT = "of another boot or machine"
    OTHER_NAMESPACE = "in another pid namespace"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """A process, and the pid namespace in which its id means something."""

    namespace: str
    process: Identity

    @property
    def label(self) -> str:
        """The label's text."""
        process = self.process
        return f"{process.boot}:{self.namespace}:{process.pid}:{process.start_time}"

    @property
    def life(self) -> Life:
        """Return whether it still runs."""
        if self.process.boot != _boot():
            return Life.OTHER_BOOT
        if self.namespace != _namespace():
            return Life.OTHER_NAMESPACE
        return Life.ALIVE if is_alive(self.process) else Life.DEAD


def this_owner() -> Owner:
    """Return this process as an owner."""
    process = identify(os.getpid())
    assert process is not None, "this process runs"
    return Owner(namespace=_namespace(), process=process)


def _boot() -> str:
    return BOOT_ID.read_text(encoding="utf-8").strip()


def _namespace() -> str:
    return str(os.stat("/proc/self/ns/pid").st_ino)
