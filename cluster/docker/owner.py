"""Whose a container or a network is: labels that name the run and the process that made it.

Everything of ours carries `kraftproof.run` and `kraftproof.owner`. The label `kraftproof=1` alone
says nothing: containers inherit it from the image.
"""

import os
import re
from collections.abc import Mapping
from enum import Enum

import msgspec

from kraftproof.cluster.processes import BOOT_ID, Identity, identify, is_alive

OURS = "kraftproof"
RUN = "kraftproof.run"
OWNER = "kraftproof.owner"
LABEL = re.compile(r"([^:]+):([0-9]+):([0-9]{1,10}):([0-9]{1,20})")
"""Boot id, pid namespace, pid, start time."""


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


def labels(run: str) -> dict[str, str]:
    """Return the labels of what this process makes for a run."""
    return {OURS: "1", RUN: run, OWNER: this_owner().label}


def owner_of(found: Mapping[str, str]) -> Owner | None:
    """Return the owner that an object's labels name; None when they are not readable."""
    match = LABEL.fullmatch(found.get(OWNER, ""))
    if match is None:
        return None
    boot, namespace, pid, start_time = match.groups()
    process = Identity(boot=boot, pid=int(pid), start_time=int(start_time))
    return Owner(namespace=namespace, process=process)


def _boot() -> str:
    return BOOT_ID.read_text(encoding="utf-8").strip()


def _namespace() -> str:
    return str(os.stat("/proc/self/ns/pid").st_ino)
